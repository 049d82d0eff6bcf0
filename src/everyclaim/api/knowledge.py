"""Knowledge sources by name, path or object: what FActScore and SAFE check claims against.

`corpus:PATH` (a file of `build_corpus`, or documents that are read into memory), `serper`, `tavily`, `brave`,
`searxng:URL`, `python:package.module:function`, and whatever the entry-point group `everyclaim.knowledge` adds.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from everyclaim.api.options import public
from everyclaim.core.errors import ConfigError
from everyclaim.core.protocols import KnowledgeSource
from everyclaim.core.spec import Registry, Spec
from everyclaim.io import ReadReport, read_documents
from everyclaim.retrieve import Corpus, CorpusInfo, as_knowledge
from everyclaim.retrieve import build_corpus as build_file
from everyclaim.retrieve.corpus import is_corpus_file
from everyclaim.retrieve.corpus_file import WORDS

if TYPE_CHECKING:
    from everyclaim.models import ReplyCache

_log = logging.getLogger(__name__)
_WEB = "everyclaim.retrieve.web:from_spec"
KNOWLEDGE = Registry(
    "knowledge",
    {
        "corpus": "everyclaim.api.knowledge:corpus",
        "serper": _WEB,
        "tavily": _WEB,
        "brave": _WEB,
        "searxng": _WEB,
        "python": "everyclaim.core.spec:imported",
    },
)


@public
def build_corpus(
    source: Any,
    out: str | os.PathLike[str],
    *,
    words: int = WORDS,
    mapping: Mapping[str, str] | None = None,
    format: str | None = None,  # noqa: A002 - as for reading samples
    report: ReadReport | None = None,
) -> CorpusInfo:
    """Build a corpus file from documents, in bounded memory, and return its counts.

    `source`: a folder of .txt and .md files, a table with `text`, `title` and `id` (JSONL, JSON, CSV, TSV, Parquet,
    Arrow), a data frame, or an iterable of mappings. `words` is the maximum length of a passage. `out` is written
    atomically; an existing corpus is replaced. Rows that are not documents are skipped and listed in `report`. Raises
    `InputError` for a source without documents and for an `out` that is not a corpus, `OperatorError` if it cannot be
    written.
    """
    return build_file(read_documents(source, mapping=mapping, format=format, report=report), out, words=words)


@public
def open_corpus(source: Any) -> Corpus:
    """Open a corpus file, or read documents (whatever `build_corpus` takes) into memory.

    Raises `InputError` for anything else.
    """
    if isinstance(source, str | os.PathLike) and is_corpus_file(source):
        return Corpus.open(source)
    report = ReadReport()
    name = f"corpus:{os.fspath(source)}" if isinstance(source, str | os.PathLike) else "corpus:memory"
    found = Corpus.of(read_documents(source, report=report), name=name)
    if report.bad:
        _log.warning("%s: %d documents skipped, first: %s", name, report.bad, report.bad_rows[0])
    return found


def knowledge_source(given: Any, cache: ReplyCache | None = None) -> KnowledgeSource:
    """Return the source that a spec or a path names, or the one given, or a function as one; see `as_knowledge`.

    Answers of search engines are kept in `cache`. Raises `ConfigError` for an unknown name or a wrong option.
    """
    if isinstance(given, os.PathLike):
        return open_corpus(given)
    if not isinstance(given, str):
        return as_knowledge(given)
    if _is_path(given):
        return open_corpus(given)
    spec = Spec.parse(given)
    if KNOWLEDGE.builtin.get(spec.name) == _WEB:
        from everyclaim.retrieve.web import from_spec

        return from_spec(spec, cache=cache)
    return as_knowledge(KNOWLEDGE.create(spec))


def corpus(spec: Spec) -> Corpus:
    """Open ``corpus:PATH``."""
    if not spec.argument or spec.options:
        raise ConfigError(f"'corpus' takes only a path, as in 'corpus:corpus.db'; got {spec.shown!r}")
    return open_corpus(spec.argument)


def _is_path(text: str) -> bool:
    """Whether a text names something that is there, and not a source."""
    name = text.partition("?")[0].partition(":")[0]
    return name not in KNOWLEDGE.names() and (os.path.exists(text) or os.sep in name or "." in name)  # noqa: PTH110

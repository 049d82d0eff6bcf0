"""``everyclaim corpus``: documents made into a corpus that metrics search, and a look into one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from everyclaim.cli import options as opt
from everyclaim.cli.console import show, show_json, tell_of_reading, warn
from everyclaim.core.errors import InputError, JudgeError
from everyclaim.io import ReadReport, check_apart

if TYPE_CHECKING:
    from everyclaim.retrieve.corpus import CorpusHit


def build(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="Folder of .txt and .md files, or a table with text, title and id.")
    ],
    *,
    out: Annotated[str, opt.option("--out FILE.db", "Corpus file to write; an existing corpus is replaced.")],
    words: Annotated[int, opt.option("--words N", "Maximum number of words in a passage.", min=16, max=4096)] = 256,
    mapping: opt.FieldMap = None,
    format_: opt.Format = None,
    json: Annotated[bool, opt.option("--json", "Print JSON instead of one line.")] = False,
) -> None:
    """Cut documents into passages and index them in one file.

    The file appears whole or not at all, and the same documents make the same file.
    """
    from everyclaim.api.knowledge import build_corpus  # not for --help

    check_apart({"the source": source}, {"--out": out, "standard output": "-"}, in_folders=True)
    report = ReadReport()
    try:
        info = build_corpus(source, out, words=words, mapping=opt.pairs(mapping), format=format_, report=report)
    finally:
        tell_of_reading(report)
    if json:
        counts = {"documents": info.documents, "passages": info.passages, "words_per_passage": info.words_per_passage}
        show_json({"corpus": out, **counts, "version": info.version, "left_out": report.bad})
    else:
        warn(f"{info.documents:,} documents, {info.passages:,} passages in {out} (version {info.version})", kind="")


def search(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Corpus file, or documents to read into memory.")],
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Search query.")],
    *,
    k: Annotated[int, opt.option("--k N", "Number of passages to show.", min=1)] = 5,
    topic: Annotated[str | None, opt.option("--topic TITLE", "Search only documents with this title.")] = None,
    json: Annotated[bool, opt.option("--json", "Print a JSON list instead of the table.")] = False,
) -> None:
    """Show the passages that a metric would judge a claim by, best first."""
    from everyclaim.api.knowledge import open_corpus
    from everyclaim.report.findings import passages_page

    try:
        found = open_corpus(corpus).find(query, k, topic=topic)
    except JudgeError as error:  # of a sample it would be a failure; here the title is the caller's own
        raise InputError(error.message) from None
    if json:
        show_json([_to_json(one) for one in found])
    elif found:
        show(passages_page([one.passage for one in found]))
    else:
        warn("no passage contains a word of the query", kind="")


def _to_json(found: CorpusHit) -> dict[str, Any]:
    passage = found.passage
    return {"id": passage.id, "title": passage.title, "text": passage.text, "score": round(found.score, 6)}

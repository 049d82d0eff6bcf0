"""Factories of the metrics that ship, spec and parts in, metric out; and the knowledge that some of them search.

Knowledge is named by spec or path, or given: `corpus:PATH` (a file of `build_corpus`, or documents that are read into
memory), `serper`, `tavily`, `brave`, `searxng:URL`, `python:package.module:function`, and whatever the entry-point
group `everyclaim.knowledge` adds.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, Unpack

from everyclaim.api.options import Share, public
from everyclaim.api.specs import ENGINES, METRICS
from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Matching, Range
from everyclaim.core.options import said_by
from everyclaim.core.protocols import Decomposer, KnowledgeSource
from everyclaim.core.spec import Registry, Spec
from everyclaim.decompose.decontextualize import LlmPreparer, Preparer, WordPreparer
from everyclaim.decompose.embedded import Degree, EmbeddedDecomposer
from everyclaim.io import ReadReport, read_documents
from everyclaim.metrics.assembled import Assembled, check_metric_shape, put_together
from everyclaim.metrics.attribution import AttributionMetric
from everyclaim.metrics.context import Parts
from everyclaim.metrics.faithfulness import (
    GAMMA,
    MISSING,
    WEIGHTS,
    ClaimFaithfulness,
    Combined,
    CombinedPart,
    NliFaithfulness,
    Penalty,
)
from everyclaim.metrics.knowledge import FActScore, OverSet, Safe
from everyclaim.metrics.knowledge import K as SAFE_K
from everyclaim.metrics.reference import FactualCorrectnessMetric, RagChecker
from everyclaim.retrieve.corpus import Corpus, CorpusInfo, is_corpus_file
from everyclaim.retrieve.corpus import build_corpus as build_file
from everyclaim.retrieve.corpus_file import WORDS
from everyclaim.retrieve.queries import LlmQueries, QueryWriter, WordQueries
from everyclaim.retrieve.sources import as_knowledge

if TYPE_CHECKING:
    from everyclaim.models.files import ReplyCache

_log = logging.getLogger(__name__)
_WEB = "everyclaim.retrieve.web:from_spec"
KNOWLEDGE = Registry(
    "knowledge",
    {
        "corpus": "everyclaim.api.metrics:corpus",
        **dict.fromkeys(ENGINES, _WEB),
        "python": "everyclaim.core.spec:imported",
    },
    noun="knowledge source",
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
    if not isinstance(given, str):
        return open_corpus(given) if isinstance(given, os.PathLike) else as_knowledge(given)
    name = given.partition("?")[0].partition(":")[0]
    if name not in KNOWLEDGE.names() and (os.path.exists(given) or os.sep in name or "." in name):  # noqa: PTH110
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


_PARTS = {"claim": "faithfulness", "nli": "nli", "qa": "qa"}
_Comparison = Literal["token_f1", "exact", "nli", "judge"]
_Weight = Annotated[float, Range(0)]  # 0 skips the part

MOST_CLAIMS = 1_000_000  # that an answer may be expected to have
Tagged = Annotated[str, Matching("tag:.+"), "tag:NAME"]
Gamma = Annotated[float, Range(0, MOST_CLAIMS)]  # of the penalty below this number of claims; 0: no penalty
Expected = Annotated[float, Range(above=0, most=MOST_CLAIMS)] | Tagged | None  # claims that an answer should have
Factory = Callable[[Spec, Parts], Assembled]


def of_spec(build: Callable[..., Assembled]) -> Factory:
    """Let a factory get what a spec says as its keyword-only parameters, which say what is allowed."""

    @wraps(build)
    def from_spec(spec: Spec, parts: Parts) -> Assembled:
        return build(spec, parts, **_said(spec, build))

    return from_spec


def _said(spec: Spec, declared: Any) -> dict[str, Any]:
    if spec.argument:
        raise ConfigError(f"the metric {spec.name!r} takes no argument, got {spec.shown!r}; write {spec.name!r}")
    return said_by(spec, declared, f"the metric {spec.name!r}")


@of_spec
def faithfulness(
    spec: Spec,
    parts: Parts,
    *,
    mode: Literal["two_calls", "one_call"] = "two_calls",
    gamma: Gamma = 0.0,
    expected: Expected = None,
    missing: Share | None = None,
) -> Assembled:
    """Build `ClaimFaithfulness`; ``mode=one_call`` splits and judges in one request to a language model."""
    penalty = penalty_of(spec, gamma, expected, missing)
    return _in_one_call(parts, penalty) if mode == "one_call" else put_together(parts, ClaimFaithfulness(penalty))


@of_spec
def nli(_: Spec, parts: Parts, *, unit: Literal["sentence", "claim"] = "sentence") -> Assembled:
    """Build `NliFaithfulness`; ``unit=claim`` judges the decomposer's claims instead of whole sentences."""
    return put_together(parts, NliFaithfulness(), decomposer=None if unit == "claim" else _sentences(parts.decomposer))


@of_spec
def factual_correctness(
    _: Spec,
    parts: Parts,
    *,
    mode: Literal["f1", "precision", "recall"] = "f1",
    beta: Annotated[float, Range(above=0)] = 1.0,
    compat: Literal["ragas"] | None = None,
    atomicity: Degree | None = None,
    coverage: Degree | None = None,
) -> Assembled:
    """Build `FactualCorrectnessMetric`: `beta` above 1 favours recall, ``compat=ragas`` counts it as Ragas does."""
    return put_together(with_degrees(parts, atomicity, coverage), FactualCorrectnessMetric(mode, beta, compat or ""))


@of_spec
def ragchecker(_: Spec, parts: Parts, *, atomicity: Degree | None = None, coverage: Degree | None = None) -> Assembled:
    """Build `RagChecker`."""
    return put_together(with_degrees(parts, atomicity, coverage), RagChecker())


@of_spec
def attribution(_: Spec, parts: Parts, *, atomicity: Degree | None = None, coverage: Degree | None = None) -> Assembled:
    """Build `AttributionMetric`."""
    return put_together(with_degrees(parts, atomicity, coverage), AttributionMetric())


@of_spec
def qa(
    spec: Spec,
    parts: Parts,
    *,
    by: Literal["chat", "cloze"] | None = None,
    compare: _Comparison = "token_f1",
    questions: Annotated[int, Range(1, 20)] = 3,
) -> Assembled:
    """Build `QaConsistency` with at most so many questions about a sentence.

    ``by=chat`` asks and answers with the judge's language model, or the decomposer's where the judge has none (the
    default where there is one), ``by=cloze`` without any. Raises `ConfigError` for a
    language model that is not there.
    """
    from everyclaim.metrics.qa import ChatExaminer, ClozeExaminer, QaConsistency

    has_chat = parts.chat is not None
    by = by or ("chat" if has_chat else "cloze")
    if not has_chat and (compare == "judge" or by == "chat"):
        raise ConfigError(
            f"{spec.shown!r} needs a language model as judge or decomposer, such as 'openai:gpt-5-mini', "
            f"got {parts.provenance.verifier!r}; without one use by=cloze and another comparison"
        )
    if by == "cloze":
        if "questions" in spec.options:
            raise ConfigError("'questions' of 'qa' needs a language model; by=cloze takes all that it finds")
        return put_together(parts, QaConsistency(ClozeExaminer(), compare))
    from everyclaim.prompts.writing import QuestionPrompt

    examiner = ChatExaminer(QuestionPrompt(questions))
    return put_together(parts, QaConsistency(examiner, compare), decomposer=_sentences(parts.decomposer))


class OfCombined(TypedDict, total=False):
    """What a spec may say of `combined`, beside the options of its parts."""

    missing: Literal["reweight", "fail"]
    claim: _Weight
    nli: _Weight
    qa: _Weight


def combined(spec: Spec, parts: Parts) -> Assembled:
    """Build `Combined` of faithfulness (``claim``), ``nli`` and ``qa``.

    Options: a weight for each name (0.4, 0.3 and 0.3 where none is given), ``missing=reweight`` or ``fail``,
    and the parts' own options behind their names, as in ``qa.compare=nli``.
    """
    own = {key: value for key, value in spec.options.items() if "." in key}
    plain = {key: value for key, value in spec.options.items() if key not in own}
    said = _said(Spec(spec.name, spec.argument, plain), OfCombined)
    weights = {name: said.get(name, usual) for name, usual in WEIGHTS.items()}
    inner = replace(parts, empty="exclude")
    built: dict[str, CombinedPart] = {}
    for name, weight in weights.items():
        options = {key.partition(".")[2]: value for key, value in own.items() if key.partition(".")[0] == name}
        if weight == 0:  # not run, so that it needs no model either
            continue
        built[name] = CombinedPart(assemble(Spec(_PARTS[name], "", options), inner), weight)
    if strange := [key for key in own if key.partition(".")[0] not in _PARTS]:
        raise ConfigError(f"unknown option {strange[0]!r} of 'combined'; parts: {', '.join(_PARTS)}")
    parameters = {
        f"{name}.{key}": value
        for name, part in built.items()
        for key, value in part.metric.provenance.parameters.items()
        if parts.provenance.parameters.get(key) != value and key != "empty"
    }
    return put_together(parts, Combined(built, said.get("missing", "reweight")), parameters=parameters)


def with_degrees(parts: Parts, atomicity: Degree | None, coverage: Degree | None) -> Parts:
    """Return the parts with a decomposer that is this fine, where anything is said of that."""
    found = {"atomicity": atomicity, "coverage": coverage}
    said = {name: degree for name, degree in found.items() if degree}
    if not said:
        return parts
    adjust = getattr(parts.decomposer, "adjusted", None)
    if adjust is None:
        raise ConfigError(f"the decomposer {parts.decomposer.spec!r} has no option {' or '.join(said)}")
    decomposer: Decomposer = adjust(**said)
    parameters = {**parts.provenance.parameters, **getattr(decomposer, "parameters", {})}
    provenance = replace(parts.provenance, decomposer=decomposer.spec, parameters=parameters)
    return replace(parts, decomposer=decomposer, provenance=provenance)


def _sentences(decomposer: Decomposer) -> EmbeddedDecomposer:
    """Return the decomposer into sentences, in the language of the one given where that has one."""
    return EmbeddedDecomposer("low", getattr(decomposer, "language", ""))


def penalty_of(spec: Spec, gamma: float, expected: float | str | None, missing: float | None) -> Penalty:
    """Return what short answers lose. Raises `ConfigError` for two penalties, and for half of one."""
    if expected and "gamma" in spec.options:
        raise ConfigError("gamma and expected both penalise short answers: use one of them")
    if missing is not None and not expected:
        raise ConfigError("missing (the penalty of a missing claim) needs expected=NUMBER or expected=tag:NAME")
    return Penalty(gamma, spec.options.get("expected", ""), MISSING if missing is None else missing)


def _in_one_call(parts: Parts, penalty: Penalty) -> Assembled:
    from everyclaim.decompose.llm import LlmDecomposer
    from everyclaim.metrics.one_call import OneCallFaithfulness
    from everyclaim.prompts.verdicts import OneCallPrompt, VerdictPrompt
    from everyclaim.verify.llm import LlmVerifier

    judge = parts.verifier
    if not isinstance(judge, LlmVerifier) or not isinstance(judge.prompt, VerdictPrompt) or judge.repeats > 1:
        raise ConfigError(
            "mode=one_call needs a language model as judge, such as 'openai:gpt-5-mini', the strategy 'joint', and no "
            f"prompt or repeats; got {judge.spec!r}, strategy {parts.provenance.strategy!r}"
        )
    given = parts.decomposer
    decomposer = given if isinstance(given, LlmDecomposer) else LlmDecomposer(judge.chat)
    prompt = OneCallPrompt(decomposer.prompt, judge.prompt)
    signed = replace(parts, provenance=replace(parts.provenance, decomposer=judge.spec), decomposer=decomposer)
    return put_together(signed, OneCallFaithfulness(decomposer, judge, prompt, penalty))


_FewSearches = Annotated[int, Range(1, 20)]


class Sources(TypedDict, total=False):
    """Where a metric that searches finds its knowledge, unless that is given beside its spec."""

    corpus: str  # a corpus file, or documents
    search: str  # serper, tavily, brave, searxng:URL


@of_spec
def factscore(
    spec: Spec,
    parts: Parts,
    *,
    k: Annotated[int, Range(1, 100)] = 5,
    topic: Literal["open", "question"] | Tagged = "open",
    gamma: Gamma = GAMMA,
    expected: Expected = None,
    missing: Share | None = None,
    **sources: Unpack[Sources],
) -> Assembled:
    """Build `FActScore` with `k` passages a claim and the `topic` of an answer from its question or a tag."""
    metric = FActScore(k, "" if topic == "open" else topic, penalty_of(spec, gamma, expected, missing))
    return _searching(metric, spec, parts, sources)


@of_spec
def safe(
    spec: Spec,
    parts: Parts,
    *,
    k: Annotated[int, Range(1, 100_000)] | OverSet = SAFE_K,
    queries: _FewSearches = 5,
    results: _FewSearches = 3,
    settle: bool = True,
    steps: Literal["auto", "words", "model"] = "auto",
    **sources: Unpack[Sources],
) -> Assembled:
    """Build `Safe`: `k` supported claims are full recall, `steps` says who prepares claims and writes queries."""
    if steps == "model" and parts.chat is None:
        raise ConfigError("steps=model needs a language model as judge or decomposer, such as 'openai:gpt-5-mini'")
    chat = None if steps == "words" else parts.chat
    preparer: Preparer = LlmPreparer(chat) if chat else WordPreparer()
    writer: QueryWriter = LlmQueries(chat) if chat else WordQueries()
    metric = Safe(preparer, writer, k, queries, results, settle)
    return _searching(metric, spec, parts, sources)


def _searching(metric: FActScore | Safe, spec: Spec, parts: Parts, sources: Sources) -> Assembled:
    """Put a metric together with its source, and say where knowledge came from.

    An address in the metric's own spec may hold a password, the source's does not.
    """
    corpus, search = sources.get("corpus"), sources.get("search")
    if corpus and not corpus.startswith("corpus:"):
        corpus = f"corpus:{corpus}"
    given = [one for one in (corpus, search, parts.knowledge) if one is not None]
    if len(given) != 1:
        problem = "takes one knowledge source, got several" if given else "needs a knowledge source"
        raise ConfigError(
            f"the metric {spec.name!r} {problem}: '{spec.name}?corpus=FILE', '{spec.name}?search=serper', "
            "or in Python knowledge=…"
        )
    source = knowledge_source(given[0], parts.chats.settings.cache if parts.chats else None)  # it may take a while
    options = {**spec.options, "search": source.spec} if search else spec.options
    version = getattr(source, "version", "")
    known = {"knowledge": source.spec} | ({"knowledge_version": str(version)} if version else {})
    return put_together(parts, metric, knowledge=source, shown=Spec(spec.name, "", options).shown, parameters=known)


def assemble(metric: Any, parts: Parts) -> Assembled:
    """Return the metric that a spec names, or the one given, put together. Raises `ConfigError` when there is none."""
    built = METRICS.create(metric, parts) if isinstance(metric, str | Spec) else metric
    if isinstance(built, Assembled):
        return built
    check_metric_shape(built)
    source = None if parts.knowledge is None else knowledge_source(parts.knowledge)
    return put_together(parts, built, knowledge=source)

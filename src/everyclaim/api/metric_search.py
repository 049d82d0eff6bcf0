"""Factories of the metrics that search for every claim: `factscore` and `safe`."""

from __future__ import annotations

from collections.abc import Mapping

from everyclaim.api.assembly import Parts
from everyclaim.api.knowledge import knowledge_source
from everyclaim.api.metrics import check_options, chosen, number, whole
from everyclaim.core.errors import ConfigError
from everyclaim.core.protocols import ChatModel, KnowledgeSource
from everyclaim.core.spec import Spec
from everyclaim.decompose.decontextualize import LlmPreparer, Preparer, WordPreparer
from everyclaim.metrics.assembled import Assembled
from everyclaim.metrics.factscore import GAMMA, MISSING, FActScore, Penalty
from everyclaim.metrics.safe import K as SAFE_K
from everyclaim.metrics.safe import OverSet, Pace, Safe
from everyclaim.retrieve.queries import LlmQueries, QueryWriter, WordQueries

_MOST = 1e6  # claims that an answer may be expected to have
_SOURCES = ("corpus", "search")
_OF_FACTSCORE = (*_SOURCES, "k", "topic", "gamma", "expected", "missing")
_OF_SAFE = (*_SOURCES, "k", "queries", "results", "settle", "steps")


def factscore(spec: Spec, parts: Parts) -> Assembled:
    """Build `FActScore`: `corpus` or `search`, `k`, `topic`, `gamma`, or `expected` with `missing`."""
    check_options(spec, _OF_FACTSCORE)
    penalty = _penalty(spec)
    topic = spec.options.get("topic", "")
    if topic not in {"", "open", "question"} and not _is_tag(topic):
        raise ConfigError(f"option topic={topic!r} of 'factscore': choose open, question or tag:NAME")
    metric = FActScore(whole(spec, "k", 5, 100), "" if topic == "open" else topic, penalty)
    return _searching(metric, spec, parts)


def safe(spec: Spec, parts: Parts) -> Assembled:
    """Build `Safe`: `corpus` or `search`, `k`, `queries`, `results`, `settle`, `steps`."""
    check_options(spec, _OF_SAFE)
    k = _k(spec)
    settle = chosen(spec, "settle", ("true", "false")) == "true"
    pace = Pace(whole(spec, "queries", 5, 20), whole(spec, "results", 3, 20), settle=settle)
    chat = _model(spec, parts)
    preparer: Preparer = LlmPreparer(chat) if chat else WordPreparer()
    writer: QueryWriter = LlmQueries(chat) if chat else WordQueries()
    return _searching(Safe(preparer, writer, pace, k), spec, parts)


def _k(spec: Spec) -> int | OverSet:
    given = spec.options.get("k", "")
    over: Mapping[str, OverSet] = {"median": "median", "max": "max"}
    return over.get(given) or whole(spec, "k", SAFE_K, 100_000)


def _source(spec: Spec, parts: Parts) -> KnowledgeSource:
    given = [spec.options[name] for name in _SOURCES if name in spec.options]
    if parts.knowledge is not None:
        given.append(parts.knowledge)
    if len(given) != 1:
        problem = "takes one knowledge source, got several" if given else "needs a knowledge source"
        raise ConfigError(
            f"the metric {spec.name!r} {problem}: '{spec.name}?corpus=FILE', '{spec.name}?search=serper', "
            "or in Python knowledge=…"
        )
    chats = parts.chats
    if "corpus" in spec.options and not given[0].startswith("corpus:"):
        return knowledge_source(f"corpus:{given[0]}")
    return knowledge_source(given[0], chats.settings.cache if chats else None)


def _searching(metric: FActScore | Safe, spec: Spec, parts: Parts) -> Assembled:
    """Put a metric together with its source, and say where knowledge came from.

    An address in the metric's own spec may hold a password, the source's does not.
    """
    source = _source(spec, parts)  # last: it may take a while
    options = {**spec.options, "search": source.spec} if "search" in spec.options else spec.options
    version = getattr(source, "version", "")
    known = {"knowledge": source.spec} | ({"knowledge_version": str(version)} if version else {})
    return parts.assembled(metric, knowledge=source, shown=Spec(spec.name, "", options).shown, parameters=known)


def _model(spec: Spec, parts: Parts) -> ChatModel | None:
    """Return the chat model that prepares claims and writes queries."""
    steps = chosen(spec, "steps", ("auto", "words", "model"))
    if steps == "model" and parts.chat is None:
        raise ConfigError("steps=model needs a language model as judge or decomposer, as in 'openai:gpt-5-mini'")
    return None if steps == "words" else parts.chat


def _penalty(spec: Spec) -> Penalty:
    options = spec.options
    expected = options.get("expected", "")
    if expected and "gamma" in options:
        raise ConfigError("gamma and expected are two penalties for short answers: give one of them")
    if "missing" in options and not expected:
        raise ConfigError("missing says what a missing claim costs, so it needs expected=NUMBER or expected=tag:NAME")
    if expected and not _is_tag(expected):
        number(spec, "expected", 1.0, "above 0 and up to 1,000,000", lambda count: 0 < count <= _MOST)
    gamma = number(spec, "gamma", GAMMA, "from 0 to 1,000,000", lambda claims: 0 <= claims <= _MOST)
    return Penalty(gamma, expected, number(spec, "missing", MISSING, "from 0 to 1", lambda share: 0 <= share <= 1))


def _is_tag(text: str) -> bool:
    return text.startswith("tag:") and len(text) > len("tag:")

"""Factories of the metrics that search for every claim: `factscore` and `safe`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from everyclaim.api.assembly import Parts
from everyclaim.api.knowledge import knowledge_source
from everyclaim.api.metrics import Expected, Gamma, Missing, Tagged, penalty_of, read_metric
from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.options import Opt, option_names
from everyclaim.core.protocols import ChatModel, KnowledgeSource
from everyclaim.core.spec import Spec
from everyclaim.decompose.decontextualize import LlmPreparer, Preparer, WordPreparer
from everyclaim.metrics.assembled import Assembled
from everyclaim.metrics.factscore import FActScore
from everyclaim.metrics.penalty import GAMMA
from everyclaim.metrics.safe import K as SAFE_K
from everyclaim.metrics.safe import OverSet, Pace, Safe
from everyclaim.retrieve.queries import LlmQueries, QueryWriter, WordQueries

_Few = Annotated[int, Range(1, 20)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where a metric that searches finds its knowledge, unless that is given beside it."""

    corpus: Annotated[str | None, Opt("a corpus file, or documents")] = None
    search: Annotated[str | None, Opt("a search engine: serper, tavily, brave, searxng:URL")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfFactscore(Sources):
    """What a spec may say of `factscore`."""

    k: Annotated[int, Range(1, 100), Opt("passages per claim")] = 5
    topic: Annotated[Literal["open", "question"] | Tagged, Opt("where the topic of an answer stands")] = "open"
    gamma: Gamma = GAMMA
    expected: Expected = None
    missing: Missing = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfSafe(Sources):
    """What a spec may say of `safe`."""

    k: Annotated[Annotated[int, Range(1, 100_000)] | OverSet, Opt("supported claims that are enough")] = SAFE_K
    queries: Annotated[_Few, Opt("searches per claim, at most")] = 5
    results: Annotated[_Few, Opt("passages per search")] = 3
    settle: Annotated[bool, Opt("stop searching once a claim is settled")] = True
    steps: Annotated[Literal["auto", "words", "model"], Opt("who prepares claims and writes queries")] = "auto"


def factscore(spec: Spec, parts: Parts) -> Assembled:
    """Build `FActScore`; see `OfFactscore`."""
    said = read_metric(spec, OfFactscore)
    metric = FActScore(said.k, "" if said.topic == "open" else said.topic, penalty_of(spec, said.gamma, said.missing))
    return _searching(metric, spec, parts)


def safe(spec: Spec, parts: Parts) -> Assembled:
    """Build `Safe`; see `OfSafe`."""
    said = read_metric(spec, OfSafe)
    pace = Pace(said.queries, said.results, settle=said.settle)
    chat = _model(said, parts)
    preparer: Preparer = LlmPreparer(chat) if chat else WordPreparer()
    writer: QueryWriter = LlmQueries(chat) if chat else WordQueries()
    return _searching(Safe(preparer, writer, pace, said.k), spec, parts)


def _source(spec: Spec, parts: Parts) -> KnowledgeSource:
    given = [spec.options[name] for name in option_names(Sources) if name in spec.options]
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


def _model(said: OfSafe, parts: Parts) -> ChatModel | None:
    """Return the chat model that prepares claims and writes queries."""
    if said.steps == "model" and parts.chat is None:
        raise ConfigError("steps=model needs a language model as judge or decomposer, as in 'openai:gpt-5-mini'")
    return None if said.steps == "words" else parts.chat

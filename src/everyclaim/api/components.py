"""Specs → components: where a metric gets its decomposer, its verifier and its strategy.

Ours are listed here by import path, so that naming one imports only that one. Third parties add theirs
through the entry-point groups `everyclaim.decomposers`, `everyclaim.verifiers` and `everyclaim.metrics`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, get_args

from everyclaim._version import __version__
from everyclaim.core.errors import ConfigError
from everyclaim.core.protocols import Decomposer, Metric, Verifier
from everyclaim.core.spec import Registry, Spec
from everyclaim.core.types import Provenance
from everyclaim.metrics.faithfulness import Empty
from everyclaim.verify.aligned import Policy

if TYPE_CHECKING:
    from everyclaim.api.judges import Chats

Strategy = Literal["joint", "each", "ranked"]

_LLM_JUDGE, _LLM_SPLIT = "everyclaim.api.judges:llm_verifier", "everyclaim.api.judges:llm_decomposer"
DECOMPOSERS = Registry(
    "decomposers",
    {"embedded": "everyclaim.decompose.embedded:from_spec", "openai": _LLM_SPLIT, "anthropic": _LLM_SPLIT},
)
VERIFIERS = Registry(
    "verifiers",
    {
        "lexical": "everyclaim.verify.lexical:from_spec",
        "openai": _LLM_JUDGE,
        "anthropic": _LLM_JUDGE,
        "cascade": "everyclaim.api.judges:cascade",
        "panel": "everyclaim.api.judges:panel",
    },
)
_TALKING = frozenset({"openai", "anthropic", "cascade", "panel"})  # factories that take the chat models to talk through
METRICS = Registry("metrics", {"faithfulness": "everyclaim.api.metrics:faithfulness"})


class Options(TypedDict, total=False):
    """What can be chosen about a score, by the same names in Python, on the command line and in settings."""

    metric: str
    judge: str | Verifier
    decomposer: str | Decomposer | None  # None: the judge's own model where it is one, else `embedded`
    chats: Chats  # how language models are reached: cache, retries, rates, budget
    strategy: Strategy
    strict: bool
    empty: Empty


@dataclass(frozen=True, slots=True)
class Parts:
    """What a metric is built from. A metric's factory takes its `Spec` and this."""

    decomposer: Decomposer
    verifier: Verifier
    provenance: Provenance
    policy: Policy
    empty: Empty


class MetricFactory(Protocol):
    """How a metric is registered."""

    def __call__(self, spec: Spec, parts: Parts) -> Metric:
        """Build the metric."""


def build_verifier(
    judge: str | Verifier = "lexical", strategy: str | None = None, chats: Chats | None = None
) -> Verifier:
    """Return the judge a spec names (or the judge given), inside the strategy that puts passages to it.

    Raises `ConfigError` for an unknown name, option or strategy.
    """
    verifier: Verifier = create_verifier(judge, chats) if isinstance(judge, str) else judge
    return _inside(verifier, strategy)


def create_verifier(judge: str | Spec, chats: Chats | None = None) -> Verifier:
    """Return the judge a spec names; judges that are language models talk through `chats`."""
    verifier: Verifier = _create(VERIFIERS, judge, chats)
    return verifier


def _inside(verifier: Verifier, strategy: str | None) -> Verifier:
    from everyclaim.retrieve import Bm25Ranker
    from everyclaim.verify import Each, Ranked

    chosen = _one_of("strategy", strategy or default_strategy(), get_args(Strategy))
    if chosen == "each":
        return Each(verifier, Bm25Ranker())
    if chosen == "ranked":
        return Ranked(verifier, Bm25Ranker())
    return verifier


def _create(registry: Registry, spec: str | Spec, chats: Chats | None) -> Any:
    parsed = Spec.parse(spec) if isinstance(spec, str) else spec
    return registry.create(parsed, chats) if parsed.name in _TALKING else registry.create(parsed)


def default_strategy() -> Strategy:
    """Return the strategy used when none is named: the embedded judges see all passages at once."""
    return "joint"


def default_decomposer(judge: str | Verifier) -> str:
    """Return the decomposer used when none is named: the judge's own model where it is one, else the embedded one."""
    spec = Spec.parse(judge) if isinstance(judge, str) else None
    if spec is None or spec.name not in {"openai", "anthropic"}:
        return "embedded"
    from everyclaim.api.judges import split_spec

    return str(split_spec(spec))


def build_decomposer(decomposer: str | Decomposer | None = None, chats: Chats | None = None) -> Decomposer:
    """Return the decomposer a spec names (None: `embedded`), or the one given; an unknown name is a `ConfigError`."""
    decomposer = "embedded" if decomposer is None else decomposer
    return _create(DECOMPOSERS, decomposer, chats) if isinstance(decomposer, str) else decomposer


def build_metric(options: Options) -> Metric:
    """Put a metric together. Raises `ConfigError` for an unknown name or a value that is not allowed."""
    spec = Spec.parse(options.get("metric", "faithfulness"))
    strategy = options.get("strategy") or default_strategy()
    judge = options.get("judge", "lexical")
    splitter = options.get("decomposer") or default_decomposer(judge)
    chats = options.get("chats") or _chats(judge, splitter)
    decomposer = build_decomposer(splitter, chats)
    alone = build_verifier(judge, "joint", chats)
    strict = options.get("strict", False)
    empty = _one_of("empty", options.get("empty", "exclude"), get_args(Empty))
    provenance = Provenance(
        metric=str(spec),
        decomposer=decomposer.spec,
        verifier=alone.spec,
        strategy=strategy,
        version=__version__,
        parameters={
            "policy": "strict" if strict else "lenient",
            "empty": empty,
            **getattr(decomposer, "parameters", {}),
            **getattr(alone, "parameters", {}),
        },
    )
    verifier = _inside(alone, strategy)
    parts = Parts(decomposer, verifier, provenance, Policy.strict() if strict else Policy(), empty)
    metric: Metric = METRICS.create(spec, parts)
    return metric


def _chats(*components: Any) -> Chats | None:
    """Return chat models to share, where a component talks to one; nothing is imported for those that do not."""
    if not any(isinstance(spec, str) and Spec.parse(spec).name in _TALKING for spec in components):
        return None
    from everyclaim.api.judges import Chats

    return Chats()


def _one_of(name: str, value: Any, allowed: tuple[Any, ...]) -> Any:
    if value not in allowed:
        raise ConfigError(f"unknown {name} {value!r}; choose one of: {', '.join(allowed)}")
    return value

"""Specs → components: where a metric gets its decomposer, its verifier and its strategy.

Ours are listed here by import path, so that naming one imports only that one. Third parties add theirs
through the entry-point groups `everyclaim.decomposers`, `everyclaim.verifiers` and `everyclaim.metrics`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypedDict, get_args

from everyclaim._version import __version__
from everyclaim.core.errors import ConfigError
from everyclaim.core.protocols import Decomposer, Metric, Verifier
from everyclaim.core.spec import Registry, Spec
from everyclaim.core.types import Provenance
from everyclaim.metrics.faithfulness import Empty
from everyclaim.verify.aligned import Policy

Strategy = Literal["joint", "each", "ranked"]

DECOMPOSERS = Registry("decomposers", {"embedded": "everyclaim.decompose.embedded:from_spec"})
VERIFIERS = Registry("verifiers", {"lexical": "everyclaim.verify.lexical:from_spec"})
METRICS = Registry("metrics", {"faithfulness": "everyclaim.api.metrics:faithfulness"})


class Options(TypedDict, total=False):
    """What can be chosen about a score, by the same names in Python, on the command line and in settings."""

    metric: str
    judge: str | Verifier
    decomposer: str | Decomposer
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


def build_verifier(judge: str | Verifier = "lexical", strategy: str | None = None) -> Verifier:
    """Return the judge a spec names (or the judge given), inside the strategy that puts passages to it.

    Raises `ConfigError` for an unknown name, option or strategy.
    """
    from everyclaim.retrieve import Bm25Ranker
    from everyclaim.verify import Each, Ranked

    verifier: Verifier = VERIFIERS.create(judge) if isinstance(judge, str) else judge
    chosen = _one_of("strategy", strategy or default_strategy(), get_args(Strategy))
    if chosen == "each":
        return Each(verifier, Bm25Ranker())
    if chosen == "ranked":
        return Ranked(verifier, Bm25Ranker())
    return verifier


def default_strategy() -> Strategy:
    """Return the strategy used when none is named: the embedded judges see all passages at once."""
    return "joint"


def build_decomposer(decomposer: str | Decomposer = "embedded") -> Decomposer:
    """Return the decomposer a spec names, or the one given. Raises `ConfigError` for an unknown name."""
    return DECOMPOSERS.create(decomposer) if isinstance(decomposer, str) else decomposer


def build_metric(options: Options) -> Metric:
    """Put a metric together. Raises `ConfigError` for an unknown name or a value that is not allowed."""
    spec = Spec.parse(options.get("metric", "faithfulness"))
    strategy = options.get("strategy") or default_strategy()
    decomposer = build_decomposer(options.get("decomposer", "embedded"))
    verifier = build_verifier(options.get("judge", "lexical"), strategy)
    strict = options.get("strict", False)
    empty = _one_of("empty", options.get("empty", "exclude"), get_args(Empty))
    provenance = Provenance(
        metric=str(spec),
        decomposer=decomposer.spec,
        verifier=verifier.spec,
        strategy=strategy,
        version=__version__,
        parameters=_parameters(strict=strict, empty=empty),
    )
    parts = Parts(decomposer, verifier, provenance, Policy.strict() if strict else Policy(), empty)
    metric: Metric = METRICS.create(spec, parts)
    return metric


def _parameters(*, strict: bool, empty: str) -> Mapping[str, str]:
    return {"policy": "strict" if strict else "lenient", "empty": empty}


def _one_of(name: str, value: Any, allowed: tuple[Any, ...]) -> Any:
    if value not in allowed:
        raise ConfigError(f"unknown {name} {value!r}; choose one of: {', '.join(allowed)}")
    return value

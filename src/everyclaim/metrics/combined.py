"""Several metrics as one number: a weighted mean that says what became of every part."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from everyclaim.core.errors import ConfigError, JudgeError
from everyclaim.core.gather import gather
from everyclaim.core.protocols import Scorer
from everyclaim.core.types import Outcome, Result, Sample
from everyclaim.metrics.context import MetricContext, Score

Missing = Literal["reweight", "fail"]
WEIGHTS: Mapping[str, float] = {"claim": 0.4, "nli": 0.3, "qa": 0.3}


class CombinedPart(NamedTuple):
    """One metric of several, and how much it counts."""

    metric: Scorer
    weight: float


@dataclass(frozen=True, slots=True)
class Combined:
    """Score a response by the weighted mean of several metrics; usually 0.4 claims, 0.3 NLI and 0.3 questions.

    Range [0, 1], best 1. Weights are divided by their sum; a part of weight 0 is not run. A part that failed or had
    nothing to check never counts as 0: with `missing="reweight"` the others share its weight, and a warning says so;
    with `missing="fail"` the sample has failed. When no part has a score the sample has failed if one of them did,
    else the outcome is theirs: `abstained` or `no_claims`. The components are the parts' scores, by name (None for a
    part that is missing); `details["parts"]` holds the outcome, reason, weights, components and details of each. The
    claims are those of the first part that has any. Raises `ConfigError` for weights that are negative, not finite,
    or all zero.

    >>> import everyclaim as ec
    >>> result = ec.score(
    ...     response="The Eiffel Tower was built in 1889. It is the tallest tower in the world.",
    ...     passages=["The Eiffel Tower was built in 1889 in Paris."],
    ...     metric="combined?claim=0.5&nli=0.5&qa=0",
    ... )
    >>> result.score, dict(result.components)
    (0.625, {'claim': 0.5, 'nli': 0.75})
    """

    parts: Mapping[str, CombinedPart]
    missing: Missing = "reweight"

    def __post_init__(self) -> None:
        weights = {name: part.weight for name, part in self.parts.items()}
        if bad := [name for name, weight in weights.items() if not math.isfinite(weight) or weight < 0]:
            raise ConfigError(f"weight {bad[0]}={weights[bad[0]]} of 'combined' must be a number, at least 0")
        if not math.fsum(weights.values()) > 0:
            raise ConfigError("the weights of 'combined' sum to 0; give at least one part a weight")

    async def score(self, sample: Sample, ctx: MetricContext) -> Score:
        """Run every part and average. Raises `JudgeError` when no part has a score because one of them failed."""
        del sample
        named = {name: part for name, part in self.parts.items() if part.weight > 0}
        found = await gather(ctx.part(part.metric) for part in named.values())
        results = dict(zip(named, found, strict=True))
        scored = {name: r.score for name, r in results.items() if r.outcome is Outcome.SCORED and r.score is not None}
        absent = {name: result for name, result in results.items() if name not in scored}
        if absent and (self.missing == "fail" or not scored):
            return self._without(results, absent)
        total = math.fsum(named[name].weight for name in scored)
        shares = {name: named[name].weight / total for name in scored}
        score = math.fsum(shares[name] * value for name, value in scored.items())
        return Score(
            min(max(score, 0.0), 1.0),  # sums of floats may be off by their last bit
            {name: scored.get(name) for name in named},
            self._trace(results, shares),
            (*_reweighted(absent, shares), *_warnings(results)),
            claims=next((result.claims for result in results.values() if result.claims), ()),
            skipped=next((result.skipped for result in results.values() if result.skipped), ()),
        )

    def _without(self, results: Mapping[str, Result], absent: Mapping[str, Result]) -> Score:
        """Conclude where a part is missing and the others cannot stand in for it."""
        failed = [f"{name}: {result.reason}" for name, result in absent.items() if result.outcome is Outcome.FAILED]
        outcomes = {result.outcome for result in results.values()}
        if failed or outcomes - {Outcome.ABSTAINED, Outcome.NO_CLAIMS}:
            why = "; ".join(failed or [f"{name}: {result.reason}" for name, result in absent.items()])
            raise JudgeError("missing_component", f"combined needs all of its parts, but {why}")
        first = next((r for r in results.values() if r.outcome is Outcome.ABSTAINED), next(iter(results.values())))
        abstained, details = first.outcome is Outcome.ABSTAINED, self._trace(results, {})
        return Score(None, details=details, reason=first.reason, skipped=first.skipped, abstained=abstained)

    def _trace(self, results: Mapping[str, Result], shares: Mapping[str, float]) -> dict[str, Any]:
        return {
            "missing": self.missing,
            "parts": {
                name: {
                    "outcome": str(result.outcome),
                    "score": result.score,
                    "reason": result.reason,
                    "weight": self.parts[name].weight,
                    "share": shares.get(name, 0.0),
                    "components": dict(result.components),
                    "details": dict(result.details),
                }
                for name, result in results.items()
            },
        }


def _reweighted(absent: Mapping[str, Result], shares: Mapping[str, float]) -> list[str]:
    if not absent:
        return []
    missing = ", ".join(f"{name} ({result.outcome}: {result.reason})" for name, result in absent.items())
    others = ", ".join(f"{name} {share:.3g}" for name, share in shares.items())
    return [f"no score for {missing}; weights used: {others}"]


def _warnings(results: Mapping[str, Result]) -> list[str]:
    """Return the parts' warnings, each once."""
    return list(dict.fromkeys(warning for result in results.values() for warning in result.warnings))

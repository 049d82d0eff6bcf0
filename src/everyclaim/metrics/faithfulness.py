"""Faithfulness of a response to its passages: by claims, by sentences (NLI), and as a weighted mean of several metrics.

Here, too, is the penalty for short and vague answers: an answer that says little has little to be wrong about.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from everyclaim.core.errors import ConfigError, JudgeError
from everyclaim.core.lifetime import gather
from everyclaim.core.protocols import Scorer
from everyclaim.core.types import Label, Outcome, Result, Sample, tag_values
from everyclaim.metrics.attribution import citation_counts
from everyclaim.metrics.context import MetricContext, Score, supported

GAMMA = 10.0
MISSING = 1 / 3


@dataclass(frozen=True, slots=True)
class Penalty:
    """What a short answer loses: by `gamma`, or by the number of claims that were `expected`, never both.

    `expected` is a number, or ``tag:NAME`` for the number in that tag of the sample; empty: `gamma` holds, and 0 is
    no penalty. `missing` is what a missing claim costs, as a share of what a wrong one among the expected costs.
    """

    gamma: float = GAMMA
    expected: str = ""
    missing: float = MISSING

    def of(self, sample: Sample, claims: int) -> float:
        """Return the factor, in (0, 1]. Raises `JudgeError` when the sample does not say what was expected."""
        if not self.expected:
            return length_penalty(claims, self.gamma)
        # With the usual third, 5 claims where 20 were expected give 0.75: such an answer loses as much as one with a
        # quarter of 20 wrong. With 1, a missing claim costs what a wrong one does: supported / expected.
        return 1 - self.missing * max(0.0, 1 - claims / _expected_claims(sample, self.expected))

    def applied(self, share: float, sample: Sample, claims: int) -> tuple[float, dict[str, float]]:
        """Return a share of claims × the factor, and its parts; the share alone, without parts, where none is asked."""
        if not self.expected and self.gamma <= 0:
            return share, {}
        factor = self.of(sample, claims)
        parts = {"faithfulness": share * factor, "faithfulness_unpenalised": share, "length_penalty": factor}
        return share * factor, parts


def length_penalty(claims: int, gamma: float = GAMMA) -> float:
    """Return exp(1 − γ/N) for N claims up to γ, 1 beyond: 1 at N = γ, 0.368 at N = γ/2. γ = 0 is no penalty."""
    return 1.0 if gamma <= 0 or claims > gamma else math.exp(1 - gamma / claims)


def _expected_claims(sample: Sample, expected: str) -> float:
    """Return how many claims the answer to a sample should have. Raises `JudgeError` when its tag does not say."""
    if not expected.startswith("tag:"):
        return float(expected)
    name = expected.removeprefix("tag:")
    if name not in sample.tags:
        raise JudgeError("no_expected_count", f"the sample has no tag {name!r} with the expected number of claims")
    given = ", ".join(tag_values(sample.tags[name]))
    try:
        number = float(given)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise JudgeError("no_expected_count", f"the tag {name!r} is {given!r}, not a number above 0")
    return number


@dataclass(frozen=True, slots=True)
class ClaimFaithfulness:
    """Score a response by supported claims / claims (Es et al., Ragas, arXiv 2309.15217).

    Range [0, 1], best 1. Unsupported and contradicted claims weigh the same here; their counts stay apart in the
    result. A response without claims has the outcome `no_claims`, one that declines to answer `abstained`; neither has
    a score unless `empty` asks for another tool's number. A `penalty` takes from answers with fewer claims than
    `expected`, or than `gamma`: vague ones; the components then hold the share without it.

    >>> import everyclaim as ec
    >>> result = ec.score(
    ...     response="The Eiffel Tower was built in 1889. It is the tallest tower in the world.",
    ...     passages=["The Eiffel Tower was built in 1889 in Paris."],
    ... )
    >>> result.score
    0.5
    """

    penalty: Penalty = field(default_factory=lambda: Penalty(gamma=0))

    async def score(self, sample: Sample, ctx: MetricContext) -> Score:
        """Decompose, verify, and divide."""
        parts = await ctx.claims(sample.response)
        claims = await ctx.judge(parts.claims)
        share = supported(claims) / len(claims)
        value, components = self.penalty.applied(share, sample, len(claims))
        counts = await citation_counts(claims, sample, ctx)
        details = {"citation_counts": counts} if counts else {}
        return Score(value, components, details, claims=claims, probability=ctx.answer_probability(claims))


WORTH: Mapping[Label, float] = {Label.SUPPORTED: 1.0, Label.UNSUPPORTED: 0.5, Label.CONTRADICTED: 0.0}
_NAMES = {Label.SUPPORTED: "entailed", Label.UNSUPPORTED: "neutral", Label.CONTRADICTED: "contradicted"}


@dataclass(frozen=True, slots=True)
class NliFaithfulness:
    """Score a response by the mean over its sentences of 1 (entailed), 0.5 (neutral) and 0 (contradicted).

    Range [0, 1], best 1; 0.5 is what a response gets that has nothing to do with the passages. The components
    `entailed`, `neutral` and `contradicted` are the shares of the sentences and sum to 1. Sentences are the claims
    of the result; questions, greetings and other talk are skipped. A response without statements has the outcome
    `no_claims`, one that declines to answer `abstained`; neither has a score unless `empty` asks for another tool's
    number. Entailment of a whole text by its sentences: Laban et al., SummaC, arXiv 2111.09525.

    >>> import everyclaim as ec
    >>> result = ec.score(
    ...     response="The Eiffel Tower was built in 1889. It is the tallest tower in the world.",
    ...     passages=["The Eiffel Tower was built in 1889 in Paris."],
    ...     metric="nli",
    ... )
    >>> result.score
    0.75
    """

    async def score(self, sample: Sample, ctx: MetricContext) -> Score:
        """Judge every sentence and average."""
        parts = await ctx.claims(sample.response)
        claims = await ctx.judge(parts.claims)
        labels = [claim.verdict.label for claim in claims]
        shares = {name: labels.count(label) / len(labels) for label, name in _NAMES.items()}
        return Score(sum(WORTH[label] for label in labels) / len(labels), shares)


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
        missing = ", ".join(f"{name} ({result.outcome}: {result.reason})" for name, result in absent.items())
        others = ", ".join(f"{name} {share:.3g}" for name, share in shares.items())
        told = [f"no score for {missing}; weights used: {others}"] if absent else []
        return Score(
            min(max(score, 0.0), 1.0),  # sums of floats may be off by their last bit
            {name: scored.get(name) for name in named},
            self._trace(results, shares),
            tuple(dict.fromkeys((*told, *(text for result in results.values() for text in result.warnings)))),
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

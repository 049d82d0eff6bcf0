"""Faithfulness: the share of the response's claims that the passages support."""

from __future__ import annotations

from dataclasses import dataclass, field

from everyclaim.core.types import Sample
from everyclaim.metrics.attribution import citation_counts
from everyclaim.metrics.context import MetricContext, Score, supported
from everyclaim.metrics.penalty import Penalty


@dataclass(frozen=True, slots=True)
class ClaimFaithfulness:
    """Score a response by supported claims / claims (Es et al., Ragas, arXiv 2309.15217).

    Range [0, 1], best 1. Unsupported and contradicted claims weigh the same here; their counts stay
    apart in the result. A response without claims has the outcome `no_claims`, one that declines to
    answer `abstained`; neither has a score unless `empty` asks for another tool's number. A `penalty`
    takes from answers with fewer claims than `expected`, or than `gamma`: vague ones; the components
    then hold the share without it.

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
        value, components = self.penalty.applied("faithfulness", share, sample, len(claims))
        counts = await citation_counts(claims, sample, ctx)
        details = {"citation_counts": counts} if counts else {}
        return Score(value, components, details, claims=claims, probability=ctx.answer_probability(claims))

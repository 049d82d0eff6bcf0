"""NLI faithfulness: how far the passages entail the response, sentence by sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from everyclaim.core.types import JudgedClaim, Label, Sample
from everyclaim.metrics.context import MetricContext, Score

WORTH: Mapping[Label, float] = {Label.SUPPORTED: 1.0, Label.UNSUPPORTED: 0.5, Label.CONTRADICTED: 0.0}
_NAMES: Mapping[Label, str] = {
    Label.SUPPORTED: "entailed",
    Label.UNSUPPORTED: "neutral",
    Label.CONTRADICTED: "contradicted",
}


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
        return Score(sum(WORTH[claim.verdict.label] for claim in claims) / len(claims), shares(claims))


def shares(claims: Sequence[JudgedClaim]) -> dict[str, float | None]:
    """Return the share of the sentences (at least one) that each label has."""
    labels = [claim.verdict.label for claim in claims]
    return {name: labels.count(label) / len(labels) for label, name in _NAMES.items()}

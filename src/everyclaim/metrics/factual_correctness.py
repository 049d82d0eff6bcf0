"""Factual correctness: response and reference compared claim by claim, in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from everyclaim.core.types import Sample
from everyclaim.metrics.context import MetricContext, Score, supported
from everyclaim.metrics.reference import compared, f_beta

Mode = Literal["f1", "precision", "recall"]
Compat = Literal["", "ragas"]


@dataclass(frozen=True, slots=True)
class FactualCorrectnessMetric:
    """Score a response against a reference answer by precision, recall or F-beta over claims.

    Precision: response claims that the reference supports / response claims. Recall: *reference* claims that
    the response supports / reference claims. The two count different things and are never mixed; F-beta is their
    weighted harmonic mean (`beta` above 1 favours recall). Range [0, 1], best 1. `mode` says which is the score.

    True and false positives are the result's `claims`, supported or not; false negatives are the
    `reference_claims` that are not supported; `details` counts them. Passages play no part. A response without
    claims is `no_claims`, and so is a reference without, over which recall is undefined; a sample without a
    reference is `failed: no_reference`.

    With ``compat="ragas"`` recall is the number of the tool of that name: true positives / (true positives + false
    negatives), which adds response claims to reference claims.

    >>> import everyclaim as ec
    >>> result = ec.score(
    ...     response="The Eiffel Tower is located in Paris.",
    ...     reference="The Eiffel Tower is located in Paris. It has a height of 1000ft.",
    ...     metric="factual_correctness",
    ... )
    >>> round(result.score, 2), dict(result.components)["recall"]
    (0.67, 0.5)
    """

    mode: Mode = "f1"
    beta: float = 1.0
    compat: Compat = ""

    async def score(self, sample: Sample, ctx: MetricContext) -> Score:
        """Decompose both, verify each against the other, and count."""
        one_way = self.mode == "precision"
        claims, reference_claims = await compared(sample, ctx, "factual_correctness", one_way=one_way)
        true, covered = supported(claims), supported(reference_claims)
        missed = len(reference_claims) - covered
        counts = {"true_positives": true, "false_positives": len(claims) - true}
        components = {"precision": true / len(claims)}
        if not one_way:
            counts["false_negatives"] = missed
            components["recall"] = self._recall(true, covered, missed)
            components[f"f{self.beta:g}"] = f_beta(components["precision"], components["recall"], self.beta)
        value = components[f"f{self.beta:g}" if self.mode == "f1" else self.mode]
        return Score(value, components, counts, claims=claims, reference_claims=reference_claims)

    def _recall(self, true: int, covered: int, missed: int) -> float:
        if self.compat == "ragas":
            return true / (true + missed) if true + missed else 0.0
        return covered / (covered + missed)

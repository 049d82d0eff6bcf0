"""Response and reference answer compared claim by claim: factual correctness, and RAGChecker's diagnosis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Literal

from everyclaim.core.errors import JudgeError
from everyclaim.core.lifetime import gather
from everyclaim.core.types import REFERENCE, RESPONSE, Claim, JudgedClaim, Label, Passage, Sample
from everyclaim.metrics.context import MetricContext, Score, supported

Both = tuple[tuple[Claim, ...], tuple[Claim, ...]]


async def both_decomposed(sample: Sample, ctx: MetricContext, metric: str, *, one_way: bool = False) -> Both:
    """Return the claims of the response and those of its reference, with the ids `r1`, `r2`, ...

    With `one_way` the reference stays whole, without claims. Raises `JudgeError` (`no_reference`) for a sample without
    a reference: it can never be scored.
    """
    if sample.reference is None or not sample.reference.strip():
        why = f"{metric} compares the response with a reference answer, but this sample has none"
        raise JudgeError("no_reference", why)
    texts = [sample.response] if one_way else [sample.response, sample.reference]
    parts, *others = await gather(ctx.claims(text) for text in texts)
    given = [claim for other in others for claim in other.claims]
    return parts.claims, tuple(replace(claim, id=f"r{number}") for number, claim in enumerate(given, start=1))


async def compared(sample: Sample, ctx: MetricContext, *, one_way: bool = False) -> list[tuple[JudgedClaim, ...]]:
    """Return the claims of the response judged by the reference, and those of the reference by the response."""
    claims, reference_claims = await both_decomposed(sample, ctx, "factual_correctness", one_way=one_way)
    reference, response = Passage(REFERENCE, sample.reference or ""), Passage(RESPONSE, sample.response)
    return await gather([ctx.judge(claims, [reference]), ctx.judge(reference_claims, [response])])


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """Return the weighted harmonic mean; `beta` above 1 favours recall. 0 when both are 0."""
    weighted = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / weighted if weighted else 0.0


Mode = Literal["f1", "precision", "recall"]
Compat = Literal["", "ragas"]


@dataclass(frozen=True, slots=True)
class FactualCorrectnessMetric:
    """Score a response against a reference answer by precision, recall or F-beta over claims.

    Precision: response claims that the reference supports / response claims. Recall: *reference* claims that
    the response supports / reference claims. The two count different things and are never mixed; F-beta is their
    weighted harmonic mean (`beta` above 1 favours recall). Range [0, 1], best 1. `mode` says which is the score.

    True and false positives are the result's `claims`, supported or not; false negatives are the `reference_claims`
    that are not supported; `details` counts them. Passages play no part. A response without claims is `no_claims`, and
    so is a reference without, over which recall is undefined; a sample without a reference is `failed: no_reference`.

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
        claims, reference_claims = await compared(sample, ctx, one_way=one_way)
        true, covered = supported(claims), supported(reference_claims)
        missed = len(reference_claims) - covered
        counts = {"true_positives": true, "false_positives": len(claims) - true}
        components = {"precision": true / len(claims)}
        if not one_way:
            counts["false_negatives"] = missed
            found = true if self.compat == "ragas" else covered
            components["recall"] = found / (found + missed) if found + missed else 0.0
            components[f"f{self.beta:g}"] = f_beta(components["precision"], components["recall"], self.beta)
        value = components[f"f{self.beta:g}" if self.mode == "f1" else self.mode]
        return Score(value, components, counts, claims=claims, reference_claims=reference_claims)


NO_PASSAGES = "no passages: components that need them are undefined"
NOTHING_RETRIEVED = "no passage contains a claim of the reference: context utilization is undefined"


@dataclass(frozen=True, slots=True)
class RagChecker:
    """Diagnose retriever and generator from claim × passage verdicts (Ru et al., RAGChecker, arXiv 2408.08067).

    The score is F1 of the response against the reference. Every metric of the paper is a component, in [0, 1]:

    - overall, best 1: `precision`, `recall`, `f1`;
    - retriever, best 1: `claim_recall`, `context_precision`;
    - generator, best 1: `context_utilization`, `faithfulness`; best 0: `hallucination`, `noise_sensitivity_relevant`,
      `noise_sensitivity_irrelevant`; neither: `self_knowledge`.

    Each passage is judged alone, as in the paper, whatever the strategy: evidence that is spread over passages
    supports nothing here. Without passages all but the overall metrics are None. Response or reference without
    claims: `no_claims`; no reference: `failed`. `details`: `passages`, `relevant` (ids), and per claim id of
    `response` and `reference` one label per passage.

    >>> import everyclaim as ec
    >>> result = ec.score(
    ...     response="The Eiffel Tower is located in Paris.",
    ...     reference="The Eiffel Tower is located in Paris. It has a height of 1000ft.",
    ...     passages=["The Eiffel Tower is located in Paris.", "Tea is made from leaves."],
    ...     metric="ragchecker",
    ... )
    >>> result.components["claim_recall"], result.components["context_precision"], result.components["faithfulness"]
    (0.5, 0.5, 1.0)
    """

    async def score(self, sample: Sample, ctx: MetricContext) -> Score:
        """Decompose both, fill the matrix, and count."""
        of_response, of_reference = await both_decomposed(sample, ctx, "ragchecker")
        passages = sample.passages if any(passage.text.strip() for passage in sample.passages) else ()
        reference, response = Passage(REFERENCE, sample.reference or ""), Passage(RESPONSE, sample.response)
        claims, reference_claims, *alone = await gather(
            ctx.judge(of, [text], labels_only=labels_only)
            for of, text, labels_only in (
                (of_response, reference, False),
                (of_reference, response, False),
                *((of, passage, True) for of in (of_response, of_reference) for passage in passages),
            )
        )
        labels = [[claim.verdict.label for claim in row] for row in alone]
        of_claims, of_references = labels[: len(passages)], labels[len(passages) :]
        is_relevant = [Label.SUPPORTED in row for row in of_references]
        components = _diagnosed(claims, reference_claims, of_claims, of_references, is_relevant)
        ids = [passage.id for passage in passages]
        details = {
            "passages": ids,
            "relevant": list(compress(ids, is_relevant)),
            "response": _by_claim(claims, of_claims),
            "reference": _by_claim(reference_claims, of_references),
        }
        undefined = NO_PASSAGES if not passages else NOTHING_RETRIEVED
        told = [undefined] if None in components.values() else []
        return Score(components["f1"], components, details, told, claims=claims, reference_claims=reference_claims)


_Labels = Sequence[Sequence[Label]]  # a row per passage, a label per claim


def _diagnosed(
    claims: Sequence[JudgedClaim],
    references: Sequence[JudgedClaim],
    of_claims: _Labels,
    of_references: _Labels,
    is_relevant: Sequence[bool],
) -> dict[str, float | None]:
    """Reduce verdicts, of each claim by the other text and by every passage, to the metrics of the paper.

    Of the response's claims, each is right (the reference supports it) or wrong, and found in a relevant passage
    (one that holds a claim of the reference), only in others, or in none.
    """
    right = [claim.verdict.label is Label.SUPPORTED for claim in claims]
    used = [claim.verdict.label is Label.SUPPORTED for claim in references]
    precision, recall = share(right), share(used)
    overall: dict[str, float | None] = {"precision": precision, "recall": recall, "f1": f_beta(precision, recall)}
    if not is_relevant:
        return overall | dict.fromkeys(_OF_PASSAGES)
    retrieved = [Label.SUPPORTED in column for column in zip(*of_references, strict=True)]
    grounded = [Label.SUPPORTED in column for column in zip(*of_claims, strict=True)]
    in_relevant = [Label.SUPPORTED in compress(column, is_relevant) for column in zip(*of_claims, strict=True)]
    facts = list(zip(right, grounded, in_relevant, strict=True))
    both = list(compress(used, retrieved))
    return overall | {
        "claim_recall": share(retrieved),
        "context_precision": share(is_relevant),
        "context_utilization": share(both) if both else None,
        "faithfulness": share(grounded),
        "hallucination": share([not is_right and not found for is_right, found, _ in facts]),
        "self_knowledge": share([is_right and not found for is_right, found, _ in facts]),
        "noise_sensitivity_relevant": share([not is_right and relevant for is_right, _, relevant in facts]),
        "noise_sensitivity_irrelevant": share(
            [not is_right and found and not relevant for is_right, found, relevant in facts]
        ),
    }


_OF_PASSAGES = (
    "claim_recall", "context_precision", "context_utilization", "faithfulness", "hallucination", "self_knowledge",
    "noise_sensitivity_relevant", "noise_sensitivity_irrelevant",
)  # fmt: skip


def share(values: Sequence[bool]) -> float:
    """Return how many of these (at least one) hold, as a share."""
    return sum(values) / len(values)


def _by_claim(claims: Sequence[JudgedClaim], rows: Sequence[Sequence[Label]]) -> Mapping[str, list[str]]:
    return {claim.id: [row[place].value for row in rows] for place, claim in enumerate(claims)}

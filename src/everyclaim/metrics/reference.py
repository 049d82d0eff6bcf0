"""What the metrics that compare a response with a reference answer share."""

from __future__ import annotations

from dataclasses import replace

from everyclaim.core.errors import JudgeError
from everyclaim.core.gather import gather
from everyclaim.core.types import REFERENCE, RESPONSE, Claim, JudgedClaim, Passage, Sample
from everyclaim.metrics.context import MetricContext

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


async def compared(
    sample: Sample, ctx: MetricContext, metric: str, *, one_way: bool = False
) -> list[tuple[JudgedClaim, ...]]:
    """Return the claims of the response judged by the reference, and those of the reference by the response."""
    claims, reference_claims = await both_decomposed(sample, ctx, metric, one_way=one_way)
    reference, response = Passage(REFERENCE, sample.reference or ""), Passage(RESPONSE, sample.response)
    return await gather([ctx.judge(claims, [reference]), ctx.judge(reference_claims, [response])])


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """Return the weighted harmonic mean; `beta` above 1 favours recall. 0 when both are 0."""
    weighted = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / weighted if weighted else 0.0

"""What the metrics that compare a response with a reference answer share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from everyclaim.core.gather import gather
from everyclaim.core.protocols import Decomposer, Verifier
from everyclaim.core.types import Claim, JudgedClaim, Label, Outcome, Passage, Provenance, Result, Sample, Skipped
from everyclaim.decompose.checked import decomposed
from everyclaim.metrics.faithfulness import Empty, unscored
from everyclaim.verify import Policy, judged


class Both(NamedTuple):
    """The claims of a response, those of its reference (ids `r1`, `r2`, ...), and what of the response is none."""

    response: tuple[Claim, ...]
    reference: tuple[Claim, ...]
    skipped: tuple[Skipped, ...]


async def both_decomposed(
    decomposer: Decomposer, sample: Sample, provenance: Provenance, empty: Empty, *, one_way: bool = False
) -> Both | Result:
    """Decompose response and reference, or return the result that says why they cannot be compared.

    With `one_way` the reference stays whole, without claims. A sample without a reference is `failed`: it can
    never be scored. A response or a reference without claims leaves nothing to compare: `no_claims` (or `abstained`).
    """
    if sample.reference is None or not sample.reference.strip():
        name = provenance.metric.partition("?")[0]
        why = f"no_reference: {name} compares the response with a reference answer, and this sample has none"
        return Result.of(sample, provenance, Outcome.FAILED, reason=why)
    texts = [sample.response] if one_way else [sample.response, sample.reference]
    parts, *others = await gather(decomposed(decomposer, text, question=sample.question) for text in texts)
    if not parts.claims:
        return unscored(sample, parts, provenance, empty)
    given = [claim for other in others for claim in other.claims]
    if not given and not one_way:
        nothing = replace(parts, abstained=False)
        return unscored(sample, nothing, provenance, empty, reason="the reference holds no checkable claim")
    reference = tuple(replace(claim, id=f"r{number}") for number, claim in enumerate(given, start=1))
    return Both(parts.claims, reference, parts.skipped)


async def against(
    verifier: Verifier, claims: Sequence[Claim], passage: Passage, sample: Sample, policy: Policy
) -> tuple[JudgedClaim, ...]:
    """Judge claims against one text alone. Raises `JudgeError` when one has no usable verdict."""
    return await judged(verifier, claims, [passage], question=sample.question, policy=policy)


def supported(claims: Sequence[JudgedClaim]) -> int:
    """Count the claims that are supported."""
    return sum(claim.verdict.label is Label.SUPPORTED for claim in claims)


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """Return the weighted harmonic mean; `beta` above 1 favours recall. 0 when both are 0."""
    weighted = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / weighted if weighted else 0.0

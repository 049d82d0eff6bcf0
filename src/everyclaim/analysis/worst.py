"""The answers to look at first."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from everyclaim.core.protocols import Kept
from everyclaim.core.types import Label, Outcome, Result


def worst(records: Iterable[Kept], k: int) -> list[Kept]:
    """Return the `k` worst scored answers: by score, then by most contradicted claims, then by place in the input.

    Answers with the best score whose every claim is supported, without conflict, are never among them. Holds `k`
    records at a time. All records are read, whatever `k` is: the caller may be watching them go by.
    """
    findings = (record for record in records if has_finding(record.result))
    found = heapq.nsmallest(k, findings, key=badness)
    for _ in findings:  # nsmallest reads nothing when nothing is wanted
        pass
    return found


def has_finding(result: Result) -> bool:
    """Whether a scored answer is worth a look: its score is not the best, or a claim fails or is in conflict."""
    if result.outcome is not Outcome.SCORED:
        return False
    if result.quality is not None and result.quality < 1:  # also of a metric that has no claims
        return True
    return any(
        claim.verdict.label is not Label.SUPPORTED or claim.verdict.conflict
        for claim in (*result.claims, *result.reference_claims)
    )


def badness(record: Kept) -> tuple[float, int, int]:
    """Return what scored answers are ordered by, the worst lowest."""
    quality = record.result.quality
    return 1.0 if quality is None else quality, -record.result.count(Label.CONTRADICTED), record.position

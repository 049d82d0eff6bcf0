"""The answers to look at first."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from everyclaim.core.types import Label, Outcome, Result


def worst(results: Iterable[Result], k: int) -> list[Result]:
    """Return the `k` worst scored answers: lowest score first, then most contradicted claims, then input order.

    Answers whose every claim is supported are never among them. Holds `k` results at a time.
    """
    failing = (result for result in results if result.outcome is Outcome.SCORED and _has_finding(result))
    return heapq.nsmallest(k, failing, key=_badness)


def _has_finding(result: Result) -> bool:
    return any(claim.verdict.label is not Label.SUPPORTED or claim.verdict.conflict for claim in result.claims)


def _badness(result: Result) -> tuple[float, int]:
    return (1.0 if result.score is None else result.score, -result.count(Label.CONTRADICTED))

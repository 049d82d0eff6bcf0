"""Upper bounds for error rates: exact for counts, with an effective number where things come in clusters."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from everyclaim.stats.clusters import standard_error


def chance_of_at_most(events: int, n: int, rate: float) -> float:
    """Return the probability that `n` independent tries at this rate give `events` or fewer."""
    if not 0 <= events <= n or not 0 <= rate <= 1:
        raise ValueError(f"needs 0 <= events <= n and a rate within [0, 1], got {events}, {n}, {rate:g}")
    if events == n or rate == 0:
        return 1.0
    if rate == 1:
        return 0.0
    counts = np.arange(1, events + 1)
    steps = np.log((n - counts + 1) / counts) + math.log(rate / (1 - rate))
    logs = n * math.log1p(-rate) + np.concatenate([[0.0], np.cumsum(steps)])
    return min(1.0, math.fsum(np.exp(logs)))


def upper_bound(events: int, n: int, confidence: float = 0.95) -> float:
    """Return the exact one-sided upper bound of a rate (Clopper and Pearson); 1 when `n` is 0 or every try is an event.

    The true rate lies above it in at most 1 − `confidence` of all samples.
    """
    if events == n:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if chance_of_at_most(events, n, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def fewest_without_error(rate: float, chance: float) -> int:
    """Return how many tries without an error show, but for this `chance`, that the true rate is at most `rate`."""
    return math.ceil(math.log(chance) / math.log1p(-rate))


def effective_counts(events: ArrayLike, clusters: ArrayLike) -> tuple[int, int]:
    """Return events and tries that are worth, as independent ones, what these are in their clusters.

    `events` has a 0 or 1 per try. Never more tries than there are. Where no try is an event, or every one,
    how alike the tries of a cluster are cannot be seen, and each cluster counts as one.
    """
    each = np.asarray(events, dtype=float)
    _, codes = np.unique(np.asarray(clusters), return_inverse=True)
    n, total = len(each), math.fsum(each)
    if not n:
        return 0, 0
    tops, bottoms = np.bincount(codes, weights=each), np.bincount(codes).astype(float)
    if total in (0, n):
        return (0, len(tops)) if not total else (len(tops), len(tops))
    rate, error = total / n, standard_error(tops, bottoms)
    worth = n if error == 0 else min(n, rate * (1 - rate) / error**2)
    tries = max(1, math.floor(worth))
    return min(tries, math.ceil(rate * tries - 1e-9)), tries

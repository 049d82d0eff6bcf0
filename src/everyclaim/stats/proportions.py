"""Quantiles, and intervals and bounds of proportions: of independent tries, in clusters, of the difference of two.

Also what so many samples can show, and how many labels a rate needs: the normal approximations, two-sided.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from everyclaim.stats.types import Interval, count, share, standard_error

_MOST = 10**9


def normal_quantile(level: float) -> float:
    """Return z such that a standard normal lies within ±z with probability `level`."""
    return NormalDist().inv_cdf(0.5 + share(level, "level") / 2)


def normal_p_value(z: float) -> float:
    """Return the probability that a standard normal lies at least as far from 0 as z, on either side."""
    return math.erfc(abs(z) / math.sqrt(2))


def student_quantile(level: float, freedom: int) -> float:
    """Return t such that a Student variable with `freedom` ≥ 1 degrees lies within ±t with probability `level`."""
    if freedom > 200:
        # The first terms of the expansion around the normal quantile; off by less than 1e-6 here.
        z = normal_quantile(level)
        return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    low, high = 0.0, math.pi / 2
    for _ in range(80):
        middle = (low + high) / 2
        if _within_angle(middle, freedom) < level:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def _within_angle(angle: float, freedom: int) -> float:
    """Probability that |T| < √freedom·tan(angle), by the finite series for whole degrees of freedom."""
    sine, cosine = math.sin(angle), math.cos(angle)
    if freedom % 2 == 0:
        term = total = 1.0
        for k in range(2, freedom, 2):
            term *= (k - 1) / k * cosine**2
            total += term
        return sine * total
    term = cosine
    total = term if freedom > 1 else 0.0
    for k in range(3, freedom, 2):
        term *= (k - 1) / k * cosine**2
        total += term
    return 2 / math.pi * (angle + sine * total)


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


def effective_counts(events: ArrayLike, clusters: ArrayLike, weights: ArrayLike | None = None) -> tuple[int, int]:
    """Return events and tries that are worth, as independent ones, what these are in their clusters.

    `events` has a 0 or 1 per try. Never more tries than there are. Where no try is an event, or every one,
    how alike the tries of a cluster are cannot be seen, and each cluster counts as one. `weights` are what tries stand
    for.
    """
    each = np.asarray(events, dtype=float)
    _, codes = np.unique(np.asarray(clusters), return_inverse=True)
    n, total = len(each), math.fsum(each)
    if not n:
        return 0, 0
    weight = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    tops, bottoms = np.bincount(codes, weights=each * weight), np.bincount(codes, weights=weight)
    if total in (0, n):
        return (0, len(tops)) if not total else (len(tops), len(tops))
    rate, error = float(np.average(each, weights=weight)), standard_error(tops, bottoms)
    worth = n if error == 0 else min(n, rate * (1 - rate) / error**2)
    tries = max(1, math.floor(worth))
    return min(tries, math.ceil(rate * tries - 1e-9)), tries


def wilson(successes: float, n: float, level: float = 0.95) -> Interval:
    """Return Wilson's score interval for a proportion (Wilson 1927); [0, 1] when `n` is 0.

    Whole numbers are not needed: `n` may be an effective sample size. Raises ValueError unless 0 ≤ successes ≤ n.
    """
    if not 0 <= successes <= n < math.inf:
        raise ValueError(f"successes must be between 0 and n={n}, not {successes}")
    if n == 0:
        return Interval(0.0, 1.0, level)
    z = normal_quantile(level)
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Interval(low, high, level)


def mover_difference(first: tuple[float, Interval], second: tuple[float, Interval]) -> Interval:
    """Return the interval of second − first from the value and the interval of each, when they are independent.

    The method of variance estimates recovery (Zou and Donner 2008): each side lends the distance between its value
    and the end of its interval that matters, squares are added. Clipped to [−1, 1], so for rates.
    """
    (p, a), (q, b) = first, second
    value = q - p
    low = value - math.hypot(q - b.low, a.high - p)
    high = value + math.hypot(b.high - q, p - a.low)
    return Interval(max(-1.0, low), min(1.0, high), a.level)


def detectable_paired_difference(pairs: int, spread: float, power: float = 0.8, level: float = 0.95) -> float:
    """Return the smallest mean difference that so many independent pairs show with this power.

    `spread` is the standard deviation of differences.
    """
    wanted = normal_quantile(level) + NormalDist().inv_cdf(share(power, "power"))
    return wanted * count(spread, "spread") / math.sqrt(count(pairs, "pairs", 1))


def labels_for_half_width(rate: float, half_width: float, level: float = 0.95) -> int:
    """Return how many labels give Wilson's interval of a rate this half width or less."""
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must be between 0 and 1, not {rate:g}")
    share(half_width, "half_width")
    return 1 + bisect_left(range(1, _MOST), -2 * half_width, key=lambda n: -wilson(rate * n, n, level).width)

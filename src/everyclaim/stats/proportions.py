"""Intervals for proportions of independent tries, and for the difference of two."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from everyclaim.stats.clusters import cluster_sums, residual_covariance
from everyclaim.stats.quantiles import normal_quantile, student_quantile
from everyclaim.stats.types import Inference, Interval, column, count, few_clusters, lopsided


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


def clustered_normal(values: ArrayLike, clusters: ArrayLike | None = None, level: float = 0.95) -> Inference:
    """Return the mean of any finite values, ± Student's t · the cluster-robust standard error (arXiv 2411.00640).

    t has clusters − 1 degrees of freedom and the variance the factor clusters/(clusters − 1), which is what keeps
    the promise with some tens of clusters. Not clipped; for rates near 0 or 1 `intervals` chooses better.
    """
    row = column(values, "values")
    table = cluster_sums([row, np.ones_like(row)], clusters)
    value, groups = float(row.mean()), len(table)
    if groups < 2:
        nothing = ("a single cluster gives no interval",)
        everything = Interval(-math.inf, math.inf, level)
        return Inference(value, everything, math.inf, len(row), groups, "clustered_normal", nothing)
    error = math.sqrt(residual_covariance(table)[0, 0])
    half = student_quantile(level, groups - 1) * error
    told = (*few_clusters(groups), *lopsided(table[:, 0] - value * table[:, 1]))
    interval = Interval(value - half, value + half, level)
    return Inference(value, interval, error, len(row), groups, "clustered_normal", told)


def newcombe_difference(successes: tuple[float, float], tries: tuple[float, float], level: float = 0.95) -> Inference:
    """Return the difference of two independent proportions, second − first, with Newcombe's hybrid score interval.

    Newcombe 1998, method 10: Wilson's interval of each, joined by `mover_difference`. Within [−1, 1].
    Raises ValueError for counts that cannot be, and for a proportion of nothing.
    """
    first, second = (
        Inference(
            s / count(n, "n", 1), wilson(s, n, level), math.sqrt(s / n * (1 - s / n) / n), round(n), round(n), "wilson"
        )
        for s, n in zip(successes, tries, strict=True)
    )
    value = second.value - first.value
    interval = mover_difference((first.value, first.interval), (second.value, second.interval))
    n, error = first.n + second.n, math.hypot(first.error, second.error)
    return Inference(value, interval, error, n, n, "newcombe")


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

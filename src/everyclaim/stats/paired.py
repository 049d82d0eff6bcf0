"""Two measurements of the same samples: the difference, its interval, and whether it could be chance.

Where many differences are looked at, p-values are adjusted, so that false findings stay as rare as promised.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from everyclaim.stats.intervals import FEW_EVENTS, MANY_CLUSTERS, Estimate
from everyclaim.stats.proportions import mover_difference, normal_p_value, normal_quantile, student_quantile, wilson
from everyclaim.stats.types import (
    Floats,
    Inference,
    Interval,
    Sampling,
    cluster_codes,
    cluster_sums,
    column,
    few_clusters,
    same_length,
    sum_by,
)

Rate = tuple[ArrayLike, ArrayLike]
"""A numerator and a denominator per sample, 0 ≤ numerator ≤ denominator; the rate is sum/sum."""
FLIPS = 10_000
FEW_CHANGED = 20  # clusters: fewer are warned of
_LOPSIDED = 0.3  # skewness of a mean, above which its normal interval misses on one side
FEW_CHANGES = 50  # clusters that changed, of many: fewer are too lopsided for a normal interval
_EXACT = 14  # so many differences and fewer have all their signs tried
_FLIPS_AT_ONCE = 2_000_000
_SAME = 1e-9  # a difference that is rounding only


def holm(p_values: ArrayLike) -> Floats:
    """Return adjusted p-values, in the order given, that bound the chance of any false finding (Holm 1979).

    Reject where the adjusted value is at most the level; whatever the tests' dependence. Raises ValueError for an empty
    row and for what is not a probability.
    """
    p = column(p_values, "p_values", 0, 1)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted


def paired_mean_difference(
    before: ArrayLike, after: ArrayLike, clusters: ArrayLike | None = None, level: float = 0.95
) -> Inference:
    """Return the mean of after − before over samples with a score within [0, 1] each time; see `paired_difference`."""
    first, second = column(before, "before", 0, 1), column(after, "after", 0, 1)
    same_length(before=first, after=second)
    ones = np.ones_like(first)
    return paired_difference((first, ones), (second, ones), clusters, level)


def paired_difference(before: Rate, after: Rate, clusters: ArrayLike | None = None, level: float = 0.95) -> Inference:
    """Return the difference of two rates over the same samples, after − before, within [−1, 1].

    Row i of both is one sample; `clusters` names what goes together (default: each sample alone). The interval is
    the difference ± Student's t · the cluster-robust standard error of the linearised ratios (arXiv 2411.00640 §4.2),
    `paired_t`. Where fewer than 20 clusters changed at all, or fewer than 50 and a quarter, that is too narrow or
    lopsided, and how much rose and how much fell have Wilson's interval each and are joined (`paired_mover`; Zou and
    Donner 2008). Raises ValueError for rows that do not match, for rates that cannot be, and where one of the two
    rates has no units.
    """
    rows = _rates(before, after)
    table = cluster_sums(rows, clusters)
    groups, n = len(table), len(rows[0])
    a, units_a, b, units_b = (math.fsum(column) for column in table.T)
    value = b / units_b - a / units_a
    if groups == 1:
        nothing = ("a single cluster gives no interval",)
        return Inference(value, Interval(-1.0, 1.0, level), math.inf, n, 1, "one_cluster", nothing)
    shifts = (table[:, 2] - b / units_b * table[:, 3]) / units_b - (table[:, 0] - a / units_a * table[:, 1]) / units_a
    error = math.sqrt(math.fsum(shifts**2) * groups / (groups - 1))
    changed = int(np.count_nonzero(np.abs(table[:, 2:] - table[:, :2]).max(axis=1) > _SAME))
    if changed < max(FEW_EVENTS, min(FEW_CHANGES, groups // 4)):
        fall, rise = _moves(table, (a / units_a, b / units_b), level)
        around, middle = mover_difference(fall, rise), rise[0] - fall[0]
        low, high = value + around.low - middle, value + around.high - middle
        interval = Interval(max(-1.0, low), min(1.0, high), level).holding(value)
        rough = f"{changed} samples or clusters changed: the interval is rough, mostly wider than it needs to be"
        return Inference(value, interval, error, n, groups, "paired_mover", (rough,) if changed < FEW_CHANGED else ())
    half = student_quantile(level, groups - 1) * error
    interval = Interval(max(-1.0, value - half), min(1.0, value + half), level)
    told = (*few_clusters(groups), *_lopsided(shifts))
    return Inference(value, interval, error, n, groups, "paired_t", told)


def _lopsided(influence: Floats) -> tuple[str, ...]:
    """Return what to say of a normal interval of a mean, from what each cluster adds to it.

    The skewness of the mean, Σψ³/(Σψ²)^1.5, is the first term by which it differs from normal (Edgeworth).
    """
    spread = float(np.sum(influence**2))
    if spread == 0 or abs(float(np.sum(influence**3))) > _LOPSIDED * spread**1.5:
        return ("a few answers dominate the mean: the true coverage is below 95 %",)
    return ()


def independent_difference(before: Estimate, after: Estimate, level: float = 0.95) -> Inference:
    """Return after − before for two rates over different samples: their intervals joined (`mover_difference`).

    `level` is that of the two intervals. Raises ValueError when one of them has no units.
    """
    if before.value is None or after.value is None:
        raise ValueError("a rate without units cannot be compared")
    interval = mover_difference(_with_interval(before, level), _with_interval(after, level))
    error = interval.width / 2 / normal_quantile(level)
    n, clusters = before.n + after.n, before.clusters + after.clusters
    return Inference(after.value - before.value, interval, error, n, clusters, "mover")


def at_level(found: Inference, level: float) -> Inference:
    """Return a difference of rates with its interval at another level, by stretching the one it has."""
    factor = normal_quantile(level) / normal_quantile(found.interval.level)
    low, high = (found.value + (end - found.value) * factor for end in (found.interval.low, found.interval.high))
    return replace(found, interval=Interval(max(-1.0, low), min(1.0, high), level))


def exchanges(before: Rate, after: Rate) -> Floats:
    """Return one number per sample whose sign turns when its two measurements change places.

    (after's numerator − R · after's denominator) − (before's − R · before's), with R the rate of both together: what
    `sign_flip_test` needs of two rates. Their sum is 0 exactly when the rates are equal.
    """
    a, units_a, b, units_b = _rates(before, after)
    together = (math.fsum(a) + math.fsum(b)) / (math.fsum(units_a) + math.fsum(units_b))
    return np.asarray((b - together * units_b) - (a - together * units_a), dtype=np.float64)


def sign_flip_test(
    differences: ArrayLike, clusters: ArrayLike | None = None, sampling: Sampling | None = None
) -> float:
    """Return the p-value of "paired differences have no direction", two-sided, by turning the signs of whole clusters.

    The permutation test for pairs: when nothing changed, the two measurements of a cluster could change places. All
    signs are tried for up to 14 differences that are not 0, 10,000 drawn above that (the p-value is
    (hits + 1)/(draws + 1), so never 0), and above 5,000 their sum is normal.
    """
    row = column(differences, "differences")
    largest = float(np.abs(row).max())
    if largest == 0:
        return 1.0
    sums = sum_by(cluster_codes(clusters, len(row)), row / largest)
    sums = sums[np.abs(sums) > _SAME]
    seen, scale = math.fsum(sums), math.fsum(np.abs(sums))
    if len(sums) <= _EXACT:
        signs = 1.0 - 2.0 * ((np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums))) & 1)
        return float(np.mean(_as_far(signs @ sums, seen, scale)))
    if len(sums) > MANY_CLUSTERS:
        return normal_p_value(seen / math.sqrt(math.fsum(sums**2)))
    draw = sampling or Sampling(resamples=FLIPS)
    hits = int(np.count_nonzero(_as_far(_flipped(np.abs(sums), draw), seen, scale)))
    return (hits + 1) / (draw.resamples + 1)


def _rates(before: Rate, after: Rate) -> list[Floats]:
    names = ("before", "before's denominators", "after", "after's denominators")
    rows = [column(values, name, 0) for values, name in zip((*before, *after), names, strict=True)]
    same_length(**dict(zip(("before", "before_units", "after", "after_units"), rows, strict=True)))
    if np.any(rows[0] > rows[1]) or np.any(rows[2] > rows[3]):
        raise ValueError("every numerator must be between 0 and its denominator")
    if not (rows[1].any() and rows[3].any()):
        raise ValueError("one of the two rates has no units: nothing can be compared")
    return rows


def _moves(table: Floats, rates: tuple[float, float], level: float) -> tuple[tuple[float, Interval], ...]:
    """How much fell and how much rose: each with an interval from the number of clusters that moved that way.

    Clusters move by sizes m; so many moves are worth Σm/s of the size s = Σm²/Σm (equal moves: their number), and that
    number has Wilson's interval. Where none moved, a move may have any size.
    """
    weights = table[:, 1] / table[:, 1].mean() + table[:, 3] / table[:, 3].mean()
    first, second = (
        np.divide(table[:, at], table[:, at + 1], out=np.full(len(table), rate), where=table[:, at + 1] > 0)
        for at, rate in zip((0, 2), rates, strict=True)
    )
    moves = np.where(np.abs(second - first) > _SAME, second - first, 0.0) * weights / 2
    total = math.fsum(np.abs(moves))
    size = math.fsum(moves**2) / total if total else 1.0

    def bounded(amount: float) -> tuple[float, Interval]:
        times = wilson(min(len(table), amount / size), len(table), level)
        return amount / len(table), Interval(times.low * size, times.high * size, level)

    return bounded(math.fsum(np.maximum(-moves, 0))), bounded(math.fsum(np.maximum(moves, 0)))


def _with_interval(rate: Estimate, level: float) -> tuple[float, Interval]:
    assert rate.value is not None and rate.low is not None and rate.high is not None  # noqa: PT018
    return rate.value, Interval(rate.low, rate.high, level)


def _as_far(sums: Floats, seen: float, scale: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return np.abs(sums) >= abs(seen) - _SAME * scale


def _flipped(sizes: Floats, sampling: Sampling) -> Floats:
    """Sums under random signs; equal sizes are drawn together, as the sum of their signs is binomial."""
    distinct, times = np.unique(np.round(sizes, 12), return_counts=True)
    random = np.random.default_rng(sampling.seed)
    sums: list[Floats] = []
    for start in range(0, sampling.resamples, step := max(1, _FLIPS_AT_ONCE // len(distinct))):
        rows = min(step, sampling.resamples - start)
        sums.append((2.0 * random.binomial(times, 0.5, size=(rows, len(distinct))) - times) @ distinct)
    return np.concatenate(sums)

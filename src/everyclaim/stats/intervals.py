"""Intervals for means and rates of things that come in clusters.

Claims nest in answers and answers may share a question, so counting claims as if they were
independent makes intervals too narrow. Everything here works on one row per answer, with a
numerator and a denominator (1 for a plain mean) and a cluster, and is a rate within [0, 1]:
``sum(numerators) / sum(denominators)``.

Which interval is used, and said in `Estimate.method`:

=================== =====================================================================
``wilson``           every row is its own cluster and is 0 or 1: the score interval for a count
``wilson_effective`` few clusters, all of them alike, or hardly any away from 0 (or from 1), where
                     resampling gives intervals of little or no width: the score interval with the
                     effective sample size of Korn and Graubard; with few clusters at most the number
                     of units seen
``bootstrap``        whole clusters drawn with replacement, percentiles, seeded
``clustered_clt``    many clusters: value ± z · the cluster-robust standard error (arXiv 2411.00640)
``one_cluster``      nothing can be said about the spread: the interval is [0, 1]
``none``             no units: no value and no interval
=================== =====================================================================
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from everyclaim.stats.quantiles import normal_quantile, student_quantile

Floats = NDArray[np.float64]
Method = Literal["wilson", "wilson_effective", "bootstrap", "clustered_clt", "one_cluster", "none"]

FEW_CLUSTERS = 30  # below this, percentiles of resampled clusters cover too little
FEW_EVENTS = 20  # clusters that differ from 0 (or from 1); fewer, and resampling can miss them all
MANY_CLUSTERS = 5000  # above this, resampling costs much and changes nothing
RESAMPLES = 2000
_NO_SPREAD = 1e-9  # a standard error that is rounding only: all clusters are alike
_DRAWS_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rate within [0, 1], with its interval.

    `n` counts the units of the denominator (answers or claims), `clusters` what was taken as
    independent. `value` is None when there are no units; `low` and `high` are None only then.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    method: Method


NOTHING = Estimate(None, None, None, 0, 0, "none")


@dataclass(frozen=True, slots=True)
class Sampling:
    """How intervals are made: their level, and seed and number of the resamples."""

    level: float = 0.95
    seed: int = 0
    resamples: int = RESAMPLES

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ValueError(f"level must lie between 0 and 1, not {self.level}")
        if self.resamples < 1:
            raise ValueError(f"resamples must be at least 1, not {self.resamples}")


DEFAULT = Sampling()


def wilson(successes: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval for a proportion; (0, 1) when `n` is 0."""
    if not 0 <= successes <= n:
        raise ValueError(f"successes must lie between 0 and n={n}, not {successes}")
    if n == 0:
        return 0.0, 1.0
    z = normal_quantile(level)
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high


def standard_error(numerators: ArrayLike, denominators: ArrayLike) -> float:
    """Return the cluster-robust standard error of sum/sum; one row per cluster.

    For a mean this is SE² = Var/n + (1/n²) Σ_clusters Σ_{i≠j} (s_i − s̄)(s_j − s̄).
    """
    top, bottom = np.asarray(numerators, float), np.asarray(denominators, float)
    total = math.fsum(bottom)
    residuals = top - math.fsum(top) / total * bottom
    return math.sqrt(math.fsum(residuals * residuals)) / total


def clustered_mean(values: ArrayLike, clusters: ArrayLike | None = None, sampling: Sampling = DEFAULT) -> Estimate:
    """Estimate the mean of values within [0, 1]; `clusters` names each value's cluster (default: its own)."""
    column = np.asarray(values, dtype=float)
    return clustered_ratio(column, np.ones_like(column), clusters, sampling)


def clustered_ratio(
    numerators: ArrayLike, denominators: ArrayLike, clusters: ArrayLike | None = None, sampling: Sampling = DEFAULT
) -> Estimate:
    """Estimate sum(numerators) / sum(denominators), with 0 ≤ numerator ≤ denominator in every row."""
    return clustered_ratios([numerators], [denominators], clusters, sampling)[0]


def clustered_ratios(
    numerators: Sequence[ArrayLike],
    denominators: Sequence[ArrayLike],
    clusters: ArrayLike | None = None,
    sampling: Sampling = DEFAULT,
) -> list[Estimate]:
    """Estimate several rates over the same rows, sharing one set of resamples.

    Rows whose denominator is 0 take no part in that rate. The order of the rows changes nothing,
    not even the last digit.
    """
    tops = [np.asarray(column, dtype=float) for column in numerators]
    bottoms = [np.asarray(column, dtype=float) for column in denominators]
    for top, bottom in zip(tops, bottoms, strict=True):
        if top.shape != bottom.shape or top.ndim != 1:
            raise ValueError(f"numerators and denominators must be rows of one length: {top.shape}, {bottom.shape}")
        if not np.all((top >= 0) & (top <= bottom)):
            raise ValueError("every numerator must lie between 0 and its denominator")
    grouped = _by_cluster(tops, bottoms, clusters)
    rates = [_Rate(top, bottom) for top, bottom in zip(*grouped, strict=True)]
    plain = [_plain_counts(top, bottom, rate) for top, bottom, rate in zip(tops, bottoms, rates, strict=True)]
    methods = [_method(rate, counts) for rate, counts in zip(rates, plain, strict=True)]
    resampled = [rate for rate, method in zip(rates, methods, strict=True) if method == "bootstrap"]
    percentiles = iter(_bootstrap(resampled, sampling))
    return [
        rate.estimate(method, next(percentiles) if method == "bootstrap" else rate.interval(method, sampling.level))
        for rate, method in zip(rates, methods, strict=True)
    ]


class _Rate:
    """One rate, by cluster: sums, and the facts that decide on the interval."""

    def __init__(self, tops: Floats, bottoms: Floats) -> None:
        self.tops, self.bottoms = tops, bottoms
        self.n = math.fsum(bottoms)
        self.clusters = int(np.count_nonzero(bottoms))
        self.value = min(1.0, math.fsum(tops) / self.n) if self.n else None
        self.error = standard_error(tops, bottoms) if self.n else 0.0
        away_from_zero = int(np.count_nonzero(tops > 0))
        away_from_one = int(np.count_nonzero(tops < bottoms))
        self.events = min(away_from_zero, away_from_one)

    def estimate(self, method: Method, interval: tuple[float, float] | None) -> Estimate:
        low, high = interval or (None, None)
        return Estimate(self.value, low, high, round(self.n), self.clusters, method)

    def interval(self, method: Method, level: float) -> tuple[float, float] | None:
        if self.value is None:
            return None
        if method == "one_cluster":
            return 0.0, 1.0
        if method == "clustered_clt":
            half = normal_quantile(level) * self.error
            return max(0.0, self.value - half), min(1.0, self.value + half)
        units = self.n if method == "wilson" else self._effective(level)
        return wilson(self.value * units, units, level)

    def _effective(self, level: float) -> float:
        """How many independent units the clusters are worth (Korn and Graubard 1998)."""
        value = self.value or 0.0
        if value in (0.0, 1.0):
            return float(self.clusters)  # how alike the units of a cluster are cannot be seen
        if self.error < _NO_SPREAD:
            return float(self.clusters)
        units = value * (1 - value) / self.error**2
        if self.clusters < FEW_CLUSTERS:
            units = min(self.n, units)  # so few may look more alike than they are
        freedom = student_quantile(level, max(1, round(self.n) - 1)) / student_quantile(level, self.clusters - 1)
        return units * min(1.0, freedom**2)


def _method(rate: _Rate, plain: bool) -> Method:
    if rate.value is None:
        return "none"
    if rate.clusters == 1:
        return "one_cluster"
    if plain:
        return "wilson"
    if rate.clusters < FEW_CLUSTERS or rate.events < FEW_EVENTS or rate.error < _NO_SPREAD:
        return "wilson_effective"
    return "clustered_clt" if rate.clusters > MANY_CLUSTERS else "bootstrap"


def _plain_counts(tops: Floats, bottoms: Floats, rate: _Rate) -> bool:
    """Whether this is a share of independent units, each either in or out."""
    alone = rate.clusters == np.count_nonzero(bottoms) and bool(np.all(bottoms <= 1))
    return alone and bool(np.all((tops == 0) | (tops == bottoms)))


def _by_cluster(
    tops: list[Floats], bottoms: list[Floats], clusters: ArrayLike | None
) -> tuple[list[Floats], list[Floats]]:
    """Sum the rows of each cluster, in order of value, so that rounding does not depend on the input's order."""
    if clusters is None or not tops:
        return tops, bottoms
    _, codes = np.unique(np.asarray(clusters), return_inverse=True)
    if codes.shape != tops[0].shape:
        raise ValueError(f"one cluster is needed for each row: {codes.shape}, {tops[0].shape}")
    count = int(codes.max()) + 1 if codes.size else 0

    def summed(column: Floats) -> Floats:
        if np.array_equal(column, np.rint(column)):  # sums of whole numbers are exact in any order
            return np.asarray(np.bincount(codes, weights=column, minlength=count), dtype=np.float64)
        order = np.lexsort((column, codes))
        return np.asarray(np.bincount(codes[order], weights=column[order], minlength=count), dtype=np.float64)

    return [np.minimum(summed(t), summed(b)) for t, b in zip(tops, bottoms, strict=True)], [summed(b) for b in bottoms]


def _bootstrap(rates: list[_Rate], sampling: Sampling) -> list[tuple[float, float]]:
    """Return percentile intervals; every rate sees the same resampled clusters."""
    if not rates:
        return []
    table = np.column_stack([column for rate in rates for column in (rate.tops, rate.bottoms)])
    table = table[np.lexsort(table.T)]  # equal rows are interchangeable: the input's order is gone
    clusters = len(table)
    random = np.random.default_rng(sampling.seed)
    sums: list[Floats] = []
    for start in range(0, sampling.resamples, step := max(1, _DRAWS_AT_ONCE // clusters)):
        rows = min(step, sampling.resamples - start)
        drawn = random.integers(0, clusters, size=(rows, clusters), dtype=np.int64)
        drawn += np.arange(rows)[:, None] * clusters
        times = np.bincount(drawn.ravel(), minlength=rows * clusters).reshape(rows, clusters)
        sums.append(times.astype(float) @ table)
    totals = np.concatenate(sums)
    tail = (1 - sampling.level) / 2
    return [_percentiles(totals[:, 2 * i], totals[:, 2 * i + 1], tail) for i in range(len(rates))]


def _percentiles(tops: Floats, bottoms: Floats, tail: float) -> tuple[float, float]:
    drawn = bottoms > 0  # a resample may miss every cluster that has units
    low, high = np.quantile(tops[drawn] / bottoms[drawn], [tail, 1 - tail])
    return max(0.0, float(low)), min(1.0, float(high))

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

`bootstrap` resamples whole clusters (Efron and Tibshirani 1993) from sums by cluster: a statistic that is a function of
sums (a rate, a difference of rates, kappa, a slope) needs no more than one row of them per cluster, so memory stays at
a few megabytes however many claims there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from everyclaim.stats.proportions import normal_quantile, student_quantile, wilson
from everyclaim.stats.types import (
    DEFAULT,
    FEW_CLUSTERS,
    NO_SPREAD,
    Floats,
    Inference,
    Interval,
    Sampling,
    cluster_codes,
    few_clusters,
    standard_error,
    sum_by,
)

_DRAWS_AT_ONCE = 1_000_000

Statistic = Callable[[Floats], Floats]
"""From a table of totals, a row per resample, to one number per row; NaN where it is undefined."""
Method = Literal["wilson", "wilson_effective", "bootstrap", "clustered_clt", "one_cluster", "none"]
FEW_EVENTS = 20  # clusters that differ from 0 (or from 1); fewer, and resampling can miss them all
MANY_CLUSTERS = 5000  # above this, resampling costs much and changes nothing


def bootstrap(table: Floats, statistic: Statistic, sampling: Sampling = DEFAULT) -> Inference:
    """Return a statistic of the totals of a table with its percentile bootstrap interval.

    `table` has a row of finite sums per cluster; rows are drawn with replacement. Resamples for which the statistic is
    undefined are left out. Equal input and seed give equal numbers, whatever the order of the rows. Raises ValueError
    for fewer than two clusters and where the statistic is undefined.
    """
    sums = np.asarray(table, dtype=np.float64)
    if sums.ndim != 2 or len(sums) < 2:
        raise ValueError(f"a table with a row for each of at least two clusters is needed, not shape {sums.shape}")
    if not np.isfinite(sums).all():
        raise ValueError("the table contains NaN or infinity")
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.array([[math.fsum(column) for column in sums.T]])
        value = float(statistic(total)[0])
        if not math.isfinite(value):
            raise ValueError("the statistic is undefined on the whole table")
        drawn = statistic(resampled_totals([sums], sampling)[0])
    drawn = drawn[np.isfinite(drawn)]
    if not drawn.size:
        raise ValueError("the statistic is undefined on every resample")
    interval = percentiles(drawn, sampling.level)
    told = few_clusters(len(sums))
    if interval.width == 0:
        told = (*told, "all resamples are equal: the interval does not cover unseen cases")
    return Inference(value, interval, float(drawn.std()), len(sums), len(sums), "bootstrap_percentile", told)


def resampled_totals(tables: Sequence[Floats], sampling: Sampling) -> list[Floats]:
    """Return, for every table, the column totals of every resample: a row each, drawn with replacement from its rows.

    What is drawn of a table is the same whichever tables it comes with; those of one length share the drawing.
    """
    totals: list[Floats] = [np.empty(0)] * len(tables)
    for clusters in {len(table) for table in tables}:
        places = [place for place, table in enumerate(tables) if len(table) == clusters]
        # Equal rows are interchangeable: sorted, the input's order is gone.
        ordered = [tables[place][np.lexsort(tables[place].T)] for place in places]
        # One by one, since the last digit of a product may depend on how many columns are multiplied.
        parts = [[times @ table for table in ordered] for times in _draws(clusters, sampling)]
        for place, drawn in zip(places, zip(*parts, strict=True), strict=True):
            totals[place] = np.concatenate(drawn)
    return totals


def _draws(clusters: int, sampling: Sampling) -> Iterator[Floats]:
    """Yield how often each cluster is in each resample, as many resamples at a time as stay small."""
    random = np.random.default_rng(sampling.seed)
    for start in range(0, sampling.resamples, step := max(1, _DRAWS_AT_ONCE // clusters)):
        rows = min(step, sampling.resamples - start)
        drawn = random.integers(0, clusters, size=(rows, clusters), dtype=np.int64)
        drawn += np.arange(rows)[:, None] * clusters
        times = np.bincount(drawn.ravel(), minlength=rows * clusters).reshape(rows, clusters)
        yield times.astype(float)


def percentiles(values: Floats, level: float) -> Interval:
    """Return the interval that leaves (1 − level)/2 of the values on either side."""
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Interval(float(low), float(high), level)


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
    numerators: Sequence[ArrayLike], denominators: Sequence[ArrayLike], clusters: ArrayLike | None = None,
    sampling: Sampling = DEFAULT,
) -> list[Estimate]:  # fmt: skip
    """Estimate several rates over the same rows, each as `clustered_ratio` does; only the drawing is shared.

    Rows whose denominator is 0 take no part in that rate. Neither the order of the rows nor the rates estimated beside
    it change anything in a rate, not even the last digit.
    """
    tops = [np.asarray(column, dtype=float) for column in numerators]
    bottoms = [np.asarray(column, dtype=float) for column in denominators]
    for top, bottom in zip(tops, bottoms, strict=True):
        if top.shape != bottom.shape or top.ndim != 1:
            raise ValueError(f"numerators and denominators must be rows of one length: {top.shape}, {bottom.shape}")
        if not np.all((top >= 0) & (top <= bottom)):
            raise ValueError("every numerator must be between 0 and its denominator")
    grouped = _by_cluster(tops, bottoms, clusters)
    rates = [_RatioSums(top, bottom) for top, bottom in zip(*grouped, strict=True)]
    methods = [_method(rate, top, bottom) for rate, top, bottom in zip(rates, tops, bottoms, strict=True)]
    # A rate's resamples are of the clusters that have units in it, and of no others.
    tables = [
        np.column_stack([rate.tops, rate.bottoms])[rate.bottoms > 0]
        for rate, method in zip(rates, methods, strict=True) if method == "bootstrap"
    ]  # fmt: skip
    drawn = iter(resampled_totals(tables, sampling))
    found = []
    for rate, method in zip(rates, methods, strict=True):
        interval = rate.interval(method, sampling.level)
        if method == "bootstrap":
            totals = next(drawn)
            interval = percentiles(np.clip(totals[:, 0] / totals[:, 1], 0.0, 1.0), sampling.level)
        low, high = (interval.low, interval.high) if interval else (None, None)
        found.append(Estimate(rate.value, low, high, round(rate.n), rate.clusters, method))
    return found


class _RatioSums:
    """One rate, by cluster: sums, and the facts that decide on the interval."""

    def __init__(self, tops: Floats, bottoms: Floats) -> None:
        self.tops, self.bottoms = tops, bottoms
        self.n = math.fsum(bottoms)
        self.clusters = int(np.count_nonzero(bottoms))
        self.value = min(1.0, math.fsum(tops) / self.n) if self.n else None
        self.error = standard_error(tops, bottoms) if self.n else 0.0
        self.events = int(min(np.count_nonzero(tops > 0), np.count_nonzero(tops < bottoms)))  # away from 0, from 1

    def interval(self, method: Method, level: float) -> Interval | None:
        """Return the interval; None where there is none, or it is drawn."""
        if self.value is None or method == "bootstrap":
            return None
        if method == "one_cluster":
            return Interval(0.0, 1.0, level)
        if method == "clustered_clt":
            half = normal_quantile(level) * self.error
            return Interval(max(0.0, self.value - half), min(1.0, self.value + half), level)
        units = self.n if method == "wilson" else self._effective(level)
        return wilson(self.value * units, units, level)

    def _effective(self, level: float) -> float:
        """How many independent units the clusters are worth (Korn and Graubard 1998)."""
        value = self.value or 0.0
        if value in (0.0, 1.0) or self.error < NO_SPREAD:
            return float(self.clusters)  # how alike the units of a cluster are cannot be seen
        units = value * (1 - value) / self.error**2
        if self.clusters < FEW_CLUSTERS:
            units = min(self.n, units)  # so few may look more alike than they are
        freedom = student_quantile(level, max(1, round(self.n) - 1)) / student_quantile(level, self.clusters - 1)
        return units * min(1.0, freedom**2)


def _method(rate: _RatioSums, tops: Floats, bottoms: Floats) -> Method:
    if rate.value is None or rate.clusters == 1:
        return "none" if rate.value is None else "one_cluster"
    alone = rate.clusters == np.count_nonzero(bottoms) and bool(np.all(bottoms <= 1))
    if alone and np.all((tops == 0) | (tops == bottoms)):  # a share of independent units, each either in or out
        return "wilson"
    if rate.clusters < FEW_CLUSTERS or rate.events < FEW_EVENTS or rate.error < NO_SPREAD:
        return "wilson_effective"
    return "clustered_clt" if rate.clusters > MANY_CLUSTERS else "bootstrap"


def _by_cluster(
    tops: list[Floats], bottoms: list[Floats], clusters: ArrayLike | None
) -> tuple[list[Floats], list[Floats]]:
    """Sum the rows of each cluster, in order of value, so that rounding does not depend on the input's order."""
    if clusters is None or not tops:
        return tops, bottoms
    codes = cluster_codes(clusters, len(tops[0]))
    sums = [(sum_by(codes, top), sum_by(codes, bottom)) for top, bottom in zip(tops, bottoms, strict=True)]
    return [np.minimum(top, bottom) for top, bottom in sums], [bottom for _, bottom in sums]

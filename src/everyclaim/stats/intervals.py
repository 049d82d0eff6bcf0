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
from numpy.typing import ArrayLike

from everyclaim.stats.bootstrap import percentiles, resampled_totals
from everyclaim.stats.clusters import NO_SPREAD, cluster_codes, standard_error, sum_by
from everyclaim.stats.proportions import wilson
from everyclaim.stats.quantiles import normal_quantile, student_quantile
from everyclaim.stats.types import DEFAULT, FEW_CLUSTERS, Floats, Interval, Sampling, few_clusters

Method = Literal["wilson", "wilson_effective", "bootstrap", "clustered_clt", "one_cluster", "none"]

FEW_EVENTS = 20  # clusters that differ from 0 (or from 1); fewer, and resampling can miss them all
MANY_CLUSTERS = 5000  # above this, resampling costs much and changes nothing


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


def doubts(estimate: Estimate) -> tuple[str, ...]:
    """Return why the interval is not to be trusted, as found by simulation; empty when there is no reason."""
    if estimate.method in ("wilson", "none"):
        return ()
    if estimate.method == "one_cluster":
        return ("a single cluster gives no interval",)
    return few_clusters(estimate.clusters)


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
    plain = [_plain_counts(top, bottom, rate) for top, bottom, rate in zip(tops, bottoms, rates, strict=True)]
    methods = [_method(rate, counts) for rate, counts in zip(rates, plain, strict=True)]
    resampled = [rate for rate, method in zip(rates, methods, strict=True) if method == "bootstrap"]
    percentiles = iter(_bootstrap(resampled, sampling))
    return [
        rate.estimate(method, next(percentiles) if method == "bootstrap" else rate.interval(method, sampling.level))
        for rate, method in zip(rates, methods, strict=True)
    ]


class _RatioSums:
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

    def estimate(self, method: Method, interval: Interval | None) -> Estimate:
        low, high = (interval.low, interval.high) if interval else (None, None)
        return Estimate(self.value, low, high, round(self.n), self.clusters, method)

    def interval(self, method: Method, level: float) -> Interval | None:
        if self.value is None:
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
        if value in (0.0, 1.0):
            return float(self.clusters)  # how alike the units of a cluster are cannot be seen
        if self.error < NO_SPREAD:
            return float(self.clusters)
        units = value * (1 - value) / self.error**2
        if self.clusters < FEW_CLUSTERS:
            units = min(self.n, units)  # so few may look more alike than they are
        freedom = student_quantile(level, max(1, round(self.n) - 1)) / student_quantile(level, self.clusters - 1)
        return units * min(1.0, freedom**2)


def _method(rate: _RatioSums, plain: bool) -> Method:
    if rate.value is None:
        return "none"
    if rate.clusters == 1:
        return "one_cluster"
    if plain:
        return "wilson"
    if rate.clusters < FEW_CLUSTERS or rate.events < FEW_EVENTS or rate.error < NO_SPREAD:
        return "wilson_effective"
    return "clustered_clt" if rate.clusters > MANY_CLUSTERS else "bootstrap"


def _plain_counts(tops: Floats, bottoms: Floats, rate: _RatioSums) -> bool:
    """Whether this is a share of independent units, each either in or out."""
    alone = rate.clusters == np.count_nonzero(bottoms) and bool(np.all(bottoms <= 1))
    return alone and bool(np.all((tops == 0) | (tops == bottoms)))


def _by_cluster(
    tops: list[Floats], bottoms: list[Floats], clusters: ArrayLike | None
) -> tuple[list[Floats], list[Floats]]:
    """Sum the rows of each cluster, in order of value, so that rounding does not depend on the input's order."""
    if clusters is None or not tops:
        return tops, bottoms
    codes = cluster_codes(clusters, len(tops[0]))
    sums = [(sum_by(codes, top), sum_by(codes, bottom)) for top, bottom in zip(tops, bottoms, strict=True)]
    return [np.minimum(top, bottom) for top, bottom in sums], [bottom for _, bottom in sums]


def _bootstrap(rates: list[_RatioSums], sampling: Sampling) -> list[Interval]:
    """Return percentile intervals; a rate's resamples are of the clusters that have units in it, and of no others."""
    tables = [np.column_stack([rate.tops, rate.bottoms])[rate.bottoms > 0] for rate in rates]
    return [_percentiles(totals[:, 0], totals[:, 1], sampling.level) for totals in resampled_totals(tables, sampling)]


def _percentiles(tops: Floats, bottoms: Floats, level: float) -> Interval:
    interval = percentiles(tops / bottoms, level)
    return Interval(max(0.0, interval.low), min(1.0, interval.high), level)

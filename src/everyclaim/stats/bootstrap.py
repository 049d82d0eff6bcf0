"""The bootstrap over whole clusters (Efron and Tibshirani 1993), from sums by cluster.

A statistic that is a function of sums (a rate, a difference of rates, kappa, a slope) needs no more than one row of
sums per cluster: a resample is a weighted sum of those rows. So a hundred thousand answers of six claims are a table of
a hundred thousand rows, however many claims they have, and memory stays at a few megabytes beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from statistics import NormalDist
from typing import Literal

import numpy as np

from everyclaim.stats.types import DEFAULT, Floats, Inference, Interval, Sampling, few_clusters

_DRAWS_AT_ONCE = 1_000_000

Statistic = Callable[[Floats], Floats]
"""From a table of totals, a row per resample, to one number per row; NaN where it is undefined."""


def ratio(totals: Floats) -> Floats:
    """Return the first total over the second: a mean or a rate."""
    return np.asarray(totals[:, 0] / totals[:, 1], dtype=np.float64)


def ratio_difference(totals: Floats) -> Floats:
    """Return third/fourth − first/second: two rates over the same clusters."""
    return np.asarray(totals[:, 2] / totals[:, 3] - totals[:, 0] / totals[:, 1], dtype=np.float64)


def bootstrap(
    table: Floats,
    statistic: Statistic,
    sampling: Sampling = DEFAULT,
    method: Literal["percentile", "bca"] = "bca",
) -> Inference:
    """Return a statistic of the totals of a table with its bootstrap interval.

    `table` has a row of finite sums per cluster; rows are drawn with replacement. `percentile` reads the interval off
    the resampled values; `bca` corrects it for bias and for skewness (Efron 1987), with a jackknife over clusters.
    Resamples for which the statistic is undefined are left out. Equal input and seed give equal numbers, whatever the
    order of the rows. Raises ValueError for fewer than two clusters and where the statistic is undefined.
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
        left_out = statistic(total - sums) if method == "bca" else np.empty(0)
    drawn = drawn[np.isfinite(drawn)]
    if not drawn.size:
        raise ValueError("the statistic is undefined on every resample")
    interval = percentiles(drawn, sampling.level)
    if method == "bca":
        interval = _corrected(drawn, value, np.sort(left_out[np.isfinite(left_out)]), sampling.level)
    told = few_clusters(len(sums))
    if interval.width == 0:
        told = (*told, "all resamples are equal: the interval does not cover unseen cases")
    return Inference(value, interval, float(drawn.std()), len(sums), len(sums), f"bootstrap_{method}", told)


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


def _corrected(drawn: Floats, value: float, left_out: Floats, level: float) -> Interval:
    """Efron's BCa: the percentiles to read, moved by bias z₀ and acceleration a."""
    normal = NormalDist()
    below = (np.count_nonzero(drawn < value) + np.count_nonzero(drawn <= value)) / (2 * len(drawn))
    bias = normal.inv_cdf(min(max(below, 0.5 / len(drawn)), 1 - 0.5 / len(drawn)))
    apart = left_out.mean() - left_out if left_out.size else left_out
    spread = float((apart**2).sum())
    acceleration = float((apart**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0

    def moved(z: float) -> float:
        return normal.cdf(bias + (bias + z) / max(1e-9, 1 - acceleration * (bias + z)))

    z = normal.inv_cdf((1 + level) / 2)
    low, high = np.quantile(drawn, [moved(-z), moved(z)])
    return Interval(float(low), float(high), level)

"""Do stated probabilities hold? Brier score, log loss, expected calibration error, reliability curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from everyclaim.stats.clusters import cluster_codes
from everyclaim.stats.intervals import Estimate, clustered_mean
from everyclaim.stats.types import DEFAULT, Floats, Sampling, binary, column, count, same_length

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin of a reliability curve: bounds and mean of what was stated, and the share found, with its interval."""

    low: float
    high: float
    stated: float
    found: Estimate


def brier_score(truth: ArrayLike, probabilities: ArrayLike) -> float:
    """Return the mean of (p − y)², in [0, 1], best 0 (Brier 1950). `truth` is 0 or 1, `probabilities` within [0, 1]."""
    y, p = _pairs(truth, probabilities)
    return float(np.mean((p - y) ** 2))


def log_loss(truth: ArrayLike, probabilities: ArrayLike) -> float:
    """Return the mean of −log of the probability given to what is true, in nats, best 0.

    A probability of exactly 0 for what is true is infinitely wrong; it counts as 1e-15, as is usual.
    """
    y, p = _pairs(truth, probabilities)
    p = np.clip(p, 1e-15, 1 - 1e-15)
    return float(-np.mean(y * np.log(p) + (1 - y) * np.log1p(-p)))


def expected_calibration_error(truth: ArrayLike, probabilities: ArrayLike, bins: int = BINS) -> float:
    """Return Σ n_b/n · |mean stated − share found| over bins of equal mass, in [0, 1], best 0 (arXiv 1904.01685).

    Equal probabilities share a bin, so there may be fewer bins. With few labels a bin it is above 0 even for perfect
    probabilities, by about √(bins/n)·.4: compare, do not read it alone.
    """
    y, p = _pairs(truth, probabilities)
    code = equal_mass_bins(p, bins)
    gaps = np.bincount(code, p - y)
    return float(np.abs(gaps).sum() / len(p))


def reliability_curve(
    truth: ArrayLike,
    probabilities: ArrayLike,
    bins: int = BINS,
    clusters: ArrayLike | None = None,
    sampling: Sampling = DEFAULT,
) -> list[Bin]:
    """Return bins of equal mass in rising order, each with the share found true and its (clustered) interval."""
    y, p = _pairs(truth, probabilities)
    code, groups = equal_mass_bins(p, bins), cluster_codes(clusters, len(p))
    curve = []
    for number in range(int(code.max()) + 1):
        here = code == number
        found = clustered_mean(y[here], groups[here], sampling)
        curve.append(Bin(float(p[here].min()), float(p[here].max()), float(p[here].mean()), found))
    return curve


def equal_mass_bins(values: Floats, bins: int) -> NDArray[np.intp]:
    """Return the bin of each value: about as many in each, equal values together, numbered from 0 without a gap."""
    count(bins, "bins", 1)
    _, code, times = np.unique(values, return_inverse=True, return_counts=True)
    middles = np.cumsum(times) - times / 2
    wanted = np.minimum((middles / len(values) * bins).astype(int), bins - 1)
    return np.asarray(np.unique(wanted, return_inverse=True)[1][code], dtype=np.intp)


def _pairs(truth: ArrayLike, probabilities: ArrayLike) -> tuple[Floats, Floats]:
    y, p = binary(truth, "truth"), column(probabilities, "probabilities", 0, 1)
    same_length(truth=y, probabilities=p)
    return y, p

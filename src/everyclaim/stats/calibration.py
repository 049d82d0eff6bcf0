"""A map from a judge's stated probability to one that holds (Platt), and how well one holds.

Fit it on labels that take no part in measuring it. `ridge_path` fits a judge's features to labels by penalised
logistic regression.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from everyclaim.stats.intervals import Estimate, clustered_mean
from everyclaim.stats.types import DEFAULT, Floats, Sampling, binary, cluster_codes, column, count, same_length

Truth = NDArray[np.bool_]

_STEPS = 30
_FARTHEST = 2.0  # how far a coefficient moves in one step: from far-off log-odds Newton's method overshoots
_NEAR_ENOUGH = 1e-3  # a step that changes no coefficient by more ends the search
_EDGE = 1e-6  # stated probabilities nearer to 0 or 1 than this are taken as this near
BINS = 10


def balanced_weights(truth: Truth) -> Floats:
    """Weigh both sides the same, in all by the number of equally weighed rows that these are worth.

    `truth` must have both sides.
    """
    share = truth.mean()
    weight = np.where(truth, 0.5 / share, 0.5 / (1 - share))
    worth: Floats = weight * weight.sum() / (weight * weight).sum()
    return worth


def log_losses(truth: Truth, odds: Floats) -> Floats:
    """Return −log P of what is true, for every row."""
    losses: Floats = np.logaddexp(0.0, np.where(truth, -odds, odds))
    return losses


def ridge_path(
    design: Floats, truth: Truth | Floats, weight: Floats, offset: Floats, penalties: Sequence[Floats]
) -> Iterator[Floats]:
    """Yield the coefficients for each of several penalties (one number per column), each begun at the last.

    They minimise Σ weight · log-loss(offset + design · coefficients) + ½ Σ penalty · coefficient².
    """
    found = np.zeros(design.shape[1])
    for penalty in penalties:
        for _ in range(_STEPS):
            says = 1.0 / (1.0 + np.exp(-np.clip(offset + design @ found, -30.0, 30.0)))
            slope = design.T @ (weight * (says - truth)) + penalty * found
            bend = (design * (weight * says * (1.0 - says))[:, None]).T @ design
            bend[np.diag_indices_from(bend)] += penalty + 1e-9
            step = np.linalg.solve(bend, slope)
            longest = float(np.abs(step).max(initial=0.0))
            found = found - step * min(1.0, _FARTHEST / max(longest, 1e-12))
            if longest < _NEAR_ENOUGH:
                break
        yield found


@dataclass(frozen=True, slots=True)
class Platt:
    """σ(slope · logit(p) + intercept): steady with few labels (Platt 1999). Monotone when slope > 0."""

    slope: float
    intercept: float

    def __call__(self, probabilities: ArrayLike) -> Floats:
        """Return the calibrated probabilities of a row of stated ones."""
        p = column(probabilities, "probabilities", 0, 1)
        return np.asarray(0.5 * (1 + np.tanh((self.slope * _logit(p) + self.intercept) / 2)), dtype=np.float64)


def fit_platt(truth: ArrayLike, probabilities: ArrayLike) -> Platt:
    """Fit Platt's map by maximum likelihood, with his targets (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2) against overfitting.

    `truth` is 0 or 1, both of them occurring, `probabilities` within [0, 1]. Raises ValueError otherwise.
    """
    y, stated = _pairs(truth, probabilities)
    if y.min() == y.max():
        raise ValueError("labels of both kinds are needed to calibrate: all are alike")
    x = _logit(stated)
    positives = y.sum()
    target = np.where(y == 1, (positives + 1) / (positives + 2), 1 / (len(y) - positives + 2))
    if np.ptp(x) == 0:
        return Platt(0.0, float(_logit(target.mean())))
    design, none = np.column_stack([x, np.ones_like(x)]), np.zeros_like(x)
    return Platt(*next(ridge_path(design, target, np.ones_like(x), none, [np.zeros(2)])).tolist())


def _logit(p: Floats) -> Floats:
    p = np.clip(p, _EDGE, 1 - _EDGE)
    return np.asarray(np.log(p / (1 - p)), dtype=np.float64)


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
    truth: ArrayLike, probabilities: ArrayLike, bins: int = BINS, clusters: ArrayLike | None = None,
    sampling: Sampling = DEFAULT,
) -> list[Bin]:  # fmt: skip
    """Return bins of equal mass in rising order, each with the share found true and its (clustered) interval."""
    y, p = _pairs(truth, probabilities)
    code, groups = equal_mass_bins(p, bins), cluster_codes(clusters, len(p))
    return [
        Bin(
            float(p[here].min()),
            float(p[here].max()),
            float(p[here].mean()),
            clustered_mean(y[here], groups[here], sampling),
        )
        for here in (code == number for number in range(int(code.max()) + 1))
    ]


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

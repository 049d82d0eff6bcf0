"""Whether a judge's probabilities mean what they say, and a threshold fitted on one half of the answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everyclaim.stats.calibration import Platt, fit_platt
from everyclaim.stats.intervals import Estimate, clustered_mean
from everyclaim.stats.reliability import Bin, brier_score, expected_calibration_error, reliability_curve

BINS = 5
FEWEST = 10  # labels of either kind in either half

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Reliability:
    """How far stated probabilities are from what is found: expected calibration error and Brier score, both best 0."""

    ece: float
    brier: float
    curve: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A threshold and a map of probabilities from one half of the answers; every rate is of the other half."""

    threshold: float
    fitted_on: int  # labels
    reported_on: int
    tpr: Estimate  # with the threshold
    tnr: Estimate
    tpr_before: Estimate  # with the judge's own labels, on the same half
    tnr_before: Estimate
    platt: Platt
    before: Reliability
    after: Reliability


def reliability(truth: Bools, probabilities: Floats, answers: NDArray[np.int64]) -> Reliability:
    """Compare probabilities with what people say."""
    y = truth.astype(float)
    curve = tuple(reliability_curve(y, probabilities, BINS, answers))
    return Reliability(expected_calibration_error(y, probabilities, BINS), brier_score(y, probabilities), curve)


def fit_on_half(
    truth: Bools, called: Bools, probabilities: Floats, answers: NDArray[np.int64], seed: int
) -> Fitted | None:
    """Fit on half of the answers and report on the other; None with too few labels of a kind in a half."""
    names = np.random.default_rng(seed).permutation(np.unique(answers))
    first = np.isin(answers, names[: len(names) // 2])
    halves = (first, ~first)
    if any(min(int(truth[half].sum()), int((~truth[half]).sum())) < FEWEST for half in halves):
        return None
    y, p = truth[first], probabilities[first]
    cuts = np.unique(p)
    hits = 1 - np.searchsorted(np.sort(p[y]), cuts) / y.sum()
    passes = np.searchsorted(np.sort(p[~y]), cuts) / (~y).sum()
    threshold = float(cuts[int(np.argmax(np.minimum(hits, passes)))])
    platt = fit_platt(y.astype(float), p)
    truth, called, probabilities, answers = truth[~first], called[~first], probabilities[~first], answers[~first]
    above = probabilities >= threshold
    return Fitted(
        threshold,
        int(first.sum()),
        int((~first).sum()),
        clustered_mean(above[truth], answers[truth]),
        clustered_mean(~above[~truth], answers[~truth]),
        clustered_mean(called[truth], answers[truth]),
        clustered_mean(~called[~truth], answers[~truth]),
        platt,
        reliability(truth, probabilities, answers),
        reliability(truth, platt(probabilities), answers),
    )

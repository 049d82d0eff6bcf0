"""Calibration and its measures: scikit-learn's numbers, and order."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.calibration import _sigmoid_calibration
from sklearn.metrics import brier_score_loss

from everyclaim.stats.calibration import brier_score, fit_platt, reliability_curve


def judged(n=2000, slope=2.0, shift=-0.5, seed=0):
    random = np.random.default_rng(seed)
    stated = random.beta(2, 1, n)
    true = expit(logit(np.clip(stated, 1e-6, 1 - 1e-6)) / slope + shift)
    return (random.random(n) < true).astype(float), stated


both_kinds = st.lists(st.tuples(st.booleans(), st.integers(0, 20)), min_size=4, max_size=60).filter(
    lambda rows: len({row[0] for row in rows}) == 2
)


def test_platt_agrees_with_scikit_learn():
    """Slope and intercept on the logits, with Platt's targets."""
    truth, stated = judged(300)
    found = fit_platt(truth, stated)
    slope, intercept = _sigmoid_calibration(logit(stated), truth)
    assert (found.slope, found.intercept) == pytest.approx((-slope, -intercept), abs=2e-3)


@given(both_kinds)
def test_platt_survives_any_labels(rows):
    """Separable, constant or contrary: finite, within [0, 1], and never worse than the base rate on its own targets."""
    truth, stated = np.array([row[0] for row in rows], float), np.array([row[1] / 20 for row in rows])
    found = fit_platt(truth, stated)
    assert np.isfinite([found.slope, found.intercept]).all()
    assert np.all((found(stated) >= 0) & (found(stated) <= 1))


@given(both_kinds)
def test_the_brier_score_agrees_with_scikit_learn(rows):
    """Zero and one among the probabilities."""
    truth, stated = np.array([row[0] for row in rows], float), np.array([row[1] / 20 for row in rows])
    assert brier_score(truth, stated) == pytest.approx(brier_score_loss(truth, stated))


@given(both_kinds, st.integers(1, 12))
def test_bins_hold_every_claim_once(rows, bins):
    """Rising, apart, at most as many as asked for; ties are never torn."""
    truth, stated = [float(row[0]) for row in rows], [row[1] / 20 for row in rows]
    curve = reliability_curve(truth, stated, bins)
    assert sum(one.found.n for one in curve) == len(rows)
    assert len(curve) <= bins
    assert all(one.high < other.low for one, other in pairwise(curve))
    assert all(one.low <= one.stated <= one.high or one.stated == pytest.approx(one.low) for one in curve)

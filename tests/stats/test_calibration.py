"""Calibration maps and measures: scikit-learn's numbers, recovery of a known map, and order."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.calibration import _sigmoid_calibration
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as peer_log_loss

from everyclaim.stats.calibration import (
    brier_score,
    fit_isotonic,
    fit_platt,
    fit_temperature,
    log_loss,
    reliability_curve,
)
from everyclaim.stats.thresholds import conformal_threshold


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
def test_isotonic_agrees_with_scikit_learn(rows):
    """On and between the places seen."""
    truth, stated = np.array([row[0] for row in rows], float), np.array([row[1] / 20 for row in rows])
    found = fit_isotonic(truth, stated)
    peer = IsotonicRegression(out_of_bounds="clip").fit(stated, truth)
    places = np.linspace(0, 1, 101)
    assert found(places) == pytest.approx(peer.predict(places), abs=1e-9)
    assert np.all(np.diff(found(places)) >= -1e-12)


def test_temperature_recovers_what_made_the_labels():
    """Probabilities sharpened threefold come back at temperature 3."""
    random = np.random.default_rng(1)
    logits = random.normal(0, 1, (8000, 3))
    true = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    truth = (true.cumsum(axis=1) < random.random((8000, 1))).sum(axis=1)
    sharp = true**3 / (true**3).sum(axis=1, keepdims=True)
    found = fit_temperature(truth, sharp)
    assert found.temperature == pytest.approx(3.0, rel=0.06)
    assert np.array_equal(found(sharp).argmax(axis=1), sharp.argmax(axis=1))
    assert found(sharp).sum(axis=1) == pytest.approx(np.ones(8000))


@given(both_kinds)
def test_scores_agree_with_scikit_learn(rows):
    """Brier and log loss, zero and one among the probabilities."""
    truth, stated = np.array([row[0] for row in rows], float), np.array([row[1] / 20 for row in rows])
    assert brier_score(truth, stated) == pytest.approx(brier_score_loss(truth, stated))
    assert log_loss(truth, stated) == pytest.approx(peer_log_loss(truth, np.clip(stated, 1e-15, 1 - 1e-15)), rel=1e-6)


@given(both_kinds, st.integers(1, 12))
def test_bins_hold_every_claim_once(rows, bins):
    """Rising, apart, at most as many as asked for; ties are never torn."""
    truth, stated = [float(row[0]) for row in rows], [row[1] / 20 for row in rows]
    curve = reliability_curve(truth, stated, bins)
    assert sum(one.found.n for one in curve) == len(rows)
    assert len(curve) <= bins
    assert all(one.high < other.low for one, other in pairwise(curve))
    assert all(one.low <= one.stated <= one.high or one.stated == pytest.approx(one.low) for one in curve)


@pytest.mark.parametrize(("n", "error_rate", "rank"), [(9, 0.1, 9), (19, 0.05, 19), (99, 0.1, 90), (100, 0.1, 91)])
def test_the_threshold_is_the_rank_of_the_definition(n, error_rate, rank):
    """⌈(n + 1)(1 − α)⌉-th smallest, without trouble from rounding."""
    scores = np.random.default_rng(0).permutation(np.arange(1.0, n + 1))
    assert conformal_threshold(scores, error_rate) == rank

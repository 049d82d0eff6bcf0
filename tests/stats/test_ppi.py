"""Prediction-powered inference: the papers' formulas written out, and limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyclaim.stats.ppi import Labelled, Unlabelled, allocate_to_strata, ppi_rate
from everyclaim.stats.proportions import wilson


def drawn(n, others, rate=0.8, right=0.85, seed=0):
    random = np.random.default_rng(seed)
    truth = (random.random(n + others) < rate).astype(float)
    judged = np.where(random.random(n + others) < right, truth, 1 - truth)
    return truth[:n], judged[:n], judged[n:]


@given(st.integers(0, 10_000), st.integers(20, 300), st.sampled_from([0.5, 0.8, 0.9, 0.98]), st.floats(0.5, 1.0))
def test_the_rate_is_never_wider_than_the_labels_alone(seed, n, rate, right):
    """Independent claims: no run has an interval wider than Wilson's for its labels, and its value lies inside."""
    truth, judged, others = drawn(n, 1000, rate, right, seed)
    found = ppi_rate(Labelled(truth, judged), Unlabelled(others))
    assert found.interval.width <= wilson(truth.sum(), n).width + 1e-12
    assert found.value in found.interval


def test_the_rate_has_the_estimate_of_ppi_plus_plus():
    """Post-stratified by verdict is PPI++ at its best λ, when the verdicts' variances are taken from the labels."""
    truth, judged, others = drawn(120, 2000, seed=3)
    found = ppi_rate(Labelled(truth, judged), Unlabelled(others))
    power = np.cov(truth, judged, ddof=0)[0, 1] / (judged.var() * (1 + 120 / 2000))
    assert found.method == "ppi++"
    assert found.value == pytest.approx(power * others.mean() + (truth - power * judged).mean())


def test_copies_in_clusters_count_once():
    """Every claim four times over, in clusters, is not four times as sure."""
    truth, judged, others = drawn(150, 1000, seed=5)
    once = ppi_rate(Labelled(truth, judged), Unlabelled(others))
    known = Labelled(np.repeat(truth, 4), np.repeat(judged, 4), np.repeat(np.arange(150), 4))
    copied = ppi_rate(known, Unlabelled(np.repeat(others, 4), np.repeat(np.arange(150, 1150), 4)))
    assert copied.value == pytest.approx(once.value)
    assert copied.interval.width == pytest.approx(once.interval.width, rel=0.05)


def test_labels_go_where_doubt_is():
    """n_k ∝ w_k σ_k, at least two each, whole numbers that add up."""
    assert allocate_to_strata([0.5, 0.5], [0.1, 0.3], 100) == [25, 75]
    assert allocate_to_strata([0.9, 0.1, 0.0], [0.0, 0.5, 0.5], 20) == [2, 18, 0]
    assert allocate_to_strata([3, 1], [0.0, 0.0], 12) == [9, 3]

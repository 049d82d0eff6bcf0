"""Prediction-powered inference: the papers' formulas written out, limits, and strata."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyclaim.stats.intervals import clustered_mean
from everyclaim.stats.ppi import Labelled, Unlabelled, allocate_to_strata, ppi_mean, ppi_rate
from everyclaim.stats.proportions import wilson


def drawn(n, others, rate=0.8, right=0.85, seed=0):
    random = np.random.default_rng(seed)
    truth = (random.random(n + others) < rate).astype(float)
    judged = np.where(random.random(n + others) < right, truth, 1 - truth)
    return truth[:n], judged[:n], judged[n:]


def test_ppi_plus_plus_is_the_papers_formula():
    """λ* = Cov(Y, f)/((1 + n/N) Var f) and var = λ²Var f̃/N + Var(Y − λf)/n (arXiv 2311.01453)."""
    truth, judged, others = drawn(200, 3000, seed=1)
    found = ppi_mean(Labelled(truth, judged), Unlabelled(others))
    power = np.cov(truth, judged, ddof=0)[0, 1] / (judged.var() + 200 / 3000 * others.var())
    assert found.value == pytest.approx(power * others.mean() + (truth - power * judged).mean())
    variance = power**2 * others.var() / 3000 + (truth - power * judged).var() / 200
    assert found.error == pytest.approx(math.sqrt(variance * 200 / 199))


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
    normal = ppi_mean(known, Unlabelled(np.repeat(others, 4), np.repeat(np.arange(150, 1150), 4)))
    assert normal.error == pytest.approx(ppi_mean(Labelled(truth, judged), Unlabelled(others)).error)


def test_strata_weigh_by_their_share():
    """θ = Σ w_k θ_k (arXiv 2406.04291): labels drawn unevenly from two strata do not bend the estimate."""
    random = np.random.default_rng(6)
    easy, hard = drawn(30, 3000, 0.98, 0.95, 7), drawn(150, 600, 0.5, 0.8, 8)
    truth, judged, others = (np.concatenate(pair) for pair in zip(easy, hard, strict=True))
    strata, rest = np.repeat(["easy", "hard"], [30, 150]), np.repeat(["easy", "hard"], [3000, 600])
    weights = np.array([3030, 750]) / 3780
    for estimate in (ppi_mean, ppi_rate):
        found = estimate(Labelled(truth, judged, None, strata), Unlabelled(others, None, rest))
        parts = [estimate(Labelled(y, f), Unlabelled(g)) for y, f, g in (easy, hard)]
        assert found.value == pytest.approx(weights @ [part.value for part in parts])
        assert found.error < clustered_mean(truth).high - clustered_mean(truth).low
    order = random.permutation(180)
    shuffled = ppi_rate(Labelled(truth[order], judged[order], None, strata[order]), Unlabelled(others, None, rest))
    assert shuffled.interval.low == pytest.approx(found.interval.low)


def test_labels_go_where_doubt_is():
    """n_k ∝ w_k σ_k, at least two each, whole numbers that add up."""
    assert allocate_to_strata([0.5, 0.5], [0.1, 0.3], 100) == [25, 75]
    assert allocate_to_strata([0.9, 0.1, 0.0], [0.0, 0.5, 0.5], 20) == [2, 18, 0]
    assert allocate_to_strata([3, 1], [0.0, 0.0], 12) == [9, 3]

"""The rules that say when not to trust an interval, through the intervals that carry them."""

import numpy as np
import pytest

from everyclaim.stats.intervals import clustered_mean, clustered_ratio, doubts
from everyclaim.stats.ppi import Labelled, Unlabelled, ppi_rate
from everyclaim.stats.proportions import clustered_normal


def test_a_share_of_independent_units_is_trusted_at_any_size():
    """Wilson's interval needs no warning; nothing at all has none either."""
    assert doubts(clustered_mean([1, 0, 1])) == ()
    assert doubts(clustered_mean([])) == ()


@pytest.mark.parametrize(("answers", "said"), [(1, "one cluster"), (12, "12 clusters"), (60, "rough"), (200, None)])
def test_few_answers_are_said(answers, said):
    """One, fewer than thirty, fewer than a hundred, enough."""
    claims = np.random.default_rng(0).binomial(5, 0.8, answers)
    told = doubts(clustered_ratio(claims, np.full(answers, 5)))
    assert (said in told[0]) if said else told == ()


def test_a_normal_interval_that_a_few_values_decide_is_said():
    """Two failures in two hundred: the interval of the mean is lopsided; forty are not."""
    assert "a few values decide" in clustered_normal([1.0] * 198 + [0.0] * 2).warnings[0]
    assert clustered_normal([1.0] * 160 + [0.0] * 40).reliable


def test_few_failing_labels_are_said():
    """Three of two hundred."""
    truth = np.r_[np.ones(197), np.zeros(3)]
    judged = np.r_[np.zeros(30), np.ones(170)]
    found = ppi_rate(Labelled(truth, judged), Unlabelled(np.r_[np.zeros(200), np.ones(800)]))
    assert found.warnings == ("3 labels of the rarer kind: at least 10 are needed",)

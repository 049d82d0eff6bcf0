"""The rules that say when not to trust an interval, through the intervals that carry them."""

import numpy as np
import pytest

from everyclaim.stats.intervals import clustered_ratio, doubts
from everyclaim.stats.ppi import Labelled, Unlabelled, ppi_rate


@pytest.mark.parametrize(
    ("answers", "said"), [(1, "single cluster"), (12, "12 independent answers"), (60, "rough"), (200, None)]
)
def test_few_answers_are_said(answers, said):
    """One, fewer than thirty, fewer than a hundred, enough."""
    claims = np.random.default_rng(0).binomial(5, 0.8, answers)
    told = doubts(clustered_ratio(claims, np.full(answers, 5)))
    assert (said in told[0]) if said else told == ()


def test_few_failing_labels_are_said():
    """Three of two hundred."""
    truth = np.r_[np.ones(197), np.zeros(3)]
    judged = np.r_[np.zeros(30), np.ones(170)]
    found = ppi_rate(Labelled(truth, judged), Unlabelled(np.r_[np.zeros(200), np.ones(800)]))
    assert found.warnings == ("only 3 labels of one kind (supported or failing): at least 10 are needed",)

"""The corrected rate: the paper's numbers, and what cannot be corrected."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from everyclaim.stats.prevalence import (
    JudgeCounts,
    allocate_labels,
    clustered_rogan_gladen,
    rogan_gladen,
    rogan_gladen_difference,
)


@pytest.mark.parametrize(
    ("said", "judge", "value", "interval"),
    [
        (400, JudgeCounts(180, 200, 140, 200), 0.16667, (0.05635, 0.26273)),  # q₁ = .9, q₀ = .7
        (850, JudgeCounts(142.5, 150, 30, 50), 0.81818, (0.73753, 0.90105)),  # q₁ = .95, q₀ = .6
    ],
)
def test_the_papers_check_values(said, judge, value, interval):
    """The estimate and adjusted interval of arXiv 2511.21140, to five digits."""
    found = rogan_gladen(said, 1000, judge)
    assert found.value == pytest.approx(value, abs=5e-6)
    assert (found.interval.low, found.interval.high) == pytest.approx(interval, abs=5e-6)


def test_the_papers_allocation():
    """200 labels at p = .4 with q₀ = .7, q₁ = .9 from a pilot of ten: 136 true negatives, 64 true positives."""
    assert allocate_labels(200, 0.4, (0.7, 0.9), 10) == (136, 64)


@given(st.floats(0, 1), st.floats(0.5, 1), st.floats(0.5, 1))
def test_the_correction_undoes_what_the_judge_does(theta, sensitivity, specificity):
    """θ → the judge's rate → θ."""
    assume(sensitivity + specificity > 1.05)
    said = theta * sensitivity + (1 - theta) * (1 - specificity)
    judge = JudgeCounts(sensitivity * 10_000, 10_000, specificity * 10_000, 10_000)
    found = rogan_gladen(said * 100_000, 100_000, judge)
    assert found.value == pytest.approx(theta, abs=1e-9)
    assert found.value in found.interval
    assert 0 <= found.interval.low <= found.interval.high <= 1


def test_claims_that_share_their_answer_widen_the_interval():
    """Every verdict and label five times, in clusters, gives about the interval of one each; uncounted, half of it."""
    random = np.random.default_rng(0)
    truth = (random.random(400) < 0.8).astype(float)
    said = np.where(random.random(400) < 0.85, truth, 1 - truth)
    labelled = slice(0, 120)
    once = clustered_rogan_gladen((said, None), (truth[labelled], said[labelled]))
    five = [np.repeat(row, 5) for row in (said, np.arange(400), truth[labelled], said[labelled], np.arange(120))]
    copied = clustered_rogan_gladen((five[0], five[1]), (five[2], five[3]), five[4])
    blind = clustered_rogan_gladen((five[0], None), (five[2], five[3]))
    assert copied.interval.width == pytest.approx(once.interval.width, rel=0.05)
    assert blind.interval.width < 0.6 * copied.interval.width


def test_few_labels_of_a_kind_are_warned_of():
    """Three failing claims say little of how many the judge finds."""
    assert "3 labels" in rogan_gladen(80, 100, JudgeCounts(90, 100, 3, 3)).warnings[0]
    assert rogan_gladen(800, 1000, JudgeCounts(190, 200, 180, 200)).reliable


def test_of_a_difference_the_false_alarms_cancel():
    """Rates of .05 and .08 by a judge with q₁ = .8 and q₀ = .97 differ by .03 / .77; each is corrected as alone."""
    judge = JudgeCounts(800, 1000, 970, 1000)
    found = rogan_gladen_difference((0.05, 0.08), 0.005, judge)
    assert found.difference.value == pytest.approx(0.03 / 0.77)
    assert found.before == pytest.approx(rogan_gladen(50, 1000, judge).value)
    assert found.after == pytest.approx(rogan_gladen(80, 1000, judge).value)
    assert found.p_value < 0.001
    assert 0 < found.difference.interval.low < found.difference.value < found.difference.interval.high


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_of_a_corrected_difference_holds_the_truth(seed):
    """Over 2000 draws of two rates and a judge's labels, 93 to 99 % of the intervals hold the true difference."""
    random = np.random.default_rng(seed)
    truths, sensitivity, specificity, answers, labels = np.array([0.1, 0.16]), 0.85, 0.94, 2000, 100
    said = truths * sensitivity + (1 - truths) * (1 - specificity)
    held = 0
    for _ in range(2000):
        rates = random.binomial(answers, said) / answers
        error = float(np.sqrt((rates * (1 - rates) / answers).sum()))
        judge = JudgeCounts(random.binomial(labels, sensitivity), labels, random.binomial(labels, specificity), labels)
        found = rogan_gladen_difference((float(rates[0]), float(rates[1])), error, judge)
        held += truths[1] - truths[0] in found.difference.interval
    assert 0.93 <= held / 2000 <= 0.99

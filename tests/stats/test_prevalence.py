"""The corrected rate: the paper's numbers, and what cannot be corrected."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from everyclaim.stats.prevalence import JudgeCounts, allocate_labels, clustered_rogan_gladen, rogan_gladen


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


def test_a_perfect_judge_needs_no_correction():
    """The rate stays, and the interval still doubts the judge."""
    found = rogan_gladen(80, 100, JudgeCounts(50, 50, 50, 50))
    assert found.value == pytest.approx(0.8)
    assert found.interval.width > 0.1


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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rogan_gladen(4, 10, JudgeCounts(3, 6, 2, 5)), "no better than chance: it gets 0.5 .* and 0.4"),
        (lambda: rogan_gladen(4, 10, JudgeCounts(3, 6, 0, 0)), "no true negative is labelled"),
        (lambda: rogan_gladen(4, 10, JudgeCounts(0, 0, 3, 4)), "no true positive is labelled"),
        (lambda: rogan_gladen(11, 10, JudgeCounts(5, 6, 3, 4)), "between 0 and n=10, not 11"),
        (lambda: rogan_gladen(0, 0, JudgeCounts(5, 6, 3, 4)), "n must be at least 1"),
        (lambda: JudgeCounts(7, 6, 3, 4), "positives right must lie between 0 and 6, not 7"),
        (lambda: clustered_rogan_gladen(([1, 0], None), ([1], [1, 0])), "truth 1, judged 2"),
        (lambda: clustered_rogan_gladen(([1, 0.5], None), ([1], [1])), "0 or 1 each, not 0.5"),
        (lambda: allocate_labels(100, 0.0, (0.7, 0.9), 10), "rate must lie between 0 and 1"),
        (lambda: allocate_labels(100, 0.5, (1.7, 0.9), 10), "specificity and sensitivity"),
    ],
)
def test_what_cannot_be_corrected_is_refused(call, message):
    """A judge worse than chance, a class without labels, counts that cannot be."""
    with pytest.raises(ValueError, match=message):
        call()

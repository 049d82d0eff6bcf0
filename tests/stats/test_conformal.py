"""Conformal thresholds: the rank of the definition, and that the guarantee is kept."""

import math

import numpy as np
import pytest

from everyclaim.stats.conformal import conformal_threshold, factuality_threshold


@pytest.mark.parametrize(("n", "error_rate", "rank"), [(9, 0.1, 9), (19, 0.05, 19), (99, 0.1, 90), (100, 0.1, 91)])
def test_the_threshold_is_the_rank_of_the_definition(n, error_rate, rank):
    """⌈(n + 1)(1 − α)⌉-th smallest, without trouble from rounding."""
    scores = np.random.default_rng(0).permutation(np.arange(1.0, n + 1))
    assert conformal_threshold(scores, error_rate) == rank


def test_the_guarantee_holds_over_many_samples():
    """Of new answers, at least 1 − α keep no wrong claim, on average; and hardly more than that."""
    random = np.random.default_rng(1)
    alpha, kept = 0.2, []
    for _ in range(400):
        right = random.random((60, 5)) < 0.85
        scores = 0.5 * right + 0.7 * random.random((60, 5))
        answers = np.repeat(np.arange(50), 5)
        threshold = factuality_threshold(scores[:50].ravel(), right[:50].ravel(), answers, alpha)
        kept.append(np.mean(~((scores[50:] > threshold) & ~right[50:]).any(axis=1)))
    assert 1 - alpha - 0.015 <= np.mean(kept) <= 1 - alpha + 1 / 51 + 0.015


@pytest.mark.parametrize("bad", [[], [math.nan], [[1.0]]])
def test_what_is_no_row_of_scores_is_refused(bad):
    """NaN would sort somewhere."""
    with pytest.raises(ValueError, match="scores must be one row of numbers"):
        conformal_threshold(bad, 0.1)

"""ROC: scikit-learn's area, DeLong's variance written out, and clusters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from everyclaim.stats.thresholds import roc_auc

rows = st.lists(st.tuples(st.booleans(), st.integers(0, 12)), min_size=4, max_size=60).filter(
    lambda each: len({row[0] for row in each}) == 2
)


def ranked(n=300, seed=0):
    random = np.random.default_rng(seed)
    truth = (random.random(n) < 0.7).astype(float)
    return truth, truth + random.normal(0, 1, n)


@given(rows)
def test_the_area_agrees_with_scikit_learn(pairs):
    """Ties count half."""
    truth, scores = [float(row[0]) for row in pairs], [float(row[1]) for row in pairs]
    found = roc_auc(truth, scores)
    assert found.value == pytest.approx(roc_auc_score(truth, scores))
    assert found.value in found.interval
    assert 0 <= found.interval.low <= found.interval.high <= 1


def test_the_error_is_delongs():
    """The structural components by all pairs (DeLong 1988)."""
    truth, scores = ranked()
    wins = (scores[truth == 1][:, None] > scores[truth == 0]).astype(float)
    m, n = wins.shape
    expected = wins.mean(axis=1).var(ddof=1) / m + wins.mean(axis=0).var(ddof=1) / n
    assert roc_auc(truth, scores).error == pytest.approx(np.sqrt(expected))


def test_clusters_of_one_change_nothing_and_copies_count_once():
    """Obuchowski's variance is DeLong's where each unit is alone, but for n/(n − 1)."""
    truth, scores = ranked()
    alone = roc_auc(truth, scores).error
    assert roc_auc(truth, scores, np.arange(300)).error == pytest.approx(alone, rel=0.01)
    copies = [np.repeat(row, 4) for row in (truth, scores, np.arange(300))]
    assert roc_auc(*copies).error == pytest.approx(alone, rel=0.01)
    assert roc_auc(*copies[:2]).error < 0.6 * alone

"""ROC: scikit-learn's area."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from everyclaim.stats.thresholds import roc_auc

rows = st.lists(st.tuples(st.booleans(), st.integers(0, 12)), min_size=4, max_size=60).filter(
    lambda each: len({row[0] for row in each}) == 2
)


@given(rows)
def test_the_area_agrees_with_scikit_learn(pairs):
    """Ties count half."""
    truth, scores = np.array([row[0] for row in pairs]), np.array([float(row[1]) for row in pairs])
    assert roc_auc(truth, scores) == pytest.approx(roc_auc_score(truth, scores))

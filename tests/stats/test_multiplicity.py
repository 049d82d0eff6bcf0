"""Adjusted p-values: statsmodels' numbers, and order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from everyclaim.stats.multiplicity import benjamini_hochberg, benjamini_yekutieli, holm

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=50)
WAYS = [(holm, "holm"), (benjamini_hochberg, "fdr_bh"), (benjamini_yekutieli, "fdr_by")]


@pytest.mark.slow
@pytest.mark.parametrize(("ours", "peer"), WAYS)
@given(p=p_values)
def test_adjusted_values_are_those_of_statsmodels(ours, peer, p):
    """In the order given, ties and all."""
    assert ours(p) == pytest.approx(multipletests(p, method=peer)[1], abs=1e-12)


@given(p_values)
def test_corrections_keep_the_order_and_never_help(p):
    """No adjusted value is below its p-value; Holm is never kinder than Benjamini–Hochberg."""
    assert np.all(benjamini_hochberg(p) >= np.array(p) - 1e-12)
    assert np.all(holm(p) >= benjamini_hochberg(p) - 1e-12)
    assert np.all(np.diff(holm(p)[np.argsort(p)]) >= 0)


@pytest.mark.parametrize("bad", [[], [1.2], [float("nan")], [[0.1]]])
def test_what_is_no_probability_is_refused(bad):
    """Nothing is adjusted that is not a row of p-values."""
    with pytest.raises(ValueError, match="p_values"):
        benjamini_hochberg(bad)

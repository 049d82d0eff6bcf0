"""Numbers of labels and detectable differences: statsmodels' numbers, and that they do what they promise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.power import normal_sample_size_one_tail

from everyclaim.stats.power import detectable_paired_difference, labels_for_half_width
from everyclaim.stats.proportions import wilson


@given(st.integers(2, 100_000), st.floats(0.05, 1))
def test_a_detectable_difference_needs_as_many_pairs_as_there_are(pairs, spread):
    """By statsmodels, at 80 % power."""
    needed = normal_sample_size_one_tail(detectable_paired_difference(pairs, spread), 0.8, 0.025, std_null=spread)
    assert needed == pytest.approx(pairs)


@given(st.floats(0, 1), st.floats(0.01, 0.4))
def test_labels_are_just_enough(rate, half):
    """Wilson's interval of so many labels is narrow enough, of one fewer it is not."""
    n = labels_for_half_width(rate, half)
    assert wilson(rate * n, n).width <= 2 * half
    assert n == 1 or wilson(rate * (n - 1), n - 1).width > 2 * half


def test_bad_input_is_named():
    """A wrong argument is a ValueError that says which, never a number."""
    with pytest.raises(ValueError, match="half_width"):
        labels_for_half_width(0.5, 0.0)

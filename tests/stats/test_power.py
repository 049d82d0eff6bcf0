"""Sample sizes: statsmodels' numbers, published ones, and that they do what they promise."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.power import normal_sample_size_one_tail
from statsmodels.stats.proportion import samplesize_proportions_2indep_onetail

from everyclaim.stats.power import (
    detectable_difference,
    detectable_paired_difference,
    labels_for_half_width,
    pairs_for_mean_difference,
    units_for_difference,
)
from everyclaim.stats.proportions import wilson


@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.sampled_from([0.8, 0.9]))
def test_two_groups_agree_with_statsmodels(first, second, power):
    """Any two proportions, rounded up."""
    assume(abs(first - second) > 0.01)
    peer = samplesize_proportions_2indep_onetail(first - second, second, power, alpha=0.05)
    assert abs(units_for_difference(first, second, power) - peer) <= 1 + 1e-6


def test_published_sizes():
    """60 % against 70 %, 80 % power: 356 a group (Fleiss and others). Clusters multiply it."""
    assert units_for_difference(0.6, 0.7) == 356
    assert units_for_difference(0.6, 0.7, design_effect=2.0) == 712


@given(st.floats(0.005, 0.5), st.floats(0.05, 1))
def test_mean_differences_agree_with_statsmodels_and_themselves(difference, spread):
    """The size found is just enough to detect the difference it was asked for."""
    n = pairs_for_mean_difference(difference, spread)
    assert abs(n - normal_sample_size_one_tail(difference, 0.8, 0.025, std_null=spread)) <= 1 + 1e-6
    assert detectable_paired_difference(n, spread) <= difference * (1 + 1e-9)
    assert n == 1 or detectable_paired_difference(n - 1, spread) > difference * (1 - 1e-9)


def test_what_two_groups_can_show():
    """The smallest fall found needs all the units there are; a handful shows none."""
    fall = detectable_difference(500, 0.9)
    assert units_for_difference(0.9, 0.9 - fall) <= 500 < units_for_difference(0.9, 0.9 - fall * 0.99)
    assert detectable_difference(2, 0.3) is None


@given(st.floats(0, 1), st.floats(0.01, 0.4))
def test_labels_are_just_enough(rate, half):
    """Wilson's interval of so many labels is narrow enough, of one fewer it is not."""
    n = labels_for_half_width(rate, half)
    assert wilson(rate * n, n).width <= 2 * half
    assert n == 1 or wilson(rate * (n - 1), n - 1).width > 2 * half


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: units_for_difference(0.5, 0.5), "cannot be told apart"),
        (lambda: units_for_difference(1.5, 0.5), "not 1.5"),
        (lambda: units_for_difference(0.6, 0.5, power=80), "power must lie between 0 and 1, not 80"),
        (lambda: units_for_difference(0.6, 0.5, design_effect=0), "design_effect must be above 0"),
    ],
)
def test_bad_input_is_named(call, message):
    """A wrong argument is a ValueError that says which, never a number."""
    with pytest.raises(ValueError, match=message):
        call()

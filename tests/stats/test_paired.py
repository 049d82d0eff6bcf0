"""Paired differences and their tests: peers' numbers, symmetry, and what they promise."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import normal_sample_size_one_tail

from everyclaim.stats.paired import (
    exchanges,
    holm,
    paired_difference,
    sign_flip_test,
)
from everyclaim.stats.proportions import detectable_paired_difference, labels_for_half_width, wilson

rates = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 6), st.integers(1, 6), st.integers(0, 9)),
    min_size=2,
    max_size=60,
)


@given(rates)
def test_exchanging_before_and_after_turns_the_sign(rows):
    """The difference, its interval and its test know no favourite, nor the order of the rows."""
    a, b, n, m, cluster = (np.array(column) for column in zip(*rows, strict=True))
    before, after = (np.minimum(a, n), n), (np.minimum(b, m), m)
    there, back = paired_difference(before, after, cluster), paired_difference(after, before, cluster)
    assert there.value == pytest.approx(-back.value, abs=1e-12)
    assert (there.interval.low, there.interval.high) == pytest.approx((-back.interval.high, -back.interval.low))
    assert there.value in there.interval
    turned = paired_difference((before[0][::-1], n[::-1]), (after[0][::-1], m[::-1]), cluster[::-1])
    assert turned.interval.low == pytest.approx(there.interval.low, abs=1e-12)
    chance = sign_flip_test(exchanges(before, after), cluster)
    assert chance == pytest.approx(sign_flip_test(exchanges(after, before), cluster))


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=9))
def test_few_differences_have_all_their_signs_tried(values):
    """The p-value is the share of sign patterns whose sum is as far from 0."""
    sums = [sum(s * v for s, v in zip(signs, values, strict=True)) for signs in product((1, -1), repeat=len(values))]
    expected = np.mean(np.abs(sums) >= abs(sum(values)))
    assert sign_flip_test([v / 7 for v in values]) == pytest.approx(expected)


def test_sampled_signs_agree_with_scipy():
    """Drawn sign patterns give scipy's permutation p-value within its noise."""
    values = np.random.default_rng(3).normal(0.25, 1, 40)
    found = sign_flip_test(values)
    peer = stats.permutation_test(
        (values,), np.sum, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(1)
    )
    assert found == pytest.approx(peer.pvalue, abs=0.015)
    assert sign_flip_test(values) == found


p_values = st.lists(st.floats(0, 1), min_size=1, max_size=50)


@given(p_values)
def test_adjusted_values_are_those_of_statsmodels(p):
    """In the order given, ties and all."""
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)


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

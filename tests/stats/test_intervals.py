"""Intervals: published values, peers' formulas, coverage by simulation, and honesty at the edges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from everyclaim.stats.intervals import (
    NOTHING,
    Estimate,
    bootstrap,
    clustered_mean,
    clustered_ratio,
)
from everyclaim.stats.proportions import student_quantile, wilson
from everyclaim.stats.types import Interval, Sampling, standard_error


def ratio(totals):
    """The first total over the second: a mean or a rate."""
    return totals[:, 0] / totals[:, 1]


def test_standard_error_is_the_formula_of_the_paper():
    """Var/n + (1/n²) Σ Σ_{i≠j} within clusters, written out, gives the same number."""
    random = np.random.default_rng(3)
    clusters = np.repeat(np.arange(12), [1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1])
    values = np.clip(0.6 + 0.3 * random.standard_normal(12)[clusters] + 0.1 * random.standard_normal(42), 0, 1)
    n, mean = len(values), values.mean()
    cross = sum(
        (values[i] - mean) * (values[j] - mean)
        for i in range(n)
        for j in range(n)
        if i != j and clusters[i] == clusters[j]
    )
    expected = math.sqrt(values.var() / n + cross / n**2)
    sums = np.bincount(clusters, weights=values)
    assert standard_error(sums, np.bincount(clusters)) == pytest.approx(expected, rel=1e-12)
    assert expected > 1.5 * math.sqrt(values.var() / n)  # clustering matters in this example


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("answers", [5, 40, 6000])
def test_a_rate_of_nothing_or_all_still_has_a_width(value, answers):
    """Where every resample is the same, the interval is Wilson's over the answers, not over their claims."""
    estimate = clustered_ratio(np.full(answers, 4 * value), np.full(answers, 4.0))
    assert estimate.method == "wilson_effective"
    assert Interval(estimate.low, estimate.high) == wilson(answers * value, answers)


def test_one_cluster_says_nothing_about_the_spread():
    """One answer has a value and the widest interval."""
    assert clustered_mean([0.7]) == Estimate(0.7, 0.0, 1.0, 1, 1, "one_cluster")
    assert clustered_mean([0.5, 1.0], ["q", "q"]) == Estimate(0.75, 0.0, 1.0, 2, 1, "one_cluster")


def test_no_units_give_no_number():
    """Nothing is neither 0 nor NaN."""
    assert clustered_mean([]) == NOTHING
    assert clustered_ratio([0.0, 0.0], [0.0, 0.0]) == NOTHING


rows = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 9)).map(lambda r: (min(r[:2]), max(r[:2]), r[2])),
    min_size=1,
    max_size=80,
)


@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing(rows, random):
    """The same rows in another order give the same estimate to the last digit."""
    shuffled = list(rows)
    random.shuffle(shuffled)

    def estimate(table):
        tops, bottoms, clusters = zip(*table, strict=True)
        return clustered_ratio(np.divide(tops, 7), np.divide(bottoms, 7), clusters, Sampling(resamples=50))

    assert estimate(rows) == estimate(shuffled)


@given(rows)
def test_the_interval_holds_the_value_and_stays_within_bounds(rows):
    """0 ≤ low ≤ value ≤ high ≤ 1, whatever the method."""
    tops, bottoms, clusters = zip(*rows, strict=True)
    estimate = clustered_ratio(tops, bottoms, clusters, Sampling(resamples=200))
    if estimate.value is None:
        assert estimate == NOTHING
    else:
        assert 0 <= estimate.low <= estimate.value + 1e-12
        assert estimate.value - 1e-12 <= estimate.high <= 1


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 10, 29, 30, 199, 200, 201, 5000])
def test_student_quantiles_agree_with_scipy(level, freedom):
    """The finite series and the expansion both give the published quantiles."""
    assert student_quantile(level, freedom) == pytest.approx(stats.t.ppf(0.5 + level / 2, freedom), rel=1e-6)


MANY = Sampling(resamples=20_000)


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    units = random.integers(1, 7, 50).astype(float)
    return np.column_stack([random.binomial(units.astype(int), random.beta(9, 1, 50)), units])


def test_the_interval_agrees_with_scipy(table):
    """A ratio over clusters, resampled by scipy as pairs, has the same ends within the noise of resampling."""
    found = bootstrap(table, ratio, MANY)
    drawn = stats.bootstrap(
        (table[:, 0], table[:, 1]),
        lambda a, b, axis: a.sum(axis) / b.sum(axis),
        paired=True,
        vectorized=True,
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(1),
    )
    interval = drawn.confidence_interval
    assert (found.interval.low, found.interval.high) == pytest.approx((interval.low, interval.high), abs=0.004)
    assert found.error == pytest.approx(drawn.standard_error, rel=0.03)

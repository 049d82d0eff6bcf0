"""Proportions: published values, peers' formulas, and honesty at the edges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep

from everyclaim.stats.proportions import (
    chance_of_at_most,
    clustered_normal,
    effective_counts,
    newcombe_difference,
    upper_bound,
    wilson,
)
from everyclaim.stats.types import Interval


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_scipy(counts):
    """Every count gives the interval scipy gives."""
    successes, n = counts
    peer = stats.binomtest(successes, n).proportion_ci(method="wilson")
    interval = wilson(successes, n)
    assert (interval.low, interval.high) == pytest.approx((peer.low, peer.high), abs=1e-9)


@given(st.integers(1, 300), st.integers(1, 300), st.floats(0, 1), st.floats(0, 1))
def test_newcombes_difference_agrees_with_statsmodels(n, m, share_n, share_m):
    """Any two counts give statsmodels' interval of the same name."""
    first, second = round(share_n * n), round(share_m * m)
    found = newcombe_difference((first, second), (n, m))
    low, high = confint_proportions_2indep(second, m, first, n, method="newcomb")
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=1e-9)
    assert found.value in found.interval


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=40))
def test_without_clusters_the_normal_interval_is_the_t_interval(values):
    """Each value alone: mean ± t · s/√n, as scipy has it."""
    found = clustered_normal(values)
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    half = stats.t.ppf(0.975, len(values) - 1) * error
    assert found.error == pytest.approx(error, rel=1e-9, abs=1e-12)
    assert found.interval.width == pytest.approx(2 * half, rel=1e-6, abs=1e-9)


def test_one_cluster_has_no_bounds():
    """What cannot be known is infinite, and said."""
    found = clustered_normal([0.2, 0.9], ["q", "q"])
    assert found.interval == Interval(-math.inf, math.inf)
    assert not found.reliable


@given(st.integers(1, 3000), st.floats(0, 1), st.floats(0.001, 0.999))
def test_the_chance_is_that_of_the_binomial_distribution(n: int, share: float, rate: float) -> None:
    """To nine digits, also far out in the tail."""
    events = int(share * n)
    assert chance_of_at_most(events, n, rate) == pytest.approx(stats.binom.cdf(events, n, rate), rel=1e-9, abs=1e-12)


@given(st.integers(1, 2000), st.floats(0, 1), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_bound_is_that_of_clopper_and_pearson(n: int, share: float, confidence: float) -> None:
    """The quantile of a beta distribution."""
    events = int(share * n)
    wanted = 1.0 if events == n else stats.beta.ppf(confidence, events + 1, n - events)
    assert upper_bound(events, n, confidence) == pytest.approx(wanted, rel=1e-9)


def test_tries_that_are_alike_count_once() -> None:
    """Four copies of each error are worth one."""
    events = np.repeat(np.random.default_rng(7).random(500) < 0.2, 4)
    wrong, tries = effective_counts(events, np.repeat(np.arange(500), 4))
    assert 480 <= tries <= 500
    assert wrong / tries == pytest.approx(events.mean(), abs=0.01)

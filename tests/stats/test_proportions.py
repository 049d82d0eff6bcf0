"""Proportions: published values, peers' formulas, and honesty at the edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from everyclaim.stats.proportions import (
    chance_of_at_most,
    effective_counts,
    upper_bound,
    wilson,
)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_scipy(counts):
    """Every count gives the interval scipy gives."""
    successes, n = counts
    peer = stats.binomtest(successes, n).proportion_ci(method="wilson")
    interval = wilson(successes, n)
    assert (interval.low, interval.high) == pytest.approx((peer.low, peer.high), abs=1e-9)


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

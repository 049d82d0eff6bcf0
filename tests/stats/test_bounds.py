"""Upper bounds for error rates, checked against scipy and against what they promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from everyclaim.stats.bounds import chance_of_at_most, effective_counts, upper_bound


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


def test_tries_on_their_own_count_in_full() -> None:
    """Errors that know nothing of their cluster leave about as many tries as there are."""
    random = np.random.default_rng(7)
    events = random.random(3000) < 0.1
    assert effective_counts(events, np.arange(3000)) == (int(events.sum()), 3000)
    _, tries = effective_counts(events, np.arange(3000) // 3)
    assert 2400 < tries <= 3000


def test_tries_that_are_alike_count_once() -> None:
    """Four copies of each error are worth one."""
    events = np.repeat(np.random.default_rng(7).random(500) < 0.2, 4)
    wrong, tries = effective_counts(events, np.repeat(np.arange(500), 4))
    assert 480 <= tries <= 500
    assert wrong / tries == pytest.approx(events.mean(), abs=0.01)

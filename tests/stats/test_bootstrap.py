"""The bootstrap over clusters: against scipy, and what it must not depend on."""

import numpy as np
import pytest
from scipy import stats

from everyclaim.stats.bootstrap import bootstrap, ratio
from everyclaim.stats.types import Sampling

MANY = Sampling(resamples=20_000)


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    units = random.integers(1, 7, 50).astype(float)
    return np.column_stack([random.binomial(units.astype(int), random.beta(9, 1, 50)), units])


@pytest.mark.parametrize(("method", "peer"), [("percentile", "percentile"), ("bca", "BCa")])
def test_the_interval_agrees_with_scipy(table, method, peer):
    """A ratio over clusters, resampled by scipy as pairs, has the same ends within the noise of resampling."""
    found = bootstrap(table, ratio, MANY, method)
    drawn = stats.bootstrap(
        (table[:, 0], table[:, 1]),
        lambda a, b, axis: a.sum(axis) / b.sum(axis),
        paired=True,
        vectorized=True,
        n_resamples=20_000,
        method=peer,
        rng=np.random.default_rng(1),
    )
    interval = drawn.confidence_interval
    assert (found.interval.low, found.interval.high) == pytest.approx((interval.low, interval.high), abs=0.004)
    assert found.error == pytest.approx(drawn.standard_error, rel=0.03)


def test_equal_seeds_give_equal_numbers_in_any_order(table):
    """The order of the rows is no part of the question."""
    assert bootstrap(table, ratio) == bootstrap(table[::-1], ratio)
    assert bootstrap(table, ratio) != bootstrap(table, ratio, Sampling(seed=1))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 2.0]], "at least two clusters"),
        ([1.0, 2.0], "at least two clusters"),
        ([[1.0, np.nan], [1.0, 1.0]], "NaN or infinity"),
        ([[0.0, 0.0], [0.0, 0.0]], "undefined on the whole table"),
    ],
)
def test_what_cannot_be_resampled_is_refused(rows, message):
    """A table without two clusters, or a statistic without a value, is a ValueError."""
    with pytest.raises(ValueError, match=message):
        bootstrap(np.array(rows), ratio)

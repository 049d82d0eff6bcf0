"""Series of runs: planted changes are found, quiet series are left alone, slopes are the weighted line's."""

import numpy as np
import pytest

from everyclaim.stats.change_points import change_points, trend


def test_a_planted_fall_is_found_where_it_is():
    """Six runs, known errors, five points lost with the fourth."""
    found = change_points([0.90, 0.91, 0.90, 0.85, 0.86, 0.85], [0.01] * 6)
    assert [change.at for change in found] == [3]
    assert (found[0].before, found[0].after) == pytest.approx((0.90333, 0.85333), abs=1e-5)
    assert found[0].p_value < 0.01


@pytest.mark.parametrize(("runs", "errors"), [(6, True), (6, False), (15, True), (15, False)])
def test_quiet_series_are_left_alone(runs, errors):
    """At most about 5 % of series without a change have one."""
    random = np.random.default_rng(1)
    known = np.full(runs, 0.01) if errors else None
    called = [bool(change_points(random.normal(0.9, 0.01, runs), known, seed=k)) for k in range(150)]
    assert np.mean(called) <= 0.1


def test_the_trend_is_the_weighted_line():
    """The fit of numpy, with the errors taken as known."""
    values, errors = np.array([0.90, 0.88, 0.89, 0.86, 0.85]), np.array([0.01, 0.02, 0.01, 0.02, 0.01])
    found = trend(values, errors)
    (slope, _), covariance = np.polyfit(np.arange(5), values, 1, w=1 / errors, cov="unscaled")
    assert found.value == pytest.approx(slope)
    assert found.error == pytest.approx(np.sqrt(covariance[0, 0]))
    assert found.interval.high < 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: change_points([]), "values is empty"),
        (lambda: change_points([0.9, 0.8], [0.1]), "values 2, errors 1"),
        (lambda: change_points([0.9, 0.8], [0.1, 0.0]), "errors must be above 0"),
        (lambda: trend([0.9, 0.8], [0.1, 0.1]), "at least 3 values, not 2"),
    ],
)
def test_bad_input_is_named(call, message):
    """A wrong argument is a ValueError that says which, never a number."""
    with pytest.raises(ValueError, match=message):
        call()

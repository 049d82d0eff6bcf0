"""Watching a rate: false alarms are as rare as said, rises are noticed, and looking often costs nothing."""

import numpy as np
import pytest

from everyclaim.stats.sequential import Watch, change_points, observe, trend


@pytest.mark.parametrize("rate", [pytest.param(0.02, marks=pytest.mark.slow), 0.05])
def test_a_rate_within_its_limit_is_hardly_ever_called_above_it(rate):
    """Over 300 streams of 800 values, looked at after each, at most 5 %."""
    random = np.random.default_rng(0)
    called = [observe(Watch(0.05), random.random(800) < rate).is_above(0.05) for _ in range(300)]
    assert np.mean(called) <= 0.05


def test_a_rise_after_a_long_quiet_is_noticed():
    """3,000 values at 3 % and then 15 %: within some hundred, where the wealth since the start sees nothing."""
    random = np.random.default_rng(2)
    watch = observe(Watch(0.05), random.random(3000) < 0.03)
    assert not watch.has_risen(2000)
    watch = observe(watch, random.random(300) < 0.15)
    assert watch.has_risen(2000)
    assert not watch.is_above(0.05)


def test_pieces_give_what_the_whole_gives():
    """A watch may be stored and go on."""
    values = np.random.default_rng(3).random(500) < 0.1
    whole, pieces = observe(Watch(0.05), values), Watch(0.05)
    for part in np.array_split(values, 37):
        pieces = observe(pieces, part)
    assert pieces == whole


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

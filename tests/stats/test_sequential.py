"""Watching a rate: false alarms are as rare as said, rises are noticed, and looking often costs nothing."""

import numpy as np
import pytest

from everyclaim.stats.sequential import Watch, change_points, observe


def test_a_rise_after_a_long_quiet_is_noticed():
    """3,000 values at 3 % and then 15 %: within some hundred."""
    random = np.random.default_rng(2)
    watch = observe(Watch(0.05), random.random(3000) < 0.03)
    assert not watch.has_risen(2000)
    watch = observe(watch, random.random(300) < 0.15)
    assert watch.has_risen(2000)


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


@pytest.mark.parametrize("runs", [6, 15])
def test_quiet_series_are_left_alone(runs):
    """At most about 5 % of series without a change have one."""
    random = np.random.default_rng(1)
    known = np.full(runs, 0.01)
    called = [bool(change_points(random.normal(0.9, 0.01, runs), known)) for _ in range(150)]
    assert np.mean(called) <= 0.1

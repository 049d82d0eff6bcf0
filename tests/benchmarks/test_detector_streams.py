"""The benchmark of the detector measures the detector."""

import numpy as np

import detector


def test_the_streams_side_by_side_alarm_where_the_detector_does() -> None:
    """It exits where they differ."""
    detector.check_against_the_detector()


def test_a_rise_is_noticed_and_its_delay_counted_from_the_rise() -> None:
    """Five times 5 %: within two hundred answers."""
    delays = detector.delays(np.random.default_rng(1), 0.05, 0.25, 0.075, 8)
    assert np.isfinite(delays).all()
    assert np.median(delays) < 200

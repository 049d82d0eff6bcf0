"""Quantiles against scipy's."""

import pytest
from scipy import stats

from everyclaim.stats.quantiles import normal_quantile, student_quantile


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 10, 29, 30, 199, 200, 201, 5000])
def test_student_quantiles_agree_with_scipy(level, freedom):
    """The finite series and the expansion both give the published quantiles."""
    assert student_quantile(level, freedom) == pytest.approx(stats.t.ppf(0.5 + level / 2, freedom), rel=1e-6)


def test_normal_quantile_is_the_familiar_one():
    """95 % of a normal lies within 1.96 standard deviations."""
    assert normal_quantile(0.95) == pytest.approx(1.959964, abs=1e-6)

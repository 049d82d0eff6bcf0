"""Dates and times: what is said, and nothing that is not."""

import pytest
from value_rows import rows

from everyclaim.text.agreement import conflict, relation, same
from everyclaim.text.dates import moments


def read(text):
    return [[m.year, m.month, m.day, m.hour, m.minute] for m in moments(text)]


def one(text):
    (moment,) = moments(text)
    return moment


@pytest.mark.parametrize(("text", "expected"), rows("moments"))
def test_dates_are_read_as_written(text, expected):
    """Each part is what was said; a part not said is None; a number of things is not a year."""
    assert read(text) == expected


@pytest.mark.parametrize(("left", "right", "verdict"), rows("compared moments"))
def test_moments_are_compared_by_what_both_say(left, right, verdict):
    """Agreement needs a shared part; a difference in any shared part is a conflict."""
    a, b = one(left), one(right)
    assert same(a, b) == (verdict == "same")
    assert conflict(a, b) == (verdict == "conflict")


@pytest.mark.parametrize(("mine", "theirs", "expected"), rows("related moments"))
def test_about_a_time_is_a_few_minutes_to_either_side(mine, theirs, expected):
    """A claim may loosen what its passage gives to the minute; it may not be off without a word."""
    assert relation(one(mine), one(theirs)) == expected

"""Dates and times: what is said, and nothing that is not."""

import pytest

from everyclaim.text.agreement import conflict, relation, same
from everyclaim.text.dates import moments


def read(text):
    return [(m.year, m.month, m.day, m.hour, m.minute) for m in moments(text)]


def one(text):
    (moment,) = moments(text)
    return moment


N = None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("born on 14 March 1879 in Ulm", [(1879, 3, 14, N, N)]),
        ("born on March 14, 1879, in Ulm", [(1879, 3, 14, N, N)]),
        ("on the 20th of March 1879", [(1879, 3, 20, N, N)]),
        ("on 20th March", [(N, 3, 20, N, N)]),
        ("on Sept. 3, 1939", [(1939, 9, 3, N, N)]),
        ("in March 1879", [(1879, 3, N, N, N)]),
        ("in 1879.", [(1879, N, N, N, N)]),
        ("2020-03-04", [(2020, 3, 4, N, N)]),
        ("2020-03-04T15:05:00Z", [(2020, 3, 4, 15, 5)]),
        ("on 14/03/1879", [(1879, 3, 14, N, N)]),
        ("on 31.12.2021", [(2021, 12, 31, N, N)]),
        ("in 44 BC and AD 79", [(-44, N, N, N, N), (79, N, N, N, N)]),
        ("at 3 pm, 15:00 and 3:30 a.m.", [(N, N, N, 15, 0), (N, N, N, 15, 0), (N, N, N, 3, 30)]),
        ("at 12 am, at noon", [(N, N, N, 0, 0), (N, N, N, 12, 0)]),
        ("from 1914–1918", [(1914, N, N, N, N), (1918, N, N, N, N)]),
        ("the 2019-20 season", [(2019, N, N, N, N), (2020, N, N, N, N)]),
        ("the 2008 crisis (born 1950)", [(2008, N, N, N, N), (1950, N, N, N, N)]),
        ("lowercase 14 march 1879", [(1879, 3, 14, N, N)]),
        ("the first of October", [(N, 10, 1, N, N)]),
        ("on March the 14th", [(N, 3, 14, N, N)]),
        ("the 1st day of January 2016", [(2016, 1, 1, N, N)]),
        ("on June 21 , 2005", [(2005, 6, 21, N, N)]),
        ("since 25/12/19 and 25.12.19", [(2019, 12, 25, N, N), (2019, 12, 25, N, N)]),
        ("in 03/2018", [(2018, 3, N, N, N)]),
        ("half past six in the morning", [(N, N, N, 6, 30)]),
        ("at quarter to four in the afternoon", [(N, N, N, 15, 45)]),
        ("3 o'clock in the afternoon", [(N, N, N, 15, 0)]),
        ("ten minutes past nine at night", [(N, N, N, 21, 10)]),
        ("departs at 2315 hours", [(N, N, N, 23, 15)]),
        ("open 8–10 a.m.", [(N, N, N, 8, 0), (N, N, N, 10, 0)]),
        ("from 11 to 2 pm", [(N, N, N, 11, 0), (N, N, N, 14, 0)]),
        ("a time of 2:05:11, a scale of 1:50", []),
        ("it ran for 2315 hours, five to ten people", []),
        ("in his sixties, he saw the sun 3 times", []),
        ("you may march 3 miles", []),
        ("They may come in May.", [(N, 5, N, N, N)]),
        ("about 1500 people for 2000 homes, 1990 metres, $1999", []),
        ("version 1.2.34, call 555-1234-5678, 1,889 items", []),
        ("32 March", []),
    ],
)
def test_dates_are_read_as_written(text, expected):
    """Each part is what was said; a part not said is None; a number of things is not a year."""
    assert read(text) == expected


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        ("14 March 1879", "March 14, 1879", "same"),
        ("20 March 1879", "14 March 1879", "conflict"),
        ("March 1879", "14 March 1879", "same"),
        ("1879", "1880", "conflict"),
        ("14 March", "1879", None),
        ("the 1990s", "1995", None),
        ("the 1990s", "1985", "conflict"),
        ("03/04/2020", "4 March 2020", "same"),
        ("03/04/2020", "3 April 2020", "same"),
        ("03/04/2020", "5 April 2020", "conflict"),
        ("3 pm", "15:00", "same"),
        ("3 pm", "3 am", "conflict"),
        ("44 BC", "AD 44", "conflict"),
        ("Q3 2024", "Q2 2024", "conflict"),
        ("on Monday", "on Friday", "conflict"),
        ("on Tuesday", "24 August 2010", "same"),
        ("on Monday", "24 August 2010", "conflict"),
        ("the 1700s", "the 18th century", "same"),
        ("the '90s", "the 1990s", "same"),
        ("25/12/19", "25 December 2019", "same"),
        ("9:30", "9:30 pm", "same"),
        ("9:30", "8:30 pm", "conflict"),
        ("09:30", "9:30 pm", "conflict"),
        ("Q3 2024", "August 2024", "same"),
        ("H1 2024", "August 2024", "conflict"),
    ],
)
def test_moments_are_compared_by_what_both_say(left, right, verdict):
    """Agreement needs a shared part; a difference in any shared part is a conflict."""
    a, b = one(left), one(right)
    assert same(a, b) == (verdict == "same")
    assert conflict(a, b) == (verdict == "conflict")


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        ("at about 10:50", "by 10:52", "about"),
        ("around 3 pm", "at 15:05", "about"),
        ("at 10:50", "by 10:52", "differs"),
        ("at about 10:50", "at 11:30", "differs"),
        ("at about 10:50", "at 10:50", "equal"),
    ],
)
def test_about_a_time_is_a_few_minutes_to_either_side(mine, theirs, expected):
    """A claim may loosen what its passage gives to the minute; it may not be off without a word."""
    assert relation(one(mine), one(theirs)) == expected

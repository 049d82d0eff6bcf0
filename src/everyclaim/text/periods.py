"""Periods: what lies between two dates or times, or up to one: "April to October", "9 am until 5 pm", "by 31 March".

A value inside a period does not differ from the dates at its ends: what is open from April to October is open in June.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from everyclaim.text.dates import Moment, lowered, moments

_TO = re.compile(r"\s?(?:-|–|—|\b(?:to|through|thru|until|till|and)\b)\s?(?:the\s)?")
_BETWEEN = re.compile(r"\bbetween (?:the )?$")
_FROM = re.compile(r"\b(?:from|since|after|as of|starting|starting on) (?:the )?$")
_UNTIL = re.compile(r"\b(?:until|till|by|before|up to|through|no later than|ends?|ends? on|ending) (?:the )?$")
_MONTH = 31
_YEAR = 12 * _MONTH
_CYCLES = {"weekday": 7, "time": 24 * 60, "season": _YEAR, "date": 0}


class Period(NamedTuple):
    """The time from `first` to `last`, both included; None where it has no such end."""

    first: Moment | None
    last: Moment | None
    start: int
    end: int


def periods(text: str) -> Iterator[Period]:
    """Read every period of `text`, in order."""
    low, found = lowered(text), moments(text)
    at = 0
    while at < len(found):
        one = found[at]
        after = found[at + 1] if at + 1 < len(found) else None
        left = low[max(0, one.start - 20) : one.start]
        joint = low[one.end : after.start] if after is not None and after.start - one.end <= 12 else ""
        between = _BETWEEN.search(left)
        if after is not None and _TO.fullmatch(joint) and ("and" not in joint or between is not None):
            begins = one.start if between is None else one.start - len(left) + between.start()
            yield Period(one, after, begins, after.end)
            at += 2
            continue
        if since := _FROM.search(left):
            yield Period(one, None, one.start - len(left) + since.start(), one.end)
        elif until := _UNTIL.search(left):
            yield Period(None, one, one.start - len(left) + until.start(), one.end)
        at += 1


def holds(period: Period, moment: Moment) -> bool | None:
    """Say whether a moment lies inside a period (True) or outside (False); None where they do not compare."""
    for axis, cycle in _CYCLES.items():
        mine = _extent(moment, axis)
        first, last = ((0.0, 0.0) if end is None else _extent(end, axis) for end in (period.first, period.last))
        if mine is None or first is None or last is None:
            continue
        low = first[0] if period.first is not None else -math.inf
        high = last[1] if period.last is not None else math.inf
        if cycle and low > high:  # November to March
            return None if mine[0] < high < mine[1] or mine[0] < low < mine[1] else mine[1] <= high or mine[0] >= low
        if low <= mine[0] and mine[1] <= high:
            return True
        return False if mine[1] <= low or mine[0] >= high else None
    return None


def _extent(moment: Moment, axis: str) -> tuple[float, float] | None:
    """Give where a moment begins and ends on an axis; None where it says nothing of it, or may mean two things."""
    if axis == "weekday":
        return None if moment.weekday is None or moment.day else (moment.weekday, moment.weekday + 1)
    if axis == "time":
        if moment.hour is None or moment.any_half:
            return None
        minute = 60 * moment.hour + (moment.minute or 0)
        return minute, minute + 1
    if moment.swappable or moment.quarter or moment.half or (axis == "date") != (moment.year is not None):
        return None
    begin = _YEAR * (moment.year or 0)
    if moment.month is None:
        return (begin, begin + _YEAR * moment.years) if moment.year is not None else None
    begin += _MONTH * (moment.month - 1)
    return (begin, begin + _MONTH) if moment.day is None else (begin + moment.day - 1, begin + moment.day)

"""Writing a value the way another one is written: 3.5 cm beside "25 mm" is "35 mm", 1 October 2020 beside "1.9.2020"
is "1.10.2020".

So that two values that differ, differ in their numbers alone.
"""

from __future__ import annotations

import math
import re
from operator import attrgetter

from everyclaim.text.agreement import Fact
from everyclaim.text.dates import FULL_MONTHS, MONTHS, Moment, lowered
from everyclaim.text.numerals import numbers, scale_value
from everyclaim.text.quantities import Quantity

_SCALE = re.compile(r"\s?[^\W\d_]+$")
_SIGN = re.compile(r"^(?:minus |negative |[-−–])|(?<=^[$€£¥₹₩₽])[-−–]")
_ROMAN = re.compile(r"[IVXLC]+")
_CLOCK = re.compile(r"(\d{1,2})([:.]\d\d)?(?:\s?([ap]\.?m\.?))?", re.IGNORECASE)


def rendered(value: Fact, like: Fact, words: str) -> str:
    """Write `value` as `words` write `like`, of the same kind; "" where that cannot be done."""
    if isinstance(value, Quantity) and isinstance(like, Quantity):
        return _quantity(value, like, words)
    if isinstance(value, Moment) and isinstance(like, Moment):
        return _moment(value, like, words)
    return ""


def _quantity(value: Quantity, like: Quantity, words: str) -> str:
    if value.low != value.high or like.low != like.high or not math.isfinite(value.low + like.low):
        return ""
    if value.dimension != like.dimension or like.dimension == "score":
        return ""
    if like.dimension == "label" and _ROMAN.fullmatch(words):
        return f"{value.low:g}"
    if min(value.low, like.low) < 0:
        plain, other = (one._replace(low=abs(one.low), high=abs(one.high)) for one in (value, like))
        written = _quantity(plain, other, _SIGN.sub("", words))
        return written and ("minus " if value.low < 0 else "plus ") + written
    found = list(numbers(lowered(words), words))
    if len(found) != 1 or not found[0].value or not like.low:
        return ""
    number = found[0]
    rate = value.rate.amount / like.rate.amount if value.rate is not None and like.rate is not None else 1.0
    amount = _in_unit(value, like, like.low / number.value) / rate / scale_value(number.scale)
    written = words[number.start : number.end]
    if number.kind == "ordinal":
        place = round(amount)
        last = "th" if 10 <= place % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
        digits = f"{place}{last}"
    else:
        scale = _SCALE.search(written) if number.scale else None
        digits = _digits(amount, written) + (scale[0] if scale is not None else "")
    return words[: number.start] + digits + words[number.end :]


def _in_unit(value: Quantity, like: Quantity, factor: float) -> float:
    """Give a value in the unit of another; `factor` is that unit's, except of a temperature."""
    if like.dimension != "temperature":
        return value.low / factor
    return value.low * 9 / 5 + 32 if like.system == "fahrenheit" else value.low + (273.15 * (like.system == "kelvin"))


def _digits(amount: float, like: str) -> str:
    text = f"{amount:.4g}" if abs(amount) < 1e3 else f"{amount:.6g}" if abs(amount) < 1e5 else f"{amount:.0f}"
    if "e" in text:
        text = f"{amount:f}".rstrip("0").rstrip(".")
    if "," in like and abs(amount) >= 1000 and float(text).is_integer():
        text = f"{float(text):,.0f}"
    return text


def _moment(value: Moment, like: Moment, words: str) -> str:
    """Exchange, in the words of a moment, the parts that another one says otherwise."""
    parts = attrgetter("year", "month", "day", "hour", "quarter", "half")
    if like.years != value.years or any((x is None) != (y is None) for x, y in zip(parts(value), parts(like))):  # noqa: B905
        return ""
    if like.hour is not None:
        return _time(value, words) if like.day is None and like.year is None else ""
    text = words
    if like.day is not None and like.month is not None and value.day != like.day:
        text = re.sub(rf"\b0?{like.day}(?:st|nd|rd|th)?\b", str(value.day), text, count=1)
    if like.month is not None and value.month is not None and value.month != like.month:
        name = re.compile(rf"\b{MONTHS[like.month - 1]}[a-z]*\b", re.IGNORECASE)
        if name.search(text) is None:
            return ""
        text = name.sub(FULL_MONTHS[value.month - 1], text, count=1)
    if like.year is not None and value.year != like.year:
        text = re.sub(rf"\b{abs(like.year)}", str(abs(value.year or 0)), text, count=1)
    if like.quarter is not None and value.quarter != like.quarter:
        text = re.sub(rf"(?i)(?<=q){like.quarter}\b|\b{like.quarter}(?=q)", str(value.quarter), text, count=1)
    return text if text != words else ""


def _time(value: Moment, words: str) -> str:
    """Write a time of day as another is written: with or without minutes, of twelve hours or of 24."""
    match = _CLOCK.fullmatch(words)
    if match is None or value.hour is None:
        return ""
    hour, minute = value.hour, value.minute or 0
    part = ""
    if match[3]:
        part = words[match.start(3) - 1 : match.start(3)].strip(match[1][-1:] + "0123456789")
        part += ("p" if hour >= 12 else "a") + match[3][1:]
        hour = hour % 12 or 12
    mark = match[2][0] if match[2] else ":"
    padded = f"{hour:0{len(match[1])}d}" if match[1].startswith("0") else str(hour)
    return padded + (f"{mark}{minute:02d}" if match[2] or minute else "") + part

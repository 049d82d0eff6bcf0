"""Quantities: numbers with what they measure or count, in a base unit, comparable whatever way they are written.

"two hours forty minutes" and "2 h 40 min" are the same; "about three hours" is not the same as "three hours", nor in
conflict with it. Dates are left to `dates`; version numbers, identifiers, telephone numbers and citations are not
quantities.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from everyclaim.text.dates import lowered
from everyclaim.text.measures import HALF_MORE, Value
from everyclaim.text.measures import values as read_values
from everyclaim.text.numerals import Number, scale_value
from everyclaim.text.tokens import STOPWORDS, stem, word_set
from everyclaim.text.units import UNITS, Unit

_APPROXIMATE = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|circa|ca?\.|some|(?:an )?estimated"
    r"(?: at)?|close to|just (?:over|under|above|below)|an average of|on average|in the region of|or so)|[~≈])"
    r"(?: (?:at|a|an|the))?[\s(]*$"
)
_AT_LEAST = re.compile(
    r"(?:\b(?:at least|no (?:less|fewer) than|not less than|(?:a )?minimum(?: of)?|more than|over|above"
    r"|exceed(?:s|ed|ing)?|greater than|upwards? of|in excess of|from at least)|[>≥])\s*$"
)
_AT_MOST = re.compile(
    r"(?:\b(?:at most|no more than|not more than|(?:a )?maximum(?: of)?|less than|fewer than|under|below|up to"
    r"|not exceeding|within|as (?:much|many) as)|[<≤])\s*$"
)
_OR_MORE = re.compile(r"\+(?!\d)| (?:or|and) (?:more|above|over|older|higher|greater|longer)\b| (?:minimum|at least)\b")
_OR_LESS = re.compile(r" (?:or|and) (?:less|fewer|below|under|younger|lower|shorter)\b| (?:maximum|at most)\b")
_OR_SO = re.compile(r" or so\b|-?ish\b| (?:more or less|approximately)\b")
_SINGLE = re.compile(
    r"(?<![\w.])(?P<article>half an?|an?) (?P<unit>hour|mile|minute|week|month|year|decade|kilometre|inch)\b"
)
_RANGE = re.compile(r"\s?(?:--?|[–—−]|\bto\b|\bthrough\b)\s?$|\s?(?:[-–—−]|to|through)\s?(?=[$€£¥₹])")
_COMPOUND = frozenset({"duration", "length", "mass", *(f"money:{code}" for code in ("USD", "EUR", "GBP"))})
_SINGLES = ("an hour", "a mile", "a decade", "an inch", "half a")  # without one of these, `_SINGLE` finds nothing
_INCHES = re.compile(r" ?in\b")
_TAIL = re.compile(r"(?:-\w+)+")
_BEFORE_UNIT = re.compile(r"(\w+|[%$€£])[ -]$")
_JOINT = re.compile(r",? (?:and )?$|$")
_LABELS = word_set(
    """
    section figure fig table chapter page pages pp article clause step version level grade type phase stage part volume
    vol no number nos room route highway unit appendix paragraph verse line item question lesson module act scene book
    episode season rule note act class category zone gate platform line model mark band class flight bus tier
    """
)
_PLURALS = word_set("people men women children feet teeth mice geese sheep fish species series staff police cattle")
_NOUN_WORD = r"([^\W\d_](?:[^\W\d_]|['’-])*)"
_NOUN = re.compile(rf"[ \u00a0-]{_NOUN_WORD}(?: {_NOUN_WORD})?(?: {_NOUN_WORD})?")
_FRACTION_OF = re.compile(r" (?:of|the|its|their|his|her|our|all)\b")
_WORD_BEFORE = re.compile(r"([^\W\d_]+\.?)[ \u00a0-]$")
# The last words of what the patterns above read: anything else before a number says nothing about it.
_BEFORE_NUMBER = word_set(
    """
    about around approximately approx. approx roughly nearly almost circa ca. c. some estimated at a an the to over
    under above below average of so least than minimum exceed exceeds exceeded exceeding from most maximum within many
    much
    """
)
_APART = 28  # characters of context read before a number
_ROUNDING = 0.01  # how far two unit systems may differ: 5 miles are 8 km
_ABOUT = 0.10  # how far "about" reaches before it is a conflict


class Quantity(NamedTuple):
    """A number and its unit. `low` and `high` are in the base unit of `dimension`, and equal unless a range.

    A bound such as "at least 5" has an infinite other end. `unit` is the unit's name ("" for a plain count),
    `noun` the stem of what is counted, `tolerance` half of the last digit stated where it may be rounded.
    """

    low: float
    high: float
    unit: str
    dimension: str
    approximate: bool
    start: int
    end: int
    noun: str = ""
    tolerance: float = 0.0
    system: str = ""


def quantities(text: str) -> list[Quantity]:
    """Read every quantity of `text`, in order; the spans do not overlap and dates are not among them."""
    low = lowered(text)
    values = sorted(read_values(low, text), key=lambda value: value.start)
    found: list[Quantity] = []
    at = 0
    while at < len(values):
        quantity, used = _join(values, at, low)
        if quantity is not None:
            found.append(_bounded(quantity, low))
        at += used
    found = [quantity for i, quantity in enumerate(found) if i == 0 or found[i - 1].end <= quantity.start]
    if any(written in low for written in _SINGLES):
        starts = [quantity.start for quantity in found]
        found += [single for single in _single_units(low) if not _overlaps(single, found, starts)]
        found.sort(key=lambda quantity: quantity.start)
    return found


def _overlaps(quantity: Quantity, found: list[Quantity], starts: list[int]) -> bool:
    """Say whether `quantity` overlaps one of those in `found` that begin at `starts`."""
    at = bisect_left(starts, quantity.end)
    return at > 0 and found[at - 1].end > quantity.start


def _join(values: list[Value], at: int, low: str) -> tuple[Quantity | None, int]:
    """Make one quantity of the value at `at` and those after it that belong to it; say how many were used."""
    first = values[at]
    if at + 1 < len(values):
        second = values[at + 1]
        gap = low[first.end : second.start] if 0 <= second.start - first.end <= 12 else None
        if gap is not None:
            joined = _range(first, second, gap, low)
            if joined is not None:
                return joined[0], 2
            total, used = _compound(values, at, low)
            if used > 1:
                return total, used
    return _single(first, low), 1


def _range(first: Value, second: Value, gap: str, low: str) -> tuple[Quantity | None] | None:
    """Read "8 to 10 minutes" and "between 5 and 10"; a one-tuple of None means: two numbers that are no range."""
    left = low[max(0, first.start - 12) : first.start]
    between = gap == " and " and left.endswith("between ")
    if not between and _RANGE.fullmatch(gap) is None:
        dash = second.start < first.number.end + 2 and second.value < 0 and gap == ""
        if not dash:
            return None
    if "ordinal" in (first.number.kind, second.number.kind):
        return None
    unit = second.unit or first.unit
    if first.unit is not None and second.unit is not None and first.unit.dimension != second.unit.dimension:
        return None
    a, b = first.value, abs(second.value) if gap == "" else second.value
    if first.number.scale == "" and second.number.scale and a < second.number.value and (
        a * _scale_of(second.number) <= b
    ):  # fmt: skip
        a *= _scale_of(second.number)
    low_unit = first.unit if first.unit is not None and second.unit is not None else unit
    tight = gap.strip() in ("-", "–", "−", "") and gap == gap.strip()
    small = a < 100 and b < 100 and a == int(a) and b == int(b)
    start, end = first.start, second.end
    if unit is None and tight and small and (b <= a or not _noun(low, end)):
        return (Quantity(min(a, b), max(a, b), f"{int(a)}-{int(b)}", "score", False, start, end),)
    if unit is None and gap.strip() == "-" and _hyphen_chain(low, first.start, end):
        return (None,)
    if _base(a, low_unit) > _base(b, unit):
        return None
    noun = _noun(low, end) if unit is None else ""
    shown = unit or Unit("", "count", 1.0)
    quantity = Quantity(_base(a, low_unit), _base(b, unit), shown.name, shown.dimension, False, start, end, noun)
    return (quantity._replace(tolerance=_tolerance(second), system=shown.system),)


def _hyphen_chain(low: str, start: int, end: int) -> bool:
    """Say whether digits joined by hyphens look like a telephone number or an identifier."""
    groups = re.split("[-–]", low[start:end])
    longer = (end + 1 < len(low) and low[end] == "-" and low[end + 1].isalnum()) or (
        start > 0 and low[start - 1] == "-"
    )
    return longer or any(len(group) >= 3 and group[0] == "0" for group in groups) or [len(g) for g in groups] == [3, 4]


def _scale_of(number: Number) -> float:
    return scale_value(number.scale)


def _compound(values: list[Value], at: int, low: str) -> tuple[Quantity | None, int]:
    """Add up "two hours forty minutes", "5 ft 11 in", "5 dollars and 20 cents"."""
    first = values[at]
    if first.unit is None or first.unit.dimension not in _COMPOUND:
        return None, 1
    total, last, used = first.value * first.unit.factor, first, 1
    tolerance = _tolerance(first)
    for value in values[at + 1 : at + 5]:
        assert last.unit is not None
        unit, end = value.unit, value.end
        gap = low[last.end : value.start]
        if unit is None and last.unit.name == "foot" and (match := _INCHES.match(low, value.number.end)):
            unit, end = UNITS["inches"], match.end()
        if unit is not None and unit.name == "metre" and last.unit.name == "hour" and low[end - 1] == "m":
            unit = UNITS["minutes"]  # 2h 40m
        if unit is None or unit.dimension != last.unit.dimension:
            break
        if unit.factor >= last.unit.factor or value.value * unit.factor >= last.unit.factor or len(gap) > 6:
            break
        if _JOINT.fullmatch(gap) is None or ("," in gap and unit.dimension != "duration"):
            break
        total += value.value * unit.factor
        tolerance, used = _tolerance(value), used + 1
        last = value._replace(unit=unit, end=end)
    if used == 1:
        return None, 1
    assert last.unit is not None
    unit = first.unit
    return Quantity(
        total, total, last.unit.name, unit.dimension, False, first.start, last.end, "", tolerance, unit.system
    ), used


def _single(value: Value, low: str) -> Quantity | None:
    number, unit = value.number, value.unit
    start, end = value.start, value.end
    if unit is not None:
        base = _base(value.value, unit)
        return Quantity(base, base, unit.name, unit.dimension, False, start, end, "", _tolerance(value), unit.system)
    if number.kind == "ordinal":
        return Quantity(value.value, value.value, "", "ordinal", False, start, end, _noun(low, end))
    if number.kind == "times":
        return Quantity(2.0, 2.0, "", "count", False, start, end, "time")
    if number.kind == "fraction":
        if _FRACTION_OF.match(low, end) is None and low[number.start].isalpha() and "half" in low[start:end]:
            return None  # "the first half", "half asleep"
        share = 100 * value.value
        return Quantity(share, share, "fraction", "percent", False, start, end, "", 0.5, "percent")
    tail = _TAIL.match(low, end)
    if tail is not None and tail[0][1].isdigit() and _hyphen_chain(low, start, tail.end()):
        return None
    if start and low[start - 1] in "-–" and start > 1 and low[start - 2].isdigit():
        return None
    label = _label(low, start)
    if label:
        return Quantity(value.value, value.value, "", "label", False, start, end, label)
    return Quantity(value.value, value.value, "", "count", False, start, end, _noun(low, end), _tolerance(value))


def _label(low: str, start: int) -> str:
    """Give the noun that a number names rather than counts, as in "section 3"."""
    match = _WORD_BEFORE.search(low, max(0, start - 14), start)
    word = match[1].rstrip(".") if match else ""
    return stem(word) if word in _LABELS else ""


def _noun(low: str, end: int) -> str:
    """Give the stem of what is counted: the first plural of the words that follow, else the first of them."""
    match = _NOUN.match(low, end)
    if match is None:
        return ""
    first = ""
    for word in match.groups():
        if word is None or word in STOPWORDS:
            break
        if word in _PLURALS or (word.endswith("s") and not word.endswith(("ss", "us", "is"))):
            return stem(word)
        first = first or word
    return stem(first)


def _base(value: float, unit: Unit | None) -> float:
    return value if unit is None else value * unit.factor + unit.shift


def _tolerance(value: Value) -> float:
    if not value.number.rounded:
        return 0.0
    factor = value.unit.factor if value.unit is not None else 1.0
    return value.number.step * factor / 2


def _single_units(low: str) -> Iterator[Quantity]:
    """Read "an hour", "half an hour", "an hour and a half"; not "60 miles an hour", where it is a rate."""
    for match in _SINGLE.finditer(low):
        unit = UNITS[match["unit"]]
        half = match["article"].startswith("half")
        before = _BEFORE_UNIT.search(low, max(0, match.start() - 16), match.start())
        word = before[1] if before else ""
        rate = (
            word.endswith("s")
            or word.isdigit()
            or word in ("per", "times", "once", "twice", "million", "what", "quarter")
        )
        if not half and (rate or match["unit"] in ("minute", "week", "month", "year", "kilometre")):
            continue
        more = HALF_MORE.match(low, match.end())
        value = 0.5 if half else 1.0 + ((0.5 if more[1] == "half" else 0.25) if more else 0.0)
        end = more.end() if more else match.end()
        base = value * unit.factor
        yield _bounded(
            Quantity(base, base, unit.name, unit.dimension, False, match.start(), end, system=unit.system), low
        )


def _bounded(quantity: Quantity, low: str) -> Quantity:
    """Read what stands around a quantity: about, at least, up to, or more."""
    if quantity.dimension in ("score", "label"):
        return quantity
    start, end = quantity.start, quantity.end
    left = low[max(0, start - _APART) : start]
    last = left.rstrip(" (").rpartition(" ")[2]
    if not (last in _BEFORE_NUMBER or last[-1:] in "~≈<>≤≥\n" or low[end : end + 1] in "+ -i"):
        return quantity
    if _APPROXIMATE.search(left) or _OR_SO.match(low, end):
        quantity = quantity._replace(approximate=True)
        left = _APPROXIMATE.sub("", left)
    if quantity.dimension == "ordinal" or quantity.low != quantity.high:
        return quantity
    if _AT_LEAST.search(left) or _OR_MORE.match(low, end):
        if "no more than" not in left and "not more than" not in left:
            return quantity._replace(high=math.inf)
        return quantity._replace(low=-math.inf)
    if _AT_MOST.search(left) or _OR_LESS.match(low, end):
        if "no less than" not in left and "no fewer than" not in left:
            return quantity._replace(low=-math.inf)
        return quantity._replace(high=math.inf)
    return quantity


def same(a: Quantity, b: Quantity) -> bool:
    """Say whether two quantities are the same within the precision they are stated in. Symmetric and reflexive.

    "about" and an exact number are not the same; neither are a range and a number in it.
    """
    if not _comparable(a, b) or a.approximate != b.approximate:
        return False
    if a.dimension == "score":
        return a.unit == b.unit
    return _near(a, b, a.low, b.low) and _near(a, b, a.high, b.high)


def conflict(a: Quantity, b: Quantity) -> bool:
    """Say whether two quantities of one dimension cannot both be meant: their values or ranges exclude each other.

    Counts and labels conflict only where they count or name the same noun. Two exact ranges with different ends
    conflict even where they overlap. An approximate number reaches a tenth to both sides.
    """
    if not _comparable(a, b) or same(a, b):
        return False
    if a.dimension in ("count", "ordinal", "label") and (a.noun != b.noun or not a.noun or a.dimension != b.dimension):
        return False
    if a.dimension == "score":
        return True
    if _is_range(a) and _is_range(b) and not (a.approximate or b.approximate):
        return True
    (a_low, a_high), (b_low, b_high) = _reach(a, b), _reach(b, a)
    return a_high < b_low or b_high < a_low


def _comparable(a: Quantity, b: Quantity) -> bool:
    if a.dimension == b.dimension:
        return True
    return {a.dimension, b.dimension} == {"count", "label"}


def _is_range(quantity: Quantity) -> bool:
    return quantity.low < quantity.high and math.isfinite(quantity.low) and math.isfinite(quantity.high)


def _raw(quantity: Quantity, value: float) -> float:
    """Undo the base of a temperature, to compare it with one whose scale was not said."""
    unit = UNITS["°" + quantity.system[0]] if quantity.system in ("celsius", "fahrenheit", "kelvin") else None
    return (value - unit.shift) / unit.factor if unit is not None else value


def _ends(a: Quantity, b: Quantity, x: float, y: float) -> tuple[float, float]:
    if a.dimension == "temperature" and (a.system == "degree") != (b.system == "degree"):
        return _raw(a, x), _raw(b, y)
    return x, y


def _slack(a: Quantity, b: Quantity, x: float, y: float) -> float:
    """Give the difference below which two values are one and the same."""
    slack = max(a.tolerance, b.tolerance) * (1 - 1e-9) + 1e-9 * max(abs(x), abs(y))
    if a.system != b.system and a.system and b.system:
        if a.dimension == "temperature":
            return max(slack, 0.0 if "degree" in (a.system, b.system) else 0.6)
        return max(slack, _ROUNDING * max(abs(x), abs(y)))
    return slack


def _near(a: Quantity, b: Quantity, x: float, y: float) -> bool:
    x, y = _ends(a, b, x, y)
    if math.isinf(x) or math.isinf(y):
        return x == y
    return abs(x - y) <= _slack(a, b, x, y)


def _reach(a: Quantity, b: Quantity) -> tuple[float, float]:
    """Give the interval that `a` allows when it is compared with `b`."""
    low, high = _ends(a, b, a.low, b.low)[0], _ends(a, b, a.high, b.high)[0]
    about = _ABOUT * max((abs(x) for x in (low, high) if math.isfinite(x)), default=0.0) if a.approximate else 0.0
    slack = _slack(a, b, *(x if math.isfinite(x) else 0.0 for x in (low, high))) / 2
    return low - about - slack, high + about + slack

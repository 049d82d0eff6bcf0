"""Quantities: numbers with what they measure or count, in a base unit, comparable whatever way they are written.

"two hours forty minutes" and "2 h 40 min" are the same; "about three hours" is not the same as "three hours", nor in
conflict with it. Dates are left to `dates`; version numbers, identifiers, telephone numbers and citations are not
quantities. `agreement` compares what is read here.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from everyclaim.text.dates import is_scaled, lowered
from everyclaim.text.measures import HALF_MORE, OFTEN, PERIODS, Rate, Value, rate_after
from everyclaim.text.measures import values as read_values
from everyclaim.text.number_context import counts, label_before, noun_after, noun_of_label, numbered, qualifier
from everyclaim.text.numerals import UNITS, Unit, scale_value
from everyclaim.text.tokens import word_set

_SINGLE = re.compile(
    r"(?<![\w.])(?P<article>half an?|an?) (?P<unit>hour|mile|minute|second|day|week|month|year|decade"
    r"|century|fortnight|kilometre|kilometer|metre|meter|inch|foot|yard|litre|liter|pint|gallon|cup|teaspoon|tablespoon"
    r"|ounce|pound|kilo|kilogram|gram|tonne|ton)\b(?P<of> of\b)?"
)
_ALWAYS_ONE = word_set("hour mile kilometre kilometer metre decade inch fortnight century kilogram litre tonne")
_PORTIONS = ("volume", "mass")  # "a cup of flour" is one cup
_RANGE = re.compile(r"\s?(?:--?|[–—−]|\bto\b|\bthrough\b)\s?$|\s?(?:[-–—−]|to|through)\s?(?=[$€£¥₹])")
_RATIO = re.compile(r" (?:in|out of|in every|out of every) ")
_TO_SCORE = re.compile(r"(?P<votes> votes| goals| points)? (?:to|against) ")
_PLAYED = re.compile(
    r"\b(?:w[io]n|winning|beat(?:en|ing)?|los[etr]\w*|lost|defeat\w*|dr[ae]w\w*|score[ds]?|victory|vot(?:e[ds]?|ing)|led"
    r"|leads?|ahead|behind|passed|rejected|approved|final|match|game|ended|finished|goals?|down|trail\w*|ruled|decision"
    r"|scaled?|ratio|odds)\b"
)
_COUNTED = 12  # characters between a number and what it counts: "60 very long miles an hour"
_COLON_SCORE = re.compile(r"(?<![\w.:/-])(\d{1,3}):(\d{1,3})(?![\w:]|[.,]\d)")
_COMPOUND = frozenset({"duration", "length", "mass", "volume", *(f"money:{code}" for code in ("USD", "EUR", "GBP"))})
_INCHES = re.compile(r" ?in\b")
_BARE = {"hour": "minutes", "foot": "inches", "metre": "centimetres", "minute": "seconds"}
_BARE_END = re.compile(
    r"(?= ?(?:$|[.,;:!?)\n]|tall\b|high\b|long\b|deep\b|wide\b|after\b|before\b|and\b|but\b|to\b|in\b|on\b))"
)
_OF_THOSE = re.compile(r" of (?:which|whom|them|these|those)\b")
_TAIL = re.compile(r"(?:-\w+)+")
_BEFORE_UNIT = re.compile(r"(\w+|[%$€£])[ -]$")
_JOINT = re.compile(r",? (?:and )?$|$")
_FRACTION_OF = re.compile(r" (?:of|the|its|their|his|her|our|all)\b")


class Quantity(NamedTuple):
    """A number and its unit. `low` and `high` are in the base unit of `dimension`, and equal unless a range.

    A bound such as "at least 5" has an infinite other end. `unit` is the unit's name ("" for a plain count),
    `noun` the stem of what is counted or named ("age" for an age), `tolerance` half of the last digit stated where it
    may be rounded, `step` that digit's worth. `others` are further values that the same words may have: a British pint,
    1.234 for 1,234. `lean` is -1 for "nearly", 1 for "just over". `first` and `last` span such words too.
    """

    low: float
    high: float
    unit: str
    dimension: str
    start: int
    end: int
    noun: str = ""
    approximate: bool = False
    tolerance: float = 0.0
    system: str = ""
    step: float = 0.0
    others: tuple[float, ...] = ()
    rate: Rate | None = None
    lean: int = 0
    first: int = 0
    last: int = 0


def quantities(text: str) -> list[Quantity]:
    """Read every quantity of `text`, in order; the spans do not overlap and dates are not among them."""
    low = lowered(text)
    values = sorted(read_values(low, text), key=lambda value: (value.start, -value.end))
    found: list[Quantity] = []
    at = 0
    while at < len(values):
        quantity, used = _join(values, at, low)
        if quantity is not None:
            found.append(quantity)
        at += used
    found = [quantity for i, quantity in enumerate(found) if i == 0 or found[i - 1].end <= quantity.start]
    found = _with(found, _single_units(low, [quantity.end for quantity in found]))
    found = _with(_with(found, _frequencies(low)), _colon_scores(low) if ":" in low else ())
    named = [Quantity(one.value, one.value, "", "label", one.start, one.end, one.name) for one in numbered(text, low)]
    starts = [quantity.start for quantity in found]
    named = [number for number in named if not _counts(number, found, starts, low)]
    if named:
        spans = [number.start for number in named]
        found = _with([quantity for quantity in found if not _overlaps(quantity, named, spans)], named)
    return [_qualified(_recurring(quantity, low), low) for quantity in _of_those(found, low)]


def _of_those(found: list[Quantity], low: str) -> Iterator[Quantity]:
    """Let "18 points, 10 of which" count points both times."""
    noun = ""
    for quantity in found:
        if quantity.dimension == "count":
            if not (noun and not quantity.noun and _OF_THOSE.match(low, quantity.end)):
                noun = quantity.noun
            yield quantity._replace(noun=noun)
        else:
            yield quantity


def _with(found: list[Quantity], more: Iterable[Quantity]) -> list[Quantity]:
    """Add those of `more` that overlap nothing found so far, in order."""
    starts = [quantity.start for quantity in found]
    new = [quantity for quantity in more if not _overlaps(quantity, found, starts)]
    return sorted(found + new, key=lambda quantity: quantity.start) if new else found


def _overlaps(quantity: Quantity, found: list[Quantity], starts: list[int]) -> bool:
    """Say whether `quantity` overlaps one of those in `found` that begin at `starts`."""
    at = bisect_left(starts, quantity.end)
    return at > 0 and found[at - 1].end > quantity.start


def _qualified(quantity: Quantity, low: str) -> Quantity:
    """Read what stands around a quantity: about, at least, up to, or more."""
    start, end = quantity.start, quantity.end
    if quantity.dimension in ("score", "label", "frequency"):
        return quantity._replace(first=start, last=end)
    said = qualifier(low, start, end)
    quantity = quantity._replace(approximate=said.approximate, lean=said.lean, first=said.start, last=said.end)
    if not said.bound or quantity.dimension == "ordinal" or quantity.low != quantity.high:
        return quantity
    return quantity._replace(high=math.inf) if said.bound > 0 else quantity._replace(low=-math.inf)


def _join(values: list[Value], at: int, low: str) -> tuple[Quantity | None, int]:
    """Make one quantity of the value at `at` and those after it that belong to it; say how many were used."""
    first = values[at]
    if at + 1 < len(values):
        second = values[at + 1]
        gap = low[first.end : second.start] if 0 <= second.start - first.end <= 14 else None
        if gap is not None:
            pair = _ratio(first, second, gap) or _score(first, second, gap, low)
            if pair is not None:
                return pair, 2
            joined = _range(first, second, gap, low)
            if joined is not None:
                return joined[0], 2
            total, used = _compound(values, at, low)
            if total is not None:
                return total, used
    return _single(first, low), 1


def _ratio(first: Value, second: Value, gap: str) -> Quantity | None:
    """Read "one in five" and "4 out of 10" as shares."""
    a, b = first.value, second.value
    if _RATIO.fullmatch(gap) is None or not 0 < a < b <= 1000 or not (a.is_integer() and b.is_integer()):
        return None
    cardinals = first.number.kind == second.number.kind == "cardinal" and first.unit is None and second.unit is None
    if not cardinals or ("of" not in gap and "every" not in gap and a > 9):
        return None
    share = 100 * a / b
    return Quantity(share, share, "fraction", "percent", first.start, second.end, tolerance=0.5, system="percent")


def _score(first: Value, second: Value, gap: str, low: str) -> Quantity | None:
    """Read "3 to 1" and "52 votes to 48" where something was played, voted on or drawn to scale."""
    if first.unit is not None or second.unit is not None:
        return None
    if gap in (" ", "-") and low[second.start : second.end] == "nil":
        return _scored(int(first.value), 0, first.start, second.end)
    said, (a, b) = _TO_SCORE.fullmatch(gap), (first.value, second.value)
    if said is None or first.number.kind != "cardinal" or not 0 <= min(a, b) <= max(a, b) < 1000:
        return None
    played = said["votes"] or (
        _PLAYED.search(low, max(0, first.start - 48), first.start) and not noun_after(low, second.end)
    )
    return _scored(int(a), int(b), first.start, second.end) if played and a == int(a) and b == int(b) else None


def _scored(a: int, b: int, start: int, end: int) -> Quantity:
    return Quantity(min(a, b), max(a, b), f"{a}-{b}", "score", start, end)


def _colon_scores(low: str) -> Iterator[Quantity]:
    """Read "2:1" and "a scale of 1:50"; what may be a time of day is one, unless something is scaled."""
    for match in _COLON_SCORE.finditer(low):
        time = len(match[2]) == 2 and int(match[1]) <= 24 and int(match[2]) < 60
        if not time or is_scaled(low, match.start()):
            yield _scored(int(match[1]), int(match[2]), match.start(), match.end())


def _counts(number: Quantity, found: list[Quantity], starts: list[int], low: str) -> bool:
    """Say whether what looks like a numbered name is part of something longer, or counts what follows."""
    if not _overlaps(number, found, starts):
        return False
    quantity = found[bisect_left(starts, number.end) - 1]
    return (
        counts(low, quantity.end) if quantity.dimension == "count" else quantity.dimension not in ("ordinal", "label")
    )


def _frequencies(low: str) -> Iterator[Quantity]:
    """Read how often, where no amount stands before it: "14 million containers a year", "they meet annually"."""
    for match in OFTEN.finditer(low):
        unit = UNITS[match["a"] or PERIODS[match["ly"]]]
        times, start = 1 / unit.factor, match.start() + 1
        once = (unit.factor,) if low.startswith("a", start) else ()  # "it lasts a week"
        start -= len("once ") if low.endswith("once", 0, match.start()) else 0
        yield Quantity(times, times, unit.name, "frequency", start, match.end(), system=unit.system, others=once)


def _recurring(quantity: Quantity, low: str) -> Quantity:
    """Make "every two weeks" how often something is rather than how long."""
    if quantity.dimension != "duration" or not quantity.low or not low.endswith("every ", 0, quantity.start):
        return quantity
    times = 1 / quantity.low
    return quantity._replace(
        low=times, high=times, dimension="frequency", start=quantity.start - len("every "), tolerance=0.0, step=0.0
    )


def _range(first: Value, second: Value, gap: str, low: str) -> tuple[Quantity | None] | None:
    """Read "8 to 10 minutes" and "between 5 and 10"; a one-tuple of None means: two numbers that are no range."""
    between = low.endswith("between ", max(0, first.start - 12), first.start)
    if not (between and gap == " and ") and _RANGE.fullmatch(gap) is None:
        dash = second.start < first.number.end + 2 and second.value < 0 and gap == ""
        if not dash:
            return None
    if "ordinal" in (first.number.kind, second.number.kind):
        return None
    unit = second.unit or first.unit
    if first.unit is not None and second.unit is not None and first.unit.dimension != second.unit.dimension:
        return None
    a, b = first.value, abs(second.value) if gap == "" else second.value
    scale = scale_value(second.number.scale)
    if first.number.scale == "" and second.number.scale and a < second.number.value and a * scale <= b:
        a *= scale
    low_unit = first.unit or unit
    small = a < 100 and b < 100 and a == int(a) and b == int(b)
    start, end = first.start - (8 if between else 0), second.end
    if unit is None and gap in ("-", "–", "−", "") and small and (b <= a or not noun_after(low, end)):
        return (_scored(int(a), int(b), start, end),)
    if unit is None and gap.strip() == "-" and _hyphen_chain(low, first.start, end):
        return (None,)
    if _base(a, low_unit) > _base(b, unit):
        return None
    age = first.age or second.age
    noun = "age" if age else noun_after(low, end) if unit is None else ""
    shown = unit or Unit("", "count", 1.0)
    quantity = Quantity(_base(a, low_unit), _base(b, unit), shown.name, shown.dimension, start, end, noun)
    return (quantity._replace(tolerance=_tolerance(second), system=shown.system, rate=second.rate or first.rate),)


def _hyphen_chain(low: str, start: int, end: int) -> bool:
    """Say whether digits joined by hyphens look like a telephone number or an identifier."""
    groups = re.split("[-–]", low[start:end])
    longer = low[start - 1 : start] == "-" or (low[end : end + 1] == "-" and low[end + 1 : end + 2].isalnum())
    return longer or any(len(group) >= 3 and group[0] == "0" for group in groups) or [len(g) for g in groups] == [3, 4]


def _compound(values: list[Value], at: int, low: str) -> tuple[Quantity | None, int]:
    """Add up "two hours forty minutes", "5 ft 11 in", "5 dollars and 20 cents", "two hours forty"."""
    first = values[at]
    if first.unit is None or first.unit.dimension not in _COMPOUND or first.rate is not None:
        return None, 1
    total, last, used = first.value * first.unit.factor, first, 1
    for value in values[at + 1 : at + 5]:
        assert last.unit is not None
        unit, end = value.unit, value.end
        gap = low[last.end : value.start]
        if unit is None and last.unit.name == "foot" and (match := _INCHES.match(low, value.number.end)):
            unit, end = UNITS["inches"], match.end()
        if unit is None and gap == " " and last.unit.name in _BARE and _BARE_END.match(low, value.end):
            unit = UNITS[_BARE[last.unit.name]]
        if unit is not None and unit.name == "metre" and last.unit.name == "hour" and low[end - 1] == "m":
            unit = UNITS["minutes"]  # 2h 40m
        if unit is None or unit.dimension != last.unit.dimension:
            break
        if unit.factor >= last.unit.factor or value.value * unit.factor >= last.unit.factor or len(gap) > 6:
            break
        if _JOINT.fullmatch(gap) is None or ("," in gap and unit.dimension != "duration"):
            break
        total += value.value * unit.factor
        used += 1
        last = value._replace(unit=unit, end=end)
    if used == 1:
        return None, 1
    assert last.unit is not None
    found = Quantity(total, total, last.unit.name, first.unit.dimension, first.start, last.end)
    return found._replace(
        noun="age" if last.age else "", tolerance=_tolerance(last), system=first.unit.system, rate=last.rate,
        step=last.number.step * last.unit.factor,
    ), used  # fmt: skip


def _single(value: Value, low: str) -> Quantity | None:
    number, unit = value.number, value.unit
    start, end = value.start, value.end
    if unit is not None:
        base = _base(value.value, unit)
        others = [value.value * unit.other] if unit.other else []
        others += [_base(number.other, unit)] if number.other else []
        found = Quantity(base, base, unit.name, unit.dimension, start, end, "age" if value.age else "")
        return found._replace(
            tolerance=_tolerance(value), system=unit.system, step=number.step * unit.factor, others=tuple(others),
            rate=value.rate,
        )  # fmt: skip
    if number.kind == "ordinal":
        return Quantity(value.value, value.value, "", "ordinal", start, end, noun_after(low, end))
    if number.kind == "times":
        return Quantity(value.value, value.value, "", "count", start, end, "time", rate=value.rate)
    if number.kind == "fraction":
        if _FRACTION_OF.match(low, end) is None and low[number.start].isalpha() and "half" in low[start:end]:
            return None  # "the first half", "half asleep"
        share = 100 * value.value
        return Quantity(share, share, "fraction", "percent", start, end, tolerance=0.5, system="percent")
    tail = _TAIL.match(low, end)
    if tail is not None and tail[0][1].isdigit() and _hyphen_chain(low, start, tail.end()):
        return None
    if start and low[start - 1] in "-–" and start > 1 and low[start - 2].isdigit():
        return None
    label = label_before(low, start)
    if label:
        return Quantity(value.value, value.value, "", "label", start, end, label)
    noun = noun_after(low, end) or noun_of_label(low, start, end)
    found = Quantity(value.value, value.value, "", "count", start, end, noun, tolerance=_tolerance(value))
    return found._replace(step=number.step, others=(number.other,) if number.other else ())


def _base(value: float, unit: Unit | None) -> float:
    return value if unit is None else value * unit.factor + unit.shift


def _tolerance(value: Value) -> float:
    if not value.number.rounded:
        return 0.0
    factor = value.unit.factor if value.unit is not None else 1.0
    return value.number.step * factor / 2


def _single_units(low: str, ends: list[int]) -> Iterator[Quantity]:
    """Read "an hour", "half a year", "a year and a half"; not "60 miles an hour", where it is a rate.

    `ends` are those of the quantities that were read.
    """
    for match in _SINGLE.finditer(low):
        unit = UNITS.get(match["unit"], UNITS["seconds"])  # "second" by itself is an ordinal
        half = match["article"].startswith("half")
        stop = match.start("of") if match["of"] else match.end()
        more = HALF_MORE.match(low, stop)
        before = _BEFORE_UNIT.search(low, max(0, match.start() - 16), match.start())
        word = before[1] if before else ""
        at = bisect_left(ends, match.start())
        counted = at > 0 and word.endswith("s") and match.start() - ends[at - 1] <= len(word) + _COUNTED
        rate = counted or word.isdigit() or word in ("per", "times", "once", "twice", "million", "what", "quarter")
        portion = bool(match["of"]) and unit.dimension in _PORTIONS
        if not half and more is None and (rate or not (portion or match["unit"] in _ALWAYS_ONE)):
            continue
        value = 0.5 if half else 1.0 + ((0.5 if more[1] == "half" else 0.25) if more else 0.0)
        end = more.end() if more else stop
        base = value * unit.factor
        rate, end = rate_after(low, end) or (None, end)
        yield Quantity(base, base, unit.name, unit.dimension, match.start(), end, system=unit.system, rate=rate)

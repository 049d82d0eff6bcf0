"""Whether two quantities, or two moments, are the same, cannot both be meant, or follow one from the other.

`same` and `conflict` are symmetric. `relation` asks what a passage's value says of a claim's: a claim may round,
convert or loosen what its passage states, not the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import product
from typing import Literal

from everyclaim.text.dates import Moment
from everyclaim.text.numerals import DOLLARS, UNITS
from everyclaim.text.quantities import Quantity

Fact = Quantity | Moment
Pairs = Sequence[tuple[Quantity, Quantity]]
Relation = Literal["equal", "converted", "rounded", "about", "within", "differs", "none"]
AGREES: tuple[Relation, ...] = ("equal", "converted", "rounded", "about", "within")
"""The relations of values that agree, the closest first."""

_CONVERTED = 0.01  # how far two unit systems may differ: 5 miles are 8 km
_LOOSELY = 0.025  # the same, where one of the two values is rounded to that
_ROUNDED = 0.05  # how far a value may be rounded without a word
_SILENTLY = 0.003  # the same, where whole tens and hundreds are all that says so
_ABOUT = 0.10  # how far "about" reaches before it is a conflict
_CLOSE = 0.065  # how far "about" reaches and is still right
_TIGHTER = 0.2  # how much further "more than 300" may reach than "more than 250"
_MINUTES = 10  # how far "about" reaches of a time of day
_NAMES = frozenset({"count", "ordinal", "label"})


def same(a: Fact, b: Fact) -> bool:
    """Say whether two values are the same within the precision they are stated in. Symmetric and reflexive.

    "about" and an exact number are not the same; neither are a range and a number in it. Two moments are the same when
    they say something in common and agree on all of it.
    """
    if isinstance(a, Quantity) and isinstance(b, Quantity):
        return a.approximate == b.approximate and any(_same_quantity(x, y) for x, y in _readings(a, b))
    return isinstance(a, Moment) and isinstance(b, Moment) and _same_moment(a, b)


def conflict(a: Fact, b: Fact) -> bool:
    """Say whether two values cannot both be meant: their values or ranges exclude each other.

    Counts and labels conflict only where they count or name the same noun. Two exact ranges with different ends
    conflict even where they overlap. An approximate number reaches a tenth to both sides. The same amount in two
    currencies is a conflict too. Moments conflict when a part that both state differs, however they are read.
    """
    if isinstance(a, Quantity) and isinstance(b, Quantity):
        return _conflicting_quantities(a, b, list(_readings(a, b)))
    return isinstance(a, Moment) and isinstance(b, Moment) and _conflicting_moments(a, b)


def relation(mine: Fact, theirs: Fact) -> Relation:
    """Say what `theirs`, of a passage, says of `mine`, of a claim."""
    if isinstance(mine, Moment) or isinstance(theirs, Moment):
        if isinstance(mine, Quantity) or isinstance(theirs, Quantity):
            return "none"
        if _about_time(mine, theirs):
            return "about"
        return "equal" if covers(theirs, mine) else "differs" if _conflicting_moments(mine, theirs) else "none"
    pairs = list(_readings(mine, theirs))
    found = {_relation(x, y) for x, y in pairs}
    if mine.dimension == theirs.dimension and (mine.noun == "age") != (theirs.noun == "age"):
        found &= {"equal"}
    for agreeing in AGREES:
        if agreeing in found:
            return agreeing
    bare = mine.dimension == theirs.dimension == "count" and not mine.noun and not theirs.noun
    if "differs" in found or _conflicting_quantities(mine, theirs, pairs):
        return "differs"
    return "differs" if bare and all(_excluded(x, y) for x, y in pairs) else "none"


def _same_quantity(a: Quantity, b: Quantity) -> bool:
    if a.dimension == b.dimension == "score":
        return a.unit == b.unit
    return _near(a, b, a.low, b.low) and _near(a, b, a.high, b.high)


def _conflicting_quantities(a: Quantity, b: Quantity, pairs: Pairs) -> bool:
    """Say whether two quantities exclude each other; `pairs` are what they may mean beside each other."""
    if not pairs:  # the same amount of two currencies
        money = a.dimension.startswith("money") and b.dimension.startswith("money")
        return money and a.dimension != b.dimension and (a.low, a.high) == (b.low, b.high)
    other_kind = (a.dimension == "count") != (b.dimension == "count") or (a.noun == "age") != (b.noun == "age")
    other_name = a.dimension in _NAMES and (a.noun != b.noun or not a.noun or a.dimension != b.dimension)
    if other_kind or other_name or any(_same_quantity(x, y) for x, y in pairs):
        return False
    if a.dimension == "score":
        return a.unit != "-".join(reversed(b.unit.split("-")))
    return all(_excluded(x, y) for x, y in pairs)


def _excluded(a: Quantity, b: Quantity) -> bool:
    if _is_range(a) and _is_range(b) and not (a.approximate or b.approximate):
        return True
    (a_low, a_high), (b_low, b_high) = _reach(a, b), _reach(b, a)
    return a_high < b_low or b_high < a_low


def _readings(a: Quantity, b: Quantity) -> Iterator[tuple[Quantity, Quantity]]:
    """Give what two quantities may mean beside each other, in one dimension; nothing where they do not compare."""
    for x, y in product(_in_dimension(a, b), _in_dimension(b, a)):
        if x.rate is None or y.rate is None:
            yield x, y
        elif x.rate.dimension == y.rate.dimension:
            yield _scaled(x, 1 / x.rate.amount), _scaled(y, 1 / y.rate.amount)


def _in_dimension(a: Quantity, b: Quantity) -> Iterator[Quantity]:
    """Give the readings of `a` that are of the dimension of `b`: pounds are money beside money."""
    kinds = {a.dimension, b.dimension}
    if len(kinds) == 1 or kinds <= _NAMES:
        # A third phase is phase 3, not page 3.
        if len(kinds) == 1 or kinds == {"count", "label"} or ("label" in kinds and a.noun == b.noun):
            yield a
            yield from (a._replace(low=value, high=value, others=()) for value in a.others)
    elif kinds <= DOLLARS and "dollar" in (a.system, b.system):
        yield a
    elif kinds == {"mass", "money:GBP"} and "pound" in (a.unit, b.unit):
        yield _scaled(a, 1 / UNITS["pound"].factor) if a.dimension == "mass" else a
    elif _ageless(a, b) or _ageless(b, a):
        yield _scaled(a, UNITS["years"].factor)._replace(noun="age") if a.dimension == "count" else a
    elif kinds == {"frequency", "duration"}:  # "it lasts a week" beside "7 days"
        if a.dimension == "duration" and b.others:
            yield a
        elif a.dimension == "frequency" and a.others:
            yield a._replace(low=a.others[0], high=a.others[0], dimension="duration", others=())
    elif _unpriced(a, b) or _unpriced(b, a) or (kinds == {"money:USD", "money:EUR"} and "cent" in (a.unit, b.unit)):
        yield a  # cents are of either currency


def _unpriced(a: Quantity, b: Quantity) -> bool:
    """Say whether `a` may be the amount of money `b` without its currency: "spent 7,500" beside "£7,500"."""
    return a.dimension == "count" and not a.noun and b.dimension.startswith("money")


def _ageless(a: Quantity, b: Quantity) -> bool:
    """Say whether `a` may be the age `b` without its years: "over 18"."""
    bound = math.isinf(a.low) or math.isinf(a.high)
    return a.dimension == "count" and (bound or not a.noun) and b.noun == "age"


def _scaled(quantity: Quantity, factor: float) -> Quantity:
    return quantity._replace(
        low=quantity.low * factor, high=quantity.high * factor, tolerance=quantity.tolerance * factor,
        step=quantity.step * factor,
    )  # fmt: skip


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


def _two_systems(a: Quantity, b: Quantity) -> bool:
    return a.system != b.system and bool(a.system) and bool(b.system)


def _slack(a: Quantity, b: Quantity, x: float, y: float) -> float:
    """Give the difference below which two values are one and the same."""
    slack = max(a.tolerance, b.tolerance) * (1 - 1e-9) + 1e-9 * max(abs(x), abs(y))
    if _two_systems(a, b):
        if a.dimension == "temperature":
            return max(slack, 0.0 if "degree" in (a.system, b.system) else 0.6)
        return max(slack, _CONVERTED * max(abs(x), abs(y)))
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


def _relation(mine: Quantity, theirs: Quantity) -> Relation:
    """Say what one reading of a passage's quantity says of one of a claim's."""
    if mine.dimension == "score" or theirs.dimension == "score":
        return "equal" if mine.unit == theirs.unit else "none"
    if mine.low == mine.high and theirs.low == theirs.high:
        return _of_points(mine, theirs)
    if math.isinf(mine.low) or math.isinf(mine.high):
        return _of_bound(mine, theirs)
    if _is_range(mine) and _is_range(theirs):
        ends = [
            _of_points(mine._replace(low=x, high=x), theirs._replace(low=y, high=y))
            for x, y in ((mine.low, theirs.low), (mine.high, theirs.high))
        ]
        return max(ends, key=AGREES.index) if all(end in AGREES for end in ends) else "none"
    return "none"


def _of_bound(mine: Quantity, theirs: Quantity) -> Relation:
    """Say what a quantity says of a bound: "at least 5" follows from 7 and from "more than 6"."""
    least = math.isinf(mine.high)
    near: Relation = "none" if mine.dimension in _NAMES and mine.noun != theirs.noun else "within"
    bound, low, high = (mine.low, theirs.low, theirs.high) if least else (-mine.high, -theirs.high, -theirs.low)
    if math.isinf(high):
        if math.isinf(low):
            return "none"
        ends = [it._replace(low=end, high=end) for it, end in ((mine, bound), (theirs, low))]
        if (close := _of_points(*ends)) in AGREES:
            return close
        tighter = least and bound < low <= bound + _TIGHTER * abs(low)
        return near if tighter else "differs"
    if math.isinf(low):
        return "none"
    slack = _slack(mine, theirs, bound, low)
    if low >= bound - slack:  # what is too far from its bound was not meant by it
        return near if abs(low - bound) <= 0.5 * max(abs(low), abs(bound)) else "none"
    return "differs" if high < bound - slack else "none"


def _of_points(mine: Quantity, theirs: Quantity) -> Relation:
    """Compare two single values: equal, converted, rounded, about, or none of it."""
    x, y = _ends(mine, theirs, mine.low, theirs.low)
    apart, size = abs(x - y), max(abs(x), abs(y))
    loosened = mine.approximate != theirs.approximate
    if apart <= 1e-6 * size:
        return "about" if loosened or mine.lean else "equal"
    if _two_systems(mine, theirs) and _converts(mine, theirs, x, y):
        return "about" if loosened else "converted"
    if mine.dimension in _NAMES and mine.noun != theirs.noun and mine.noun and theirs.noun:
        return "none"
    if mine.approximate:
        leans = mine.lean * (y - x) >= -0.001 * size
        return "about" if leans and apart <= (_ABOUT if mine.lean else _CLOSE) * size else "none"
    if mine.dimension in ("ordinal", "label"):
        return "none"
    if mine.unit == "fraction" or theirs.unit == "fraction":
        return "rounded" if apart <= 0.7 else "none"
    if _rounds(mine, theirs, apart, size):
        return "about" if loosened else "rounded"
    return "none"


def _rounds(mine: Quantity, theirs: Quantity, apart: float, size: float) -> bool:
    """Say whether a claim's value is its passage's value with fewer digits."""
    if not mine.step or theirs.step > mine.step:
        return False
    if apart <= mine.step / 2 * (1 + 1e-9) and (mine.tolerance or theirs.step < mine.step):
        return apart <= _ROUNDED * size
    return apart <= _SILENTLY * size and apart <= _last_digit(mine) / 2


def _last_digit(quantity: Quantity) -> float:
    """Give what the last digit that is not a zero is worth: 100 for 49,900."""
    step = quantity.step
    shown = round(abs(quantity.low) / step) if step else 0
    while shown and shown % 10 == 0:
        shown, step = shown // 10, step * 10
    return step


def _converts(mine: Quantity, theirs: Quantity, x: float, y: float) -> bool:
    """Say whether two values of different systems are one value, converted and rounded."""
    apart, size = abs(x - y), max(abs(x), abs(y))
    if mine.dimension == "temperature":
        digit = _last_digit(mine._replace(low=_raw(mine, mine.low), step=1.0))
        return apart <= (0.6 if digit < 10 or size < 100 else 4.0) and "degree" not in (mine.system, theirs.system)
    rounded = max(mine.step, theirs.step) / 2 * (1 + 1e-9)
    if apart <= rounded:
        return apart <= _LOOSELY * size
    return apart <= _CONVERTED * size and apart <= max(_last_digit(mine), _last_digit(theirs)) / 2


def _parts(moment: Moment) -> tuple[int | None, ...]:
    time = None if moment.hour is None else moment.hour * 60 + (moment.minute or 0)
    return (moment.month, moment.day, time, _named_day(moment), moment.quarter, moment.half)


def _named_day(moment: Moment) -> int | None:
    """Give the day of the week that is said or follows from a whole date."""
    if moment.weekday is not None or moment.years > 1 or moment.any_century or moment.swappable:
        return moment.weekday
    if moment.year is None or moment.month is None or moment.day is None or moment.year < 1752:
        return None
    try:
        return date(moment.year, moment.month, moment.day).weekday()
    except ValueError:  # 31 June
        return None


def _meanings(moment: Moment) -> tuple[Moment, ...]:
    found = [moment]
    if moment.swappable:
        found.append(moment._replace(month=moment.day, day=moment.month))
    if moment.any_half and moment.hour is not None:
        found += [reading._replace(hour=(moment.hour + 12) % 24) for reading in found]
    return tuple(found)


def _same_moment(a: Moment, b: Moment) -> bool:
    """Say whether both say something in common and agree on all of it. Symmetric; true of a moment and itself."""
    return any(_agree(x, y) for x in _meanings(a) for y in _meanings(b))


def _conflicting_moments(a: Moment, b: Moment) -> bool:
    """Say whether a part that both state differs, in every way they can be read."""
    return all(_differ(x, y) for x in _meanings(a) for y in _meanings(b))


def covers(fuller: Moment, moment: Moment) -> bool:
    """Say whether `fuller` agrees with `moment` and states every part that `moment` states."""
    if moment.year is not None and (fuller.year is None or fuller.years > moment.years):
        return False
    for number, (mine, theirs) in enumerate(zip(_parts(moment), _parts(fuller), strict=True)):
        # A weekday follows from a date, a quarter or half from a month.
        follows = (moment.day and fuller.day) if number == 3 else number in (4, 5) and fuller.month
        if mine is not None and theirs is None and not follows:
            return False
    if fuller.years == moment.years:
        return _same_moment(fuller, moment)
    return not _conflicting_moments(fuller, moment)


def _about_time(mine: Moment, theirs: Moment) -> bool:
    """Say whether a claim's "about 10:50" is what a passage gives to the minute, and agrees in all else."""
    if not mine.approximate or theirs.hour is None or mine.hour is None:
        return False
    apart = {
        abs(60 * (x.hour or 0) + (x.minute or 0) - 60 * (y.hour or 0) - (y.minute or 0))
        for x in _meanings(mine) for y in _meanings(theirs)
    }  # fmt: skip
    alike = theirs._replace(hour=mine.hour, minute=mine.minute, any_half=mine.any_half)
    return 0 < min(apart) <= _MINUTES and covers(alike, mine)


def _years(a: Moment, b: Moment) -> tuple[int, int] | None:
    """Give the years of both, in one century where one does not say its own; None where one says no year."""
    if a.year is None or b.year is None:
        return None
    return (a.year % 100, b.year % 100) if a.any_century or b.any_century else (a.year, b.year)


def _parts_of_year(moment: Moment) -> tuple[int | None, int | None]:
    """Give the quarter and the half that are said or follow from the month."""
    month = moment.month
    quarter = moment.quarter if month is None else (month + 2) // 3
    return quarter, moment.half if quarter is None else (quarter + 1) // 2


def _pairs(a: Moment, b: Moment) -> list[tuple[int, int]]:
    ours, theirs = _parts(a)[:4] + _parts_of_year(a), _parts(b)[:4] + _parts_of_year(b)
    return [(mine, other) for mine, other in zip(ours, theirs, strict=True) if mine is not None and other is not None]


def _agree(a: Moment, b: Moment) -> bool:
    years = _years(a, b)
    if years is not None and (years[0] != years[1] or a.years != b.years):
        return False
    pairs = _pairs(a, b)
    return all(mine == other for mine, other in pairs) and (years is not None or bool(pairs))


def _differ(a: Moment, b: Moment) -> bool:
    years = _years(a, b)
    if years is not None and not (years[0] < years[1] + b.years and years[1] < years[0] + a.years):
        return True
    return any(mine != other for mine, other in _pairs(a, b))

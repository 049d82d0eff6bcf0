"""Numbers with the sign, currency or unit that stands around them.

The second step of reading quantities: `numerals` finds the numbers, this module says what each is worth and refuses
digits that are no quantity; `quantities` joins neighbours and reads "about", "at least" and the like.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from everyclaim.text.dates import CLOCKED, is_clocked, moments
from everyclaim.text.lists import WORDS
from everyclaim.text.numerals import CURRENCY_SIGNS, UNITS, Number, Unit, numbers
from everyclaim.text.tokens import stem, word_set

_SIGNS = frozenset(sign for sign in CURRENCY_SIGNS if len(sign) == 1)
_CODES = frozenset(sign for sign in CURRENCY_SIGNS if sign.isalpha()) | {"rs."}
_CURRENCY_BEFORE = re.compile(
    rf"(?<![a-z])({'|'.join(map(re.escape, CURRENCY_SIGNS.keys() - _CODES))}"
    rf"|(?:{'|'.join(map(re.escape, sorted(_CODES)))}) ?) ?[-−–]?$"
)
_DASHES = frozenset("-−–")
_MINUS = re.compile(r"(?:(?:^|(?<=[\s(=]))[-−–]|\b(?:minus|negative) )$")
_SIGNED = re.compile(r"(?:\b(?:am|is|are|was|were|be|been|being|of|to|at|by|from|with|between|below|above)|[:=(]) $")
_UNIT = re.compile(
    r"(?P<gap>[ \u00a0\u202f-]?)(?P<one>%|‰|¢|[€£¥₹](?!\s?\d)|[°º](?: ?[cfk](?![a-z]))?|″"
    r"|[a-zµμłáéíñ]+(?:[²³]|[23](?!\d))?(?P<over>/[a-z]+)?)"
    r"(?:[ -](?P<two>[a-z]+[²³]?)(?: (?P<three>[a-z]+)(?: (?P<four>[a-z]+))?)?)?"
)
_FEET_INCHES = re.compile(r"(?<![\w.])(\d{1,3})['’′] ?(\d{1,2}(?:\.\d+)?)(?:\"|”|″|'')")
HALF_MORE = re.compile(r" and a (half|quarter)\b")
_PER = re.compile(
    r" ?/ ?(?:(?P<n1>[1-9]\d{0,3}) ?)?(?P<over>[a-zµμ]+[²³]?)(?![a-z])"
    r"| per (?:(?P<n2>[1-9]\d{0,3}) ?)?(?P<per>[a-zµμ]+[²³]?)(?![a-z])"
    r"| (?:an?|each|every|in an?|in every|in each) (?P<a>second|minute|hour|day|night|week|month|year|mile)\b"
    r"(?! (?:later|ago|after|before|earlier|old))"
    r"| (?P<ly>hourly|daily|nightly|weekly|monthly|yearly|annually|annum)\b|(?P<pa> ?p\.a\.)"
)
_RACE = re.compile(r"\b(?:races?|runs?|ran|running|walk|course|jog|swim|finish(?:ed|ers)?)\b")  # of ten kilometres
_TIMES_AFTER = re.compile(
    r" (?:times|occasions)\b(?! (?:more|less|as|the|greater|larger|higher|bigger|faster|longer|smaller|lower))"
)
PERIODS = {
    "hourly": "hour", "daily": "day", "nightly": "day", "weekly": "week", "monthly": "month", "yearly": "year",
    "annually": "year", "annum": "year", "night": "day",
}  # fmt: skip
OFTEN = re.compile(
    r" (?:(?:an?|each|every|per) (?P<a>hour|day|week|fortnight|month|year)"
    r"|(?P<ly>hourly|daily|weekly|monthly|yearly|annually))"
    r"(?= ?(?:$|[.,;:!?)\n]|(?:in|of|to|for|with|and|or|by|at|on|from|since|between|under|over|through|but|as|than)\b))"
)
_AGED_BEFORE = re.compile(
    r"\b(?:(?:at|by) (?:the )?age (?:of )?|aged |(?:the )?age (?:of )?|a (?:man|woman|boy|girl) of )$"
)
_AGED_AFTER = re.compile(r"[ -](?:old\b|of age\b)")
_OLDER = re.compile(r"\b(?:older|younger) than $")
_OR_OLDER = re.compile(r" (?:or|and) (?:older|younger)\b")
_SPREAD = re.compile(r" ?(?:±|\+ ?/ ?[-−–]|\+[-−–]) ?\d+(?:[.,]\d+)?")  # of a mean: 48.4 ± 3.8 kg is about 48.4 kg
_LIST_MARK = re.compile(r"(?:^|\n)[ \t]*\(?$")
_NOT_ONE = word_set(WORDS["measures"]["not_one"])
_BEFORE_ONE = re.compile(r"\b(?:no|any|some|every|each|this|that|the|which|another|first|last|next|only|good|new)[ -]$")
_AFTER_ONE = re.compile(r"[ -]([a-z]+)")
_WHICHEVER = re.compile(r"\bwhichever [a-z ]{2,20} $")  # "whichever comes first" counts nothing
_ONE_IN = re.compile(
    r" (?:in|out of)(?: every)? (?:\d|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|a hundred)"
)
_PHONE = re.compile(r"\d{1,3}[ -.]?\(?\d{2,4}\)?[ .-]\d{3}")
_UNIT_LETTERS = re.compile(r"(?:[a-zµμ]{1,12}(?![a-z0-9]))|[a-z]+/[a-z]+")
_OF_UNIT = re.compile(r"(?: of)? an? ([a-z]+(?: points?)?)")


class Rate(NamedTuple):
    """What a value is per: a dimension and how much of it, in its base unit. "per 100 km" is 100,000 of length.

    `start` is where that is said.
    """

    dimension: str
    amount: float
    start: int


class Value(NamedTuple):
    """A number with its unit, before neighbours are joined. `start` and `end` include sign, currency and unit.

    `age`: the value is how old someone or something is.
    """

    number: Number
    unit: Unit | None
    value: float  # in the unit, not in the base
    start: int
    end: int
    rate: Rate | None = None
    age: bool = False


def values(low: str, text: str) -> Iterator[Value]:
    """Give the numbers that measure or count something, with their units."""
    dates = iter(moments(text))
    date = next(dates, None)
    done = 0
    for match in _FEET_INCHES.finditer(low) if ("'" in low or "’" in low or "′" in low) else ():
        inches = int(match[1]) * 12 + float(match[2])
        number = Number(inches, *match.span(), step=1.0)
        yield Value(number, UNITS["inches"], inches, match.start(), match.end())
    for match in CLOCKED.finditer(low) if ":" in low else ():
        if is_clocked(low, match.start()):
            yield _clocked(match)
    for number in numbers(low, text):
        if spread := _SPREAD.match(low, number.end):  # the unit stands behind a mean and what it is spread by
            number = number._replace(end=spread.end())  # noqa: PLW2901
        while date is not None and date.end <= number.start:
            date = next(dates, None)
        in_date = date is not None and date.start < number.end and number.start < date.end
        if in_date or number.start < done or not _stands_alone(low, number):
            continue
        value = _with_unit(low, text, number)
        if value is not None:
            done = value.end
            yield value


def _clocked(match: re.Match[str]) -> Value:
    """Read 1:02:30 and 3:45 as what a clock that was started shows; 3:45 may also be hours and minutes."""
    first, second, third = int(match[1]), int(match[2]), match[3]
    seconds = first * 3600 + second * 60 + int(third) if third else first * 60 + second
    value = seconds + float(match[4] or 0.0)
    number = Number(value, *match.span(), step=1.0, other=0.0 if third else 60.0 * seconds)
    return Value(number, UNITS["seconds"], value, match.start(), match.end())


def _stands_alone(low: str, number: Number) -> bool:
    """Refuse digits that belong to an identifier, a version, a telephone number, a citation or a list marker."""
    if not (low[number.start].isdigit() or low[number.end - 1].isdigit()):
        return True
    start, end = number.start, number.end
    if low[start] == ".":
        return start == 0 or not low[start - 1].isalnum()
    before2, before, after, after2 = [*low[max(0, start - 2) : start].rjust(2), *low[end : end + 2].ljust(2)]
    joined = (
        before in "_#@\\["
        or (before in ".,/:(" and before2.isalnum())
        or (before in "'’′" and before2.isdigit())  # 5'11" was read as a whole
        or (before in "-–−" and before2.isalpha())  # GPT-4, AB-123
        or (before == "+" and _PHONE.match(low, start))
        or (after in ".,:/_@" and after2.isdigit() and number.kind == "cardinal")
        or (after in "'’′" and after2.isdigit())
        or (after == "]" and "[" in low[max(0, start - 12) : start])
    )
    if joined or not low[end - 1].isdigit():
        return not joined
    listed = after in ".)" and after2 in " \t" and _LIST_MARK.search(low[max(0, start - 8) : start])
    return not listed and not (after.isalpha() and _UNIT_LETTERS.match(low, end) is None)


def _with_unit(low: str, text: str, number: Number) -> Value | None:
    """Attach the sign, currency and unit around a number."""
    left = low[max(0, number.start - 24) : number.start]
    tail = left.rstrip("-−– ")[-3:]
    currency = _CURRENCY_BEFORE.search(left) if tail[-1:] in _SIGNS or tail in _CODES or tail.endswith("rs") else None
    start, end, value = number.start, number.end, number.value
    unit: Unit | None = None
    if currency is not None:
        code = CURRENCY_SIGNS.get(currency[1].strip().rstrip("."), "USD")
        unit = Unit(code, f"money:{code}", 1.0, "dollar" if currency[1] == "$" else code)
        start -= len(currency[0])
        value = -value if currency[0][-1] in _DASHES else value
    elif number.kind != "ordinal":
        unit, end = _unit_after(low, text, number) or (None, end)
    if unit is None and number.scale == "k" and (_RACE.search(left[-24:]) or _RACE.search(low, end, end + 24)):
        unit = UNITS["m"]
    before = low[max(0, start - 9) : start]
    minus = _MINUS.search(before) if before[-1:] in _DASHES or before.endswith(("minus ", "negative ")) else None
    if minus is not None:
        first = start - len(minus[0])
        is_price = unit is not None and unit.dimension.startswith("money") and minus[0] == "minus "
        if not is_price or _SIGNED.search(low, max(0, first - 9), first):  # "the fare minus €39" deducts as much
            value, start = -value, first
    if unit is not None and unit.dimension in ("duration", "length", "mass", "volume"):
        more = HALF_MORE.match(low, end)
        if more is not None:
            value, end = value + (0.5 if more[1] == "half" else 0.25), more.end()
    if unit is None and _says_nothing(low, number):
        return None
    times = _TIMES_AFTER.match(low, end) if unit is None and number.kind == "cardinal" else None
    if times is not None:
        number, end = number._replace(kind="times"), times.end()
        start -= 3 if low.endswith("occasions", start, end) and low.endswith("on ", 0, start) else 0
    found = Value(number, unit, value, start, end)
    aged = _aged(found, low)
    if aged is not None or (unit is None and number.kind != "times"):
        return aged or found
    rate, end = rate_after(low, end) or (None, end)
    return found._replace(rate=rate, end=end)


def _aged(value: Value, low: str) -> Value | None:
    """Read "aged 34", "34-year-old" and "34 years of age"; None where the value is no age."""
    unit = value.unit
    if unit is not None and unit.dimension == "duration":
        after = _AGED_AFTER.match(low, value.end)
        if after is not None:
            return value._replace(end=after.end(), age=True)
    if (unit is None or unit.dimension == "duration") and value.number.kind == "cardinal" and 0 <= value.value < 130:
        before = _AGED_BEFORE.search(low, max(0, value.start - 16), value.start)
        if before is not None:
            return value._replace(unit=unit or UNITS["years"], start=before.start(), age=True)
        if _OR_OLDER.match(low, value.end) or _OLDER.search(low, max(0, value.start - 16), value.start):
            return value._replace(unit=unit or UNITS["years"], age=True)
    return None


def rate_after(low: str, end: int) -> tuple[Rate, int] | None:
    """Read "per hour", "/kg", "a day" or "daily" after a value that ends at `end`; also say where that ends."""
    match = _PER.match(low, end)
    if match is None:
        return None
    word = match["over"] or match["per"] or match["a"] or PERIODS.get(match["ly"] or "", "year")
    word = PERIODS.get(word, word)
    unit = UNITS.get(word) if word not in ("in", "a") else None
    amount = float(match["n1"] or match["n2"] or 1)
    if unit is None and match["per"] is None:
        return None
    dimension, base = (unit.dimension, unit.factor) if unit is not None else ("per " + stem(word), 1.0)
    return Rate(dimension, amount * base, match.start()), match.end()


def _unit_after(low: str, text: str, number: Number) -> tuple[Unit, int] | None:
    match = _UNIT.match(low, number.end)
    if match is None:
        return _of_unit(low, number)
    words = match.group("one", "two", "three", "four")
    for count, last in ((4, "four"), (3, "three"), (2, "two")):
        if match[last] and (unit := UNITS.get(" ".join(words[:count]))):
            return unit, match.end(last)
    one: str = match["one"]
    unit = UNITS.get(one)
    if unit is None and one in ("c", "f"):
        return _temperature_letter(text[match.start("one")], number, match)
    if unit is None and match["over"] and one.partition("/")[0] in UNITS:
        one = one.partition("/")[0]
        unit = UNITS[one]
    if unit is None or (number.scale in ("k", "m", "b") and not match["gap"]):
        return _of_unit(low, number)
    written = text[match.start("one")]
    if len(one) == 1 and one.isalpha():
        is_other_case = written.isupper() != (one in "vwja") and one != "l"
        if match["gap"] == "-" or is_other_case or (one == "p" and match["gap"]):
            return _temperature_letter(written, number, match)
        if one == "a" and match["two"]:
            return None  # "In 1999 A new law"
    if one == "real" or (one in ("stone", "cal", "mark", "bar", "pa", "ma", "mo") and written.isupper()):
        return None
    return unit, match.start("one") + len(one)


def _temperature_letter(written: str, number: Number, match: re.Match[str]) -> tuple[Unit, int] | None:
    """Read 350F and 180 C; a capital letter after a small number is something else."""
    if written in "CF" and number.value >= 30 and match["gap"] != "-":
        return UNITS["°" + written.lower()], match.end("one")
    return None


def _of_unit(low: str, number: Number) -> tuple[Unit, int] | None:
    """Read "half an hour", "a quarter of a mile", "3/4 of an inch"."""
    if number.kind != "fraction":
        return None
    match = _OF_UNIT.match(low, number.end)
    unit = UNITS.get(match[1]) if match else None
    return (unit, match.end()) if match and unit else None


def _says_nothing(low: str, number: Number) -> bool:
    """Say whether a number word is not a number here: "one of them", "no one", "the second is"."""
    written = low[number.start : number.end]
    if written == "one":
        following = _AFTER_ONE.match(low, number.end)
        if _ONE_IN.match(low, number.end):
            return False
        if following is None or following[1] in _NOT_ONE:
            return True
        return _BEFORE_ONE.search(low, max(0, number.start - 10), number.start) is not None
    if written == "first":
        return _WHICHEVER.search(low, max(0, number.start - 32), number.start) is not None
    if written != "second":
        return False
    unit = low.endswith("half a ", 0, number.start) or HALF_MORE.match(low, number.end) is not None
    return unit or low.startswith(("s", "-hand"), number.end)

"""Dates and times as they are written, with nothing filled in.

"14 March 1879", "March 1879", "1879" and "the 1870s" say different amounts; a `Moment` holds what was said and None
for what was not. `same` and `conflict` compare what both say; `covers` asks whether one says all the other does.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from everyclaim.text.tokens import word_set
from everyclaim.text.units import is_unit_word

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth", "twenty-first",
)  # fmt: skip

_MONTH = (
    "(?:jan(?:uary|\\b)|feb(?:ruary|\\b)|mar(?:ch|\\b)|apr(?:il|\\b)|may|june?|july?|aug(?:ust|\\b)"
    "|sep(?:tember|t\\b|\\b)|oct(?:ober|\\b)|nov(?:ember|\\b)|dec(?:ember|\\b))(?!\\w)\\.?"
)
_WEEKDAY = "(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?"
_YEAR = r"[12]\d{3}(?!\w|[.,]\d|-\d{3}(?!\d))"
_ERA = r"\s?(?P<e1>b\.?c\.?(?:e\b\.?)?|a\.?d\.?(?!\w)|c\.e\.|ce(?!\w))(?!\w)"
_HOUR = r"(?:[01]?\d|2[0-4])"

_ALONE = r"(?<![\w.,/-])"  # no other number goes on into this one
_WORD_ORDINAL = "|".join(reversed(_ORDINALS))
_PATTERNS = (
    rf"{_ALONE}(?P<iso>(?P<iy>\d{{4}})-(?P<im>0[1-9]|1[0-2])-(?P<id>[0-3]\d)",
    rf"(?:[t ](?P<ih>{_HOUR}):(?P<imin>[0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?:z|[+-]\d\d:?\d\d)?)?)(?![\w-])",
    rf"|{_ALONE}(?P<ymd>(?P<sy>\d{{4}})/(?P<sm>\d{{1,2}})/(?P<sd>\d{{1,2}}))(?![\w/])",
    rf"|{_ALONE}(?P<dmy>(?P<n1>\d{{1,2}})(?P<sep>[/.-])(?P<n2>\d{{1,2}})(?P=sep)(?P<ny>\d{{4}}|\d\d))",
    r"(?![\w/.-]\d|\w)",
    rf"|(?<![\w.,/:-])(?P<time>(?P<th>{_HOUR})(?:[:.](?P<tm>[0-5]\d)(?::[0-5]\d)?)?\s?(?P<half>[ap]\.m\.|[ap]m(?!\w))",
    rf"|(?P<bh>{_HOUR}):(?P<bm>[0-5]\d)(?::[0-5]\d)?(?![\w:]))",
    rf"|{_ALONE}(?P<century>(?P<cn>\d{{1,2}})(?:st|nd|rd|th)[ -]centur(?:y|ies)(?:\s(?P<cera>bce?\b|b\.c\.))?)",
    rf"|{_ALONE}(?P<dm>(?P<d1>[0-3]?\d)(?:st|nd|rd|th)?(?:\sof)?\s(?P<m1>{_MONTH})(?:,?\s(?P<y1>{_YEAR}))?)",
    rf"|(?<![\w.,/])(?P<md>(?P<m2>{_MONTH})\s(?P<d2>[0-3]?\d)(?:st|nd|rd|th)?(?![\w:]|[.,]\d|\s[ap]\.?m)",
    rf"(?:,?\s(?P<y2>{_YEAR}))?)",
    rf"|(?<!\w)(?P<my>(?P<m3>{_MONTH}),?\s(?:of\s)?(?P<y3>{_YEAR}))",
    rf"|(?<!\w)(?P<m>(?P<m4>{_MONTH}))(?!\w)",
    rf"|(?<!\w)(?P<quarter>q(?P<q1>[1-4])(?:,?\s(?:of\s)?(?P<qy1>{_YEAR}))?",
    rf"|(?P<q2>first|second|third|fourth)\squarter\sof\s(?P<qy2>{_YEAR}))(?!\w)",
    rf"|(?<!\w)(?P<wd>{_WEEKDAY})(?!\w)",
    rf"|{_ALONE}(?P<decade>(?P<dec>[12]\d\d0)['’]?s(?!\w))|(?<!\w)['’](?P<dec2>[2-9]0)s(?!\w)",
    rf"|{_ALONE}(?P<era>(?P<ey>\d{{1,4}}){_ERA})|(?<!\w)a\.?d\.?\s(?P<ey2>\d{{1,4}})(?![\w.,]\w)",
    rf"|(?<!\w)(?P<wcentury>(?P<cw>{_WORD_ORDINAL})[ -]centur(?:y|ies)(?:\s(?P<wera>bce?\b|b\.c\.))?)",
    r"|(?<!\w)(?P<noon>noon|midnight)(?!\w)",
    rf"|(?<![\w.,/#$€£¥%:+-])(?P<year>(?P<ya>{_YEAR})(?:\s?(?:[–—]|--?)\s?(?P<yb>[12]\d{{3}}|\d\d)",
    r"(?![\w/%]|[.,-]\d))?)(?!\s?[%°])",
)
_MASTER = re.compile("".join(_PATTERNS))
# Where a date can begin: far cheaper to look for than the whole pattern.
_CANDIDATE = re.compile(
    rf"(?<![a-z0-9])(?:\d|{'|'.join(_MONTHS + _WEEKDAYS)}|noon|midnight|q[1-4]|a\.?d\.?\s|{_WORD_ORDINAL}|['’]\d0s)"
)
_BEFORE_YEAR = re.compile(r"(\w+|[$€£¥~≈<>])\W{0,2}$")
_AFTER_YEAR = re.compile(r"[ -]([a-z]+)")
_COUNTING = word_set(
    """
    about approximately around roughly nearly almost over than least most exactly only some to under up
    usd eur gbp $ € £
    """
)
_YEAR_BEFORE = word_set(
    "in since by until till before after during from of early late mid year circa ca c to through and or between"
)
_NOT_PLURAL = word_set(
    "was is has as its this his series news us does yes versus across census election elections olympics games"
)
_MONTH_BEFORE = word_set(
    "in since by until till before after during from of early late mid last next this every each through to and between"
)


class Moment(NamedTuple):
    """A date, a time, or what was said of one; None where not said.

    `year` is negative before Christ (1 BC is -1). `years` is how long the period is that `year` begins: 10 for a
    decade, 100 for a century. `weekday` is 0 for Monday. `swappable`: day and month could also be read the other
    way round, as in 03/04/2020.
    """

    year: int | None
    month: int | None
    day: int | None
    hour: int | None
    minute: int | None
    start: int
    end: int
    weekday: int | None = None
    quarter: int | None = None
    years: int = 1
    swappable: bool = False


def moments(text: str) -> list[Moment]:
    """Read every date and time of `text`, in order; the spans do not overlap."""
    if len(text) > 20_000:
        return _read(text)
    return list(_remembered(text))


@lru_cache(maxsize=512)
def _remembered(text: str) -> tuple[Moment, ...]:
    # Quantities ask for the dates of the text they read, to leave them alone; the verifier asks again.
    return tuple(_read(text))


def lowered(text: str) -> str:
    """Lower the case of `text` without changing its length."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(small if len(small := char.lower()) == 1 else char for char in text)


def _read(text: str) -> list[Moment]:
    low = lowered(text)
    found: list[Moment] = []
    done = 0
    for candidate in _CANDIDATE.finditer(low):
        if candidate.start() < done:
            continue
        match = _MASTER.match(low, candidate.start())
        if match is None:
            continue
        moment = _READERS[_kind(match)](match, text)
        if moment is None:
            continue
        found.append(moment)
        done = moment.end
        if match.group("yb"):
            found[-1:] = _year_pair(match, moment)
            done = match.end()
    return found


def _kind(match: re.Match[str]) -> str:
    kind = match.lastgroup or ""
    # lastgroup is the last group closed, which is the outer one except for the two short alternatives.
    return kind if kind in _READERS else "year"


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _month(name: str) -> int:
    return _MONTHS.index(name[:3]) + 1


def _date(match: re.Match[str], year: int | None, month: int | None, day: int | None) -> Moment | None:
    if day is not None and not 1 <= day <= 31:
        return None
    return Moment(year, month, day, None, None, match.start(), match.end())


def _iso(match: re.Match[str], _: str) -> Moment | None:
    moment = _date(match, int(match["iy"]), int(match["im"]), int(match["id"]))
    if moment is None or not match["ih"]:
        return moment
    return moment._replace(hour=int(match["ih"]) % 24, minute=int(match["imin"]))


def _ymd(match: re.Match[str], _: str) -> Moment | None:
    month = int(match["sm"])
    return _date(match, int(match["sy"]), month, int(match["sd"])) if 1 <= month <= 12 else None


def _dmy(match: re.Match[str], _: str) -> Moment | None:
    first, second, short = int(match["n1"]), int(match["n2"]), match["ny"]
    if len(short) == 2 and match["sep"] != "/":
        return None  # 1.2.34 is a version, 12-34-56 an identifier
    year = int(short) if len(short) == 4 else None  # a two-digit year does not say its century
    if 1 <= first <= 12 and 1 <= second <= 12:
        moment = _date(match, year, first, second)
        return moment and moment._replace(swappable=first != second)
    if 1 <= second <= 12:
        return _date(match, year, second, first)
    return _date(match, year, first, second) if 1 <= first <= 12 else None


def _time(match: re.Match[str], _: str) -> Moment | None:
    hour, minute = int(match["th"] or match["bh"]), _number(match["tm"] or match["bm"])
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match["half"][0] == "p" else 0)
    return Moment(None, None, None, hour % 24, minute or 0, match.start(), match.end())


def _noon(match: re.Match[str], _: str) -> Moment:
    return Moment(None, None, None, 12 if match["noon"] == "noon" else 0, 0, match.start(), match.end())


def _century(match: re.Match[str], _: str) -> Moment | None:
    number = int(match["cn"]) if match["cn"] else _ORDINALS.index(match["cw"]) + 1
    if not 1 <= number <= 30:
        return None
    year = -100 * number if match["cera"] or match["wera"] else 100 * (number - 1)
    return Moment(year, None, None, None, None, match.start(), match.end(), years=100)


def _decade(match: re.Match[str], _: str) -> Moment:
    year = int(match["dec"]) if match["dec"] else 1900 + int(match["dec2"])
    return Moment(year, None, None, None, None, match.start(), match.end(), years=100 if year % 100 == 0 else 10)


def _day_month(match: re.Match[str], _: str) -> Moment | None:
    return _date(match, _number(match["y1"]), _month(match["m1"]), int(match["d1"]))


def _month_day(match: re.Match[str], text: str) -> Moment | None:
    if match["m2"] in ("may", "mar", "march") and text[match.start()].islower() and not match["y2"]:
        return None  # "may 3 people enter"
    return _date(match, _number(match["y2"]), _month(match["m2"]), int(match["d2"]))


def _month_year(match: re.Match[str], _: str) -> Moment | None:
    return _date(match, int(match["y3"]), _month(match["m3"]), None)


def _month_alone(match: re.Match[str], text: str) -> Moment | None:
    name = match["m4"].rstrip(".")
    if not text[match.start()].isupper() or (len(name) < 4 and name != "may"):
        return None
    if name in ("may", "march", "august", "june", "april"):  # also a verb, an adjective, given names
        before = re.search(r"(\w+)\W{1,2}$", text[max(0, match.start() - 16) : match.start()])
        if name in ("may", "march") and (before is None or before[1].lower() not in _MONTH_BEFORE):
            return None
    return Moment(None, _month(name), None, None, None, match.start(), match.start() + len(name))


def _quarter(match: re.Match[str], _: str) -> Moment:
    number = int(match["q1"]) if match["q1"] else _ORDINALS.index(match["q2"]) + 1
    year = _number(match["qy1"] or match["qy2"])
    return Moment(year, None, None, None, None, match.start(), match.end(), quarter=number)


def _weekday(match: re.Match[str], text: str) -> Moment | None:
    del text
    return Moment(
        None, None, None, None, None, match.start(), match.end(), weekday=_WEEKDAYS.index(match["wd"][:3])
    )  # fmt: skip


def _with_era(match: re.Match[str], text: str) -> Moment | None:
    written = text[match.start() : match.end()]
    if not any(char.isupper() for char in written):
        return None  # "ad" and "ce" in running text
    year = int(match["ey"] or match["ey2"])
    before = bool(match["e1"]) and match["e1"][0] == "b"
    return Moment(-year if before else year, None, None, None, None, match.start(), match.end()) if year else None


def _year(match: re.Match[str], text: str) -> Moment | None:
    if match["ey2"]:
        return _with_era(match, text)
    if match["dec2"]:
        return _decade(match, text)
    year = int(match["ya"])
    if year > 2100:
        return None
    moment = Moment(year, None, None, None, None, match.start(), match.end())
    if match["yb"]:
        return moment
    before = _BEFORE_YEAR.search(text, max(0, match.start() - 16), match.start())
    word = before[1].lower() if before else ""
    after = _AFTER_YEAR.match(text, match.end())
    if word in _COUNTING and word != "to" and not (word in ("about", "around") and after is None):
        return None
    if after is None or word in _YEAR_BEFORE:
        follows_unit = after is not None and is_unit_word(after[1]) and len(after[1]) > 2
        return None if follows_unit else moment
    noun = after[1]
    if is_unit_word(noun) and noun not in ("in", "a"):
        return None
    plural = noun.endswith("s") and not noun.endswith(("ss", "us", "is")) and noun not in _NOT_PLURAL
    return None if plural or noun in ("people", "men", "women", "children", "million", "percent") else moment


def _year_pair(match: re.Match[str], first: Moment) -> list[Moment]:
    """Read 1914–1918 and 2019-20 as two years; anything that does not ascend as one."""
    written = match["yb"]
    assert first.year is not None
    last = int(written) if len(written) == 4 else first.year // 100 * 100 + int(written)
    if not first.year < last <= 2100:
        return [first._replace(end=match.end("ya"))]
    return [
        first._replace(end=match.end("ya")),
        Moment(last, None, None, None, None, match.start("yb"), match.end("yb")),
    ]


_READERS = {
    "iso": _iso, "ymd": _ymd, "dmy": _dmy, "time": _time, "noon": _noon, "century": _century, "wcentury": _century,
    "decade": _decade, "dm": _day_month, "md": _month_day, "my": _month_year, "m": _month_alone, "quarter": _quarter,
    "wd": _weekday, "era": _with_era, "year": _year,
}  # fmt: skip


def _parts(moment: Moment) -> tuple[int | None, ...]:
    time = None if moment.hour is None else moment.hour * 60 + (moment.minute or 0)
    return (moment.month, moment.day, time, moment.weekday, moment.quarter)


def _readings(moment: Moment) -> tuple[Moment, ...]:
    return (moment, moment._replace(month=moment.day, day=moment.month)) if moment.swappable else (moment,)


def same(a: Moment, b: Moment) -> bool:
    """Say whether both say something in common and agree on all of it. Symmetric; true of a moment and itself."""
    return any(_agree(x, y) for x in _readings(a) for y in _readings(b))


def conflict(a: Moment, b: Moment) -> bool:
    """Say whether a part that both state differs, in every way they can be read."""
    return all(_differ(x, y) for x in _readings(a) for y in _readings(b))


def covers(fuller: Moment, moment: Moment) -> bool:
    """Say whether `fuller` agrees with `moment` and states every part that `moment` states."""
    says_year = moment.year is None or (fuller.year is not None and fuller.years <= moment.years)
    says_rest = all(
        mine is None or theirs is not None for mine, theirs in zip(_parts(moment), _parts(fuller), strict=True)
    )
    if not (says_year and says_rest):
        return False
    if fuller.years == moment.years:
        return same(fuller, moment)
    return not conflict(fuller, moment)


def _agree(a: Moment, b: Moment) -> bool:
    shared = 0
    if a.year is not None and b.year is not None:
        if (a.year, a.years) != (b.year, b.years):
            return False
        shared = 1
    for mine, theirs in zip(_parts(a), _parts(b), strict=True):
        if mine is not None and theirs is not None:
            if mine != theirs:
                return False
            shared += 1
    return shared > 0


def _differ(a: Moment, b: Moment) -> bool:
    if a.year is not None and b.year is not None and not (a.year < b.year + b.years and b.year < a.year + a.years):
        return True
    return any(
        mine is not None and theirs is not None and mine != theirs
        for mine, theirs in zip(_parts(a), _parts(b), strict=True)
    )

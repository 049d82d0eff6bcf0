"""Dates and times as they are written, with nothing filled in.

"14 March 1879", "March 1879", "1879" and "the 1870s" say different amounts; a `Moment` holds what was said and None
for what was not. `agreement` compares what both say.
"""

from __future__ import annotations

import re
from sys import getsizeof
from typing import NamedTuple

from everyclaim.core.lifetime import remembered
from everyclaim.text.date_forms import (
    CANDIDATE,
    CENTURIES,
    DECADES,
    HOURS,
    MASTER,
    MONTHS,
    MONTHS_ELSEWHERE,
    ORDINALS,
    WEEKDAYS,
    is_clocked,
    is_scaled,
)
from everyclaim.text.lists import WORDS
from everyclaim.text.numerals import UNITS, is_unit_word
from everyclaim.text.tokens import word_set

_BEFORE_MILITARY = re.compile(r"\b(?:at|from|until|till|by|to|before|after|between|and|is|around|about) $")
_BEFORE_DECADE = re.compile(r"\b(?:the|mid|early|late)[ -](?:(?:early|mid|late|roaring|swinging)[ -])?$")
_ABOUT_TIME = re.compile(r"\b(?:about|around|approximately|roughly|circa|nearly|almost|shortly (?:before|after)) $")
_WEEKDAY_GAP = re.compile(r"(?:,? (?:the )?|, | \()")
_DIGITAL = re.compile(r"\d\d:\d\d(?::\d\d)?")
_SPOKEN_MINUTES = {"five": 5, "ten": 10, "quarter": 15, "twenty": 20, "half": 30}
_BEFORE_YEAR = re.compile(r"(\w+|[$€£¥~≈<>])\W{0,2}$")
_AFTER_YEAR = re.compile(r"[ -]([a-z]+)")
_CAPITALS = re.compile(r"[ -]([A-Z]{2,4})\b")  # GB, USD; others are also names: "a 2012 MA thesis"
_COUNTING = word_set(WORDS["dates"]["counting"])
_YEAR_BEFORE = word_set(WORDS["dates"]["year_before"])
_NOT_PLURAL = word_set(WORDS["dates"]["not_plural"])
_MONTH_BEFORE = word_set(WORDS["dates"]["month_before"])


class Moment(NamedTuple):
    """A date, a time, or what was said of one; None where not said.

    `year` is negative before Christ (1 BC is -1). `years` is how long the period is that `year` begins: 10 for a
    decade, 100 for a century. `weekday` is 0 for Monday, `half` the half of a year. `swappable`: day and month could
    also be read the other way round, as in 03/04/2020. `any_century`: the year was given as '19 or "the sixties".
    `any_half`: nothing says whether the time is before noon or after, as in 9:30. `approximate`: "about" that time.
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
    half: int | None = None
    any_century: bool = False
    any_half: bool = False
    approximate: bool = False


_NOTHING = Moment(None, None, None, None, None, 0, 0)  # said of nothing


def moments(text: str) -> list[Moment]:
    """Read every date and time of `text`, in order; the spans do not overlap."""
    return list(_remembered(text))


def is_dated(text: str) -> bool:
    """Say whether a text names a year or a month. For texts that are read once: nothing is remembered."""
    return any(one.year is not None or one.month is not None for one in _read(text))


def _weight(found: tuple[Moment, ...], text: str) -> int:
    return getsizeof(text) + 300 * len(found)


@remembered(2_000_000, _weight)
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
    for candidate in CANDIDATE.finditer(low):
        if candidate.start() < done:
            continue
        match = MASTER.match(low, candidate.start())
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
        elif match.group("fh"):
            found[-1:] = _time_pair(match, moment)
        else:
            _join_weekday(found, low)
    found = [
        moment._replace(approximate=True)
        if moment.hour is not None and _ABOUT_TIME.search(low, max(0, moment.start - 16), moment.start)
        else moment
        for moment in found
    ]
    if any(
        not moment.any_half and (moment.hour or 0) > 12 and _DIGITAL.fullmatch(low, moment.start, moment.end)
        for moment in found
    ):
        return [moment._replace(any_half=False) for moment in found]  # the text counts 24 hours
    return found


def _join_weekday(found: list[Moment], low: str) -> None:
    """Make one of "Tuesday" and "24 August 2010" when the second was just found."""
    if len(found) < 2:
        return
    first, second = found[-2], found[-1]
    names_day = first._replace(start=0, end=0) == _NOTHING._replace(weekday=first.weekday) and first.weekday is not None
    if names_day and second.day is not None and second.weekday is None:
        gap = low[first.end : second.start] if second.start - first.end <= 6 else ""
        if _WEEKDAY_GAP.fullmatch(gap):
            found[-2:] = [second._replace(weekday=first.weekday, start=first.start)]


def _kind(match: re.Match[str]) -> str:
    kind = match.lastgroup or ""
    # lastgroup is the last group closed, which is the outer one except for the two short alternatives.
    return kind if kind in _READERS else "year"


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _month(name: str) -> int:
    return MONTHS.index(name[:3]) + 1


def _date(match: re.Match[str], year: int | None, month: int | None, day: int | None) -> Moment | None:
    if day is not None and not 1 <= day <= 31:
        return None
    end = match.end() - (match.group()[-1] == ".")  # "Sept." may end a sentence
    return Moment(year, month, day, None, None, match.start(), end)


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
    if len(short) == 2 and match["sep"] != "/" and not (match["sep"] == "." and first > 12 and len(match["n2"]) == 2):
        return None  # 1.2.34 is a version, 12-34-56 an identifier
    year = int(short) if len(short) == 4 else _short_year(int(short))
    if 1 <= second <= 12:
        swappable = first != second and 1 <= first <= 12
        month, day = (first, second) if swappable else (second, first)
    else:
        swappable, month, day = False, first, second
    moment = _date(match, year, month, day) if 1 <= month <= 12 else None
    return moment and moment._replace(swappable=swappable, any_century=len(short) == 2)


def _short_year(year: int) -> int:
    """Give a year of two digits the century it is most likely of."""
    return year + (2000 if year < 50 else 1900)


def _numeric_month(match: re.Match[str], _: str) -> Moment | None:
    return _date(match, int(match["nmyy"]), int(match["nm"]), None)


def _time(match: re.Match[str], _: str) -> Moment | None:
    hour, minute = int(match["th"] or match["bh"]), _number(match["tm"] or match["bm"])
    either = False
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match["half"][0] == "p" else 0)
    elif is_clocked(match.string, match.start()) or is_scaled(match.string, match.start()):
        return None
    else:
        either = 1 <= hour <= 12 and match["bh"][0] != "0"
    return Moment(None, None, None, hour % 24, minute or 0, match.start(), match.end(), any_half=either)


def _time_pair(match: re.Match[str], last: Moment) -> list[Moment]:
    """Read 8–10 a.m. as two times: the first is of the same half of the day, or of the morning before."""
    hour, minute = int(match["fh"]), int(match["fm"] or 0)
    last = last._replace(start=match.start("th"))
    until = last.hour or 0, last.minute or 0
    if 1 <= hour <= 12:
        hour = hour % 12 + (12 if until[0] >= 12 else 0)
        if (hour, minute) > until:
            hour -= 12
    first = Moment(
        None, None, None, hour % 24, minute, match.start(), match.end("fm") if match["fm"] else match.end("fh")
    )
    return [first, last] if hour >= 0 else [last]


def _spoken(match: re.Match[str], _: str) -> Moment | None:
    """Read "half past six", "quarter to four in the afternoon", "3 o'clock"."""
    written, past = match["sh"] or match["sh2"], match["past"] or ""
    hour = int(written) if written.isdecimal() else HOURS.index(written) + 1
    part = (match["part1"] or match["part2"] or match["part3"] or "").strip()
    if not 1 <= hour <= 12:
        return None
    minute = 0
    if past:
        first = past.removeprefix("a ").replace("-", " ").split()[0]
        minute = int(first) if first.isdecimal() else _SPOKEN_MINUTES[first]
        minute += 5 if first == "twenty" and "five" in past else 0
        if "minutes" not in past and minute not in (15, 30) and (minute <= hour or not part):
            return None  # "five to seven in the evening" is two times, "ten to twelve" may be anything
        if past.endswith(("to", "to ")):
            hour, minute = hour - 1, 60 - minute
    late = part.endswith(("afternoon", "evening", "night")) or part.startswith("p")
    hour = hour % 12 + (12 if late and not (part.endswith("night") and hour % 12 < 5) else 0)
    return Moment(None, None, None, hour % 24, minute % 60, match.start(), match.end(), any_half=not part)


def _military(match: re.Match[str], _: str) -> Moment | None:
    if _BEFORE_MILITARY.search(match.string, max(0, match.start() - 10), match.start()) is None:
        return None
    return Moment(None, None, None, int(match["mh"]), int(match["mmin"]), match.start(), match.end())


def _noon(match: re.Match[str], _: str) -> Moment:
    return Moment(None, None, None, 0 if match["noon"] == "midnight" else 12, 0, match.start(), match.end())


def _century(match: re.Match[str], _: str) -> Moment | None:
    number = int(match["cn"]) if match["cn"] else ORDINALS.index(match["cw"]) + 1
    if not 1 <= number <= 30:
        return None
    year = -100 * number if match["cera"] or match["wera"] else 100 * (number - 1)
    return Moment(year, None, None, None, None, match.start(), match.end(), years=100)


def _decade(match: re.Match[str], _: str) -> Moment:
    year = int(match["dec"]) if match["dec"] else 1900 + int(match["dec2"])
    years = 100 if year % 100 == 0 else 10
    return Moment(
        year, None, None, None, None, match.start(), match.end(), years=years, any_century=not match["dec"]
    )  # fmt: skip


def _word_decade(match: re.Match[str], _: str) -> Moment | None:
    """Read "the nineteen-sixties" and "the sixties"; not "in his sixties"."""
    if not match["wdc"] and not _BEFORE_DECADE.search(match.string, max(0, match.start() - 16), match.start()):
        return None
    year = CENTURIES.get(match["wdc"] or "", 1900) + 20 + 10 * DECADES.index(match["wdd"])
    sure = bool(match["wdc"] or match["wdl"])
    return Moment(year, None, None, None, None, match.start(), match.end(), years=10, any_century=not sure)


def _day_month(match: re.Match[str], _: str) -> Moment | None:
    return _date(match, _number(match["y1"]), _month(match["m1"]), _day(match["d1"], match["dw1"]))


def _day_month_elsewhere(match: re.Match[str], _: str) -> Moment | None:
    if match["m5"] == "mars" and not match["y5"]:
        return None  # "3 mars bars"
    return _date(match, _number(match["y5"]), MONTHS_ELSEWHERE[match["m5"]], int(match["d3"]))


def _day(digits: str | None, word: str | None) -> int:
    return int(digits) if digits else ORDINALS.index(word or "") + 1


def _month_day(match: re.Match[str], text: str) -> Moment | None:
    if match["m2"] in ("may", "mar", "march") and text[match.start()].islower() and not match["y2"]:
        return None  # "may 3 people enter"
    return _date(match, _number(match["y2"]), _month(match["m2"]), _day(match["d2"], match["dw2"]))


def _month_year(match: re.Match[str], _: str) -> Moment | None:
    if match["y3"]:
        return _date(match, int(match["y3"]), _month(match["m3"]), None)
    moment = _date(match, _short_year(int(match["ys"])), _month(match["m3"]), None)
    return moment and moment._replace(any_century=True)


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
    digits = match["q1"] or match["q3"]
    number = int(digits) if digits else ORDINALS.index(match["q2"]) + 1
    year = _number(match["qy1"] or match["qy2"])
    short = _number(match["qs"])
    if short is not None:
        year = _short_year(short)
    return Moment(
        year, None, None, None, None, match.start(), match.end(), quarter=number, any_century=short is not None
    )  # fmt: skip


def _half_year(match: re.Match[str], _: str) -> Moment:
    digits = match["h1"] or match["h3"]
    half = int(digits) if digits else ORDINALS.index(match["h2"]) + 1
    return Moment(int(match["hy1"] or match["hy2"]), None, None, None, None, match.start(), match.end(), half=half)


def _weekday(match: re.Match[str], text: str) -> Moment | None:
    del text
    return Moment(
        None, None, None, None, None, match.start(), match.end(), weekday=WEEKDAYS.index(match["wd"][:3])
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
    capitals = _CAPITALS.match(text, match.end())
    unit = UNITS.get(capitals[1].lower()) if capitals and word not in _YEAR_BEFORE - {"of", "to"} else None
    if unit is not None and (unit.dimension == "data" or unit.dimension.startswith("money")):
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
    "iso": _iso, "ymd": _ymd, "dmy": _dmy, "nmy": _numeric_month, "time": _time, "spoken": _spoken,
    "military": _military, "noon": _noon, "century": _century, "wcentury": _century, "decade": _decade,
    "worddecade": _word_decade, "halfyear": _half_year, "dm": _day_month, "dme": _day_month_elsewhere,
    "md": _month_day, "my": _month_year, "m": _month_alone, "quarter": _quarter, "wd": _weekday, "era": _with_era,
    "year": _year,
}  # fmt: skip

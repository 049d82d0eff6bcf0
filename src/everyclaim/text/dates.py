"""Dates and times as they are written, with nothing filled in.

"14 March 1879", "March 1879", "1879" and "the 1870s" say different amounts; a `Moment` holds what was said and None
for what was not. `agreement` compares what both say. One pattern of everything that is read here, in lower case, finds
them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from sys import getsizeof
from typing import NamedTuple

from everyclaim.core.lifetime import remembered
from everyclaim.text.lists import WORDS
from everyclaim.text.numerals import UNITS
from everyclaim.text.tokens import has_plural_ending, word_set

_LISTS = WORDS["dates"]
FULL_MONTHS: tuple[str, ...] = tuple(_LISTS["months"].split())
MONTHS = tuple(name[:3].lower() for name in FULL_MONTHS)
MONTHS_ELSEWHERE: dict[str, int] = {
    name: number for number, names in enumerate(_LISTS["months_elsewhere"], 1) for name in names.split()
}
WEEKDAYS: tuple[str, ...] = tuple(_LISTS["weekdays"].split())
ORDINALS: tuple[str, ...] = tuple(WORDS["numerals"]["ordinals"].split())
HOURS: tuple[str, ...] = tuple(_LISTS["hours"].split())
DECADES: tuple[str, ...] = tuple(_LISTS["decades"].split())
CENTURIES = {"seventeen": 1700, "eighteen": 1800, "nineteen": 1900}

_MONTH = (
    "(?:jan(?:uary|\\b)|feb(?:ruary|\\b)|mar(?:ch|\\b)|apr(?:il|\\b)|may|june?|july?|aug(?:ust|\\b)"
    "|sep(?:tember|t\\b|\\b)|oct(?:ober|\\b)|nov(?:ember|\\b)|dec(?:ember|\\b))(?!\\w)\\.?"
)
_YEAR = r"[12]\d{3}(?!\w|[.,]\d|-\d{3}(?!\d))"
_ERA = r"\s?(?P<e1>b\.?c\.?(?:e\b\.?)?|a\.?d\.?(?!\w)|c\.e\.|ce(?!\w))(?!\w)"
_HOUR = r"(?:[01]?\d|2[0-4])"
_HALF_DAY = r"[ap]\.m\.|[ap]m(?!\w)"
_PART_OF_DAY = rf"\sin\sthe\s(?:morning|afternoon|evening)|\sat\snight|\s?(?:{_HALF_DAY})"
_DAY = "(?:mon|tues?|wed|thur?s?|fri|sat|sun)"
_ALONE = r"(?<![\w.,/-])"  # no other number goes on into this one
_WORD_ORDINAL = "|".join(reversed(ORDINALS))
_WORD_HOUR = "|".join(HOURS)
_DECADE = "|".join(DECADES)
_MINUTES = r"(?:\d{1,2}|five|ten|twenty|twenty[ -]five)"
_PAST = r"half\spast|(?:a\s)?quarter\s(?:past|to)|" + rf"{_MINUTES}\s(?:minutes\s)?(?:past|to)"
_FISCAL = r"(?:(?:fy|fiscal|financial)\s?(?:year\s)?)?"
_OF_YEAR = rf"(?:,?\s(?:of\s)?(?:the\s)?{_FISCAL}"
_AND_CENTURY = (
    r"(?=(?:\s(?:and|to|or)\s|\s?[-–/]\s?)(?:the\s)?(?:(?:early|mid|late)[ -])?"
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)|{_WORD_ORDINAL})[ -]centur)"
)

_PATTERNS = (
    rf"{_ALONE}(?P<iso>(?P<iy>\d{{4}})-(?P<im>0[1-9]|1[0-2])-(?P<id>[0-3]\d)",
    rf"(?:[t ](?P<ih>{_HOUR}):(?P<imin>[0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?:z|[+-]\d\d:?\d\d)?)?)(?![\w-])",
    rf"|{_ALONE}(?P<ymd>(?P<sy>\d{{4}})/(?P<sm>\d{{1,2}})/(?P<sd>\d{{1,2}}))(?![\w/])",
    rf"|{_ALONE}(?P<dmy>(?P<n1>\d{{1,2}})(?P<sep>[/.-])(?P<n2>\d{{1,2}})(?P=sep)(?P<ny>\d{{4}}|\d\d))",
    r"(?![\w/.-]\d|\w)",
    rf"|{_ALONE}(?P<nmy>(?P<nm>0?[1-9]|1[0-2])/(?P<nmyy>[12]\d{{3}}))(?![\w/])",
    rf"|(?<![\w.,/:-])(?P<time>(?:(?P<fh>{_HOUR})(?:[:.](?P<fm>[0-5]\d))?\s?(?:[-–—]|to|and|until|till)\s?)?",
    rf"(?P<th>{_HOUR})(?:[:.](?P<tm>[0-5]\d)(?::[0-5]\d)?)?\s?(?P<half>{_HALF_DAY})",
    rf"|(?P<bh>{_HOUR}):(?P<bm>[0-5]\d)(?::[0-5]\d)?(?![\w:]))",
    rf"|(?<![\w.,/:-])(?P<spoken>(?P<past>{_PAST})\s(?P<sh>\d{{1,2}}|{_WORD_HOUR})(?:\so['’]clock)?(?P<part1>{_PART_OF_DAY})?",
    rf"|(?P<sh2>\d{{1,2}}|{_WORD_HOUR})(?:\so['’]clock(?P<part2>{_PART_OF_DAY})?|(?P<part3>{_PART_OF_DAY})))(?!\w)",
    r"|(?<![\w.,/:-])(?P<military>(?P<mh>[01]\d|2[0-3])(?P<mmin>[0-5]\d)\s?(?:hours|hrs|h)(?!\w))",
    rf"|{_ALONE}(?P<century>(?P<cn>\d{{1,2}})(?:st|nd|rd|th)(?:[ -]centur(?:y|ies)|{_AND_CENTURY})",
    r"(?:\s(?P<cera>bce?\b|b\.c\.))?)",
    rf"|{_ALONE}(?P<dm>(?:(?P<d1>[0-3]?\d)(?:st|nd|rd|th)?(?:\s(?:day\s)?of)?|(?P<dw1>{_WORD_ORDINAL})\s(?:day\s)?of)",
    rf"\s(?P<m1>{_MONTH})(?:\s?,?\s(?P<y1>{_YEAR}))?)",
    rf"|{_ALONE}(?P<dme>(?P<d3>[0-3]?\d)(?:\.|º|er)?\s(?:de\s)?(?P<m5>{'|'.join(MONTHS_ELSEWHERE)})(?!\w)",
    rf"(?:\s(?:del?\s)?(?P<y5>{_YEAR}))?)",
    rf"|(?<![\w.,/])(?P<md>(?P<m2>{_MONTH})\s(?:(?:the\s)?(?P<d2>[0-3]?\d)(?:st|nd|rd|th)?(?![\w:]|[.,]\d|\s[ap]\.?m)",
    rf"|the\s(?P<dw2>{_WORD_ORDINAL})(?!\w))(?:\s?,?\s(?P<y2>{_YEAR}))?)",
    rf"|(?<!\w)(?P<my>(?P<m3>{_MONTH}),?\s(?:of\s)?(?:(?P<y3>{_YEAR})|['’](?P<ys>\d\d)(?!\w)))",
    rf"|(?<!\w)(?P<m>(?P<m4>{_MONTH}))(?!\w)",
    rf"|(?<!\w)(?P<quarter>(?:q(?P<q1>[1-4])|(?P<q3>[1-4])q){_OF_YEAR}(?P<qy1>{_YEAR})|['’]?(?P<qs>\d\d)(?!\w))?",
    rf"|(?P<q2>first|second|third|fourth)[ -]quarter{_OF_YEAR}(?P<qy2>{_YEAR}))?)(?!\w)",
    rf"|(?<!\w)(?P<halfyear>(?:h(?P<h1>[12])|(?P<h3>[12])h){_OF_YEAR}(?P<hy1>{_YEAR}))",
    rf"|(?P<h2>first|second)[ -]half{_OF_YEAR}(?P<hy2>{_YEAR})))(?!\w)",
    r"|(?<!\w)(?P<wd>(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?(?!\w)",
    rf"|{_DAY}\.?(?=\s?[-–/]\s?{_DAY}(?!\w))|(?<=\w[-–/]){_DAY}(?!\w)",
    rf"|{_DAY}\.?(?=,?\s(?:the\s)?(?:(?:[0-3]?\d(?:st|nd|rd|th)?\s(?:of\s)?)?{_MONTH}|\d\d?[/.]\d|\d{{4}}-))",
    rf"|{_DAY}\.?(?=[:,]?\s\d\d?(?::\d\d|\s?(?:{_HALF_DAY}|[-–]\s?\d))))",
    rf"|{_ALONE}(?P<decade>(?P<dec>[12]\d\d0)['’]?s(?!\w))|(?<!\w)['’](?P<dec2>[2-9]0)s(?!\w)",
    rf"|(?<!\w)(?P<worddecade>(?:(?P<wdc>{'|'.join(CENTURIES)})[ -])?(?P<wdd>{_DECADE})",
    r"(?P<wdl>\sof\sthe\s(?:last|previous|twentieth|20th)\scentury)?)(?!\w)",
    rf"|{_ALONE}(?P<era>(?P<ey>\d{{1,4}}){_ERA})|(?<!\w)a\.?d\.?\s(?P<ey2>\d{{1,4}})(?![\w.,]\w)",
    rf"|(?<!\w)(?P<wcentury>(?P<cw>{_WORD_ORDINAL})(?:[ -]centur(?:y|ies)|{_AND_CENTURY})",
    r"(?:\s(?P<wera>bce?\b|b\.c\.))?)",
    r"|(?<!\w)(?P<noon>noon|midday|midnight)(?!\w)",
    rf"|(?<![\w.,/#$€£¥%:+-])(?P<year>(?P<ya>{_YEAR})(?:\s?(?:[–—]|--?)\s?(?P<yb>[12]\d{{3}}|\d\d)",
    r"(?![\w/%]|[.,-]\d))?)(?!\s?[%°])",
)
_MASTER = re.compile("".join(_PATTERNS))
# Where a date can begin: far cheaper to look for than the whole pattern.
_CANDIDATE = re.compile(
    rf"(?<![a-z0-9])(?:\d|{'|'.join(MONTHS + WEEKDAYS)}|noon|midday|midnight|q[1-4]|h[12]\s|a\.?d\.?\s"
    rf"|{'|'.join(CENTURIES)}|{_DECADE}|{_WORD_ORDINAL}|['’]\d0s"
    rf"|half\spast|(?:a\s)?quarter\s(?:past|to)|(?:five|ten|twenty|twenty[ -]five)\s(?:minutes|past|to)\s"
    rf"|(?:{_WORD_HOUR})(?=\so['’]clock|\sin\sthe\s[mae]|\sat\snight|\s[ap]\.?m))"
)
_BEFORE_MILITARY = re.compile(r"\b(?:at|from|until|till|by|to|before|after|between|and|is|around|about) $")
_BEFORE_DECADE = re.compile(r"\b(?:the|mid|early|late)[ -](?:(?:early|mid|late|roaring|swinging)[ -])?$")
_ABOUT_TIME = re.compile(r"\b(?:about|around|approximately|roughly|circa|nearly|almost|shortly (?:before|after)) $")
_WEEKDAY_GAP = re.compile(r"(?:,? (?:the )?|, | \()")
_DIGITAL = re.compile(r"\d\d:\d\d(?::\d\d)?")
_SPOKEN_MINUTES = {"five": 5, "ten": 10, "quarter": 15, "twenty": 20, "half": 30}
_BEFORE_YEAR = re.compile(r"(\w+|[$€£¥~≈<>])\W{0,2}$")
_AFTER_YEAR = re.compile(r"[ -]([a-z]+)")
_CAPITALS = re.compile(r"[ -]([A-Z]{2,4})\b")  # GB, USD; others are also names: "a 2012 MA thesis"
_COUNTING, _YEAR_BEFORE, _NOT_PLURAL, _MONTH_BEFORE = (
    word_set(_LISTS[name]) for name in ("counting", "year_before", "not_plural", "month_before")
)


_STARTED = re.compile(
    r"\b(?:times?|records?|clock(?:s|ed|ing)?|finish(?:es|ed|ing)?|last(?:s|ed|ing)?|tak(?:es?|ing)|took|duration|length"
    r"|run(?:s|ning)?|ran|runtime|mark|best|completed(?: \w+){0,3})"
    r"(?: (?:time|in|of|is|was|for|a|about|just|under|over))*:? $"
)
CLOCKED = re.compile(r"(?<![\w:.,/-])(\d{1,3}):([0-5]\d)(?::([0-5]\d))?(\.\d{1,3})?(?![\w:])(?!\s?[ap]\.?m)")
"""What may be hours, minutes and seconds of a duration."""
_SCALED = re.compile(
    r"\b(?:scaled?|ratio|dilut\w+|mix\w*|odds|proportions?)(?: \w+){0,3}(?: of| at| in| to| is)?(?: an?)? $"
)


def is_clocked(low: str, start: int) -> bool:
    """Say whether what `CLOCKED` finds at `start` is a duration ("a time of 2:05:11") rather than a time of day."""
    whole = CLOCKED.match(low, start)
    if whole is not None and whole[3] and low.endswith(" in ", max(0, start - 4), start):
        return True
    return _STARTED.search(low, max(0, start - 40), start) is not None


def is_scaled(low: str, start: int) -> bool:
    """Say whether 1:50 at `start` is a proportion rather than a time of day."""
    return _SCALED.search(low, max(0, start - 40), start) is not None


class Moment(NamedTuple):
    """A date, a time, or what was said of one; None where not said.

    `year` is negative before Christ (1 BC is -1). `years` is how long the period is that `year` begins: 10 for a
    decade, 100 for a century. `weekday` is 0 for Monday, `half` the half of a year. `swappable`: day and month could
    also be read the other way round, as in 03/04/2020. `any_century`: the year was given as '19 or "the sixties".
    `any_half`: nothing says whether the time is before noon or after, as in 9:30. `approximate`: "about" that time.
    """

    start: int
    end: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    hour: int | None = None
    minute: int | None = None
    weekday: int | None = None
    quarter: int | None = None
    years: int = 1
    swappable: bool = False
    half: int | None = None
    any_century: bool = False
    any_half: bool = False
    approximate: bool = False


def moments(text: str) -> list[Moment]:
    """Read every date and time of `text`, in order; the spans do not overlap."""
    return list(_remembered(text))


def is_dated(text: str) -> bool:
    """Say whether a text names a year or a month. For texts that are read once: nothing is remembered."""
    return any(one.year is not None or one.month is not None for one in _read(text))


@remembered(2_000_000, lambda found, text: getsizeof(text) + 300 * len(found))
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
        match = _MASTER.match(low, candidate.start()) if candidate.start() >= done else None
        # lastgroup is the last group closed, which is the outer one except for two short alternatives.
        moment = _READERS.get(match.lastgroup or "", _year)(match, text) if match is not None else None
        if match is None or moment is None:
            continue
        found.append(moment)
        done = moment.end
        if match["yb"]:
            found[-1:] = _year_pair(match, moment)
            done = match.end()
        elif match["fh"]:
            found[-1:] = _time_pair(match, moment)
        else:
            _join_weekday(found, low)
    counts_24 = any(
        not moment.any_half and (moment.hour or 0) > 12 and _DIGITAL.fullmatch(low, moment.start, moment.end)
        for moment in found
    )
    for at, moment in enumerate(found):
        about = moment.hour is not None and _ABOUT_TIME.search(low, max(0, moment.start - 16), moment.start) is not None
        if about or (counts_24 and moment.any_half):
            found[at] = moment._replace(approximate=about, any_half=moment.any_half and not counts_24)
    return found


def _join_weekday(found: list[Moment], low: str) -> None:
    """Make one of "Tuesday" and "24 August 2010" when the second was just found."""
    if len(found) < 2:
        return
    first, second = found[-2], found[-1]
    names_day = first.weekday is not None and first == Moment(first.start, first.end, weekday=first.weekday)
    if names_day and second.day is not None and second.weekday is None:
        gap = low[first.end : second.start] if second.start - first.end <= 6 else ""
        if _WEEKDAY_GAP.fullmatch(gap):
            found[-2:] = [second._replace(weekday=first.weekday, start=first.start)]


def _first(match: re.Match[str], groups: str) -> str:
    return next(filter(None, map(match.group, groups.split())), "")


def _number(written: str) -> int | None:
    """Give the number that digits or an ordinal in words stand for; None for nothing."""
    if not written:
        return None
    return int(written) if written.isdecimal() else ORDINALS.index(written) + 1


def _month(name: str) -> int:
    return int(name) if name.isdecimal() else MONTHS_ELSEWHERE.get(name) or MONTHS.index(name[:3]) + 1


def _short_year(year: int) -> int:
    """Give a year of two digits the century it is most likely of."""
    return year + (2000 if year < 50 else 1900)


def _date(match: re.Match[str], text: str) -> Moment | None:
    """Read a date as far as it is said: 2019-05-01, 5 May, the fifth of May 2019, May '19, 05/2019."""
    name, day, year = (
        _first(match, groups) for groups in ("im sm nm m1 m2 m3 m5", "id sd d1 d2 d3 dw1 dw2", "iy sy nmyy y1 y2 y3 y5")
    )
    if not year and (name == "mars" or (match["m2"] in ("may", "mar", "march") and text[match.start()].islower())):
        return None  # "3 mars bars", "may 3 people enter"
    if match["ys"]:
        moment = _dated(match, _short_year(int(match["ys"])), _month(name), None)
        return moment and moment._replace(any_century=True)
    moment = _dated(match, _number(year), _month(name), _number(day))
    if moment is None or not match["ih"]:
        return moment
    return moment._replace(hour=int(match["ih"]) % 24, minute=int(match["imin"]))


def _dated(match: re.Match[str], year: int | None, month: int, day: int | None) -> Moment | None:
    if not 1 <= month <= 12 or (day is not None and not 1 <= day <= 31):
        return None
    end = match.end() - (match.group()[-1] == ".")  # "Sept." may end a sentence
    return Moment(match.start(), end, year, month, day)


def _dmy(match: re.Match[str], _: str) -> Moment | None:
    first, second, short = int(match["n1"]), int(match["n2"]), match["ny"]
    if len(short) == 2 and match["sep"] != "/" and not (match["sep"] == "." and first > 12 and len(match["n2"]) == 2):
        return None  # 1.2.34 is a version, 12-34-56 an identifier
    year = int(short) if len(short) == 4 else _short_year(int(short))
    swappable = first != second and 1 <= first <= 12 and 1 <= second <= 12
    month, day = (second, first) if 1 <= second <= 12 and not swappable else (first, second)
    moment = _dated(match, year, month, day)
    return moment and moment._replace(swappable=swappable, any_century=len(short) == 2)


def _time(match: re.Match[str], _: str) -> Moment | None:
    hour, minute = int(match["th"] or match["bh"]), int(match["tm"] or match["bm"] or 0)
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        return Moment(*match.span(), hour=hour % 12 + (12 if match["half"][0] == "p" else 0), minute=minute)
    if is_clocked(match.string, match.start()) or is_scaled(match.string, match.start()):
        return None
    either = 1 <= hour <= 12 and match["bh"][0] != "0"
    return Moment(*match.span(), hour=hour % 24, minute=minute, any_half=either)


def _time_pair(match: re.Match[str], last: Moment) -> list[Moment]:
    """Read 8–10 a.m. as two times: the first is of the same half of the day, or of the morning before."""
    hour, minute = int(match["fh"]), int(match["fm"] or 0)
    last = last._replace(start=match.start("th"))
    until = last.hour or 0, last.minute or 0
    if 1 <= hour <= 12:
        hour = hour % 12 + (12 if until[0] >= 12 else 0)
        if (hour, minute) > until:
            hour -= 12
    first = Moment(match.start(), match.end("fm" if match["fm"] else "fh"), hour=hour % 24, minute=minute)
    return [first, last] if hour >= 0 else [last]


def _spoken(match: re.Match[str], _: str) -> Moment | None:
    """Read "half past six", "quarter to four in the afternoon", "3 o'clock"."""
    written, past = _first(match, "sh sh2"), match["past"] or ""
    hour = int(written) if written.isdecimal() else HOURS.index(written) + 1
    part = _first(match, "part1 part2 part3").strip()
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
    return Moment(*match.span(), hour=hour % 24, minute=minute % 60, any_half=not part)


def _military(match: re.Match[str], _: str) -> Moment | None:
    if _BEFORE_MILITARY.search(match.string, max(0, match.start() - 10), match.start()) is None:
        return None
    return Moment(*match.span(), hour=int(match["mh"]), minute=int(match["mmin"]))


def _century(match: re.Match[str], _: str) -> Moment | None:
    number = _number(_first(match, "cn cw")) or 0
    if not 1 <= number <= 30:
        return None
    return Moment(*match.span(), -100 * number if _first(match, "cera wera") else 100 * (number - 1), years=100)


def _decade(match: re.Match[str], _: str) -> Moment:
    year = int(match["dec"]) if match["dec"] else 1900 + int(match["dec2"])
    return Moment(*match.span(), year, years=100 if year % 100 == 0 else 10, any_century=not match["dec"])


def _word_decade(match: re.Match[str], _: str) -> Moment | None:
    """Read "the nineteen-sixties" and "the sixties"; not "in his sixties"."""
    if not match["wdc"] and not _BEFORE_DECADE.search(match.string, max(0, match.start() - 16), match.start()):
        return None
    year = CENTURIES.get(match["wdc"] or "", 1900) + 20 + 10 * DECADES.index(match["wdd"])
    return Moment(*match.span(), year, years=10, any_century=not _first(match, "wdc wdl"))


def _month_alone(match: re.Match[str], text: str) -> Moment | None:
    name = match["m4"].rstrip(".")
    if not text[match.start()].isupper() or (len(name) < 4 and name != "may"):
        return None
    if name in ("may", "march"):  # also a verb
        before = re.search(r"(\w+)\W{1,2}$", text[max(0, match.start() - 16) : match.start()])
        if before is None or before[1].lower() not in _MONTH_BEFORE:
            return None
    return Moment(match.start(), match.start() + len(name), month=_month(name))


def _part_of_year(match: re.Match[str], _: str) -> Moment:
    """Read "Q3 2021", "the third quarter", "H1 of FY 2020"."""
    year, short = _number(_first(match, "qy1 qy2 hy1 hy2")), _number(match["qs"])
    quarter, half = _number(_first(match, "q1 q3 q2")), _number(_first(match, "h1 h3 h2"))
    year = year if short is None else _short_year(short)
    return Moment(*match.span(), year, quarter=quarter, half=half, any_century=short is not None)


def _with_era(match: re.Match[str], text: str) -> Moment | None:
    if not any(char.isupper() for char in text[match.start() : match.end()]):
        return None  # "ad" and "ce" in running text
    year = int(_first(match, "ey ey2"))
    before = bool(match["e1"]) and match["e1"][0] == "b"
    return Moment(*match.span(), -year if before else year) if year else None


def _year(match: re.Match[str], text: str) -> Moment | None:
    if match["ey2"]:
        return _with_era(match, text)
    if match["dec2"]:
        return _decade(match, text)
    year = int(match["ya"])
    if year > 2100:
        return None
    moment = Moment(*match.span(), year)
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
        follows_unit = after is not None and after[1] in UNITS and len(after[1]) > 2
        return None if follows_unit else moment
    noun = after[1]
    if noun in UNITS and noun not in ("in", "a"):
        return None
    plural = has_plural_ending(noun) and noun not in _NOT_PLURAL
    return None if plural or noun in ("people", "men", "women", "children", "million", "percent") else moment


def _year_pair(match: re.Match[str], first: Moment) -> list[Moment]:
    """Read 1914–1918 and 2019-20 as two years; anything that does not ascend as one."""
    written = match["yb"]
    assert first.year is not None
    last = int(written) if len(written) == 4 else first.year // 100 * 100 + int(written)
    if not first.year < last <= 2100:
        return [first._replace(end=match.end("ya"))]
    return [first._replace(end=match.end("ya")), Moment(*match.span("yb"), last)]


_READERS: dict[str, Callable[[re.Match[str], str], Moment | None]] = {
    "noon": lambda match, _: Moment(*match.span(), hour=0 if match["noon"] == "midnight" else 12, minute=0),
    "wd": lambda match, _: Moment(*match.span(), weekday=WEEKDAYS.index(match["wd"][:3])),
    "iso": _date, "ymd": _date, "nmy": _date, "dm": _date, "dme": _date, "md": _date, "my": _date, "dmy": _dmy,
    "time": _time, "spoken": _spoken, "military": _military, "century": _century, "wcentury": _century,
    "decade": _decade, "worddecade": _word_decade, "m": _month_alone, "quarter": _part_of_year,
    "halfyear": _part_of_year, "era": _with_era, "year": _year,
}  # fmt: skip

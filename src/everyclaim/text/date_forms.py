"""What dates and times look like: one pattern of everything `dates` reads, in lower case, and the words in it."""

from __future__ import annotations

import re

from everyclaim.text.lists import WORDS

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
    rf"|{_DAY}\.?(?=,?\s(?:the\s)?(?:(?:[0-3]?\d(?:st|nd|rd|th)?\s(?:of\s)?)?{_MONTH}|\d\d?[/.]\d|\d{{4}}-)))",
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
MASTER = re.compile("".join(_PATTERNS))
# Where a date can begin: far cheaper to look for than the whole pattern.
CANDIDATE = re.compile(
    rf"(?<![a-z0-9])(?:\d|{'|'.join(MONTHS + WEEKDAYS)}|noon|midday|midnight|q[1-4]|h[12]\s|a\.?d\.?\s"
    rf"|{'|'.join(CENTURIES)}|{_DECADE}|{_WORD_ORDINAL}|['’]\d0s"
    rf"|half\spast|(?:a\s)?quarter\s(?:past|to)|(?:five|ten|twenty|twenty[ -]five)\s(?:minutes|past|to)\s"
    rf"|(?:{_WORD_HOUR})(?=\so['’]clock|\sin\sthe\s[mae]|\sat\snight|\s[ap]\.?m))"
)
_STARTED = re.compile(
    r"\b(?:times?|records?|clock(?:s|ed|ing)?|finish(?:es|ed|ing)?|last(?:s|ed|ing)?|tak(?:es?|ing)|took|duration|length"
    r"|run(?:s|ning)?|ran|runtime|mark|best|completed(?: \w+){0,3})"
    r"(?: (?:time|in|of|is|was|for|a|about|just|under|over))*:? $"
)
CLOCKED = re.compile(r"(?<![\w:.,/-])(\d{1,3}):([0-5]\d)(?::([0-5]\d))?(\.\d{1,3})?(?![\w:])(?!\s?[ap]\.?m)")
"""What may be hours, minutes and seconds of a duration."""


def is_clocked(low: str, start: int) -> bool:
    """Say whether what `CLOCKED` finds at `start` is a duration ("a time of 2:05:11") rather than a time of day."""
    whole = CLOCKED.match(low, start)
    if whole is not None and whole[3] and low.endswith(" in ", max(0, start - 4), start):
        return True
    return _STARTED.search(low, max(0, start - 40), start) is not None


_SCALED = re.compile(
    r"\b(?:scaled?|ratio|dilut\w+|mix\w*|odds|proportions?)(?: \w+){0,3}(?: of| at| in| to| is)?(?: an?)? $"
)


def is_scaled(low: str, start: int) -> bool:
    """Say whether 1:50 at `start` is a proportion rather than a time of day."""
    return _SCALED.search(low, max(0, start - 40), start) is not None

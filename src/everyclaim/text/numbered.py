"""Numbered names: what is told apart by a number, as in World War II, type 2, GPT-4, Henry the Eighth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from everyclaim.text.date_forms import MONTHS, ORDINALS, WEEKDAYS
from everyclaim.text.tokens import STOPWORDS, stem, word_set

_ROMAN = re.compile(r"(?<=[^\W\d_][ \u00a0-])(?=[IVXLC])(C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})(?![\w'’])(?!\.\w)")
_NAMED = re.compile(
    rf"(?<=[^\W\d_] )(?:(?P<digits>\d{{1,3}})(?![\w:/,.%°'’-]\w|[\w%°:])"
    rf"|the (?P<word>{'|'.join(reversed(ORDINALS))})(?!\w)"
    r"|the (?P<nth>\d{1,2})(?:st|nd|rd|th)(?!\w))"
)
_CODE = re.compile(r"(?<![\w-])([A-Z]{1,5})-(\d{1,9}(?:\.\d{1,3})?)(?![\w-]|[.,]\d)")
_BEFORE = re.compile(r"([^\W\d_][\w'’.]*)[ \u00a0-]$")
_TENS = {"": 0, "X": 10, "XX": 20, "XXX": 30, "XL": 40, "L": 50, "LX": 60, "LXX": 70, "LXXX": 80, "XC": 90}
_ONES = {"": 0, "I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9}
# Before these a single I, V, X, L or C is a numeral even where nothing is capitalised.
_NUMBERED = word_set(
    """
    chapter section part phase stage type class grade act scene book volume vol level tier category article title table
    figure appendix annex group schedule mark war page factor complex division league
    """
)
_NO_NAME = word_set("january february march april may june july august september october november december")


class Numbered(NamedTuple):
    """A number from `start` to `end` that tells several things of one `name` (a stem) apart."""

    value: float
    name: str
    start: int
    end: int


def numbered(text: str, low: str) -> Iterator[Numbered]:
    """Read the Roman numerals of `text`, codes such as P-1700, and numbers and ordinals after a name.

    `low` is `text` in lower case.
    """
    for match in _ROMAN.finditer(text):
        name = _name(text, match.start())
        if match.end() == match.start() or name is None:
            continue
        if len(match.group()) == 1 and stem_of(name) not in _STEMS:
            continue  # "I", and initials
        if name[0].isupper() or name.lower() in _NUMBERED:
            value = 100 * len(match[1]) + _TENS[match[2]] + _ONES[match[3]]
            yield Numbered(value, stem_of(name), match.start(), match.end())
    for match in _CODE.finditer(text):
        yield Numbered(float(match[2]), stem_of(match[1]), match.start(), match.end())
    for match in _NAMED.finditer(low):
        name = _name(text, match.start())
        if name is None or not name[0].isupper() or name.lower() in STOPWORDS or _opens(text, match.start(), name):
            continue
        if name.lower()[:3] in MONTHS + WEEKDAYS and (name.lower() in _NO_NAME or name.lower().endswith("day")):
            continue
        if match["digits"]:
            value = int(match["digits"])
        else:
            value = int(match["nth"]) if match["nth"] else ORDINALS.index(match["word"]) + 1
        yield Numbered(value, stem_of(name), match.start(), match.end())


def stem_of(name: str) -> str:
    """Give the stem that a numbered name is compared by."""
    return stem(name.lower().rstrip("."))


_STEMS = frozenset(stem_of(name) for name in _NUMBERED)


def _name(text: str, start: int) -> str | None:
    match = _BEFORE.search(text, max(0, start - 24), start)
    return match[1] if match else None


def _opens(text: str, start: int, name: str) -> bool:
    """Say whether a capital letter may only open a sentence."""
    at = start - len(name) - 1
    before = text[max(0, at - 2) : at].rstrip()
    return not before or before[-1] in '.!?:;\n"“•-'

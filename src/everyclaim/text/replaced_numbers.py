"""Values that differ between two sentences which are otherwise the same, in any language and script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from everyclaim.core.lifetime import remembered

_CLAUSE = re.compile(r"(?:[^\n,;.!?，；。！？、।؟]|(?<=\d)[.,](?=\d))+")
_MASK = "\0"
_TWO = "两"  # which Unicode gives no value
_TEN_THOUSAND = 10_000.0


class _WrittenNumber(NamedTuple):
    """A number as it is written, what it may mean, and the letter behind it, which begins its unit."""

    text: str
    readings: frozenset[float]
    unit: str

    def has_value_of(self, other: _WrittenNumber) -> bool:
        return not self.readings.isdisjoint(other.readings)

    def is_like(self, other: _WrittenNumber) -> bool:
        return self.unit == other.unit and self.has_value_of(other)


class _MaskedClause(NamedTuple):
    """The letters of a clause, with a mark for each of its numbers."""

    letters: str
    numbers: tuple[_WrittenNumber, ...]


def replaced_number(text: str, sources: Iterable[str]) -> tuple[str, str] | None:
    """Return a number of a text, and the one that the same clause of a source has in its place; None without one.

    The source's clause must hold all letters of the text's in their order, and all its other numbers, and no source may
    have the number with this unit anywhere.
    """
    known = dict.fromkeys(clause for source in sources for clause in _clauses(source))
    for clause in _clauses(text):
        for ours, theirs in filter(None, (_differing(clause, other) for other in known)):
            if not any(ours.is_like(number) for other in known for number in other.numbers):
                return ours.text, theirs.text
    return None


@remembered(8_000_000, lambda found, text: 2 * len(text) + sum(300 + 500 * len(one.numbers) for one in found))
def _clauses(text: str) -> tuple[_MaskedClause, ...]:
    """Return the clauses that have a number, and words; the same passages are asked about for every claim."""
    found = (_clause(one.group()) for one in _CLAUSE.finditer(text))
    return tuple(dict.fromkeys(one for one in found if one.numbers and len(one.letters) > len(one.numbers) + 1))


def _clause(text: str) -> _MaskedClause:
    letters = ""
    numbers: list[_WrittenNumber] = []
    place = 0
    while place < len(text):
        end = place
        while end < len(text) and (_value(text[end]) is not None or (end > place and text[end] in ".,")):
            end += 1
        if end > place:
            written = text[place:end]
            unit = next((letter for letter in text[end:] if letter.isalnum()), "")
            numbers.append(_WrittenNumber(written, frozenset(_readings(written)), unit))
            letters += _MASK
        elif text[place].isalnum():
            letters += text[place].casefold()
        place = max(end, place + 1)
    return _MaskedClause(letters, tuple(numbers))


def _differing(ours: _MaskedClause, theirs: _MaskedClause) -> tuple[_WrittenNumber, _WrittenNumber] | None:
    """Return the only two numbers that differ between clauses, of which the second holds all letters of the first."""
    earliest = _numbers_met(ours.letters, theirs.letters)
    if earliest is None:
        return None
    latest = _numbers_met(ours.letters[::-1], theirs.letters[::-1]) or []
    differing = []
    for number, first, behind in zip(ours.numbers, earliest, reversed(latest), strict=True):
        others = theirs.numbers[first : len(theirs.numbers) - behind]
        if not any(number.has_value_of(other) for other in others):
            differing.append((number, [other for other in others if other.unit == number.unit]))
    if len(differing) != 1 or not differing[0][1]:
        return None
    number, candidates = differing[0]
    return number, candidates[0]


def _numbers_met(ours: str, theirs: str) -> list[int] | None:
    """Return which of their numbers each of ours meets, read from one end; None where a letter of ours is missing."""
    found, place, passed = list[int](), 0, 0
    for letter in ours:
        at = theirs.find(letter, place)
        if at < 0:
            return None
        passed += theirs.count(_MASK, place, at)
        if letter == _MASK:
            found.append(passed)
            passed += 1
        place = at + 1
    return found


def _value(letter: str) -> float | None:
    return 2.0 if letter == _TWO else unicodedata.numeric(letter, None)


def _readings(written: str) -> Iterator[float]:
    """Yield what a number may mean: its last comma or point parts decimals, or thousands as the others do."""
    yield _sum(re.sub("[.,]", "", written))
    if parted := re.fullmatch(r"(.+)[.,](\d+)", written):
        yield _sum(re.sub("[.,]", "", parted[1])) + int(parted[2]) / 10 ** len(parted[2])


def _sum(written: str) -> float:
    """Return the value of digits and numerals: 330, 三百三十, 二〇二一, 3万."""
    total = section = digits = 0.0
    for letter in written:
        value = _value(letter) or 0.0
        if value < 10:
            digits = digits * 10 + value
        elif value < _TEN_THOUSAND:
            section += (digits or 1) * value
            digits = 0
        else:
            total += (section + digits or 1) * value
            section = digits = 0
    return total + section + digits

"""Values that differ between two sentences which are otherwise the same, in any language and script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

_CLAUSE = re.compile(r"(?:[^\n,;.!?，；。！？、।؟]|(?<=\d)[.,](?=\d))+")
_MASK = "\0"
_TWO = "两"  # which Unicode gives no value
_TEN_THOUSAND = 10_000.0


class _WrittenNumber(NamedTuple):
    """A number as it is written, what it may mean, and the letter behind it, which begins its unit."""

    text: str
    readings: frozenset[float]
    unit: str


class _MaskedClause(NamedTuple):
    """The letters of a clause, with a mark for each of its numbers."""

    letters: str
    numbers: tuple[_WrittenNumber, ...]


def replaced_number(text: str, sources: Iterable[str]) -> tuple[str, str] | None:
    """Return a number of a text, and the one that the same clause of a source has in its place; None without one.

    The source's clause must hold all letters of the text's, and all its other numbers, and no source may have the
    number with this unit anywhere.
    """
    known = [clause for source in sources for clause in _clauses(source)]
    there = [number for clause in known for number in clause.numbers]
    for clause in _clauses(text):
        pairs = [_differing(clause, other) for other in known]
        for ours, theirs in filter(None, pairs):
            if not any(_is_same(ours, number) and ours.unit == number.unit for number in there):
                return ours.text, theirs.text
    return None


def _clauses(text: str) -> Iterator[_MaskedClause]:
    for found in _CLAUSE.finditer(text):
        clause = _clause(found.group())
        if clause.numbers and len(clause.letters) > len(clause.numbers) + 1:
            yield clause


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
    if not {*ours.letters} <= {*theirs.letters}:
        return None
    matches = SequenceMatcher(None, ours.letters, theirs.letters, autojunk=False).get_matching_blocks()
    if sum(match.size for match in matches) < len(ours.letters):
        return None
    pairs = [
        (ours.numbers[ours.letters[: match.a + step].count(_MASK)], theirs.numbers[before.count(_MASK)])
        for match in matches
        for step in range(match.size)
        if ours.letters[match.a + step] == _MASK
        for before in [theirs.letters[: match.b + step]]
    ]
    differing = [(one, other) for one, other in pairs if not _is_same(one, other)]
    is_one_thing = len(differing) == 1 and differing[0][0].unit == differing[0][1].unit
    return differing[0] if is_one_thing else None


def _is_same(one: _WrittenNumber, other: _WrittenNumber) -> bool:
    return not one.readings.isdisjoint(other.readings)


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

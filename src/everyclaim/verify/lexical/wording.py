"""One wording for equal words: what a claim spells out, abbreviates or calls by its other name.

WWI beside World War I, Hardin beside Cameron where the passages know one Cameron Hardin:
such words differ in nothing that is said. As with values, the claim takes the words of the window that it is compared
with.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise

from everyclaim.text.names import CHANGING, ORGANISED, TITLES
from everyclaim.text.tokens import word_set
from everyclaim.verify.lexical.alignment import Alignment, Source, tokens_of
from everyclaim.verify.lexical.analysis import NAME, Reading
from everyclaim.verify.lexical.bans import alike

Rewording = tuple[int, int, str]  # the characters [start, end) of a claim, and what to write there

_ACRONYM = range(2, 7)  # letters
_MOST = 20  # acronyms on one side; more are a text in capitals
_PARTICLES = word_set("of for and the in on de du")
_ARTICLES = word_set("the a an")
_NUMERALS = {"i": "1", "ii": "2", "iii": "3", "iv": "4"}


def reworded(claim: Reading, source: Source, alignment: Alignment) -> Iterator[Rewording]:
    """Find the words of a claim that its window words otherwise, and the window's words for them; in no order."""
    reading, window = _window(source, alignment.main)
    lone = {place for place in claim.content if claim.keys[place] not in window}
    if lone:
        yield from _acronyms(claim, lone, reading, window)
    _, low, high = tokens_of(source, *alignment.main)
    yield from alike(claim, reading, low, high)
    yield from _other_names(claim, source, *_window(source, alignment.best[1]))


def _window(source: Source, columns: tuple[int, int]) -> tuple[Reading, dict[str, int]]:
    """Give the reading that holds some sentences, and where in it each of their words stands."""
    reading, start, end = tokens_of(source, *columns)
    return reading, {key: place for place, key in enumerate(reading.keys[start:end], start)}


def _acronyms(claim: Reading, lone: set[int], reading: Reading, window: dict[str, int]) -> Iterator[Rewording]:
    """Find WWI beside World War I, and the other way round."""
    places = sorted(window.values())
    for place in islice((place for place in sorted(lone) if _is_acronym(claim, place)), _MOST):
        if run := _spelled_out(claim.norms[place], reading, places[0], places[-1] + 1):
            yield *claim.spans[place], _text(reading, *run)
    said = set(claim.norms)
    theirs = (place for place in places if reading.norms[place] not in said and _is_acronym(reading, place))
    for place in islice(theirs, _MOST):
        run = _spelled_out(reading.norms[place], claim, 0, len(claim.norms))
        if run is not None and lone & set(range(run[0], run[1] + 1)):
            yield claim.spans[run[0]][0], claim.spans[run[1]][1], _text(reading, place, place)


def _is_acronym(reading: Reading, place: int) -> bool:
    return len(reading.norms[place]) in _ACRONYM and _text(reading, place, place).isupper()


def _spelled_out(letters: str, reading: Reading, low: int, high: int) -> tuple[int, int] | None:
    """Find the first and last of neighbouring capitalised words that begin with `letters`; particles may count."""
    for first in range(low, high):
        found, place = 0, first
        while place < high and (place == first or _touch(reading, place - 1)):
            norm, capital = reading.norms[place], _is_capital(reading, place)
            rest = letters[found:]
            if place > first and capital and rest in (norm, _NUMERALS.get(norm)):
                return first, place
            if capital and rest[0] == norm[0]:
                found += 1
            elif norm not in _PARTICLES or place == first or len(letters) < 3:
                break
            elif rest[0] == norm[0]:
                found += 1
            if found == len(letters):
                if place > first and capital:
                    return first, place
                break
            place += 1
    return None


def _other_names(claim: Reading, source: Source, reading: Reading, window: dict[str, int]) -> Iterator[Rewording]:
    """Find a surname beside the first name where the passages know one person of that name, and both as one."""
    named = [place for place in claim.content if claim.keys[place] not in window and _names(claim, place)]
    if not named:
        return
    partners = _partners(source)
    for place in named:
        other = _only(partners, claim.keys[place])
        if other not in window or _only(partners, other) != claim.keys[place] or not _names(reading, window[other]):
            continue
        beside = [at for at in (place - 1, place + 1) if 0 <= at < len(claim.keys) and claim.keys[at] == other]
        first, last = min([place, *beside]), max([place, *beside])
        if (beside or other not in claim.keys) and not (first and claim.norms[first - 1] in _ARTICLES):
            there = window[other]
            yield claim.spans[first][0], claim.spans[last][1], _text(reading, there, there)


def _partners(source: Source) -> dict[str, set[str]]:
    """Give, for every part of a person's name in the passages, what stands beside it there.

    What has an article, or is written small elsewhere, is no person's name: the Boston Marathon.
    """
    names: set[str] = set()
    common: set[str] = set()
    for reading in source.readings:
        names.update(key for key, kind in zip(reading.keys, reading.kinds, strict=True) if kind == NAME)
        common.update(reading.keys[place] for place in reading.content if not _is_capital(reading, place))
    names -= common
    found: dict[str, set[str]] = {}
    for reading in source.readings:
        for place, (first, second) in enumerate(pairwise(reading.keys)):
            if first in names and second in names and _touch(reading, place) and reading.norms[place] not in TITLES:
                article = place and reading.norms[place - 1] in _ARTICLES
                personal = _names(reading, place) and _names(reading, place + 1) and not article
                found.setdefault(first, set()).update((second,) if personal else (second, ""))
                found.setdefault(second, set()).update((first,) if personal else (first, ""))
    return found


def _only(partners: dict[str, set[str]], key: str) -> str:
    beside = partners.get(key, ())
    return next(iter(beside)) if len(beside) == 1 else ""


def _names(reading: Reading, place: int) -> bool:
    """Say whether a word may be part of a person's name: Hardin; not COVID, College or New."""
    norm, written = reading.norms[place], _text(reading, place, place)
    is_name = norm.isalpha() and len(norm) > 2 and written[0].isupper() and not written.isupper()
    return is_name and norm not in ORGANISED and norm not in CHANGING


def _is_capital(reading: Reading, place: int) -> bool:
    return reading.text[reading.spans[place][0]].isupper()


def _touch(reading: Reading, place: int) -> bool:
    """Say whether only a blank or a hyphen parts a token from the next."""
    return reading.text[reading.spans[place][1] : reading.spans[place + 1][0]] in (" ", "-", "\u2010", "\u2011")


def _text(reading: Reading, first: int, last: int) -> str:
    return reading.text[reading.spans[first][0] : reading.spans[last][1]]

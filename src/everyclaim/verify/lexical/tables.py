"""Rows and columns of a table that a claim does not speak of.

    |         | Points | Goals |
    | ------- | ------ | ----- |
    | Arsenal |     89 |    91 |        "Arsenal have 82 points": both words stand in the table,
    | Everton |     82 |    86 |        and nobody has said so

Where a claim names some columns as the header does, or some rows by what they are about, the others are blanked out
before anything is compared, so that the values of one are not taken for those of another. Places in the passage stay
what they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from everyclaim.text.edges import blanked_out
from everyclaim.text.tokens import STOPWORDS, tokenize
from everyclaim.verify.lexical.analysis import Reading

_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_RULING = re.compile(r"[\s|:=+-]+")
_BAR = re.compile(r"(?<!\\)\|")
_YEAR = re.compile(r"(?:19|20)\d\d")
_FEWEST = 2  # rows under the header
_WIDE = 3  # columns; where there are only names and values, a name of one word may be meant otherwise


class _Cell(NamedTuple):
    start: int
    end: int
    text: str


_Row = tuple[_Cell, ...]


def narrowed(claim: Reading, texts: Sequence[str]) -> tuple[list[str], bool]:
    """Return the texts without what tables say of something else than a claim, and whether there was anything."""
    said = _words(claim.text)
    found, is_changed = list(texts), False
    for number, text in enumerate(texts):
        if text.count("|") < _FEWEST * _WIDE:
            continue
        for table in _tables(text):
            for cell in _others(table, said):
                found[number] = blanked_out(found[number], cell.start, cell.end)
                is_changed = True
    return found, is_changed


def _tables(text: str) -> Iterator[list[_Row]]:
    """Yield tables with pipes around their rows, each a header and what stands under it, without the ruling."""
    table: list[_Row] = []
    end = -1
    for match in _ROW.finditer(text):
        if table and text[end : match.start()].strip(" \t") != "\n":
            yield table
            table = []
        end = match.end()
        if not _RULING.fullmatch(match.group()):
            table.append(_cells(match.group(), match.start()))
    if table:
        yield table


def _cells(row: str, offset: int) -> _Row:
    bars = [match.start() for match in _BAR.finditer(row)]
    return tuple(_Cell(offset + low + 1, offset + high, row[low + 1 : high].strip()) for low, high in pairwise(bars))


def _others(table: Sequence[_Row], said: set[str]) -> list[_Cell]:
    """Return the cells that are about something else than a claim; none where it names nothing, or everything."""
    header, rows = table[0], table[1:]
    if len(rows) < _FEWEST:
        return []
    keys = {0, _first_in_words(rows)}
    columns = called([_words(cell.text) if at not in keys else set() for at, cell in enumerate(header)], said)
    about = set[int]().union(*(called(_names(header, rows, at), said) for at in keys if at is not None))
    return [
        cell
        for place, row in enumerate(rows)
        for at, cell in enumerate(row)
        if (about and place not in about) or (columns and at not in keys and at not in columns)
    ]


def called(names: Sequence[set[str]], said: set[str]) -> set[int]:
    """Say which of several names a claim holds, word for word; "North East sold 5" does not name "North"."""
    named = {place: words for place, words in enumerate(names) if words and words <= said}
    return {place for place, words in named.items() if not any(words < other for other in named.values())}


def _first_in_words(rows: Sequence[_Row]) -> int | None:
    """Return the first column that counts nothing."""
    for column in range(max(map(len, rows))):
        if all(column < len(row) and _is_in_words(row[column].text) for row in rows):
            return column
    return None


def _is_in_words(cell: str) -> bool:
    return bool(_YEAR.fullmatch(cell)) or any(character.isalpha() for character in cell)


def _names(header: _Row, rows: Sequence[_Row], column: int) -> list[set[str]]:
    """Return what rows are called by a column: its words, of numbers those of the header as well ("Version 3")."""
    names = []
    for row in rows:
        cell = row[column].text if column < len(row) else ""
        words = _words(cell) if cell else set()
        if cell and not _is_in_words(cell):
            title = _words(header[column].text) if column < len(header) else set()
            words = words | title if any(map(str.isalpha, title)) else set()
        names.append(words if len(header) >= _WIDE or len(words) > 1 else set())
    return names


def _words(text: str) -> set[str]:
    """Return the words that tell something, as they are written: "heating" is not what a row "Heating" is about."""
    tokens = tokenize(text)
    telling = {token.text for token in tokens if token.norm not in STOPWORDS}
    return telling or {token.text for token in tokens}

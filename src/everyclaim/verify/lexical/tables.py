"""Rows of a table that a claim does not speak of.

    | Team    | Points |
    | ------- | ------ |
    | Arsenal |     89 |        "Arsenal have 82 points": both words stand in the table,
    | Everton |     82 |        and nobody has said so

Where a claim names some rows by what they are about, the others are blanked out before anything is compared, so that
the values of one are not taken for those of another. Places in the passage stay what they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from everyclaim.text.tokens import STOPWORDS, stem, tokenize
from everyclaim.verify.lexical.analysis import Reading
from everyclaim.verify.lexical.words import number_value

_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_RULING = re.compile(r"[\s|:=+-]+")
_CELL = re.compile(r"(?<!\\)\|")
_YEAR = re.compile(r"(?:19|20)\d\d")
_FEWEST = 2  # rows under the header
_WIDE = 3  # columns; where there are only names and values, a name of one word may be meant otherwise


class _Row(NamedTuple):
    start: int
    end: int
    cells: tuple[str, ...]


def without_other_rows(claim: Reading, texts: Sequence[str]) -> tuple[list[str], bool]:
    """Return the texts without the rows of tables that a claim does not speak of, and whether there were any."""
    said = set(claim.keys)
    found, is_changed = list(texts), False
    for number, text in enumerate(texts):
        if text.count("|") < _FEWEST * _WIDE:
            continue
        for table in _tables(text):
            for row in _others(table, said):
                whole = found[number]
                found[number] = whole[: row.start] + " " * (row.end - row.start) + whole[row.end :]
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
            cells = _CELL.split(match.group().strip()[1:-1])
            table.append(_Row(match.start(), match.end(), tuple(cell.strip() for cell in cells)))
    if table:
        yield table


def _others(table: Sequence[_Row], said: set[str]) -> list[_Row]:
    """Return the rows that are about something else than a claim; none where it names none, or all."""
    rows = table[1:]
    if len(rows) < _FEWEST:
        return []
    names = _names(rows)
    named = {place: keys for place, keys in enumerate(names) if keys and keys <= said}
    # "North East sold 5" is not about the row "North".
    about = {place for place, keys in named.items() if not any(keys < other for other in named.values())}
    return [row for place, row in enumerate(rows) if place not in about] if about else []


def _names(rows: Sequence[_Row]) -> list[frozenset[str]]:
    """Return what each row is about: the words of its first cell that counts nothing."""
    width = max(len(row.cells) for row in rows)
    for column in range(width):
        cells = [row.cells[column] if column < len(row.cells) else "" for row in rows]
        if all(any(character.isalpha() for character in cell) or _YEAR.fullmatch(cell) for cell in cells):
            names = [_keys(cell) for cell in cells]
            return names if width >= _WIDE else [keys if len(keys) > 1 else frozenset() for keys in names]
    return [frozenset()] * len(rows)


def _keys(cell: str) -> frozenset[str]:
    norms = [token.norm for token in tokenize(cell)]
    telling = [norm for norm in norms if norm not in STOPWORDS] or norms
    return frozenset(stem(norm) if (number := number_value(norm)) is None else f"#{number}" for norm in telling)

"""Rows and columns of a table that a claim does not speak of.

    |         | Points | Goals |
    | ------- | ------ | ----- |
    | Arsenal |     89 |    91 |        "Arsenal have 82 points": both words stand in the table,
    | Everton |     82 |    86 |        and nobody has said so

So are columns that are laid out by blanks or tabs, without pipes.

Where a claim names some columns as the header does, or some rows by what they are about, the others are blanked out
before anything is compared, so that the values of one are not taken for those of another. Places in the passage stay
what they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from everyclaim.text.edges import blanked_out
from everyclaim.text.tokens import STOPWORDS, tokenize
from everyclaim.verify.lexical.analysis import Reading

_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_RULING = re.compile(r"[\s|:=+-]+")
_BAR = re.compile(r"(?<!\\)\|")
_YEAR = re.compile(r"(?:19|20)\d\d")
_LINE = re.compile(r"[^\n]+")
_STRETCH = re.compile(r"\S+(?: \S+)*")
_GUTTER = re.compile(r"\S(?:[ ]{2,}|\t[ \t]*)\S")
_LONGEST = 400  # characters of a row without pipes; a longer line is prose
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
        for table in read_tables(text):
            for cell in _others(table, said):
                found[number] = blanked_out(found[number], cell.start, cell.end)
                is_changed = True
    return found, is_changed


def read_tables(text: str) -> Iterator[list[_Row]]:
    """Yield the tables of a text, each a header and what stands under it."""
    return chain(_piped(text), _laid_out(text))


def _piped(text: str) -> Iterator[list[_Row]]:
    """Yield tables with pipes around their rows, each a header and what stands under it, without the ruling."""
    if text.count("|") < _FEWEST * _WIDE:
        return
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


def _laid_out(text: str) -> Iterator[list[_Row]]:
    """Yield tables whose columns are parted by blanks that lie one under the other, or by tabs, like `_piped`."""
    if not _GUTTER.search(text):
        return
    lines: list[re.Match[str]] = []
    for match in _LINE.finditer(text):
        parted = bool(_GUTTER.search(match.group())) or (bool(lines) and match.group().startswith("  "))
        is_row = parted and "|" not in match.group() and len(match.group()) <= _LONGEST and match.group().strip() != ""
        if lines and (not is_row or match.start() > lines[-1].end() + 1):
            yield from _columns(lines)
            lines = []
        if is_row:
            lines.append(match)
    yield from _columns(lines)


def _columns(lines: Sequence[re.Match[str]]) -> Iterator[list[_Row]]:
    """Cut neighbouring lines into the columns that all of them have; nothing where they have less than two."""
    lines = [line for line in lines if not _RULING.fullmatch(line.group())]
    if len(lines) <= _FEWEST:
        return
    if all("\t" in line.group() for line in lines):
        places = [_between_tabs(line.group()) for line in lines]
    else:
        ends = _edges([line.group().expandtabs(1) for line in lines])
        places = [ends] * len(lines)
    if all(len(row) == len(places[0]) > 1 for row in places):
        yield [
            tuple(_Cell(line.start() + low, line.start() + min(high, len(line.group())), line.group()[low:high].strip())
                  for low, high in row)
            for line, row in zip(lines, places, strict=True)
        ]  # fmt: skip


def _between_tabs(line: str) -> list[tuple[int, int]]:
    cuts = [-1, *(at for at, character in enumerate(line) if character == "\t"), len(line)]
    return [(before + 1, after) for before, after in pairwise(cuts)]


def _edges(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Find the stretches that two blanks or more part in every line."""
    width = max(map(len, lines))
    used = "".join("x" if any(line[at : at + 1].strip() for line in lines) else " " for at in range(width))
    return [match.span() for match in _STRETCH.finditer(used)]


def _others(table: Sequence[_Row], said: set[str]) -> list[_Cell]:
    """Return the cells that are about something else than a claim; none where it names nothing, or everything."""
    header, rows = table[0], table[1:]
    if len(rows) < _FEWEST:
        return []
    keys = {0, _first_in_words(rows)}
    columns = called([_words(cell.text) if at not in keys else set() for at, cell in enumerate(header)], said)
    about = set[int]().union(*(called(_names(header, rows, at), said) for at in keys if at is not None))
    for place, row in enumerate(rows):
        if place - 1 in about and not row[0].text:  # the row before goes on
            about.add(place)
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

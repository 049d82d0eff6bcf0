"""Which values of tables and lists of records belong to which of the things that a claim compares.

In a table a value belongs to what its row, or its column, is about; in a list of records to what the record is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from everyclaim.text.agreement import Fact
from everyclaim.text.quantities import Quantity
from everyclaim.text.tokens import content_stems
from everyclaim.text.units import is_unit_word
from everyclaim.verify.lexical.belonging import Held
from everyclaim.verify.lexical.checks import facts, span
from everyclaim.verify.lexical.shortlist import Piece, Place
from everyclaim.verify.lexical.siblings import lists_of
from everyclaim.verify.lexical.tables import read_tables

_BRACKET = re.compile(r"[(\[](?:in )?([^()\[\]]{1,30})[)\]]")
_LONGEST_NAME = 60  # characters; what is longer describes
_FEWEST_BARS = 6
_SIGNS = frozenset("%€$£°")


def in_tables(text: str, number: int, things: Sequence[frozenset[str]]) -> Iterator[Held]:
    """Yield the values that the tables of reading `number` give of some things, in rows or in columns."""
    for place, (header, *rows) in enumerate(read_tables(text) if text.count("|") > _FEWEST_BARS else ()):
        for of, thing in enumerate(things):
            about = [row for row in rows if any(thing <= content_stems(cell.text) for cell in row)]
            columns = [at for at, cell in enumerate(header) if thing <= content_stems(cell.text)]
            if len(about) == 1 and not columns:
                key = frozenset[str]().union(*(content_stems(cell.text) for cell in about[0]))
                cells = [
                    (title, cell, ("column", number, place, at))
                    for at, (title, cell) in enumerate(zip(header, about[0], strict=False))
                ]
            elif len(columns) == 1 and not about:
                key = frozenset()
                at = columns[0]
                cells = [
                    (row[0], row[at], ("row", number, place, n)) for n, row in enumerate(rows) if at and at < len(row)
                ]
            else:
                continue
            for title, cell, group in cells:
                words = content_stems(title.text)
                if not thing <= content_stems(cell.text) and (value := _only_value(title.text, cell.text)):
                    fact, said = value
                    yield Held(
                        of, fact, said, words, words | key, group, number, cell.start, cell.end, is_labelled=True
                    )


def _only_value(title: str, text: str) -> tuple[Fact, str] | None:
    """Read the one value of a cell, with the unit that its title has."""
    values = facts(text)
    if len(values) != 1:
        return None
    value = values[0]
    if isinstance(value, Quantity) and value.dimension == "count" and not value.noun:
        bracket = _BRACKET.search(title)
        last = title.split()[-1:]
        unit = (
            bracket[1] if bracket else last[0] if last and (is_unit_word(last[0].lower()) or last[0] in _SIGNS) else ""
        )
        said = f"{text} {unit}".rstrip()
        again = facts(said)
        return (again[0], said) if len(again) == 1 else None
    low, high = span(value, whole=True)
    return value, text[low:high]


def in_records(pieces: Sequence[Piece], texts: Sequence[str], things: Sequence[frozenset[str]]) -> Iterator[Held]:
    """Yield the values that the records of a list give of some things, where each names one of them."""
    for which, rows in lists_of(pieces).items():
        named: list[set[int]] = [set() for _ in things]
        fields = {item: _parted(row, texts) for item, row in rows.items()}
        for item, row in fields.items():
            for _, _, (label, _, name) in row:
                stems = content_stems(name) if len(name) <= _LONGEST_NAME else frozenset()
                for of, thing in enumerate(things):
                    if thing & stems and thing <= stems | content_stems(label):
                        named[of].add(item)
        for of in range(len(things)):
            own = [item for item in named[of] if sum(item in others for others in named) == 1]
            for number, field, (label, _, said) in fields[own[0]] if len(own) == 1 else ():
                if field.rows[-1] != (which[1], own[0]):
                    continue
                value = _value_of(label, said)
                if value is not None and not things[of] <= content_stems(said):
                    words = content_stems(label)
                    group = ("field", *which, label)
                    yield Held(of, value, said, words, words, group, number, field.low, field.high, is_labelled=True)


class Entry(NamedTuple):
    """A value of a column, or of a field that the records of a list share: whose (`about`), called what, of what."""

    about: frozenset[str]
    name: str
    fact: Fact
    said: str
    words: frozenset[str]
    reading: int
    start: int
    end: int


def columns(pieces: Sequence[Piece]) -> Iterator[list[Entry]]:
    """Yield the columns of tables in which every row has one value."""
    for number, piece in enumerate(pieces):
        for header, *rows in read_tables(piece.text) if piece.text.count("|") > _FEWEST_BARS else ():
            for at, title in enumerate(header[1:], start=1):
                words = content_stems(title.text)
                column = []
                for row in rows:
                    value = _only_value(title.text, row[at].text) if at < len(row) else None
                    if value is not None:
                        about = content_stems(header[0].text) | content_stems(row[0].text)
                        column.append(Entry(about, row[0].text, *value, words, number, row[at].start, row[at].end))
                if len(column) == len(rows):
                    yield column


def listed(pieces: Sequence[Piece]) -> Iterator[list[Entry]]:
    """Yield the fields in which every record of a list has one value."""
    texts = [piece.text for piece in pieces]
    for rows in lists_of(pieces).values() if any(piece.fields for piece in pieces) else ():
        fields: dict[str, list[Entry]] = {}
        for row in rows.values():
            parts = _parted(row, texts)
            name = next((said for _, _, (_, _, said) in parts if len(said) <= _LONGEST_NAME and said[:1].isalpha()), "")
            for number, field, (label, _, said) in parts:
                if (value := _value_of(label, said)) is not None:
                    entry = Entry(
                        content_stems(name),
                        name,
                        value,
                        said,
                        content_stems(label),
                        number,
                        field.low,
                        field.high,
                    )
                    fields.setdefault(label, []).append(entry)
        yield from (entries for entries in fields.values() if len(entries) == len(rows))


def _parted(row: Sequence[tuple[int, Place]], texts: Sequence[str]) -> list[tuple[int, Place, tuple[str, str, str]]]:
    """Part the fields of a record into label and value, beside where they stand."""
    return [(number, field, texts[number][field.low : field.high].partition(": ")) for number, field in row]


def _value_of(label: str, said: str) -> Fact | None:
    """Read the one value of a field, which its label may name: "Rooms: 40"."""
    values = facts(f"{label}: {said}")
    return values[0] if len(values) == 1 and values[0].start > len(label) else None

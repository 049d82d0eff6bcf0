"""What of the passages is read for a claim: the pieces that matter where they are many, without what speaks of others.

Up to `_READ_ALL` characters everything is read. Beyond that, passages are cut into pieces, and for each claim the
pieces that hold most of its rare words are read, so that work and memory stay bounded for ten thousand passages.

    |         | Points | Goals |
    | ------- | ------ | ----- |
    | Arsenal |     89 |    91 |        "Arsenal have 82 points": both words stand in the table,
    | Everton |     82 |    86 |        and nobody has said so

Where a claim names some columns as the header does, some rows by what they are about, or some records of a list by what
they are called, the others are blanked out before anything is compared. Places in the passage stay what they were.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everyclaim.core.types import Passage
from everyclaim.text.cues import cues
from everyclaim.text.records import Rows, fields
from everyclaim.text.tokens import STOPWORDS, blanked_out, content_stems, stem, tokenize
from everyclaim.verify.lexical.reading import Reading, number_value


def comparable(norm: str) -> str:
    """Give what exact comparison uses of a token's `norm`: ``#20`` for a number, else the stem."""
    number = number_value(norm)
    return stem(norm) if number is None else "#" + number


_READ_ALL = 60_000  # characters
_PIECE = 2_400  # characters of a piece; neighbours overlap
_OVERLAP = 400
_CHOSEN = 16  # pieces read per claim


class Place(NamedTuple):
    """A field of a record in a piece, ``piece.text[low:high]``, and in its passage, ``passage.text[start:end]``.

    `rows` are the records of lists it belongs to (see `text.records.Field`).
    """

    low: int
    high: int
    start: int
    end: int
    rows: Rows = ()


class Piece(NamedTuple):
    """Part of a passage: ``passages[passage].text[offset:]`` starts with `text`. A title has no offset.

    The text of a record is its fields in words; `fields` say where each of them stands.
    """

    passage: int
    offset: int | None
    text: str
    fields: tuple[Place, ...] = ()

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """Find ``text[start:end]`` in the passage, whole fields of a record; None for a title."""
        if self.fields:
            held = [it for it in self.fields if it.low < end and start < it.high]
            return (held[0].start, held[-1].end) if held else None
        return None if self.offset is None else (self.offset + start, self.offset + end)


@dataclass(frozen=True, slots=True)
class Shortlist:
    """The pieces of all passages, with an index of words when there are too many to read them all."""

    all_pieces: list[Piece]
    postings: dict[str, npt.NDArray[np.int32]] | None
    whole: dict[bool, Any] = field(default_factory=dict)  # all pieces laid side by side, for whoever did it first

    @classmethod
    def of(cls, passages: Sequence[Passage]) -> Shortlist:
        """Prepare the passages of one call; those with the same text and title count once."""
        distinct = {(passage.title, passage.text): i for i, passage in reversed(list(enumerate(passages)))}
        kept = sorted(distinct.values())
        if sum(len(passages[i].text) for i in kept) <= _READ_ALL:
            pieces = [piece for i in kept for piece in _record(i, passages[i].text) or [Piece(i, 0, passages[i].text)]]
            return cls(pieces + _titles(passages, kept), None)
        pieces = [piece for i in kept for piece in _record(i, passages[i].text) or _cut(i, passages[i].text)]
        pieces += _titles(passages, kept)
        return cls(pieces, _index(pieces))

    def pieces(self, keys: Sequence[str]) -> list[Piece]:
        """Give the pieces to read for a claim with these words, in order."""
        if self.postings is None:
            return self.all_pieces
        scores = np.zeros(len(self.all_pieces))
        for key in sorted(set(keys)):
            where = self.postings.get(key)
            if where is not None:
                scores[where] += math.log(1 + len(self.all_pieces) / len(where))
        best = np.argsort(-scores, kind="stable")[:_CHOSEN]
        return [self.all_pieces[i] for i in sorted(best.tolist())]


def _titles(passages: Sequence[Passage], kept: Sequence[int]) -> list[Piece]:
    """Titles that the text does not already open with."""
    named = {passages[i].title: i for i in reversed(kept) if passages[i].title.strip()}
    return [
        Piece(i, None, title) for title, i in sorted(named.items(), key=lambda item: item[1])
        if not passages[i].text.startswith(title)
    ]  # fmt: skip


def _record(passage: int, text: str) -> list[Piece]:
    """Say a record in words, a line a field, in pieces; nothing for any other text."""
    pieces: list[Piece] = []
    lines: list[str] = []
    places: list[Place] = []
    size = 0
    for one in fields(text) or ():
        if size > _PIECE:
            pieces.append(Piece(passage, None, "\n".join(lines), tuple(places)))
            lines, places, size = [], [], 0
        lines.append(one.text)
        places.append(Place(size, size + len(one.text), one.start, one.end, one.rows))
        size += len(one.text) + 1
    return [*pieces, Piece(passage, None, "\n".join(lines), tuple(places))] if lines else pieces


def _cut(passage: int, text: str) -> list[Piece]:
    """Cut a passage into overlapping pieces at white space."""
    pieces = []
    start = 0
    while start < len(text):
        end = min(start + _PIECE, len(text))
        if end < len(text):
            space = text.rfind(" ", start + _PIECE // 2, end)
            end = space if space > 0 else end
        pieces.append(Piece(passage, start, text[start:end]))
        if end == len(text):
            break
        back = text.rfind(" ", start, end - _OVERLAP)
        start = back + 1 if back > start else end
    return pieces


def _index(pieces: Sequence[Piece]) -> dict[str, npt.NDArray[np.int32]]:
    """Map every content word to the pieces that hold it."""
    holders: dict[str, list[int]] = {}
    for number, piece in enumerate(pieces):
        norms = Counter(token.norm for token in tokenize(piece.text))
        keys = {comparable(norm) for norm in norms if norm not in STOPWORDS}
        for key in keys:
            holders.setdefault(key, []).append(number)
    return {key: np.array(numbers, dtype=np.int32) for key, numbers in holders.items()}


_ROW = re.compile(r"^[ \t]*\|.*(?<!\\)\|[ \t]*$", re.MULTILINE)
_RULING = re.compile(r"[\s|:=+-]+")
_TAB, _BAR = re.compile(r"\t"), re.compile(r"(?<!\\)\|")
_YEAR = re.compile(r"(?:19|20)\d\d")
_LINE = re.compile(r"[^\n]+")
_STRETCH = re.compile(r"\S+(?: \S+)*")
_GUTTER = re.compile(r"\S(?:[ ]{2,}|\t[ \t]*| \| )\S")
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
    found, is_changed = list(texts), False
    tables = [(number, table) for number, text in enumerate(texts) for table in read_tables(text)]
    if tables and any(cue.kind in ("quantifier", "comparative") for cue in cues(claim.text)):
        return found, False  # "all of them", "the only one", "more than the others"
    for number, table in tables:
        for cell in _others(table, claim.text):
            found[number] = blanked_out(found[number], cell.start, cell.end)
            is_changed = True
    return found, is_changed


def read_tables(text: str) -> Iterator[list[_Row]]:
    """Yield the tables of a text, each a header and what stands under it."""
    return chain(piped_tables(text), _laid_out(text))


def piped_tables(text: str) -> Iterator[list[_Row]]:
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
            table.append(_cells(match.group(), match.start(), _BAR)[1:-1])
    if table:
        yield table


def _cells(row: str, offset: int, sign: re.Pattern[str]) -> _Row:
    """Cut a row at every sign."""
    ends = [(0, 0), *(match.span() for match in sign.finditer(row)), (len(row), len(row))]
    return tuple(_Cell(offset + a, offset + b, row[a:b].strip()) for (_, a), (b, _) in pairwise(ends))


def _laid_out(text: str) -> Iterator[list[_Row]]:
    """Yield tables whose columns are parted by blanks that lie one under the other, by tabs or by pipes between."""
    if not _GUTTER.search(text):
        return
    lines: list[re.Match[str]] = []
    for match in _LINE.finditer(text):
        parted = bool(_GUTTER.search(match.group())) or (bool(lines) and match.group().startswith("  "))
        is_row = parted and 0 < len(match.group().strip()) <= _LONGEST and not match.group().lstrip().startswith("|")
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
    if sign := next((sign for sign in (_TAB, _BAR) if all(sign.search(line.group()) for line in lines)), None):
        rows = [_cells(line.group(), line.start(), sign) for line in lines]
    else:
        edges = _edges([line.group().expandtabs(1) for line in lines])
        rows = [
            tuple(
                _Cell(line.start() + a, min(line.start() + b, line.end()), line.group()[a:b].strip()) for a, b in edges
            )
            for line in lines
        ]
    if all(len(row) == len(rows[0]) > 1 for row in rows):
        yield rows


def _edges(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Find the stretches that two blanks or more part in every line."""
    width = max(map(len, lines))
    used = "".join("x" if any(line[at : at + 1].strip() for line in lines) else " " for at in range(width))
    return [match.span() for match in _STRETCH.finditer(used)]


def _others(table: Sequence[_Row], claim: str) -> list[_Cell]:
    """Return the cells that are about something else than a claim; none where it names nothing, or everything."""
    header, rows = table[0], table[1:]
    if len(rows) < _FEWEST:
        return []
    keys = {0, _first_in_words(rows)}
    headings = [set(content_stems(cell.text)) if at not in keys else set() for at, cell in enumerate(header)]
    said, columns = _words(claim), called(headings, set(content_stems(claim)))  # a heading is capitalised anyhow
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


_LONGEST_NAME = 60  # characters; what is longer describes
_Record = list[tuple[int, Place]]  # the fields of one record, each with the number of its piece


def without_siblings(claim: Reading, pieces: Sequence[Piece], texts: Sequence[str]) -> tuple[list[str], bool]:
    """Return the texts without what a list says of other records than a claim, and whether there was anything."""
    found, is_changed = list(texts), False
    said = set(claim.norms)
    for rows in lists_of(pieces).values():
        if len(rows) < 2:
            continue
        named = called(_record_names(list(rows.values()), pieces), said)
        for place, row in enumerate(rows.values()):
            for number, told in row if named and place not in named else ():
                found[number] = blanked_out(found[number], told.low, told.high)
                is_changed = True
    return found, is_changed


def lists_of(pieces: Sequence[Piece]) -> Mapping[tuple[int, int], Mapping[int, _Record]]:
    """Gather the fields of every record of every list; those of a list within a record belong to both."""
    lists: dict[tuple[int, int], dict[int, _Record]] = {}
    for number, piece in enumerate(pieces):
        for told in piece.fields:
            for which, item in told.rows:
                lists.setdefault((piece.passage, which), {}).setdefault(item, []).append((number, told))
    return lists


def _record_names(rows: Sequence[_Record], pieces: Sequence[Piece]) -> list[set[str]]:
    """Return what records are called: the words of the first field that most of them have, in a few words."""
    values = [dict(_labelled(row, pieces)) for row in rows]
    for label in dict.fromkeys(label for row in values for label in row):
        names = [row[label] for row in values if label in row]
        if 2 * len(names) > len(rows) and all(map(_is_name, names)) and len(set(names)) > 1:
            return [_name_words(row[label]) if label in row else set() for row in values]
    return [set() for _ in rows]


def _labelled(row: _Record, pieces: Sequence[Piece]) -> Iterator[tuple[str, str]]:
    for number, told in row:
        label, colon, value = pieces[number].text[told.low : told.high].partition(": ")
        if colon:
            yield label, value


def _is_name(value: str) -> bool:
    return len(value) <= _LONGEST_NAME and any(map(str.isalpha, value)) and value not in ("yes", "no", "not given")


def _name_words(name: str) -> set[str]:
    norms = {token.norm for token in tokenize(name)}
    return norms - STOPWORDS or norms

"""Choosing what to read closely when the passages are many or long.

Up to `_READ_ALL` characters everything is read. Beyond that, passages are cut into pieces, and for each claim the
pieces that hold most of its rare words are read. Work and memory stay bounded for ten thousand passages, or for one
of ten megabytes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everyclaim.core.types import Passage
from everyclaim.text.records import Rows, fields
from everyclaim.text.tokens import STOPWORDS, tokenize
from everyclaim.verify.lexical.overlap import comparable

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

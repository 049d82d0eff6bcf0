"""Pointing at the place of a passage that speaks of a claim, for verdicts of every verifier."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from sys import getsizeof

import numpy as np

from everyclaim.core.errors import JudgeError
from everyclaim.core.memory import remembered
from everyclaim.core.types import Evidence, Passage
from everyclaim.text.pointers import without_pointers
from everyclaim.verify.lexical.alignment import AlignedSource, Alignment, align, gather
from everyclaim.verify.lexical.analysis import Reading, read
from everyclaim.verify.lexical.shortlist import Piece, Shortlist
from everyclaim.verify.lexical.siblings import without_siblings
from everyclaim.verify.lexical.steps import without_steps
from everyclaim.verify.lexical.tables import narrowed
from everyclaim.verify.lexical.vectors import shipped_vectors

LONGEST_CLAIM = 5000  # words that carry meaning; every one is compared with every one of the passages
_ADDS = 0.12  # share of a claim's weight a second place must add to be shown as evidence


def point(claim: str, pieces: Sequence[Piece], passages: Sequence[Passage]) -> tuple[Evidence, ...]:
    """Find the sentences in some pieces of passages that cover a claim best; none where there are no words."""
    reading, every_word = claim_reading(claim)
    source = source_of(tuple(piece.text for piece in pieces), every_word=every_word)
    if not reading.content or not source.places:
        return ()
    return covering(align(reading, source, shipped_vectors()), source, pieces, passages)


def covering(
    alignment: Alignment, source: AlignedSource, pieces: Sequence[Piece], passages: Sequence[Passage]
) -> tuple[Evidence, ...]:
    """Point at the window that covers the claim best, and at a second place when it adds enough."""
    first, last = alignment.main
    places = [(first, last)]
    held = np.maximum(alignment.exact, alignment.soft)
    have = held[:, first : last + 1].max(axis=1)
    gains = alignment.weights @ np.maximum(held - have[:, None], 0.0)
    second = int(np.argmax(gains))
    if gains[second] >= _ADDS:
        places.append((second, second))
    return shown(places, source, pieces, passages)


def shown(
    places: Iterable[tuple[int, int]], source: AlignedSource, pieces: Sequence[Piece], passages: Sequence[Passage]
) -> tuple[Evidence, ...]:
    """Quote the windows of sentences (first and last column); a title is context, not a place in the passage."""
    found = []
    for low, high in places:
        number, sentence = source.places[low]
        piece = pieces[number]
        spans = source.readings[number].sentences
        place = piece.place(spans[sentence][0], spans[source.places[high][1]][1])
        if place is not None:
            passage = passages[piece.passage]
            found.append(Evidence(passage.id, *place, passage.text[slice(*place)]))
    return tuple(found)


def laid_out(text: str, shortlist: Shortlist) -> tuple[Reading, AlignedSource, list[Piece]]:
    """Read a claim and the pieces it is compared with, without what a table or a list says of something else.

    Raises `JudgeError` for a claim that is a document.
    """
    reading, every_word = claim_reading(text)
    if len(reading.content) > LONGEST_CLAIM:
        told = f"a claim with {len(reading.content):,} words exceeds the limit of {LONGEST_CLAIM:,}"
        raise JudgeError("too_long", f"{told}; split it")
    pieces = shortlist.pieces(reading.keys)
    # Claims of one answer share the work, whatever room the memory of all answers has.
    source: AlignedSource | None = shortlist.whole.get(every_word) if shortlist.postings is None else None
    if source is None:
        source = source_of(tuple(piece.text for piece in pieces), every_word=every_word)
    if shortlist.postings is None:
        shortlist.whole[every_word] = source
    bare = without_steps(reading.text, (piece.text for piece in pieces))
    if bare != reading.text:
        reading, _ = claim_reading(bare)
    texts, is_narrowed = narrowed(reading, [piece.text for piece in pieces])
    texts, has_siblings = without_siblings(reading, pieces, texts)
    if is_narrowed or has_siblings:
        source = source_of(tuple(texts), every_word=every_word)
    if every_word and not source.index.keys() >= set(reading.keys):
        reading = replace(reading, content=[])  # "It is there." is stated by no other words than its own
    return reading, source, pieces


def claim_reading(text: str) -> tuple[Reading, bool]:
    """Read a claim by its content words or, where it has none, by every word; say which of the two.

    Words that point at the sources ("According to passage 2") are no part of what it says.
    """
    text = without_pointers(text)
    reading = reading_of(text)
    every_word = not reading.content  # "To be or not to be" has to be judged by something
    return reading_of(text, every_word=True) if every_word else reading, every_word


def _weight_of_reading(reading: Reading, *_: object) -> int:
    return getsizeof(reading.text) + 300 * len(reading.norms) + 200 * len(reading.sentences)


@remembered(16_000_000, _weight_of_reading)
def reading_of(text: str, *, every_word: bool = False) -> Reading:
    """Read a short text with the shipped vectors."""
    return read(text, shipped_vectors(), every_word=every_word)


def _weight_of_source(source: AlignedSource, *_: object) -> int:
    own = source.matrix.nbytes + source.mixed.nbytes + 150 * len(source.ids)
    return own + sum(map(_weight_of_reading, source.readings))


@remembered(24_000_000, _weight_of_source)
def source_of(texts: tuple[str, ...], *, every_word: bool) -> AlignedSource:
    """Read the pieces and lay them side by side; claims of one answer share the work."""
    return gather([reading_of(text, every_word=every_word) for text in texts], shipped_vectors())

"""Lining up the words of a claim with the sentences of the passages, and pointing at the place that speaks of it.

Every content word of the claim is compared with every content word of the passages, exactly (same stem, same
number) and softly (similar word vectors). Windows of neighbouring sentences are then ranked by how much of the
claim's weight they cover. Within a window, `Edits` tells what differs in place: substitutions ("1995" for "1997"
between the same neighbours), additions and omissions.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from sys import getsizeof

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import LCSseq

from everyclaim.core.errors import JudgeError
from everyclaim.core.lifetime import remembered
from everyclaim.core.types import Evidence, Passage
from everyclaim.models.local.parser import parse
from everyclaim.text.sources import without_pointers
from everyclaim.text.tokens import STOPWORDS, capital
from everyclaim.verify.lexical.passages import Piece, Shortlist, narrowed, without_siblings
from everyclaim.verify.lexical.reading import NUMBER, Float32Array, Ints, Reading, WordVectors, read, shipped_vectors

Bools = npt.NDArray[np.bool_]
_AT_ONCE = 4_000_000  # pairs of words compared together: a claim may be a whole document
_WORTH_A_SENTENCE = 0.03  # a longer window must cover this much more to be preferred


@dataclass(frozen=True, slots=True)
class AlignedSource:
    """All passages together, flattened to their content words; `places` says where each sentence is from."""

    readings: Sequence[Reading]
    places: list[tuple[int, int]]  # (reading, sentence within it) of every sentence that has content
    starts: Ints  # index of every sentence's first content word
    owner: Ints  # the reading of every sentence
    ids: Ints  # of every content word's key
    index: dict[str, int]  # key → id
    matrix: Float32Array  # word vectors of the content words
    numeric: Bools


@dataclass(frozen=True, slots=True)
class Alignment:
    """How a claim's content words (rows) are covered, per sentence of the source (columns)."""

    weights: Float32Array  # of the claim's content words, summing to 1
    exact: Float32Array  # 1 where the sentence has the same word
    soft: Float32Array  # similarity of the most similar word, at most 1
    best: dict[int, tuple[int, int]]  # window size → first and last sentence (columns), inclusive
    main: tuple[int, int]  # the smallest window that does the work


def gather(readings: Sequence[Reading], vectors: WordVectors) -> AlignedSource:
    """Flatten the passages' readings into one source."""
    places: list[tuple[int, int]] = []
    starts: list[int] = []
    keys: list[str] = []
    numeric: list[bool] = []
    rows: list[Ints] = []
    for number, reading in enumerate(readings):
        previous = -1
        for position in reading.content:
            sentence = reading.sentence[position]
            if sentence != previous:
                places.append((number, sentence))
                starts.append(len(keys))
                previous = sentence
            keys.append(reading.keys[position])
            numeric.append(reading.kinds[position] == NUMBER)
        rows.append(reading.rows)
    index: dict[str, int] = {}
    ids = np.array([index.setdefault(key, len(index)) for key in keys], dtype=np.int64)
    matrix = vectors.matrix[np.concatenate(rows)] if keys else np.zeros((0, vectors.matrix.shape[1]), np.float32)
    return AlignedSource(
        readings=readings,
        places=places,
        starts=np.array(starts, dtype=np.int64),
        owner=np.array([place[0] for place in places], dtype=np.int64),
        ids=ids,
        index=index,
        matrix=matrix,
        numeric=np.array(numeric, dtype=np.bool_),
    )


def align(claim: Reading, source: AlignedSource, vectors: WordVectors, without: Sequence[int] = ()) -> Alignment:
    """Compare a claim that has content words with a source that has some too; some sentences hold nothing of it."""
    parts = [_covered(claim, rows, source, vectors) for rows in portions(len(claim.content), len(source.ids))]
    exact, soft = (np.concatenate(part) for part in zip(*parts, strict=True))
    exact[:, list(without)] = soft[:, list(without)] = 0.0
    weights = claim.weights / claim.weights.sum()
    best: dict[int, tuple[int, int]] = {}
    scores: dict[int, float] = {}
    for size in (1, 2, 3):
        wide_exact, wide_soft = widen(exact, source.owner, size), widen(soft, source.owner, size)
        gains = weights @ (wide_exact + wide_soft) / 2
        first = int(np.argmax(gains))
        last = first
        while (
            last + 1 < len(source.owner) and last + 1 - first < size and source.owner[last + 1] == source.owner[first]
        ):
            last += 1
        best[size] = (first, last)
        scores[size] = float(gains[first])
    main = max((1, 2, 3), key=lambda size: (scores[size] - _WORTH_A_SENTENCE * (size - 1), -size))
    return Alignment(weights, exact, soft, best, best[main])


def portions(words: int, others: int) -> Iterator[slice]:
    """Cut the words of a claim into stretches that can be compared with so many others at once."""
    step = max(1, _AT_ONCE // max(1, others))
    return (slice(start, start + step) for start in range(0, words, step))


def _covered(
    claim: Reading, rows: slice, source: AlignedSource, vectors: WordVectors
) -> tuple[Float32Array, Float32Array]:
    """Compare some content words of a claim (rows) with the sentences of a source (columns): exactly, and softly."""
    content = claim.content[rows]
    claim_ids = np.array([source.index.get(claim.keys[i], -1) for i in content], dtype=np.int64)
    exact = (claim_ids[:, None] == source.ids[None, :]).astype(np.float32)
    soft = vectors.matrix[claim.rows[rows]] @ source.matrix.T
    soft[[claim.kinds[i] == NUMBER for i in content]] = 0.0  # numbers are equal or different, never similar
    soft[:, source.numeric] = 0.0
    exact = np.maximum.reduceat(exact, source.starts, axis=1)
    return exact, np.maximum(np.maximum.reduceat(soft, source.starts, axis=1), exact)


def widen(values: Float32Array, owner: Ints, size: int) -> Float32Array:
    """Take the maximum over each sentence and the `size` - 1 after it in the same passage."""
    wide = values
    for step in range(1, min(size, values.shape[1])):
        together = owner[step:] == owner[:-step]
        if not together.any():
            break
        if wide is values:
            wide = values.copy()
        ahead = np.where(together[None, :], values[:, step:], 0.0)
        wide[:, :-step] = np.maximum(wide[:, :-step], ahead)
    return wide


def tokens_of(source: AlignedSource, first: int, last: int) -> tuple[Reading, int, int]:
    """Give the reading and its token range [start, end) behind a window of sentences (columns)."""
    number, sentence = source.places[first]
    reading = source.readings[number]
    start = bisect_left(reading.sentence, sentence)
    end = bisect_left(reading.sentence, source.places[last][1] + 1)
    return reading, start, end


def sentence(source: AlignedSource, column: int) -> str:
    """Give the text of a sentence."""
    number, place = source.places[column]
    reading = source.readings[number]
    return reading.text[slice(*reading.sentences[place])]


@dataclass(frozen=True, slots=True)
class Gap:
    """Claim tokens [a0, a1) stand where the passage has tokens [b0, b1); `closed` when both sides match."""

    a0: int
    a1: int
    b0: int
    b1: int
    closed: bool


@dataclass(frozen=True, slots=True)
class Edits:
    """The alignment of two token sequences: matched pairs in order, and the gaps between them."""

    pairs: list[tuple[int, int]]
    gaps: list[Gap]
    in_runs: int  # claim tokens inside matched runs of four tokens or more


def compare_tokens(claim: Sequence[str], window: Sequence[str]) -> Edits:
    """Align the tokens of a claim with those of a window."""
    deleted: set[int] = set()
    inserted: set[int] = set()
    for kind, source, destination in LCSseq.editops(claim, window):
        if kind == "delete":
            deleted.add(int(source))
        else:
            inserted.add(int(destination))
    left = [i for i in range(len(claim)) if i not in deleted]
    right = [j for j in range(len(window)) if j not in inserted]
    pairs = _without_strays(list(zip(left, right, strict=True)), claim)
    return Edits(pairs, _gaps(pairs, len(claim), len(window)), _in_runs(pairs))


def _without_strays(pairs: list[tuple[int, int]], claim: Sequence[str]) -> list[tuple[int, int]]:
    """Drop matched function words that have no matched neighbour: they match by accident."""
    known = set(pairs)
    return [(i, j) for i, j in pairs if claim[i] not in STOPWORDS or (i - 1, j - 1) in known or (i + 1, j + 1) in known]


def _in_runs(pairs: list[tuple[int, int]]) -> int:
    """Count the pairs that stand in runs of four or more adjacent ones."""
    starts = [at for at, (i, j) in enumerate(pairs) if at == 0 or pairs[at - 1] != (i - 1, j - 1)]
    lengths = (end - start for start, end in pairwise([*starts, len(pairs)]))
    return sum(length for length in lengths if length >= 4)


def _gaps(pairs: list[tuple[int, int]], claim_length: int, window_length: int) -> list[Gap]:
    """List what lies before, between and after the matched pairs."""
    gaps: list[Gap] = []
    a, b = 0, 0
    for number, (i, j) in enumerate(pairs):
        if i > a or j > b:
            gaps.append(Gap(a, i, b, j, closed=number > 0))
        a, b = i + 1, j + 1
    if a < claim_length or b < window_length:
        gaps.append(Gap(a, claim_length, b, window_length, closed=False))
    return gaps


_ORDINAL = r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)"
_OPENING = re.compile(
    rf"^\s*(?:(?:and|but)\s+)?(?:{_ORDINAL}(?:ly)?(?:\s+of\s+all)?|next|then|finally|lastly|after\s+that|afterwards|"
    rf"to\s+(?:begin|start)(?:\s+with)?|step\s+\d{{1,2}})(?P<mark>\s*[,:])?\s+(?!(?:{_ORDINAL}|and|or|to)\b)",
    re.IGNORECASE,
)
_NUMBERING = re.compile(
    rf"(?:^|[.!?:;])[ \t]*(?:{_ORDINAL}(?:ly)?\b|step\s+\d|\d{{1,2}}[.)]\s)|\b(?:first|last)(?=\s*[.;,!\n]|\s*$)",
    re.IGNORECASE | re.MULTILINE,
)
_SAYING = frozenset({"VB", "VBP", "PRP", "DT", "PRP$", "EX"})  # what opens an instruction or a sentence


def without_steps(text: str, passages: Iterable[str]) -> str:
    """Leave out words that only number a step; none where a passage numbers steps, too, since they may differ."""
    opening = _OPENING.match(text)
    if opening is None or any(map(_NUMBERING.search, passages)):
        return text
    rest = capital(text[opening.end() :])
    return rest if opening["mark"] or (rest and parse([rest])[0][0].tag in _SAYING) else text


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
    own = source.matrix.nbytes + 150 * len(source.ids)
    return own + sum(map(_weight_of_reading, source.readings))


@remembered(24_000_000, _weight_of_source)
def source_of(texts: tuple[str, ...], *, every_word: bool) -> AlignedSource:
    """Read the pieces and lay them side by side; claims of one answer share the work."""
    return gather([reading_of(text, every_word=every_word) for text in texts], shipped_vectors())

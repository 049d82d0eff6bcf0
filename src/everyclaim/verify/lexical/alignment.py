"""Lining up the words of a claim with the sentences of the passages.

Every content word of the claim is compared with every content word of the passages, exactly (same stem, same
number) and softly (similar word vectors). Windows of neighbouring sentences are then ranked by how much of the
claim's weight they cover.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from everyclaim.verify.lexical.analysis import NUMBER, Float32Array, Ints, Reading
from everyclaim.verify.lexical.vectors import WordVectors

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
    mixed: Float32Array  # the same, each mixed with its neighbours
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
        mixed=widen_by_neighbours(matrix),
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


def widen_by_neighbours(matrix: Float32Array) -> Float32Array:
    """Mix every word's vector with half of the one before and the one after, and scale to length one."""
    mixed = matrix.copy()
    if len(matrix) > 1:
        mixed[1:] += 0.5 * matrix[:-1]
        mixed[:-1] += 0.5 * matrix[1:]
    return np.asarray(mixed / np.maximum(np.linalg.norm(mixed, axis=1, keepdims=True), 1e-6), dtype=np.float32)

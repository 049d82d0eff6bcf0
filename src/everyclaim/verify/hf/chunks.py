"""Passages → chunks that a model can read whole, cut between sentences and never in silence.

A chunk is a run of neighbouring sentences, also across passages, since all passages are judged as one document.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from everyclaim.core.types import Passage
from everyclaim.text.tokens import STOPWORDS, tokenize
from everyclaim.text.windows import sentence_spans
from everyclaim.verify.lexical.overlap import comparable
from everyclaim.verify.lexical.shortlist import Piece

Lengths = Callable[[Sequence[str]], list[int]]
Chunk = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Chunking:
    """How long a chunk is, and what becomes of a claim of several sentences.

    `tokens` are the model's, `words` are split at white space; None: no such bound, only the model's own. `claim` is
    judged as a `whole`, or sentence by sentence: its worst sentence decides (`min`), or their `mean`.
    """

    name: str
    tokens: int | None = None
    words: int | None = None
    claim: Literal["whole", "min", "mean"] = "whole"


WHOLE = Chunking("whole")
MINICHECK = Chunking("minicheck", tokens=400, claim="min")
MINICHECK_WORDS = Chunking("minicheck", words=500, claim="min")
ALIGNSCORE = Chunking("alignscore", tokens=350, claim="mean")


class ChunkSentence(NamedTuple):
    """A sentence ``passages[passage].text[start:end]`` and its size."""

    passage: int
    start: int
    end: int
    tokens: int
    words: int


@dataclass(frozen=True, slots=True)
class Document:
    """The passages of one call, as sentences with their sizes."""

    passages: Sequence[Passage]
    sentences: list[ChunkSentence]
    lengths: Lengths

    @classmethod
    def of(cls, passages: Sequence[Passage], lengths: Lengths) -> Document:
        """Measure the passages once; a text that stands there twice counts once."""
        first = {passage.text: i for i, passage in reversed(list(enumerate(passages)))}
        places = [(i, *span) for i in sorted(first.values()) for span in sentence_spans(passages[i].text)]
        return cls(passages, _measured(places, passages, lengths), lengths)

    def chunks(self, tokens: int, words: int | None = None) -> list[Chunk]:
        """Fill chunks in order of the text; a sentence that is too long by itself is cut at a blank."""
        fitting = [part for sentence in self.sentences for part in self._fitting(sentence, tokens)]
        runs: list[list[ChunkSentence]] = []
        have_tokens = have_words = 0
        for part in fitting:
            is_full = have_tokens + part.tokens > tokens or (words is not None and have_words + part.words > words)
            if is_full or not runs:
                runs.append([])
                have_tokens = have_words = 0
            runs[-1].append(part)
            have_tokens += part.tokens
            have_words += part.words
        return [self._chunk(run) for run in runs]

    def _fitting(self, sentence: ChunkSentence, tokens: int) -> list[ChunkSentence]:
        if sentence.tokens <= tokens or sentence.end - sentence.start < 2:
            return [sentence]
        text = self.passages[sentence.passage].text
        middle = (sentence.start + sentence.end) // 2
        blank = text.rfind(" ", sentence.start + 1, middle)
        cut = blank if blank > sentence.start else middle
        halves = [(sentence.passage, sentence.start, cut), (sentence.passage, cut, sentence.end)]
        parts = _measured(halves, self.passages, self.lengths)
        return [fitting for part in parts for fitting in self._fitting(part, tokens)]

    def _chunk(self, run: Sequence[ChunkSentence]) -> Chunk:
        """Join neighbours of one passage to one piece, so that what stands between them is kept."""
        ends: list[list[int]] = []
        for part in run:
            if ends and ends[-1][0] == part.passage:
                ends[-1][2] = part.end
            else:
                ends.append([part.passage, part.start, part.end])
        return tuple(Piece(i, start, self.passages[i].text[start:end]) for i, start, end in ends)


class Choice:
    """Which chunks to read for a claim when there are more than can be read: those that hold its rare words."""

    def __init__(self, chunks: Sequence[Chunk], most: int) -> None:
        self._chunks = chunks
        self._most = most
        self._keys: list[frozenset[str]] = []
        if len(chunks) > most:
            self._keys = [_keys(" ".join(piece.text for piece in chunk)) for chunk in chunks]
        self._holders = Counter(key for keys in self._keys for key in keys)

    def of(self, claim: str) -> list[int]:
        """Return the indices of the chunks to read, in order of the text."""
        count = len(self._chunks)
        if count <= self._most:
            return list(range(count))
        weights = {key: math.log(1 + count / self._holders[key]) for key in _keys(claim) if key in self._holders}
        gains = [sum(weights[key] for key in sorted(weights.keys() & keys)) for keys in self._keys]
        return sorted(sorted(range(count), key=lambda i: -gains[i])[: self._most])


def shown(chunk: Chunk) -> str:
    """Write a chunk as one premise: pieces of different passages on lines of their own."""
    return "\n".join(piece.text for piece in chunk)


def _measured(
    places: Sequence[tuple[int, int, int]], passages: Sequence[Passage], lengths: Lengths
) -> list[ChunkSentence]:
    texts = [passages[i].text[start:end] for i, start, end in places]
    # One more each: for the line break or blank that joins it to the next.
    return [
        ChunkSentence(*place, tokens + 1, len(text.split()))
        for place, text, tokens in zip(places, texts, lengths(texts), strict=True)
    ]


def _keys(text: str) -> frozenset[str]:
    return frozenset(comparable(token.norm) for token in tokenize(text) if token.norm not in STOPWORDS)

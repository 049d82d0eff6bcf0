"""Reading a text once: its words, their stems, weights and kinds, sentence by sentence.

A `Reading` is what both claims and passages become before they are compared.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from everyclaim.text.tokens import STOPWORDS, stem, tokenize
from everyclaim.text.windows import sentence_spans
from everyclaim.verify.lexical.vectors import WordVectors
from everyclaim.verify.lexical.words import in_full, number_value

Ints = npt.NDArray[np.int64]
Float32Array = npt.NDArray[np.float32]

PLAIN, NUMBER, NAME = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as parallel lists over its tokens. `keys` are what exact comparison uses: stems, numbers as ``#20``."""

    text: str
    norms: list[str]
    keys: list[str]
    spans: list[tuple[int, int]]
    sentence: list[int]  # of every token
    sentences: list[tuple[int, int]]
    content: list[int]  # positions of the tokens that carry meaning
    kinds: list[int]  # PLAIN, NUMBER or NAME, of every token
    rows: Ints  # of the content tokens, in the word vectors
    weights: Float32Array  # of the content tokens: how much each word tells


def read(text: str, vectors: WordVectors, *, every_word: bool = False) -> Reading:
    """Tokenise and describe `text`. With `every_word`, function words count as content too."""
    tokens = tokenize(text)
    sentences = sentence_spans(text)
    norms = in_full([token.norm for token in tokens])
    spans = [(token.start, token.end) for token in tokens]
    keys: list[str] = []
    kinds: list[int] = []
    content: list[int] = []
    in_sentence: list[int] = []
    current, last = -1, len(sentences) - 1
    opening = False
    for position, ((word, start, _, _), norm) in enumerate(zip(tokens, norms, strict=True)):
        if current < last and start >= sentences[current + 1][0]:
            opening = True
            while current < last and start >= sentences[current + 1][0]:
                current += 1
        in_sentence.append(max(current, 0))
        number = number_value(norm)
        if number is not None:
            keys.append("#" + number)
            # "one" and "first" are too common to be facts; they still compare equal to 1
            kinds.append(PLAIN if norm in STOPWORDS else NUMBER)
        else:
            keys.append(stem(norm))
            kinds.append(_kind(word, norm, opening=opening, rows=vectors.rows))
        if every_word or norm not in STOPWORDS:
            content.append(position)
        opening = False
    rows = vectors.look_up([norms[i] for i in content], [keys[i] for i in content])
    weights = 0.25 + vectors.rarity[rows]
    return Reading(text, norms, keys, spans, in_sentence, sentences, content, kinds, rows, weights)


def _kind(word: str, norm: str, *, opening: bool, rows: dict[str, int]) -> int:
    """Tell whether a word that is no number is a name: capitalised, and not only for opening a sentence."""
    if not word[0].isupper() or norm in STOPWORDS:
        return PLAIN
    if opening and not (len(word) > 1 and word.isupper()) and norm in rows:
        return PLAIN
    return NAME

"""Evidence first: the few sentences of the passages that settle a claim; nothing else is read or measured.

A sentence takes part when it adds to what is covered of the claim, or covers nearly as much of it as the best one does:
a second sentence about the same thing may contradict. A sentence that begins with a pronoun brings the one before.
What stands around them cannot change a verdict, because it is blanked out (every character keeps its place).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from everyclaim.text.edges import blanked_out
from everyclaim.verify.lexical.alignment import Bools, Source, align
from everyclaim.verify.lexical.analysis import Reading
from everyclaim.verify.lexical.vectors import WordVectors

PRONOUNS = frozenset("he she they it him her them his hers its their theirs this these those".split())
_MOST = 6  # sentences
_GAIN = 0.04  # share of the claim's weight that a sentence must add
_AS_MUCH = 0.7  # share of what the best sentence covers that makes another speak of the same


def settling(claim: Reading, source: Source, texts: Sequence[str], vectors: WordVectors) -> tuple[list[str], bool]:
    """Return the texts with all but the settling sentences blanked out, and whether any was."""
    if not claim.content or len(source.places) <= 1:
        return list(texts), False
    chosen = _choose(claim, source, vectors)
    if chosen.all():
        return list(texts), False
    kept = {place for place, use in zip(source.places, chosen, strict=True) if use}
    narrowed = []
    for number, (text, reading) in enumerate(zip(texts, source.readings, strict=True)):
        for sentence, (start, end) in enumerate(reading.sentences):
            if (number, sentence) not in kept:
                text = blanked_out(text, start, end)
        narrowed.append(text)
    return narrowed, True


def _choose(claim: Reading, source: Source, vectors: WordVectors) -> Bools:
    """Choose sentences (columns), the worthiest first."""
    alignment = align(claim, source, vectors)
    held = (alignment.exact + alignment.soft) / 2
    alone = alignment.weights @ held
    chosen = np.zeros(len(alone), dtype=bool)
    covered = np.zeros(len(held), dtype=held.dtype)
    for _ in range(_MOST):
        gains = alignment.weights @ np.maximum(held - covered[:, None], 0.0)
        worth = np.where(chosen, -1.0, np.where(alone >= _AS_MUCH * alone.max(), np.maximum(gains, alone / 4), gains))
        best = int(np.argmax(worth.round(5)))
        if worth[best] < _GAIN and chosen.any():
            break
        chosen[best] = True
        covered = np.maximum(covered, held[:, best])
    for column in np.flatnonzero(chosen):
        number, sentence = source.places[column]
        reading = source.readings[number]
        if column and source.places[column - 1][0] == number and _leans(reading, sentence):
            chosen[column - 1] = True
    return chosen


def _leans(reading: Reading, sentence: int) -> bool:
    """Whether a sentence opens with a pronoun, so that the one before says who or what it speaks of."""
    first = reading.sentence.index(sentence)
    return any(norm in PRONOUNS for norm in reading.norms[first : first + 2])

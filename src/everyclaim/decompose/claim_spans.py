"""Where a claim stands: its span in the response, found by the words it shares with its sentence."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher

from everyclaim.core.types import Span
from everyclaim.text.tokens import STOPWORDS, stem, tokenize

_ENOUGH = 0.6  # share of the telling words that a claim has from its sentence, that must stand in one stretch
_AT_LEAST = 2  # of them; one word is no place
_LONG = 2000  # characters; a longer sentence is not aligned


def place(claim: str, sentence: str, start: int) -> Span:
    """Return the narrowest part of the sentence that holds the claim's words in order, else the whole sentence.

    `start` is the sentence's own place in the response.
    """
    whole = Span(start, start + len(sentence))
    if len(sentence) > _LONG:
        return whole
    bare = claim.rstrip(" .!?。")
    at = sentence.find(bare)
    if at == 0 or (at > 0 and not sentence[at - 1].isalnum()):
        return Span(start + at, start + at + len(bare))
    mine, theirs = tokenize(claim), tokenize(sentence)
    matcher = SequenceMatcher(a=[stem(t.norm) for t in mine], b=[stem(t.norm) for t in theirs], autojunk=False)
    shared = {
        block.b + i: mine[block.a + i].norm not in STOPWORDS
        for block in matcher.get_matching_blocks()
        for i in range(block.size)
    }
    first, last = _densest(len(theirs), shared)
    # Words that the claim brought in from elsewhere ("it" replaced) have no place here and do not count.
    here = {stem(token.norm) for token in theirs}
    telling = sum(token.norm not in STOPWORDS and stem(token.norm) in here for token in mine)
    if sum(shared.get(i, False) for i in range(first, last)) < max(_AT_LEAST, _ENOUGH * telling):
        return whole
    return Span(start + theirs[first].start, start + theirs[last - 1].end)


def _densest(size: int, shared: Mapping[int, bool]) -> tuple[int, int]:
    """Return the stretch of tokens, half-open, with the largest surplus of shared tokens over others."""
    best, surplus, begin = (0, 0, 0), 0, 0
    for i in range(size):
        surplus += 1 if i in shared else -1
        if surplus > best[0]:
            best = (surplus, begin, i + 1)
        if surplus < 0:
            surplus, begin = 0, i + 1
    return best[1], best[2]

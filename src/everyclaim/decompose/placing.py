"""Where a claim stands: its span in the response, found by the words it shares with its sentence."""

from __future__ import annotations

from difflib import SequenceMatcher

from everyclaim.core.types import Span
from everyclaim.text.locate import locate
from everyclaim.text.tokens import STOPWORDS, stem, tokenize

_ENOUGH = 0.6  # share of a claim's telling words that must stand in the window, in order
_LONG = 2000  # characters; a longer sentence is not aligned


def place(claim: str, sentence: str, start: int) -> Span:
    """Return the narrowest part of the sentence that holds the claim's words in order, else the whole sentence.

    `start` is the sentence's own place in the response.
    """
    whole = Span(start, start + len(sentence))
    if len(sentence) > _LONG:
        return whole
    exact = locate(claim.rstrip(" .!?。"), sentence, min_ratio=1.0)
    if exact:
        return Span(start + exact.start, start + exact.end)
    mine, theirs = tokenize(claim), tokenize(sentence)
    matcher = SequenceMatcher(a=[stem(t.norm) for t in mine], b=[stem(t.norm) for t in theirs], autojunk=False)
    telling = sum(token.norm not in STOPWORDS for token in mine)
    shared = [
        theirs[block.b + i]
        for block in matcher.get_matching_blocks()
        for i in range(block.size)
        if mine[block.a + i].norm not in STOPWORDS
    ]
    if not shared or len(shared) < _ENOUGH * telling:
        return whole
    return Span(start + shared[0].start, start + shared[-1].end)

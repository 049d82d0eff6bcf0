"""Where a claim stands: its span in the response, found by the words it shares with its sentence."""

from __future__ import annotations

from difflib import SequenceMatcher

from everyclaim.core.types import Span
from everyclaim.text.locate import locate
from everyclaim.text.tokens import STOPWORDS, stem, tokenize

_ENOUGH = 0.6  # share of the telling words that a claim has from its sentence, that must stand in one order in both
_AT_LEAST = 2  # of them; one word is no place
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
    # Words that the claim brought in from elsewhere ("it" replaced) have no place here and do not count.
    here = {stem(token.norm) for token in theirs}
    telling = sum(token.norm not in STOPWORDS and stem(token.norm) in here for token in mine)
    found = [
        (block, sum(token.norm not in STOPWORDS for token in mine[block.a : block.a + block.size]))
        for block in matcher.get_matching_blocks()
    ]
    shared = [block for block, words in found if words]
    if sum(words for _, words in found) < max(_AT_LEAST, _ENOUGH * telling):
        return whole
    last = shared[-1]
    return Span(start + theirs[shared[0].b].start, start + theirs[last.b + last.size - 1].end)

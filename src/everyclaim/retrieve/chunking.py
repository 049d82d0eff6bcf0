"""Cut a document into passages of a bounded number of words, at the bounds of sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from everyclaim.core.types import Span
from everyclaim.text.tokens import Token, tokenize
from everyclaim.text.windows import sentence_spans

WORDS = 256  # of a passage, as in FActScore
_LETTERS_PER_WORD = 16  # text without words (rows of marks, encoded data) is bounded by its length instead


def cut(text: str, words: int = WORDS) -> Iterator[Span]:
    """Yield the passages of a text in order: runs of whole sentences of at most `words` words.

    Words are tokens; in scripts without spaces every character is one. A sentence that is longer by itself is cut
    between words. Together the passages hold everything but white space between them.
    """
    start = end = weight = 0
    for span in sentence_spans(text):
        sentence = Span(*span)
        tokens = tokenize(text[sentence.start : sentence.end])
        own = _weight(len(tokens), sentence)
        if weight and weight + own > words:
            yield Span(start, end)
            weight = 0
        if own > words:
            *whole, sentence = _pieces(text, sentence, tokens, words)
            yield from whole
            own = _weight(len(tokenize(text[sentence.start : sentence.end])), sentence)
        start = start if weight else sentence.start
        end = sentence.end
        weight += own
    if weight:
        yield Span(start, end)


def _weight(tokens: int, sentence: Span) -> int:
    return max(1, tokens, -(-(sentence.end - sentence.start) // _LETTERS_PER_WORD))


def _pieces(text: str, sentence: Span, tokens: Sequence[Token], words: int) -> Iterator[Span]:
    """Cut one sentence that is too long; where it has too few words for its length, after so many letters."""
    most = words * _LETTERS_PER_WORD
    begin = 0
    count = 0
    for token in tokens:
        if count == words or (token.end - begin > most and token.start > begin):
            yield from _lengths(text, sentence.start + begin, sentence.start + token.start, most)
            begin, count = token.start, 0
        count += 1
    yield from _lengths(text, sentence.start + begin, sentence.end, most)


def _lengths(text: str, start: int, end: int, most: int) -> Iterator[Span]:
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > most:
        yield Span(start, start + most)
        start += most
    if end > start:
        yield Span(start, end)

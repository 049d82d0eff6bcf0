"""Plain word overlap: the yardstick every verifier has to beat."""

from __future__ import annotations

from collections.abc import Iterable

from everyclaim.text.tokens import STOPWORDS, stem, tokenize
from everyclaim.verify.lexical.words import number_value


def comparable(norm: str) -> str:
    """Give what exact comparison uses of a token's `norm`: ``#20`` for a number, else the stem."""
    number = number_value(norm)
    return stem(norm) if number is None else "#" + number


def word_overlap(claim: str, passages: Iterable[str]) -> float:
    """Give the share of the claim's content words (stemmed, with repeats) that occur anywhere in the passages.

    Within [0, 1]; 0 for a claim without content words. It knows nothing of order, weight or meaning.
    """
    words = [comparable(token.norm) for token in tokenize(claim) if token.norm not in STOPWORDS]
    held = {comparable(token.norm) for passage in passages for token in tokenize(passage)}
    return sum(word in held for word in words) / len(words) if words else 0.0

"""Words of a sentence with their parts of speech, as the shipped parser sees them."""

from __future__ import annotations

from typing import NamedTuple

from everyclaim.models.local.parser import parse


class Word(NamedTuple):
    """A word with its offsets, its Penn Treebank tag and its lower-cased form."""

    text: str
    start: int
    end: int
    tag: str
    low: str


def tag(text: str) -> list[Word]:
    """Tag one English sentence."""
    return [Word(token.text, token.start, token.end, token.tag, token.text.lower()) for token in parse([text])[0]]

"""Claims that lean on what was said before: "It was built in 1889." means nothing to a search engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from everyclaim.text.names import names
from everyclaim.text.tokens import STOPWORDS, tokenize, word_set

_ANAPHORS = word_set(
    "it they he she this these those its their his her both such another others one them him the former latter there"
) - {"the"}
_POINTERS = word_set("it its they them their theirs he him his she her hers this these those")
_FILLERS = word_set("then also however moreover later afterwards today still in addition so thus therefore and but as")
_FEW = 4  # words that stand for what a sentence is about, where it names nothing


def leans(text: str) -> bool:
    """Say whether a sentence begins by pointing back: "It …", "In addition, they …"."""
    first = next((token.norm for token in tokenize(text) if token.norm not in _FILLERS), "")
    return first in _ANAPHORS


def points(text: str) -> bool:
    """Say whether a sentence points at something outside it anywhere: "it", "their", "this"."""
    return leans(text) or any(token.norm in _POINTERS for token in tokenize(text))


def leaned_on(texts: Sequence[str]) -> Iterator[str]:
    """Yield, for every sentence of a text in order, what it leans on: empty when it stands by itself.

    That is the names in the nearest sentence before it that stands by itself, else the first content words of it.
    """
    about = ""
    for text in texts:
        if leans(text):
            yield about
            continue
        yield ""
        content = [token.norm for token in tokenize(text) if token.norm not in STOPWORDS]
        about = " ".join(dict.fromkeys(name.text for name in names(text))) or " ".join(content[:_FEW])

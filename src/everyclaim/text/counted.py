"""What a number counts or names: the noun after it ("five large dogs"), or the noun before it ("section 3")."""

from __future__ import annotations

import re

from everyclaim.text.tokens import STOPWORDS, stem, word_set

_LABELS = word_set(
    """
    section figure fig table chapter page pages pp article clause step version level grade type phase stage part volume
    vol no number nos room route highway unit appendix paragraph verse line item question lesson module act scene book
    episode season rule note act class category zone gate platform line model mark band class flight bus tier
    """
)
_PLURALS = word_set("people men women children feet teeth mice geese sheep fish species series staff police cattle")
_COUNTS = word_set("count counts number num no total qty quantity of the")
_LONGEST_LABEL = 60
_LABEL = re.compile(r"(?:^|[\n,])[ \t]*((?:[^\W\d_]+[ -])*[^\W\d_]+): ?$")
_LINE_END = re.compile(r"[ \t]*(?:\n|$)")
_NOUN_WORD = r"([^\W\d_](?:[^\W\d_]|['’-])*)"
_NOUN = re.compile(rf"[ \u00a0-]{_NOUN_WORD}(?: {_NOUN_WORD})?(?: {_NOUN_WORD})?")
_WORD_BEFORE = re.compile(r"([^\W\d_]+\.?)[ \u00a0-]$")


def label_before(low: str, start: int) -> str:
    """Give the noun that a number names rather than counts, as in "section 3"."""
    match = _WORD_BEFORE.search(low, max(0, start - 14), start)
    word = match[1].rstrip(".") if match else ""
    return stem(word) if word in _LABELS else ""


def noun_after(low: str, end: int) -> str:
    """Give the stem of what is counted: the first plural of the words that follow, else the first of them."""
    match = _NOUN.match(low, end)
    if match is None:
        return ""
    first = ""
    for word in match.groups():
        if word is None or word in STOPWORDS:
            break
        if is_plural(word):
            return stem(word)
        first = first or word
    return stem(first)


def noun_of_label(low: str, start: int, end: int) -> str:
    """Give the stem of what a number counts that is all there is under a label: "Previous owners: 2", "Item count: 3".

    Only a plural counts, and what a label calls a count itself.
    """
    label = _LABEL.search(low, max(0, start - _LONGEST_LABEL), start)
    if label is None or _LINE_END.match(low, end) is None:
        return ""
    words = label[1].split()
    telling = [word for word in words if word not in _COUNTS]
    if not telling or not (len(telling) < len(words) or is_plural(telling[-1])):
        return ""
    return stem(telling[-1])


def is_plural(word: str) -> bool:
    """Say whether a word in lower case is a plural, as far as its ending tells."""
    return word in _PLURALS or (word.endswith("s") and not word.endswith(("ss", "us", "is")))


def counts(low: str, end: int) -> bool:
    """Say whether the next word is a plural: "40 people", not "Super Bowl 40 was"."""
    match = _NOUN.match(low, end)
    words = [word for word in (match.groups() if match else ()) if word]
    return any(is_plural(word) and not word.endswith(("was", "has")) for word in words[:2])

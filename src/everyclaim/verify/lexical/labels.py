"""Values that stand under another label than the one a claim names: "Check-out is at 3 PM" beside "Check in: 15:00".

The claim's value is in the record, and so are all of its words, yet nobody has said so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from everyclaim.text.agreement import AGREES, Fact, relation
from everyclaim.text.dates import Moment
from everyclaim.text.tokens import stem, tokenize, word_set

_LABELLED = re.compile(r"([^\n:]{1,100}): \S.{0,120}", re.DOTALL)
_GENERAL = word_set("date time on at of the is a an number count id value amount no")
# A claim with one of these speaks of what it does not name.
_OTHERS = frozenset(
    stem(word)
    for word in word_set(
        "other others except excluding rest remaining otherwise elsewhere most every each all daily usually weekdays"
    )
)
SHARED = 4  # letters that a longer form of a word must share with it: "departs" names a "departure"
_LONGER = 3  # letters that it may have more


class Stated(NamedTuple):
    """A fact that stands under a label in a sentence."""

    fact: Fact
    sentence: str


class _LabelledLine(NamedTuple):
    label: frozenset[str]
    facts: Sequence[Fact]
    sentence: str


def label_of(sentence: str) -> str:
    """Give the label of a field in words; empty for prose."""
    match = _LABELLED.fullmatch(sentence)
    return match[1] if match else ""


def names(key: str, said: Collection[str]) -> bool:
    """Say whether some words name another in one of its forms; all are stems."""
    return key in said or any(
        len(short) >= SHARED and long.startswith(short) and len(long) <= len(short) + _LONGER
        for short, long in (sorted((key, word), key=len) for word in said)
    )


def under_another(mine: Fact, claim: str, lines: Sequence[tuple[str, Sequence[Fact]]]) -> Stated | None:
    """Find the value under the label that a claim names, where its own stands under others that it does not name.

    `lines` are the sentences that may state it, and their values. None where one of them is prose that states it.
    """
    stating = [sentence for sentence, held in lines if any(relation(mine, fact) in AGREES for fact in held)]
    if not stating or not all(map(label_of, stating)):
        return None
    said = {stem(token.norm) for token in tokenize(claim)}
    if said & _OTHERS:
        return None
    labels = [
        _LabelledLine(_keys(label_of(sentence)), held, sentence) for sentence, held in lines if label_of(sentence)
    ]
    known = [line.label for line in labels]
    own = [line for line in labels if line.sentence in stating]
    for line in labels:
        rival = next((fact for fact in line.facts if _differs(mine, fact)), None)
        if rival is None or line in own or known.count(line.label) > 1:
            continue
        if all(_is_rather(line.label, other.label, said) for other in own):
            return Stated(rival, line.sentence)
    return None


def _differs(mine: Fact, other: Fact) -> bool:
    """Say whether two values cannot both be meant under one label, where a bare number counts what the label says."""
    if relation(mine, other) == "differs":
        return True
    if isinstance(mine, Moment) or isinstance(other, Moment) or not mine.dimension == other.dimension == "count":
        return False
    return not (mine.noun and other.noun) and (mine.low, mine.high) != (other.low, other.high)


def _is_rather(label: frozenset[str], other: frozenset[str], said: Collection[str]) -> bool:
    """Say whether a claim names what a label has and another has not, and not the reverse."""
    more, others = label - other, other - label
    named = bool(more) and all(names(key, said) for key in more)
    return named and bool(others) and not all(names(key, said) for key in others)


def _keys(label: str) -> frozenset[str]:
    return frozenset(stem(token.norm) for token in tokenize(label) if token.norm not in _GENERAL)

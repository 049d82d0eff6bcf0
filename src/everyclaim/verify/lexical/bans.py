"""One wording for what is forbidden: "Avoid bleach" beside "Never use bleach", "do not" beside "refrain from".

As with values, the claim takes the words of the window that it is compared with.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from everyclaim.text.tokens import stem, word_set
from everyclaim.verify.lexical.analysis import Reading
from everyclaim.verify.lexical.words import abstains

_AUXILIARIES = word_set("do must should shall may can might ought")
_CONTRACTED = {"don't": "do", "mustn't": "must", "shouldn't": "should", "can't": "can", "cannot": "can"}
_BETWEEN = word_set("from of ever away clear on")
# What one does with a thing when one does not avoid it.
_USING = frozenset(stem(word) for word in word_set("use eat drink take wear apply consume have buy add"))
_OBJECT = 3  # telling words behind, one of which both sides share


class _Ban(NamedTuple):
    """Words that forbid: the tokens from `first` to `last`, of which `start` is the first behind the auxiliary."""

    first: int
    start: int
    last: int
    auxiliary: str  # empty: none
    is_negation: bool  # "do not use", rather than "avoid"
    act: str  # what is not to be done, by stem; empty: use what follows


def alike(claim: Reading, reading: Reading, low: int, high: int) -> Iterator[tuple[int, int, str]]:
    """Find what a claim forbids in other words than the tokens from `low` to `high` do; and their words for it."""
    mine = list(_bans(claim, 0, len(claim.norms)))
    theirs = list(_bans(reading, low, high)) if mine else []
    for ban in mine:
        for other in theirs:
            if ban.act == other.act and _differ(ban, claim, other, reading) and _of_one(ban, claim, other, reading):
                yield claim.spans[ban.first][0], claim.spans[ban.last][1], _words(ban, claim, other, reading)
                break


def _bans(reading: Reading, low: int, high: int) -> Iterator[_Ban]:
    norms = reading.norms
    for place in range(low, high - 1):
        norm, before = norms[place], norms[place - 1] if place > low else ""
        if abstains(norms, place):
            auxiliary = before if before in _AUXILIARIES else ""
            last = place
            while last + 1 < high and norms[last + 1] in _BETWEEN:
                last += 1
            act = stem(norms[last + 1]) if last + 1 < high and norms[last + 1].endswith("ing") else ""
            is_gerund = bool(act)
            yield _Ban(place - bool(auxiliary), place, last + is_gerund, auxiliary, False, "" if act in _USING else act)
        elif norm in ("never", "not", *_CONTRACTED):
            auxiliary = before if before in _AUXILIARIES else _CONTRACTED.get(norm, "")
            opens = place == low or reading.sentence[place] != reading.sentence[place - 1]
            if not auxiliary and not (norm == "never" and opens):
                continue
            last = place + 1 + (norms[place + 1] == "ever" and place + 2 < high)
            act = stem(norms[last])
            yield _Ban(place - (before in _AUXILIARIES), place, last, auxiliary, True, "" if act in _USING else act)


def _differ(ban: _Ban, claim: Reading, other: _Ban, reading: Reading) -> bool:
    """Say whether they are worded otherwise: two negations are left as they are."""
    mine, theirs = claim.norms[ban.start : ban.last + 1], reading.norms[other.start : other.last + 1]
    return not (ban.is_negation and other.is_negation) and mine != theirs


def _of_one(ban: _Ban, claim: Reading, other: _Ban, reading: Reading) -> bool:
    """Say whether both forbid the same: what is told behind them has a word in common."""
    ours, theirs = (
        {side.keys[at] for at in [at for at in side.content if at > one.last][:_OBJECT]}
        for side, one in ((claim, ban), (reading, other))
    )
    return bool(ours & theirs) or (bool(ban.act) and not ours)


def _words(ban: _Ban, claim: Reading, other: _Ban, reading: Reading) -> str:
    """Give the window's words behind the claim's own auxiliary."""
    start = other.start
    negator = reading.norms[start] if other.is_negation else ""
    first = start + bool(negator)
    words = reading.text[reading.spans[first][0] : reading.spans[other.last][1]].lower()
    if negator:
        negator = "never" if negator == "never" else "not"
        auxiliary = ban.auxiliary or ("" if negator == "never" else "do")
        words = f"{auxiliary} {negator} {words}".lstrip()
    elif ban.auxiliary not in ("", "do"):
        words = f"{ban.auxiliary} {words}"
    written = claim.text[claim.spans[ban.first][0]]
    return words[:1].upper() + words[1:] if written.isupper() else words

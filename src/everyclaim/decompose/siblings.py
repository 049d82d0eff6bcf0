"""Which claim of a sentence a small word belongs to: the others rightly lack it.

"The navy, which may grow, is China's" gives "The navy may grow" and "The navy is China's". A claim that lacks a word is
excused where another of its sentence has it, of all that this one takes from what the word governs, and where this one
states something else. "It can clean A and B" gives no such pair: of "It cleans B" no other claim says that it can.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from everyclaim.decompose.function_words import CHOICE, CONDITION, NEGATION, RELATIVES
from everyclaim.decompose.grammar import BE
from everyclaim.decompose.scope import COUNTING, STOP, Cue, Reading
from everyclaim.text.tagger import FINITE, NOUNS


def is_said_beside(cue: Cue, said: Reading, own: Reading, others: Sequence[Reading]) -> bool:
    """Whether another claim says a cue of the sentence, and this one, which lacks it, states something else."""
    if cue.kind in {NEGATION, CONDITION, CHOICE} or is_dropped(cue, said, own):
        return False
    if cue.kind == "some" and _is_of_others(cue, said, own):
        return True
    used = {own.keys[i] for i in _governed(cue, own)} & set(said.keys) - {""}
    if not any(_covers(other, cue.kind, used) and set(said.keys) - set(other.keys) for other in others):
        return False
    noun = _noun(cue, own)
    return not (_says(cue, said, own) if noun is None else _counts(cue, noun, said, own))


def is_dropped(cue: Cue, said: Reading, own: Reading) -> bool:
    """Whether a claim is as its sentence but for the cue: "despite complaints" of "despite some complaints"."""
    if not 0 < cue.start < cue.end < len(own.words):
        return False
    beside = (own.words[cue.start - 1].low, own.words[cue.end].low)
    mine, theirs = (list(pairwise(word.low for word in text.words)) for text in (said, own))
    return beside in mine and beside not in theirs


def _is_of_others(cue: Cue, said: Reading, own: Reading) -> bool:
    """Whether a claim is about the rest: "other users left" of "some users stayed, while others left"."""
    rest = any(word.low in {"other", "others"} for word in own.words[cue.end :])
    return rest and all(
        place and said.words[place - 1].low == "other" for head in cue.heads for place in said.places(own.keys[head])
    )


def _noun(cue: Cue, own: Reading) -> int | None:
    """The noun of which a cue says how much, None where it governs a verb."""
    if cue.kind not in COUNTING or not cue.heads:
        return None
    for place in range(cue.heads[0], cue.reach):
        if own.words[place].tag in NOUNS:
            return place
        if own.words[place].tag not in {"JJ", "JJR", "JJS", "VBN", "VBG", "CD", "HYPH", "POS"}:
            return None
    return None


def _covers(other: Reading, kind: str, used: set[str]) -> bool:
    """Whether a claim has a cue of the kind, and all these words behind it or beside it."""
    return bool(used) and any(
        used <= {key for i, key in enumerate(other.keys) if i >= found.end or other.governs(found, i)}
        for found in other.of(kind)
    )


def _governed(cue: Cue, own: Reading) -> list[int]:
    """The places that a cue governs, without asides and up to what follows from it: "…, allowing it to dry"."""
    aside = _asides(own)
    found: list[int] = []
    for place in range(cue.end, cue.reach):
        follows = own.words[place].tag == "VBG" and own.words[place - 1].low == ","
        if follows and not any(own.words[i].tag == "VBG" for i in found):
            break
        if place not in aside:
            found.append(place)
    return found


def _asides(own: Reading) -> frozenset[int]:
    """What stands between commas before a clause goes on with its verb: "the height, taken twice, differed"."""
    commas = [i for i, word in enumerate(own.words) if word.low == ","]
    spans = [range(a, b + 1) for a, b in pairwise(commas) if _is_aside(own, a, b)]
    return frozenset(place for span in spans for place in span)


def _is_aside(own: Reading, start: int, end: int) -> bool:
    verb = own.words[end + 1] if end + 1 < len(own.words) else None
    if verb is None or verb.tag not in {"VBN", *FINITE}:
        return False
    return verb.low in BE or not any(word.tag in FINITE for word in own.words[:start])


def _counts(cue: Cue, noun: int, said: Reading, own: Reading) -> bool:
    """Whether a claim says of a noun what the sentence says of so much of it."""
    clause, aside = own.clauses[cue.start], _asides(own)
    named = bool(said.places(own.keys[noun]))  # then what a later clause says may be said of it as well
    places = [
        i for i, n in enumerate(own.clauses)
        if (n == clause or (named and n > clause)) and not cue.start <= i < noun
    ]  # fmt: skip
    told = {own.keys[i] for i in places if i not in aside and _predicates(own, i)} - {"", "includ"}
    return any(key in told and _predicates(said, i) and not _is_relative(said, i) for i, key in enumerate(said.keys))


def _predicates(text: Reading, place: int) -> bool:
    """Whether a word says something of another: a verb, or an adjective with no noun behind it."""
    word = text.words[place]
    after = text.words[place + 1].tag if place + 1 < len(text.words) else ""
    return word.tag[0] == "V" or (word.tag[:2] in {"JJ", "RB"} and after not in NOUNS | {"JJ", "VBN", "VBG"})


def _is_relative(text: Reading, place: int) -> bool:
    """Whether a word stands in a relative clause before the verb of its sentence."""
    before = any(word.low in RELATIVES for word in text.words[:place])
    return before and any(word.tag in FINITE for word in text.words[place + 1 :])


def _says(cue: Cue, said: Reading, own: Reading) -> bool:
    """Whether a claim states what a cue governs, rather than to name it: "cooking it", "limits on working"."""
    places = said.places(own.keys[cue.heads[0]]) if cue.heads else []
    return not cue.heads or any(not _is_nominal(said, place) for place in places)


def _is_nominal(text: Reading, place: int) -> bool:
    word, before = text.words[place], text.words[place - 1] if place else None
    if before is None or STOP.fullmatch(before.low):
        return word.tag in {"VBG", *NOUNS}
    return (word.tag == "VBG" and before.low not in BE) or word.tag in NOUNS

"""What a sentence commits to by its small words, and whether a claim commits to the same.

"The kettle may be red", "only the lid is red", "about 40 kettles are red": a claim that leaves out such a word where it
governs what the claim says, or adds one, says something else, though it holds no foreign number or name. The same holds
for a word that is swapped for its opposite ("rose" for "fell") and for a speaker who is dropped (`attributions`).
Outside of English only negation and doubt are read.

A word governs what follows it, up to where another clause begins. Negation is compared by what it governs, so that
"Neither the lid nor the pot is red" gives "The lid is not red", and two negations may make none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from sys import getsizeof
from typing import NamedTuple

from everyclaim.core.memory import remembered
from everyclaim.decompose.attributions import unattributed
from everyclaim.decompose.contexts import BEHIND
from everyclaim.decompose.function_words import (
    BOOSTER,
    CHOICE,
    CONDITION,
    CONTRASTS,
    NEGATION,
    PERSONS,
    POSSIBILITY,
    binding,
)
from everyclaim.decompose.multilingual import drift_elsewhere
from everyclaim.decompose.scope import STOP, Cue, Reading, is_named, read
from everyclaim.decompose.siblings import is_dropped, is_said_beside
from everyclaim.text.antonyms import antonyms, root
from everyclaim.text.tokens import STOPWORDS, stem, word_set

LONG = 8_000  # characters; what is longer is no sentence, and is not read this way
_OPEN = (NEGATION, POSSIBILITY, CONDITION, "all", "intention")
_DOUBTS = frozenset({POSSIBILITY, "likelihood", "hearsay"})
_ORDERED = frozenset({"than", "before", "after", "above", "below", "behind"})
_COMPARED = frozenset({"JJR", "RBR"})
_EARLIER, _LATER = frozenset({"before", "preceding"}), frozenset({"after", "following"})
_AUXILIARIES = word_set("do does did have has had is are was were can could will would")
_ENDS_PHRASE = frozenset(",.;")
_AFFIX = re.compile(r"(?:un|in|im|ir|il|non|dis)(?=[a-z]{4})")
_ENGLISH = re.compile(r"\b(?:the|and|are|were|that|with|from|this|has|have|by|which|he|she|they|it)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+|[~≈≥≤<>+]")


class Drift(NamedTuple):
    """Words by which a claim commits to something else than its sentence."""

    added: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


def _weight(_found: Drift, claim: str, sentence: str, siblings: tuple[str, ...] = ()) -> int:
    return getsizeof(claim) + getsizeof(sentence) + sum(map(getsizeof, siblings))


@remembered(2_000_000, _weight)
def drift(claim: str, sentence: str, siblings: tuple[str, ...] = ()) -> Drift:
    """Compare what a claim and its sentence commit to; empty for a faithful claim.

    `siblings` are the other claims of the sentence: a word that belongs to one of them is not missed here.
    """
    if _bare(claim) == _bare(sentence) or len(sentence) > LONG or len(claim) > LONG:
        return Drift()
    if not _ENGLISH.search(sentence) and any(found := drift_elsewhere(claim, sentence)):
        return Drift(*map(tuple, found))
    speakers = unattributed(claim, sentence.rpartition(BEHIND)[2])
    if not _may_differ(claim, sentence):
        return Drift(lost=tuple(speakers))
    said, own = read(claim), read(sentence)
    added = [*_turned(said, own), *_compared(said, own), *_swapped(said, own)]
    added += [said.text(cue) for cue in said.cues if _adds(cue, said, own)]
    others = [read(other) for other in siblings if len(other) <= LONG]
    missed = [cue for cue in own.cues if _loses(cue, said, own, others)]
    lost = [*speakers, *_compared(own, said, is_lost=True), *map(own.text, missed)]
    return Drift(tuple(dict.fromkeys(added)), tuple(dict.fromkeys(lost)))


def _bare(text: str) -> str:
    return " ".join(text.split()).rstrip(". ")


def _adds(cue: Cue, said: Reading, own: Reading) -> bool:
    """Whether a claim has a cue that it has not from its sentence."""
    if not cue.binds or _is_title(cue, said, own) or _is_readers(cue, said):
        return False
    return not (_denied(cue, said, own) if cue.kind == NEGATION else _given(cue, said, own))


def _loses(cue: Cue, said: Reading, own: Reading, others: Sequence[Reading]) -> bool:
    """Whether a claim lacks a cue of its sentence, of which the `others` are claims as well."""
    if not cue.binds or cue.kind == BOOSTER:
        return False
    if cue.kind == NEGATION:
        return not _still_denied(cue, said, own)
    if not cue.heads and cue.kind in _DOUBTS:  # "It seems to: …" says so of what was asked
        return not any(text.of(cue.kind) for text in (said, *others))
    return not _kept(cue, said, own) and not is_said_beside(cue, said, own, others)


def _may_differ(claim: str, sentence: str) -> bool:
    """Whether a closer look is worth its while: a word that binds in either, or one of the claim's own."""
    mine, theirs = set(_WORD.findall(claim.lower())), set(_WORD.findall(sentence.lower()))
    if not (mine | theirs).isdisjoint(binding() | {"t", "more", "less", "than", "from", "before", "after"}):
        return True
    return any(
        low not in STOPWORDS and (_opposed(low) or low.endswith("er") or any(o.startswith(low[:-1]) for o in theirs))
        for low in mine - theirs
    )


def _is_title(cue: Cue, said: Reading, own: Reading) -> bool:
    """Whether a cue with which a claim begins is a name's beginning in its sentence: "All Saints is a show"."""
    word = said.words[cue.start].text
    return not cue.start and any(other.text == word and is_named(own.words, i) for i, other in enumerate(own.words))


def _is_readers(cue: Cue, said: Reading) -> bool:
    """Whether a wish is the reader's, which says nothing of the world: "the country you want to work from"."""
    return cue.kind == "intention" and cue.start > 1 and said.words[cue.start - 1].low == "you"


def _denied(cue: Cue, said: Reading, own: Reading) -> bool:
    """Whether a claim's negation is its sentence's, too."""
    key = said.keys[cue.heads[0]] if cue.heads else ""
    places = own.places(key)
    if not places:
        return bool(own.of(NEGATION)) or own.words[0].low in {"no", "not"} or bool(_opposites(said, own, cue))
    wanted = said.negations(cue.heads[0])
    if any(wanted & own.negations(place) for place in places):
        return True
    contrasts = [other for other in own.of(NEGATION) if own.words[other.start].low in CONTRASTS]
    if any(said.places(own.keys[head]) for other in contrasts for head in other.heads):
        return True
    return any(_leaves_verb_out(other, own) and _same_subject(cue, said, other, own) for other in own.of(NEGATION))


def _leaves_verb_out(cue: Cue, own: Reading) -> bool:
    """Whether a negation goes without the verb that it denies: "the others did not", "which they do not do"."""
    after = [word.low for word in own.words[cue.end : cue.end + 2]]
    is_over = not after or after[0] in {*_ENDS_PHRASE, "do", "so"}
    return is_over and cue.start > 0 and own.words[cue.start - 1].low in _AUXILIARIES


def _same_subject(cue: Cue, said: Reading, other: Cue, own: Reading) -> bool:
    """Whether a claim denies of all those of whom the sentence does."""
    clause = own.clauses[other.start]
    theirs = {own.keys[i] for i in range(other.start) if own.clauses[i] == clause} - {""}
    return bool(theirs) and theirs <= set(said.keys[: cue.start])


def _opposites(said: Reading, own: Reading, cue: Cue) -> list[str]:
    """What the sentence says with a word for the opposite: "unsafe" for "not safe"."""
    known = {stem(word.low) for word in own.words}
    return [found for place in cue.heads for found in _opposed(said.words[place].low) if found in known]


def _still_denied(cue: Cue, said: Reading, own: Reading) -> bool:
    """Whether a claim denies what its sentence denies, where it speaks of it."""
    if any(own.words[i].low == "until" for i in range(cue.end, cue.reach)):
        return True  # "not before" says when it is
    for head in cue.heads:
        for place in said.places(own.keys[head]):
            here = said.negations(place)
            if not any(here & own.negations(other) for other in own.places(own.keys[head])):
                return False
    return True


def _given(cue: Cue, said: Reading, own: Reading) -> bool:
    """Whether the sentence holds what a claim's cue says, of the same thing."""
    same = own.of(cue.kind)
    if not same:
        return False
    if said.around(cue) in {own.around(other) for other in same}:
        return True
    places = [place for head in cue.heads[:1] for place in own.places(said.keys[head])]
    return not places or any(own.governs(other, place) for other in same for place in places)


def _kept(cue: Cue, said: Reading, own: Reading) -> bool:
    """Whether a claim says the sentence's cue as well, or speaks of something else."""
    if said.of(cue.kind):
        return True
    if is_dropped(cue, said, own):
        return False
    if cue.kind == CHOICE and any(other.start <= cue.start < other.reach for kind in _OPEN for other in own.of(kind)):
        return True  # "may be red or blue": it may be either
    if cue.kind == CONDITION:
        return not _conditional(cue, said, own)
    if cue.kind == "some" and any(word.low.startswith("includ") for word in own.words[cue.end : cue.reach]):
        return True  # "some of its parts include the lid" names them
    same = [other for other in own.of(cue.kind) if other.binds]
    for head in cue.heads:
        if not said.places(own.keys[head]):
            continue
        if all(any(o.start <= p < o.reach for o in same) or p == head for p in own.places(own.keys[head])):
            return False
    return True


def _conditional(cue: Cue, said: Reading, own: Reading) -> bool:
    """Whether a claim says what the sentence says only under a condition."""
    clause = own.clauses[cue.start]
    is_first = cue.start == 0 or bool(STOP.fullmatch(own.words[cue.start - 1].low))
    bound = {clause, clause + 1 if is_first else clause - 1}
    # of a list it may govern the last member alone: "free of charge at night, or on Sundays, if booked"
    last = 0 if is_first else max((i for i in range(1, cue.start) if _adds_on(own, i)), default=0)
    places = [own.places(key) for key in dict.fromkeys(said.keys) if key]
    known = [found for found in places if found]
    inside = [found for found in known if all(own.clauses[place] in bound and place >= last for place in found)]
    return bool(inside) and len(inside) >= len(known) / 2


def _adds_on(own: Reading, place: int) -> bool:
    return own.words[place].low in {"and", "or"} and own.words[place - 1].low == ","


def _turned(said: Reading, own: Reading) -> Iterator[str]:
    """Words of a claim whose opposite the sentence holds instead."""
    mine, known = ({form(word.low) for word in text.words for form in (stem, root)} for text in (said, own))
    theirs = {stem(word.low): i for i, word in enumerate(own.words) if not is_named(own.words, i)}
    for place, word in enumerate(said.words):
        if not known.isdisjoint({stem(word.low), root(word.low)}) or word.low in PERSONS or len(word.low) < 2:
            continue
        if word.low in _EARLIER | _LATER and _turned_round(place, said, own):
            continue
        for opposite in _opposed(word.low):
            if opposite in theirs and opposite not in mine:
                flipped = {1 - number for number in own.negations(theirs[opposite])}
                if not flipped & said.negations(place):
                    yield word.text
                    break
        else:
            if any(_AFFIX.sub("", other, count=1) == word.low for other in _affixed(own)):
                at = next(i for i, w in enumerate(own.words) if _AFFIX.sub("", w.low, count=1) == word.low)
                if not {1 - number for number in own.negations(at)} & said.negations(place):
                    yield word.text


def _turned_round(place: int, said: Reading, own: Reading) -> bool:
    """Whether "A before B" is said of what the sentence has as "B after A", or the other way about."""
    others = _LATER if said.words[place].low in _EARLIER else _EARLIER
    around = [key if word.low != "," else "," for word, key in zip(said.words, said.keys, strict=True)]
    cut = around.index(",", place) if not place and "," in around else len(around)
    behind = set(said.keys[place + 1 : cut]) - {""}
    ahead = set(said.keys[:place] if place else said.keys[cut:]) - {""}
    for other in (i for i, word in enumerate(own.words) if word.low in others):
        end = next((i for i in range(other + 1, len(own.words)) if own.words[i].low in _ENDS_PHRASE), len(own.words))
        phrase = set(own.keys[other + 1 : end]) - {""}
        if phrase & ahead and not phrase & behind and behind & set(own.keys):
            return True
    return False


def _affixed(own: Reading) -> list[str]:
    return [word.low for word in own.words if _AFFIX.match(word.low)]


def _opposed(low: str) -> list[str]:
    """The stems of a word's opposites."""
    bare = _AFFIX.sub("", low, count=1)
    return [*sorted(antonyms(low)), *([stem(bare)] if bare != low else [])]


def _swapped(said: Reading, own: Reading) -> Iterator[str]:
    """Words that part two things, as "than" does, where a claim has the one in the other's place."""
    for place, word in enumerate(said.words):
        if word.low not in _ORDERED and word.low not in {"from", "to"}:
            continue
        mine = next((key for key in said.keys[place + 1 :] if key), "")
        if word.low in {"from", "to"} and not mine.isdigit():
            continue
        behind = [other for other, their in enumerate(own.words) if their.low == word.low]
        theirs = [own.keys[other + 1 : other + 8] for other in behind]
        if behind and own.places(mine) and not any(mine in keys for keys in theirs):
            yield word.text


def _compared(one: Reading, other: Reading, *, is_lost: bool = False) -> Iterator[str]:
    """Comparatives of one text that the other does not hold; lost, where it holds the word without them."""
    known = {word.low for word in other.words if len(word.low) > 2}
    for place, word in enumerate(one.words):
        if word.tag not in _COMPARED or word.low in known or any(c.start <= place < c.end for c in one.cues):
            continue
        if not is_lost:
            if not any(w.tag in _COMPARED and stem(w.low) == stem(word.low) for w in other.words):
                yield word.text
        elif word.low in {"more", "less"}:
            key = one.keys[place + 1] if place + 1 < len(one.keys) else ""
            if key and one.words[place + 1].tag in {"JJ", "RB", "VBN"} and other.places(key):
                yield word.text
        elif word.low.endswith("er") and known & {word.low[:-2], word.low[:-1], word.low[:-3], word.low[:-3] + "y"}:
            yield word.text

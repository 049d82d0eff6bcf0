"""The small words of a text, with what each governs: what follows it, up to where another clause begins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sys import getsizeof
from typing import NamedTuple

from everyclaim.core.memory import remembered
from everyclaim.decompose.contexts import BEHIND
from everyclaim.decompose.function_words import (
    ANNOUNCING,
    CHOICE,
    CLAUSE_WORDS,
    COUNTS,
    IGNORED,
    NEGATION,
    NO_LIST,
    NUMBERS,
    RELATIVES,
    THAT,
    Sign,
    binding,
    signs,
)
from everyclaim.text.tagger import FINITE, Word, tag
from everyclaim.text.tokens import STOPWORDS, stem

STOP = re.compile(r"[.;!?()]|\.\.+|--+|[–—]")  # another clause begins behind it
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_JOINS = frozenset({"and", "or", "nor"})
_BE = frozenset({"be", "been", "being", "is", "are", "was", "were", "'s", "'re"})
_MODALS = frozenset({"may", "might", "could", "can", "must", "should", "shall"})
_BEHIND = frozenset({"or more", "or so", "or less", "or fewer", "or older", "or over", "or above", "+"})
_MONEY = frozenset("$€£¥")
_ADVERBS = frozenset({"yet", "so", "however", "since"})  # begin a clause only behind a comma
_AHEAD = 14  # words behind a comma or "and" in which a verb makes it another clause


class Cue(NamedTuple):
    """The words ``[start, end)``, a sign of `kind`; they govern those up to `reach`, most closely the `heads`."""

    kind: str
    binds: bool
    start: int
    end: int
    reach: int
    heads: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A text with its cues."""

    words: Sequence[Word]
    keys: Sequence[str]  # what to compare words by; empty for words that say nothing of themselves
    clauses: Sequence[int]  # the number of each word's clause
    cues: Sequence[Cue]

    def places(self, key: str) -> list[int]:
        """Where a word stands, in any of its forms."""
        return [i for i, other in enumerate(self.keys) if other == key] if key else []

    def text(self, cue: Cue) -> str:
        """The cue as it stands; of "can't" the whole word."""
        end = cue.end + (self.words[cue.start].low == "ca")
        return " ".join(word.text for word in self.words[cue.start : end]).replace("ca n", "can")

    def around(self, cue: Cue) -> tuple[str, ...]:
        """The cue's words with those on either side."""
        return tuple(word.low for word in self.words[max(0, cue.start - 1) : cue.end + 1])

    def of(self, kind: str) -> list[Cue]:
        """The cues of a kind."""
        return [cue for cue in self.cues if cue.kind == kind]

    def governs(self, cue: Cue, place: int) -> bool:
        """Whether a word stands where the cue has something to say: behind it, or before it in its clause."""
        return cue.start <= place < cue.reach or self.clauses[cue.start] == self.clauses[place]

    def negations(self, place: int) -> frozenset[int]:
        """Whether a word is negated an odd number of times: by what stands before it, or in all of its clause."""
        cues = [cue for cue in self.of(NEGATION) if not cue.start <= place < cue.end]
        before = sum(cue.start <= place < cue.reach for cue in cues)
        return frozenset({before % 2, sum(self.governs(cue, place) for cue in cues) % 2})


def _weight(reading: Reading, text: str) -> int:
    return getsizeof(text) + 600 * len(reading.words)


@remembered(4_000_000, _weight)
def read(text: str) -> Reading:
    """Tag a text, and find its cues and clauses."""
    words = tag(text)
    keys = [_key(word) for word in words]
    starts = _clause_starts(words)
    clauses, number = [], 0
    for place in range(len(words)):
        number += place in starts
        clauses.append(number)
    behind = text.find(BEHIND)
    lead = sum(word.end <= behind for word in words)
    cues = [_cue(sign, span, (words, keys, starts, lead)) for span, sign in _signs_in(words)]
    return Reading(words, keys, clauses, cues)


def _key(word: Word) -> str:
    low = word.low
    if low in NUMBERS:
        return NUMBERS[low]
    if low in STOPWORDS or not any(character.isalnum() for character in low) or low.startswith("'"):
        return ""
    return low.replace(",", "") if low[0].isdigit() else stem(low)


def _signs_in(words: Sequence[Word]) -> Iterator[tuple[tuple[int, int], Sign]]:
    """Find the phrases of `smallwords`, the longest at each place."""
    known = signs()
    place = 0
    while place < len(words):
        step = 1
        for phrase, found in known.get(words[place].low, ()):
            end = place + len(phrase)
            if tuple(word.low for word in words[place:end]) != phrase:
                continue
            meant = [sign for sign in found if _is_meant(sign, words, place, end)]
            if meant:
                yield from (((place, end), sign) for sign in meant if sign.kind != IGNORED)
                step = len(phrase)
                break
        place += step


def _is_meant(sign: Sign, words: Sequence[Word], start: int, end: int) -> bool:
    """Refuse a word that is something else here."""
    word, after = words[start], words[end] if end < len(words) else None
    if is_named(words, start):
        return False
    if sign.before_number:
        return after is not None and _is_number(after)
    if word.low in _MODALS and (word.tag in _NOUNS or (word.low == "may" and word.text == "May" and start)):
        return False
    if word.low == "ca":
        return after is not None and after.low == "n't"
    if word.low == "no" and (after is None or after.low in {",", ".", ";", ":", "-", "–", "—"}):
        return False  # the answer no
    if word.low == "most" and end == start + 1 and after is not None and after.tag in {"JJ", "RB", "VBN", "VBG"}:
        return False  # a superlative
    if word.low == "nor":
        return not any(other.low == "neither" for other in words[:start])
    if word.low == "+":
        return start > 0 and words[start - 1].end == word.start and _is_number(words[start - 1])
    if word.low == "half" and after is not None and after.tag == "HYPH":
        return False
    before = " ".join(other.low for other in words[max(0, start - 3) : start])
    if sign.kind in {"few", "only", "most"} and before == "one of the":
        return False
    floats = word.low == "all" and (after is None or after.tag[0] == "V")
    return sign.kind != "all" or not floats  # "the pumps all failed": each of them alone as well


def is_named(words: Sequence[Word], place: int) -> bool:
    """Whether a word is part of a name or a title, by its capital: "No Hands", "Can Themba"."""
    word = words[place]
    if not word.text[0].isupper() or (word.text.isupper() and len(word.text) > 1) or not place:
        return False
    if sum(other.text[0].isupper() for other in words) > len(words) / 2:
        return False  # a heading
    before = words[place - 1]
    quoted = before.low in {'"', "'", "``", "“"}
    after = words[place + 1] if place + 1 < len(words) else None
    if quoted or STOP.fullmatch(before.low):
        return quoted and after is not None and after.text[0].isupper()
    return True


def _is_number(word: Word) -> bool:
    return word.low[0].isdigit() or word.low in COUNTS or word.low in _MONEY


def _cue(sign: Sign, span: tuple[int, int], among: tuple[Sequence[Word], Sequence[str], frozenset[int], int]) -> Cue:
    """Read a cue among words, their keys, where clauses begin, and how many words are a lead-in."""
    words, keys, starts, lead = among
    start, end = span
    behind, reach = end, _next(starts, end, len(words))
    if end < len(words) and words[end].low == ",":  # "may, in some cases, be"
        comma = next((i for i in range(end + 1, len(words)) if words[i].low == ","), len(words))
        behind, reach = comma + 1, _next(starts, comma + 2, len(words))
    if sign.kind == CHOICE:
        before, after = [i for i in range(start) if keys[i]][-1:], [i for i in range(end, reach) if keys[i]][:1]
        return Cue(sign.kind, sign.binds, start, end, reach, (*before, *after))
    if " ".join(word.low for word in words[start:end]) in _BEHIND:
        heads = [i for i in range(max(0, start - 3), start) if _is_number(words[i])][-1:]
        return Cue(sign.kind, sign.binds, start, end, reach, tuple(heads))
    several = not sign.before_number and words[start].low != "non"
    if start < lead:  # "You must not:" says so of what follows; "You can do one of these:" of itself
        heads = _heads(words, keys, behind, min(reach, lead), several=several)
        if all(words[head].low in ANNOUNCING for head in range(behind, lead) if keys[head]):
            heads = _heads(words, keys, lead, reach, several=False)
    else:
        heads = _heads(words, keys, behind, reach, several=several)
    if not heads:
        heads = [i for i in range(start) if keys[i]][-1:]
    return Cue(sign.kind, sign.binds, start, end, reach, tuple(heads))


def _heads(words: Sequence[Word], keys: Sequence[str], start: int, reach: int, *, several: bool) -> list[int]:
    """The first telling word, and the first of each further member of a list."""
    known = binding()
    heads: list[int] = []
    wanted = True
    for place in range(start, reach):
        word = words[place]
        if wanted and word.tag in {"IN", "TO"} and heads:
            wanted = False
        elif wanted and heads and word.tag == "VBG" and words[heads[0]].tag != "VBG":
            break  # "denied it, citing …"
        elif wanted and keys[place] and not (word.tag in {"RB", "RBR"} and place + 1 < reach) and word.low not in known:
            heads.append(place)
            wanted = False
            if not several:
                break
        elif heads and (word.low == "," or word.low in _JOINS):
            wanted = not (words[start - 1].low in NO_LIST and word.low == "and")
        elif heads and word.low == "that":
            wanted = words[place - 1].tag[0] in "VJ" or words[place - 1].low in THAT
    return heads


def _next(starts: frozenset[int], place: int, end: int) -> int:
    return min((start for start in starts if start >= place), default=end)


def _clause_starts(words: Sequence[Word]) -> frozenset[int]:
    return frozenset(place for place in range(1, len(words)) if _begins(words, place))


def _begins(words: Sequence[Word], place: int) -> bool:
    """Whether another clause begins at a word."""
    word, before = words[place], words[place - 1]
    if STOP.fullmatch(before.low) or (word.low in CLAUSE_WORDS and (before.low == "," or word.low not in _ADVERBS)):
        return True
    if word.low == "nor":
        return not any(other.low in {"neither", "nor"} for other in words[:place])
    if before.low == ",":
        if word.low in RELATIVES:
            return True
        return _has_verb(words, place + (word.low in _JOINS))
    return word.low in _JOINS and before.low != "," and _has_verb(words, place + 1)


def _has_verb(words: Sequence[Word], start: int) -> bool:
    """Whether what follows a comma or "and" is a clause: a verb stands in it before anything else begins."""
    passive = any(word.low in _BE for word in words[max(0, start - 8) : start])
    modal = any(word.low in _MODALS for word in words[max(0, start - 8) : start])
    for place in range(start, min(len(words), start + _AHEAD)):
        word = words[place]
        if word.low in RELATIVES or word.low in CLAUSE_WORDS or word.low in _JOINS or word.low in {",", ";", ".", ":"}:
            return False
        if word.tag in FINITE:
            shares = (word.tag == "VBD" and passive and word.low not in _BE) or (word.tag == "VBP" and modal)
            return place != start or not shares  # "may be washed and dried", "may fail and leak"
    return False

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
from everyclaim.decompose.grammar import BE
from everyclaim.text.antonyms import root
from everyclaim.text.tagger import FINITE, NOUNS, Word, tag
from everyclaim.text.tokens import STOPWORDS

STOP = re.compile(r"[.;!?()]|\.\.+|--+|[–—]")  # another clause begins behind it
_VERBS = FINITE | {"VB"}
_JOINS = frozenset({"and", "or", "nor"})
_MODALS = frozenset({"may", "might", "could", "can", "must", "should", "shall"})
_BEHIND = frozenset({"or more", "or so", "or less", "or fewer", "or older", "or over", "or above", "+"})
_ANNOUNCED = frozenset({"this", "that", "it"}) | ANNOUNCING  # "denies this: …" denies what follows
_MONEY = frozenset("$€£¥")
_ADVERBS = frozenset({"yet", "so", "however", "since"})  # begin a clause only behind a comma
_MEASURING = frozenset({"approximation", "at least", "at most", "part"})
COUNTING = _MEASURING | {"all", "some", "few", "most", "only"}  # they say how much of a noun
_POINTED = frozenset({"which", "whom", "whose"})  # after a preposition: "for which", "many of whom"
_ASIDE = 7  # words between two commas
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
    return low.replace(",", "") if low[0].isdigit() else root(low)


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
    if word.low in _MODALS and (word.tag in NOUNS or (word.low == "may" and word.text == "May" and start)):
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
        limit = _next(starts, end + 2, len(words))
        comma = next((i for i in range(end + 1, limit) if words[i].low == ","), limit - 1)
        behind, reach = comma + 1, limit if comma == limit - 1 else _next(starts, comma + 2, len(words))
    if sign.kind == CHOICE:
        before, after = [i for i in range(start) if keys[i]][-1:], [i for i in range(end, reach) if keys[i]][:1]
        return Cue(sign.kind, sign.binds, start, end, reach, (*before, *after))
    if " ".join(word.low for word in words[start:end]) in _BEHIND:
        heads = [i for i in range(max(0, start - 3), start) if _is_number(words[i])][-1:]
        return Cue(sign.kind, sign.binds, start, end, reach, tuple(heads))
    counted = sign.kind in _MEASURING and end < len(words) and _is_number(words[end])
    several = not sign.before_number and not counted and words[start].low != "non"
    if words[start].low in NO_LIST:  # "no lid and leaks": what "and" adds is not denied with it
        reach = next((i for i in range(behind + 1, reach) if words[i].low == "and"), reach)
    if start < lead:  # "You must not:" says so of what follows; "You can do one of these:" of itself
        heads = _heads(words, keys, range(behind, min(reach, lead)), sign.kind, several=several)
        if all(words[head].low in ANNOUNCING for head in range(behind, lead) if keys[head]):
            heads = _heads(words, keys, range(lead, reach), sign.kind, several=False)
    else:
        heads = _heads(words, keys, range(behind, reach), sign.kind, several=several)
    if not heads:
        heads = [i for i in range(start) if keys[i]][-1:]
    return Cue(sign.kind, sign.binds, start, end, reach, tuple(heads))


def _heads(words: Sequence[Word], keys: Sequence[str], within: range, kind: str, *, several: bool) -> list[int]:
    """The first telling word, and the first of each further member of a list."""
    known = binding()
    heads: list[int] = []
    wanted = True
    is_over = has_or = False
    for place in within:
        word = words[place]
        if heads and _leads_away(words, place, heads[0]):
            break
        if wanted and word.tag in {"IN", "TO"} and heads:
            wanted = word.tag == "TO" and words[heads[0]].tag == "VB"  # "plans to sell it and to move"
        elif wanted and heads and word.tag == "VBG" and words[heads[0]].tag != "VBG":
            break  # "denied it, citing …"
        elif (
            wanted
            and keys[place]
            and not (word.tag in {"RB", "RBR"} and place + 1 < within.stop)
            and word.low not in known
        ):
            heads.append(place)
            wanted = False
            if not several:
                break
        elif heads and (word.low == "," or word.low in _JOINS):
            if kind == NEGATION and has_or and word.low == "and":
                break  # "not stated or told, and …"
            has_or = has_or or word.low in {"or", "nor"}
            wanted = not is_over
        elif heads and word.low == "that":
            wanted = words[place - 1].tag[0] in "VJ" or words[place - 1].low in THAT
        # "some critics blamed the firm and the press": neither is some
        is_over = is_over or (bool(heads) and kind in COUNTING and word.tag[0] == "V" and words[heads[0]].tag in NOUNS)
    return heads


def _leads_away(words: Sequence[Word], place: int, head: int) -> bool:
    """Whether what follows is no longer governed with a head: ", with …", "and the fact that …"."""
    before = words[place - 1]
    if words[place].low == "that" and before.low == "fact" and place - 1 != head:
        return words[place - 2].low == "the"
    return words[place].low == "with" and before.low == ","


def _next(starts: frozenset[int], place: int, end: int) -> int:
    return min((start for start in starts if start >= place), default=end)


def _clause_starts(words: Sequence[Word]) -> frozenset[int]:
    verb = next(  # "No assaults, robberies or thefts occurred": what stands before the first verb is no clause
        (i for i, w in enumerate(words) if w.tag in _VERBS and not (i and w.tag == "VBZ" and words[i - 1].low == ",")),
        len(words),
    )
    return frozenset(place for place in range(1, len(words)) if _begins(words, place, verb))


def _begins(words: Sequence[Word], place: int, verb: int) -> bool:
    """Whether another clause begins at a word; the first verb of all stands at `verb`."""
    word, before = words[place], words[place - 1]
    if STOP.fullmatch(before.low) or (word.low in CLAUSE_WORDS and (before.low == "," or word.low not in _ADVERBS)):
        return True
    if word.low == "nor":
        return not any(other.low in {"neither", "nor"} for other in words[:place])
    if before.low == ":":
        return place > 1 and words[place - 2].low not in _ANNOUNCED and _states(words, place)
    joins = word.low in _JOINS
    if joins and (verb > place or _goes_on(words, place)):
        return False
    if before.low == ",":
        if word.low in RELATIVES or any(
            words[i].low in _POINTED and words[i - 1].tag == "IN" for i in range(place + 1, min(place + 4, len(words)))
        ):
            return True
        return not (verb > place and word.tag == "VBZ") and _has_verb(words, place + joins)
    return joins and _has_verb(words, place + 1)


def _goes_on(words: Sequence[Word], place: int) -> bool:
    """Whether "and" or "or" adds to a list of phrases: "for injuries, or for an absence reported late"."""
    after = words[place + 1] if place + 1 < len(words) else None
    return after is not None and after.tag == "IN" and any(word.low == after.low for word in words[:place])


def _states(words: Sequence[Word], start: int) -> bool:
    """Whether a verb follows, other than that of a relative clause, before a sentence is over."""
    relative = False
    for word in words[start:]:
        if STOP.fullmatch(word.low):
            return False
        if word.tag in FINITE and not relative:
            return True
        relative = word.low in RELATIVES or (relative and word.tag not in FINITE)
    return False


def _has_verb(words: Sequence[Word], start: int) -> bool:
    """Whether what follows a comma or "and" is a clause: a verb stands in it before anything else begins."""
    passive = any(word.low in BE for word in words[max(0, start - 8) : start])
    modal = any(word.low in _MODALS for word in words[max(0, start - 8) : start])
    for place in range(start, min(len(words), start + _AHEAD)):
        word = words[place]
        if word.low == "," and place > start:
            return _resumes(words, place)
        if word.low in RELATIVES or word.low in CLAUSE_WORDS or word.low in _JOINS or word.low in {",", ";", ".", ":"}:
            return False
        if word.tag in FINITE:
            shares = (word.tag == "VBD" and passive and word.low not in BE) or (word.tag == "VBP" and modal)
            return place != start or not shares  # "may be washed and dried", "may fail and leak"
    return False


def _resumes(words: Sequence[Word], comma: int) -> bool:
    """Whether an aside begins at a comma, and a verb follows it: "their coach, John Smith, admitted"."""
    close = next((i for i in range(comma + 1, min(len(words), comma + _ASIDE)) if words[i].low == ","), len(words) - 1)
    aside = words[comma + 1 : close]
    return (
        words[close + 1 : close + 2] != []
        and words[close + 1].tag in FINITE
        and not any(word.low in _JOINS or word.tag in FINITE for word in aside)
    )

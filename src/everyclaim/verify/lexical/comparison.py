"""A claim laid beside its passages: everything that the features and the words of a verdict are read from.

Equal values get one spelling first: a claim's "1.8 litres" becomes its passage's "1.8 L", "takeout" its "take out".
What is compared word by word, by the features and by the network, then differs only where something is meant otherwise.
The passages keep their text, so evidence stays where it is; `Spelling` leads from the claim as it is compared back to
the claim as it was written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeGuard

import numpy as np

from everyclaim.text.agreement import AGREES, Fact, relation
from everyclaim.text.cues import Cue, cues
from everyclaim.text.quantities import Quantity
from everyclaim.text.rendering import rendered
from everyclaim.text.tokens import STOPWORDS, Token, stem, tokenize, word_set
from everyclaim.verify.lexical.alignment import (
    AlignedSource,
    Alignment,
    Edits,
    align,
    compare_tokens,
    sentence,
    tokens_of,
)
from everyclaim.verify.lexical.checks import Attribution, FactCheck, check_facts, check_speaker, facts, span
from everyclaim.verify.lexical.fields import Answer, answers
from everyclaim.verify.lexical.reading import Reading, WordVectors, read

_SENTENCES = 24  # at most so many sentences of the passages are read for values
_COMPOUND = range(5, 65)  # letters of a word that may be two
_ABBREVIATED = 3  # letters at least of a word that is cut short
_SIGNS = frozenset({"minus", "plus", "negative"})
_ADDED_UP = 8  # amounts and dates at most of a claim that adds up or multiplies: with more, it lists
_CLOSER = 0.02  # share of a claim's weight that a closer relation is worth


class Change(NamedTuple):
    """The characters [start, end) of a claim that stand as [at, until) in the claim as it is compared."""

    start: int
    end: int
    at: int
    until: int


@dataclass(frozen=True, slots=True)
class Spelling:
    """A claim with the passages' words for the values it shares with them."""

    written: str
    text: str
    changes: tuple[Change, ...] = ()

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Find the characters of the claim as written behind ``text[start:end]``; changed values whole."""
        return self._back(start, first=True), self._back(end, first=False)

    def _back(self, place: int, *, first: bool) -> int:
        shift = 0
        for change in self.changes:
            if place < change.at or (first and place == change.at) or (not first and place <= change.at):
                break
            if place < change.until or (not first and place == change.until):
                return change.start if first else change.end
            shift = change.end - change.until
        return place + shift


class StatedSpelling(NamedTuple):
    """A value that a sentence of the passages states, and how much of the claim the sentence holds."""

    fact: Fact
    sentence: str
    worth: float


def stated(source: AlignedSource, alignment: Alignment) -> list[StatedSpelling]:
    """Give every value in the sentences that hold most of a claim, each once: where the most of it is held."""
    found: dict[Fact, StatedSpelling] = {}
    for text, worth in _ranked(source, alignment):
        for fact in facts(text):
            found.setdefault(_wherever(fact), StatedSpelling(fact, text, worth))
    return list(found.values())


def _wherever(fact: Fact) -> Fact:
    bare = fact._replace(start=0, end=0)
    return bare._replace(first=0, last=0) if isinstance(bare, Quantity) else bare


def foremost(source: AlignedSource, alignment: Alignment) -> list[str]:
    """Give the sentences that hold most of a claim, the worthiest first."""
    return [text for text, _ in _ranked(source, alignment)]


def _ranked(source: AlignedSource, alignment: Alignment) -> list[tuple[str, float]]:
    worth = alignment.weights @ (alignment.exact + alignment.soft)
    columns = np.argsort(-worth, kind="stable")[:_SENTENCES]
    return [(sentence(source, int(column)), float(worth[column])) for column in columns]


def respell(claim: str, source: AlignedSource, alignment: Alignment, checks: Sequence[FactCheck]) -> Spelling:
    """Put the passages' words for equal values in a claim's place; those of the sentence that suits the claim best.

    A value that differs from one in its place is written the way that one is. `checks` are of all values of the claim.
    """
    found = [*_values(checks, stated(source, alignment) if checks else []), *_compounds(claim, source)]
    places = [(start, end, words) for start, end, words in found if words and not same_words(claim[start:end], words)]
    pieces: list[str] = []
    changes: list[Change] = []
    done = at = 0
    for start, end, words in sorted(places):
        if start < done:
            continue
        pieces += [claim[done:start], words]
        at += start - done
        changes.append(Change(start, end, at, at + len(words)))
        done, at = end, at + len(words)
    return Spelling(claim, "".join(pieces) + claim[done:], tuple(changes))


def _values(checks: Sequence[FactCheck], theirs: Sequence[StatedSpelling]) -> Iterator[tuple[int, int, str]]:
    """Give the places of a claim's values, and the passages' words for them."""
    for check in checks:
        found = _closest(check.fact, theirs)
        if found is not None:
            yield _in_place(check.fact, found)
        elif not _is_bound(check.fact) and (
            bare := _closest(check.fact, [it._replace(fact=_unbound(it.fact)) for it in theirs])
        ):
            yield _in_place(check.fact, bare)  # "until a week before" beside "up to seven days before"
        elif check.status == "found" and not (check.relation == "within" and _is_bound(check.fact)):
            # in brackets, what is said before it once more
            yield *span(check.fact, whole=False), check.instead
        elif check.rival is not None and check.said.lower() not in ("one", "first"):
            yield *span(check.fact, whole=False), rendered(_unbound(check.fact), check.rival, check.rival_words)


def _compounds(claim: str, source: AlignedSource) -> Iterator[tuple[int, int, str]]:
    """Give the places of compounds that the passages join otherwise ("Wi-Fi", "takeout"), and how they do."""
    tokens = [token for token in tokenize(claim) if token.norm.isalpha()]
    is_known = [token.norm in STOPWORDS or stem(token.norm) in source.index for token in tokens]
    texts = [] if all(is_known) else [reading.text.lower() for reading in source.readings]
    for at, token in enumerate(tokens):
        if is_known[at]:
            continue
        if longer := _in_full(claim, token, source):
            yield token.start, token.end + 1, longer
        if len(token.norm) in _COMPOUND and (words := _split(token.norm, texts)):
            yield token.start, token.end, words
        for first, second in ((at - 1, at), (at, at + 1)):
            pair = tokens[first : second + 1] if first >= 0 else []
            joint = claim[pair[0].end : pair[1].start] if len(pair) == 2 else ""
            if joint == "-" or (joint == " " and len(pair[0].norm) > 1):  # "a way" is not "away"
                joined = claim[slice(*pair[0][1:3])] + claim[slice(*pair[1][1:3])]
                key = stem(joined.lower())  # which may be that of the first alone: of "minimum lies"
                if key in source.index and key.startswith(pair[0].norm + pair[1].norm[:2]):
                    yield pair[0].start, pair[1].end, joined


def _in_full(claim: str, token: Token, source: AlignedSource) -> str:
    """Find the one word of the passages that a heading of a table abbreviates: "Temp.: 12 °C"; empty where none."""
    if len(token.norm) < _ABBREVIATED or claim[token.end : token.end + 2] != ".:":
        return ""
    words = {norm for reading in source.readings for norm in reading.norms if norm.startswith(token.norm)}
    return words.pop() if len(words) == 1 else ""


def _split(word: str, texts: Sequence[str]) -> str:
    """Find the two words that texts in lower case write for one; empty where they do not."""
    halves = [(word[:at], word[at:]) for at in range(2, len(word) - 1)]
    for low in texts:
        for first, second in halves:
            for joint in (" ", "-"):
                if (written := first + joint + second) in low and re.search(rf"\b{written}\b", low):
                    return written
    return ""


def _closest(fact: Fact, theirs: Sequence[StatedSpelling]) -> StatedSpelling | None:
    """Choose, among values of the passages that agree with a claim's, the one in the sentence that suits best."""
    best, chosen = -1.0, None
    for other in theirs:  # the worthiest first
        if other.worth <= best:
            break
        said = relation(fact, other.fact)
        if said == "within" and _is_bound(fact) and _is_bound(other.fact):
            continue  # "at least 14" is not "at least 16", though it may follow from it
        if said in AGREES and other.worth - _CLOSER * AGREES.index(said) > best:
            best, chosen = other.worth - _CLOSER * AGREES.index(said), other
    return chosen


def _is_bound(fact: Fact) -> bool:
    return isinstance(fact, Quantity) and (math.isinf(fact.low) or math.isinf(fact.high))


def _unbound(fact: Fact) -> Fact:
    """Give the value alone that a bound names: 7 of "at most 7"."""
    if not isinstance(fact, Quantity) or not _is_bound(fact):
        return fact
    value = fact.high if math.isinf(fact.low) else fact.low
    return fact._replace(low=value, high=value, first=fact.start, last=fact.end)


def _loosened(fact: Fact) -> bool:
    return isinstance(fact, Quantity) and (fact.first, fact.last) != (fact.start, fact.end)


def _in_place(fact: Fact, found: StatedSpelling) -> tuple[int, int, str]:
    """Give the characters of the claim to replace, and the passage's words for them."""
    loosened = _loosened(fact)
    start, end = span(fact, whole=loosened)
    first, last = span(found.fact, whole=loosened and _loosened(found.fact))
    ours, theirs = (_rate_start(value) for value in (fact, found.fact))
    if (ours is None) != (theirs is None):  # one says "per hour", the other not: each keeps to itself
        end, last = ours or end, theirs or last
    words = found.sentence[first:last]
    if first == 0 < start and words[:1].isupper() and words[1:2].islower():
        words = words[:1].lower() + words[1:]
    return start, end, words


def _rate_start(fact: Fact) -> int | None:
    return fact.rate.start if isinstance(fact, Quantity) and fact.rate is not None else None


def same_words(mine: str, theirs: str) -> bool:
    """Say whether two spellings are the same words, or one says those of the other and more, a sign excepted."""
    shorter, longer = sorted(([token.norm for token in tokenize(text)] for text in (mine, theirs)), key=len)
    if not _SIGNS.isdisjoint(longer) and _SIGNS.isdisjoint(shorter):
        return False
    return any(longer[at : at + len(shorter)] == shorter for at in range(len(longer) - len(shorter) + 1))


# A claim with one of these speaks of what the passages say.
_OF_SAYING = frozenset(
    stem(word)
    for word in word_set(
        """
        mention given give provided specified specify specific stated listed information indicated detailed described
        unknown known say recorded disclosed missing blank empty null unclear unspecified
        """
    )
)
_AS_WELL = 0.5  # share of what the best sentence holds of a claim that makes another speak of it as well


@dataclass(frozen=True)
class LexicalComparison:
    """A claim, all passages, and the main window: tokens [start, end) of one passage's reading.

    `claim` is the claim with its passages' spelling of the values it shares with them; `spelling` leads back.
    """

    claim: Reading
    spelling: Spelling
    source: AlignedSource
    vectors: WordVectors
    alignment: Alignment
    reading: Reading
    start: int
    end: int
    checks: list[FactCheck]
    question: Reading | None

    @cached_property
    def edits(self) -> Edits:
        """What makes the claim of the window, token by token."""
        return compare_tokens(self.claim.keys, self.keys)

    @property
    def answers(self) -> list[Answer]:
        """Fields that answer what the claim says, or deny it."""
        return [answer for answer in self.named if answer.agrees is not None]

    @cached_property
    def named(self) -> list[Answer]:
        """Fields that answer yes or no, nothing, or otherwise than the claim says, and that it names."""
        number, _ = self.source.places[self.alignment.main[0]]
        low, high = self.reading.spans[self.start][0], self.reading.spans[self.end - 1][1]
        return answers(self.claim, self.source.readings, (number, low, high))

    @cached_property
    def attribution(self) -> Attribution:
        """Who is said to have said what."""
        return check_speaker(self.claim.text, self.text)

    @property
    def keys(self) -> list[str]:
        """Keys of the window's tokens."""
        return self.reading.keys[self.start : self.end]

    @property
    def text(self) -> str:
        """Text of the window."""
        spans = self.reading.spans
        return self.reading.text[spans[self.start][0] : spans[self.end - 1][1]]


def compare(
    claim: Reading, source: AlignedSource, vectors: WordVectors, question: Reading | None = None
) -> LexicalComparison:
    """Lay a claim beside its passages. Both must have at least one content word."""
    blank = _blank(claim, source)
    alignment = align(claim, source, vectors, blank)
    checks = _checks(claim.text, source, alignment)
    spelling = respell(claim.text, source, alignment, checks)
    if spelling.changes:
        claim = read(spelling.text, vectors, every_word=len(claim.content) == len(claim.keys))
        alignment = align(claim, source, vectors, blank)
        checks = _checks(spelling.written, source, alignment)
    _let_go(claim, spelling, alignment, checks)
    reading, start, end = tokens_of(source, *alignment.main)
    return LexicalComparison(
        claim=claim,
        spelling=spelling,
        source=source,
        vectors=vectors,
        alignment=alignment,
        reading=reading,
        start=start,
        end=end,
        checks=checks,
        question=question,
    )


def _blank(claim: Reading, source: AlignedSource) -> list[int]:
    """List the sentences (columns) that only say that a field is not given; none for a claim about what is said."""
    if not _OF_SAYING.isdisjoint(map(stem, claim.norms)):
        return []
    return [column for column in range(len(source.places)) if sentence(source, column).endswith(": not given")]


def _let_go(claim: Reading, spelling: Spelling, alignment: Alignment, checks: Sequence[FactCheck]) -> None:
    """Take back that values are held which stand in the passages under another label."""
    for low, high in [check.at for check in checks if check.is_elsewhere]:
        for row, at in enumerate(claim.content):
            start, end = spelling.origin(*claim.spans[at])
            if start < high and low < end:
                alignment.exact[row] = alignment.soft[row] = 0.0


def _checks(claim: str, source: AlignedSource, alignment: Alignment) -> list[FactCheck]:
    """Check a claim's facts against those of its main window.

    A value differs from none in the window where a sentence that speaks of the claim as well states that very value.
    """
    first, last = alignment.main
    window = [sentence(source, column) for column in range(first, last + 1)]
    checks = check_facts(claim, window, foremost(source, alignment))
    if all(check.status == "found" for check in checks):
        return checks
    theirs = stated(source, alignment)
    if len(checks) <= _ADDED_UP:
        checks = [_computed(check, checks, theirs) for check in checks]
    if not any(check.status == "conflict" and not check.is_elsewhere for check in checks):
        return checks
    least = _AS_WELL * float((alignment.weights @ (alignment.exact + alignment.soft)).max())
    near = [other.fact for other in theirs if other.worth >= least]
    return [
        FactCheck(check.fact, "missing", check.said, check.at)
        if check.status == "conflict"
        and not check.is_elsewhere
        and any(relation(check.fact, fact) in AGREES for fact in near)
        else check
        for check in checks
    ]


def _computed(check: FactCheck, checks: Sequence[FactCheck], theirs: Sequence[StatedSpelling]) -> FactCheck:
    """Take an amount as stated that is a multiple of one that the passages state, or a sum; no count, which may be."""
    mine = check.fact
    if check.status == "found" or check.is_elsewhere or not is_exact(mine) or mine.dimension == "count":
        return check
    ways = calculations(mine, checks, theirs)
    words = next((words for how, words, _ in ways if how in {"its multiple", "their sum"}), "")
    return replace(check, status="found", instead=words, relation="converted", rival=None) if words else check


def calculations(
    mine: Quantity, checks: Sequence[FactCheck], theirs: Sequence[StatedSpelling]
) -> Iterator[tuple[str, str, bool]]:
    """Yield what an amount is of the passages' (`their sum`), their words, and whether one sentence has them.

    The claim says how many times: "three" of "2 euros", "four weeks" of "60 euros a week". A share has no name.
    """
    is_count, parts = mine.dimension == "count", dict[tuple[str, str], list[tuple[int, str, float, str]]]()
    own = [it.fact for it in checks if is_exact(it.fact) and not is_count]
    counts = {one.low for one in own if one.dimension == "count"}
    for number, (fact, text, _) in enumerate(theirs):
        if not is_exact(fact) or fact.dimension not in {mine.dimension, "percent"}:
            continue
        rate, words = fact.rate, text[slice(*span(fact, whole=False))]
        times = counts | {one.low / rate.amount for one in own if rate is not None and one.dimension == rate.dimension}
        for time in {1.0, *times}:
            each, amount = words if time == 1 else f"{words} each", time * fact.low
            if time != 1 and fact.dimension == mine.dimension and _figures(amount) == _figures(mine.low):
                yield "its multiple", each, True
            parts.setdefault((fact.dimension, _figures(amount)), []).append((number, each, amount, text))
    for one in [one for (dimension, _), found in parts.items() if dimension == mine.dimension for one in found]:
        low, wanted = one[2], mine.low
        others = {"their sum": wanted - low, "their difference": wanted + low, "": 100 * wanted / (low or math.inf)}
        for how, amount in others.items():
            for other in parts.get((mine.dimension if how else "percent", _figures(amount)), ()):
                if other[0] != one[0] and (is_count or _figures(amount) != _figures(low)):  # not one amount twice
                    yield how, " and ".join(words for _, words, *_ in sorted([one, other])), one[3] == other[3]


def _figures(amount: float) -> str:
    """Write an amount so that equal ones are written alike, however they were calculated."""
    return f"{amount:.9g}"


def is_exact(fact: Fact) -> TypeGuard[Quantity]:
    """Say whether a value is one number, neither a range nor about one."""
    return isinstance(fact, Quantity) and fact.low == fact.high and not fact.approximate and not fact.lean


def beside(it: LexicalComparison) -> list[int]:
    """Give the places in the window's reading that are aligned with the claim, or stand near what is.

    A sentence between, or beside, that holds nothing of what the claim says speaks of something else.
    """
    pairs, sentence = it.edits.pairs, it.reading.sentence
    if not pairs:
        return list(range(it.start, it.end))
    telling = set(it.claim.content)
    held = {sentence[it.start + theirs] for mine, theirs in pairs if mine in telling}
    low = max(it.start, it.start + pairs[0][1] - 4)
    high = min(it.end, it.start + pairs[-1][1] + 5)
    return [at for at in range(low, high) if sentence[at] in held or not held]


def cues_beside(it: LexicalComparison) -> list[Cue]:
    """Find the small words of the window that stand there (see `beside`); places are those of the window's text."""
    shift = it.reading.spans[it.start][0]
    near = {it.reading.sentence[at] for at in beside(it)}
    spans = [it.reading.sentences[number] for number in sorted(near)]
    return [cue for cue in cues(it.text) if any(low <= cue.start + shift < high for low, high in spans)]

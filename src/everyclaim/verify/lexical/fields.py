"""Fields of records: values that stand under another label than a claim names, and fields that answer yes or no.

"Check-out is at 3 PM" beside "Check in: 15:00": the value is in the record, and so are all words, yet nobody has said
so. "Valet parking: no" denies what its label says, "Accidents: 0" that there were any: a claim that names such a field
is held against its answer, since the label is worded alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from sys import getsizeof
from typing import NamedTuple

from everyclaim.core.lifetime import remembered
from everyclaim.core.types import Probabilities
from everyclaim.models.local.parser import parse
from everyclaim.models.local.tree import FINITE
from everyclaim.text.agreement import AGREES, Fact, relation
from everyclaim.text.cues import antonyms
from everyclaim.text.dates import Moment
from everyclaim.text.tokens import STOPWORDS, stem, tokenize, word_set
from everyclaim.verify.lexical.passages import comparable
from everyclaim.verify.lexical.reading import Reading, negating

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


def under_another(mine: Fact, claim: str, lines: Sequence[tuple[str, Sequence[Fact]]]) -> tuple[Fact, str] | None:
    """Find the value under the label that a claim names, where its own stands under others that it does not name.

    With its sentence. `lines` are the sentences that may state it, and their values. None where one of them is prose
    that states it.
    """
    stating = [sentence for sentence, held in lines if any(relation(mine, fact) in AGREES for fact in held)]
    if not stating or not all(map(label_of, stating)):
        return None
    said = {
        stem(token.norm)
        for token in tokenize(claim)
        if not (mine.start <= token.start < mine.end and token.norm in STOPWORDS)  # "11 in the morning" is no check-in
    }
    if said & _OTHERS:
        return None
    labels = [(_keys(label_of(sentence)), held, sentence) for sentence, held in lines if label_of(sentence)]
    known = [label for label, _, _ in labels]
    own = [label for label, _, sentence in labels if sentence in stating]
    for label, held, sentence in labels:
        rival = next((fact for fact in held if _differs(mine, fact)), None)
        if rival is None or sentence in stating or known.count(label) > 1:
            continue
        if all(_is_rather(label, other, said) for other in own):
            return rival, sentence
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


_FIELD = re.compile(
    r"^(?P<label>[^\n:]{1,100}): (?:(?P<said>yes|no|true|false|none|0(?: [^\W\d]{1,12})?)$|not given$|\S)",
    re.MULTILINE | re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:no|not|non|never|without)\b", re.IGNORECASE)  # "No smoking: yes"
_BLANK = ": not given"
_AFFIRMS = ("yes", "true")
_TURNS = frozenset({"but", "while", "although", "though", "however", "whereas", "yet", ";"})
_LACKS = frozenset({"lack", "lacks", "lacking", "lacked", "unavailable", "without", "prohibited", "forbidden"})
_DENIED = Probabilities(0.1, 0.1, 0.8)
_PARTICLES = frozenset({"out", "off", "up", "down"})  # "take out" is not "take"
_SUBJECT = 4  # words after "and" within which the verb of another clause stands


class Answer(NamedTuple):
    """A field that a claim names, where it stands in a reading, by number, and whether the claim says the same."""

    field: str
    reading: int
    start: int
    end: int
    agrees: bool | None  # None: it is not given


def after_answers(probabilities: Probabilities, named: Sequence[Answer]) -> Probabilities:
    """Return how probable a claim is where the fields that it names deny it, and none of them affirms it."""
    agreements = {answer.agrees for answer in named}
    return (
        _DENIED if False in agreements and True not in agreements and probabilities.supported > 0.5 else probabilities
    )


class _Field(NamedTuple):
    text: str
    start: int
    affirms: bool | None  # None: it answers something else, or nothing
    name: tuple[str, ...]  # keys of the last part of its label
    above: frozenset[str]  # keys of the parts it stands under


class Clause(NamedTuple):
    """Part of a claim, by characters: where it ends, its first finite verb and the words that negate."""

    end: int
    verb: int
    negators: tuple[int, ...]


def answers(claim: Reading, readings: Sequence[Reading], main: tuple[int, int, int]) -> list[Answer]:
    """List the fields that a claim names, in order; `main` is the stretch of a reading that holds most of it.

    A field of one word that stands under another ("Parking, lot") is named with that, or where it holds the claim.
    """
    fields = [(number, field) for number, reading in enumerate(readings) for field in _fields(reading.text)]
    if all(field.affirms is None and not field.text.endswith(_BLANK) for _, field in fields):
        return []
    often = Counter(key for name in {field.name for _, field in fields} for key in name)
    words, parts = _Words(claim), clauses(claim)
    found: dict[tuple[str, ...], list[Answer]] = {}
    for number, field in fields:
        named = [words.named(key) for key in [key for key in field.name if often[key] == 1] or field.name]
        places = [place for place, _ in filter(None, named)]
        is_blank = field.text.endswith(_BLANK)
        if (field.affirms is None and not is_blank) or len(places) < len(named):
            continue
        end = field.start + len(field.text)
        is_main = number == main[0] and field.start < main[2] and main[1] < end
        if field.above and len(field.name) == 1 and not field.above & words.said.keys() and not is_main:
            continue
        denied = is_denied(min(places), max(places), claim, parts)
        turned = sum(is_opposite for _, is_opposite in filter(None, named)) % 2 == 1
        agrees = None if is_blank else (denied == turned) == field.affirms
        answer = Answer(field.text, number, field.start, end, agrees)
        found.setdefault((*sorted(field.above), *field.name), []).append(answer)
    return [each[0] for each in found.values() if len({one.agrees for one in each}) == 1]  # of several records: whose?


@remembered(4_000_000, lambda found, text: getsizeof(text) + 600 * len(found))
def _fields(text: str) -> tuple[_Field, ...]:
    """List the fields of a text: all that stands on a line under a label."""
    found = []
    for match in _FIELD.finditer(text) if ": " in text else ():
        *above, name = ([*_telling(part)] for part in match["label"].split(", "))
        if name:
            affirms = match["said"].lower() in _AFFIRMS if match["said"] else None
            if affirms is not None and _NEGATED.search(match["label"].rpartition(", ")[2]):
                affirms = not affirms
            found.append(
                _Field(match.group(), match.start(), affirms, tuple(name), frozenset(chain.from_iterable(above)))
            )
    return tuple(found)


def _telling(label: str) -> Iterator[str]:
    return (comparable(token.norm) for token in tokenize(label) if _tells(token.norm) and token.norm != "non")


class _Words:
    """The words of a claim, as they may name a label."""

    def __init__(self, claim: Reading) -> None:
        self.said = {key: at for at, key in reversed([*enumerate(claim.keys)]) if _tells(claim.norms[at])}
        self.opposites = {word: at for at in self.said.values() for word in antonyms(claim.norms[at])}
        self.alike: dict[str, list[str]] = {}
        for word in self.said:
            self.alike.setdefault(word[:SHARED], []).append(word)

    def named(self, key: str) -> tuple[int, bool] | None:
        """Find the word that names a word of a label, and say whether it is its opposite."""
        if key in self.said:
            return self.said[key], False
        for word in self.alike.get(key[:SHARED], ()):
            if names(key, (word,)):
                return self.said[word], False
        return (self.opposites[key], True) if key in self.opposites else None


def _tells(norm: str) -> bool:
    return norm not in STOPWORDS or norm in _PARTICLES


def clauses(claim: Reading) -> list[Clause]:
    """Cut a claim where something else is asserted: "has no garden, but offers parking and is near the sea"."""
    words = parse([claim.text])[0]
    negators = [claim.spans[at][0] for _, at in negating(claim.norms)]
    negators += [span[0] for span, norm in zip(claim.spans, claim.norms, strict=True) if norm in _LACKS]
    found: list[Clause] = []
    start, verb = 0, -1
    for number, word in enumerate(words):
        low = word.text.lower()
        joins = (word.tag == "CC" and low not in ("or", "nor")) or low == ","
        goes_on = joins and verb >= 0 and any(after.tag in FINITE for after in words[number + 1 : number + _SUBJECT])
        if low in _TURNS or goes_on:
            found.append(_clause(start, word.start, verb, negators))
            start, verb = word.start, -1
        elif word.tag in FINITE and verb < 0:
            verb = word.start
    return [*found, _clause(start, len(claim.text) + 1, verb, negators)]


def _clause(start: int, end: int, verb: int, negators: Sequence[int]) -> Clause:
    return Clause(end, verb, tuple(at for at in negators if start <= at < end))


def is_denied(first: int, last: int, claim: Reading, parts: Sequence[Clause]) -> bool:
    """Say whether words are denied: by what stands before them, or as the subject by what stands behind the verb."""
    start, end = claim.spans[first][0], claim.spans[last][0]
    clause = next(clause for clause in parts if start < clause.end)
    if claim.norms[max(0, first - 2) : first] == ["out", "of"] or claim.norms[max(0, first - 1)] == "non":
        return True
    return any(negator <= end or start < clause.verb for negator in clause.negators)

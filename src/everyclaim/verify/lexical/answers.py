"""Fields that answer yes or no: "Valet parking: no" denies what its label says, "Accidents: 0" that there were any.

A claim that names such a field is held against its answer. Nothing else in a field says which of the two it is: its
label is worded alike.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from everyclaim.text.antonyms import antonyms
from everyclaim.text.tagger import FINITE, tag
from everyclaim.text.tokens import STOPWORDS
from everyclaim.verify.lexical.alignment import Source
from everyclaim.verify.lexical.analysis import Reading
from everyclaim.verify.lexical.labels import names
from everyclaim.verify.lexical.words import negating

_FIELD = re.compile(r"^(?P<label>[^\n:]{1,100}): (?P<said>yes|no|true|false|none|0(?: [^\W\d]{1,12})?)$", re.M | re.I)
_AFFIRMS = ("yes", "true")
_TURNS = frozenset({"but", "while", "although", "though", "however", "whereas", "yet", ";"})
_LACKS = frozenset({"lack", "lacks", "lacking", "lacked", "unavailable", "without"})
_PARTICLES = frozenset({"out", "off", "up", "down"})  # "take out" is not "take"
_SUBJECT = 4  # words after "and" within which the verb of another clause stands


class Answer(NamedTuple):
    """A field that a claim names, and whether the claim says the same."""

    field: str
    agrees: bool


class _Field(NamedTuple):
    text: str
    affirms: bool
    column: tuple[int, int]  # its reading, and the sentence there
    name: tuple[str, ...]  # keys of the last part of its label
    above: frozenset[str]  # keys of the parts it stands under


class _Clause(NamedTuple):
    """Part of a claim, by characters: where it ends, its first finite verb and the words that negate."""

    end: int
    verb: int
    negators: tuple[int, ...]


def answers(claim: Reading, source: Source, main: Container[tuple[int, int]]) -> list[Answer]:
    """List the fields that a claim names, in order; `main` are the sentences that hold most of it.

    A field of one word that stands under another ("Parking, lot") is named with that, or where it holds the claim.
    """
    fields = [field for number, reading in enumerate(source.readings) for field in _fields(number, reading)]
    if not fields:
        return []
    often = Counter(key for name in {field.name for field in fields} for key in name)
    said = {key: at for at, key in reversed([*enumerate(claim.keys)]) if _tells(claim.norms[at])}
    found: dict[tuple[str, ...], list[Answer]] = {}
    clauses: list[_Clause] = []
    for field in fields:
        telling = [key for key in field.name if often[key] == 1] or field.name
        named = [_named(key, claim, said) for key in telling]
        places = [place for place, _ in filter(None, named)]
        if len(places) < len(named) or not places:
            continue
        if field.above and len(field.name) == 1 and not field.above & said.keys() and field.column not in main:
            continue
        clauses = clauses or _clauses(claim)
        denied = _is_denied(min(places), max(places), claim, clauses)
        turned = sum(is_opposite for _, is_opposite in filter(None, named)) % 2 == 1
        agrees = (denied == turned) == field.affirms
        found.setdefault((*sorted(field.above), *field.name), []).append(Answer(field.text, agrees))
    return [each[0] for each in found.values() if len({one.agrees for one in each}) == 1]  # of several records: whose?


def _fields(number: int, reading: Reading) -> list[_Field]:
    """List the fields of a reading that answer yes or no."""
    found = []
    starts = [start for start, _ in reading.spans]
    for match in _FIELD.finditer(reading.text):
        label = match["label"]
        cut = match.start() + label.rfind(", ") + 1
        first, last = bisect_left(starts, match.start()), bisect_left(starts, match.end("label"))
        if first == last:
            continue
        telling = [at for at in range(first, last) if _tells(reading.norms[at])]
        name = tuple(reading.keys[at] for at in telling if starts[at] >= cut)
        above = frozenset(reading.keys[at] for at in telling if starts[at] < cut)
        if name:
            affirms = match["said"].lower() in _AFFIRMS
            found.append(_Field(match.group(), affirms, (number, reading.sentence[first]), name, above))
    return found


def _tells(norm: str) -> bool:
    return norm not in STOPWORDS or norm in _PARTICLES


def _named(key: str, claim: Reading, said: Mapping[str, int]) -> tuple[int, bool] | None:
    """Find the word of a claim that names a word of a label, and say whether it is its opposite."""
    if key in said:
        return said[key], False
    for word, at in said.items():
        if names(key, (word,)):
            return at, False
    return next(((at, True) for at in said.values() if key in antonyms(claim.norms[at])), None)


def _clauses(claim: Reading) -> list[_Clause]:
    """Cut a claim where something else is asserted: "has no garden, but offers parking and is near the sea"."""
    words = tag(claim.text)
    negators = [claim.spans[at][0] for _, at in negating(claim.norms)]
    negators += [span[0] for span, norm in zip(claim.spans, claim.norms, strict=True) if norm in _LACKS]
    found: list[_Clause] = []
    start, verb = 0, -1
    for number, word in enumerate(words):
        joins = (word.tag == "CC" and word.low not in ("or", "nor")) or word.low == ","
        goes_on = joins and verb >= 0 and any(after.tag in FINITE for after in words[number + 1 : number + _SUBJECT])
        if word.low in _TURNS or goes_on:
            found.append(_clause(start, word.start, verb, negators))
            start, verb = word.start, -1
        elif word.tag in FINITE and verb < 0:
            verb = word.start
    return [*found, _clause(start, len(claim.text) + 1, verb, negators)]


def _clause(start: int, end: int, verb: int, negators: Sequence[int]) -> _Clause:
    return _Clause(end, verb, tuple(at for at in negators if start <= at < end))


def _is_denied(first: int, last: int, claim: Reading, clauses: Sequence[_Clause]) -> bool:
    """Say whether words are denied: by what stands before them, or as the subject by what stands behind the verb."""
    start, end = claim.spans[first][0], claim.spans[last][0]
    clause = next(clause for clause in clauses if start < clause.end)
    if claim.norms[max(0, first - 2) : first] == ["out", "of"]:
        return True
    return any(negator <= end or start < clause.verb for negator in clause.negators)

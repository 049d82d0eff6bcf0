"""Fields that hold one value of several that exclude each other: "Status: shipped" denies "The order was delivered".

The two words are near to each other, as vectors go, and the label is worded as the claim is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from sys import getsizeof
from typing import NamedTuple

from everyclaim.core.memory import remembered
from everyclaim.text.antonyms import antonyms
from everyclaim.text.tokens import STOPWORDS, content_stems, stem, word_set
from everyclaim.verify.lexical.analysis import Reading
from everyclaim.verify.lexical.answers import Answer, Clause, clauses, is_denied
from everyclaim.verify.lexical.labels import names

_FIELD = re.compile(r"^([^\n:]{1,100}): ([^\W\d_]+(?:[ -][^\W\d_]+){0,2})$", re.MULTILINE)
_ANSWERS = frozenset({"yes", "no", "none", "true", "false", "not given"})
# Labels that say that a value follows, not of what.
_BARE = word_set("status state stage phase condition progress result outcome")
_OF_KINDS = frozenset(
    stem(word)
    for word in {*_BARE, *word_set("priority severity urgency level tier plan role type category mode grade class")}
)
_BARE_STEMS = frozenset(map(stem, _BARE))
# A row a question, its answers parted by bars; those of one cell mean the same.
_EXCLUSIVE = """
low minor lowest | medium normal moderate | high major | urgent critical severe highest
pending queued | processing packed | shipped dispatched sent transit | delivered | returned | cancelled canceled
open reopened unresolved | closed resolved solved
running started up online | stopped down offline | paused halted
active | inactive dormant | suspended blocked | expired lapsed | overdue due | cancelled canceled
draft | published | archived withdrawn
pending undecided | approved accepted granted | rejected declined denied refused
free | basic starter | standard | premium pro | enterprise
done completed complete finished | progress ongoing underway | todo planned | failed
paid settled | unpaid outstanding | overdue
full fully entirely completely | partial partially partly
admin administrator owner | editor | viewer | guest
new unused | used refurbished second-hand
"""
_ROWS = [[frozenset(map(stem, cell.split())) for cell in row.split("|")] for row in _EXCLUSIVE.strip().splitlines()]
_BE = frozenset({"is", "are", "was", "were", "be", "been", "being", "'s", "remains", "became"})
_CODE = 3  # letters
_NEAR = 3  # words before a value among which its verb stands: "is still in transit"
_REACH = 4  # words between a label and its verb, and of the value behind


class _State(NamedTuple):
    text: str
    start: int
    name: frozenset[str]  # stems of the last part of its label
    above: frozenset[str]  # of the parts it stands under
    values: frozenset[str]


def states(claim: Reading, readings: Sequence[Reading]) -> list[Answer]:
    """List the fields whose value a claim, in speaking of them, says to be another; of several records only if all are.

    Where it does not say so for certain, there is nothing to list.
    """
    all_of = [(number, state) for number, reading in enumerate(readings) for state in _states(reading.text)]
    if not all_of:
        return []
    said = {stem(norm): at for at, norm in reversed([*enumerate(claim.norms)]) if norm not in STOPWORDS}
    parts = clauses(claim)
    found: dict[frozenset[str], list[Answer | None]] = {}
    for number, state in all_of:
        if not all(names(key, said) for key in state.name - _BARE_STEMS):
            continue
        is_bare = state.name <= _BARE_STEMS and not state.name & said.keys()
        if is_bare and state.above and not state.above & said.keys():  # of an invoice, where a claim speaks of an order
            continue
        end = state.start + len(state.text)
        answer = Answer(state.text, number, state.start, end, agrees=False)
        is_other = _is_other(claim, state, said, parts)
        found.setdefault(state.above | state.name, []).append(answer if is_other else None)
    return [answers[0] for answers in found.values() if answers[0] is not None and all(answers)]


@remembered(2_000_000, lambda found, text: getsizeof(text) + 600 * len(found))
def _states(text: str) -> tuple[_State, ...]:
    return tuple(_read(text))


def _read(text: str) -> Iterator[_State]:
    for match in _FIELD.finditer(text) if ": " in text else ():
        *above, name = (content_stems(part) for part in match[1].split(", "))
        is_code = match[2].isupper() and len(match[2]) <= _CODE  # CA
        if name and match[2].lower() not in _ANSWERS and not is_code:
            yield _State(match.group(), match.start(), name, frozenset[str]().union(*above), content_stems(match[2]))


def _is_other(claim: Reading, state: _State, said: dict[str, int], parts: Sequence[Clause]) -> bool:
    """Say whether a claim that speaks of a field gives it another value, and does not deny that value."""
    missing = state.values - said.keys()
    own = state.name | state.above | state.values
    is_named = not state.name <= _BARE_STEMS or bool(state.name & said.keys())
    for word, at in said.items():
        is_said_of_it = is_named or not _BE.isdisjoint(claim.norms[max(0, at - _NEAR) : at])
        if is_said_of_it and word not in own and any(_exclude(word, claim.norms[at], value) for value in missing):
            return not is_denied(at, at, claim, parts)
    if missing != state.values or not (state.name <= said.keys() and state.name & _OF_KINDS):
        return False
    label = max(said[key] for key in state.name)
    if claim.norms[label] not in state.text.lower():  # "stating" is no state
        return False
    behind = _predicate(claim, label)
    words = {stem(claim.norms[at]) for at in behind} - own
    is_meant = any(_same(word, value) for word in words for value in missing)
    return bool(words) and not is_meant and not is_denied(behind[0], behind[-1], claim, parts)


def _predicate(claim: Reading, label: int) -> list[int]:
    """Find what a label is said to be: the words right behind the verb, up to the next comma or full stop."""
    verbs = (at for at in range(label + 1, min(label + 2 + _REACH, len(claim.norms))) if claim.norms[at] in _BE)
    verb = next(verbs, None)
    if verb is None:
        return []
    found = []
    for at in range(verb + 1, min(verb + 1 + _REACH, len(claim.norms))):
        if claim.text[claim.spans[at - 1][1] : claim.spans[at][0]].strip(" '\"“‘*`"):
            break
        if claim.norms[at] not in STOPWORDS:
            found.append(at)
    return found


def _exclude(mine: str, norm: str, theirs: str) -> bool:
    """Say whether two stems are different answers to one question, and in no row the same."""
    if _same(mine, theirs):
        return False
    return theirs in antonyms(norm) or any(_holds(row, mine) and _holds(row, theirs) for row in _ROWS)


def _same(mine: str, theirs: str) -> bool:
    return mine == theirs or any(mine in cell and theirs in cell for row in _ROWS for cell in row)


def _holds(row: Sequence[Collection[str]], word: str) -> bool:
    return any(word in cell for cell in row)

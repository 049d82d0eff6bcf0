"""Where a fact may say less than its sentence without saying something else.

"A and B" gives A where it is stated; not where it is denied, compared, asked to hold together, or a condition. Of the
circumstances of an event each is a fact of it: "born in Ulm on 14 March 1879" is born in Ulm, and born then. Only of
what happened, and is not denied or limited: what is usual holds only under its circumstances.
"""

from __future__ import annotations

import re
from itertools import pairwise

from everyclaim.decompose.draft import Draft
from everyclaim.models.local.tree import Tree
from everyclaim.text.dates import FULL_MONTHS
from everyclaim.text.numerals import UNITS
from everyclaim.text.tokens import word_set

_CLOSED = word_set("advcl csubj parataxis advmod reparandum vocative discourse flat fixed acl")
TOGETHER = word_set(
    "between among amongst than versus vs vs. without except unlike despite because due besides instead"
)
_JOINT = word_set(
    "mix mixed combine combined blend blended whisk compare compared contrast meet met marry married merge merged "
    "differ agree agreed connect connects connected link links linked join joins joined balance separate separates "
    "share shared shares collide collided divorced equal equals total totals distinguish depends"
)
_RECIPROCAL = word_set(
    "together jointly respectively alike each same similar different identical equal combined total mutual mutually "
    "collectively only"
)
FEW = word_set("no few only hardly none neither nobody nothing every most least")
_PLACING = word_set(
    "in on at near during after before since until with within over by around about alongside throughout along across "
    "for through"
)
_DAYS = word_set("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")


def is_stated(tree: Tree, place: int, draft: Draft, *, denied: bool = False) -> bool:
    """Whether a word stands where the fact states it. `denied`: also where it is denied, as "or" and "nor" may be."""
    way = tree.way_up(place, draft.head)
    if way[-1] != draft.head:
        return False
    for step in way[:-1]:
        if _is_added(tree, step):
            continue
        if tree.kind(step) == "acl" and (_is_some(tree, tree.head(step), draft) or _is_known(tree, tree.head(step))):
            continue
        if tree.kind(step) in _CLOSED and not tree.says(step, "mark", "by", "for", "to", "on", "about", "in"):
            return False
        subject = tree.subject(tree.head(step))
        if tree.kind(step) == "obl" and subject is not None and step < subject:
            return False
        if tree.words(step, "case", "mark") & TOGETHER:
            return False
    return denied or not any(tree.is_negated(step) for step in way)


def _is_added(tree: Tree, clause: int) -> bool:
    """Whether a clause only adds to what stands before it: ", which opened in May", ", making it popular"."""
    participle = tree.kind(clause) in {"acl", "advcl"} and tree.tag(clause) in {"VBG", "VBN"}
    added = participle or tree.relation(clause) == "acl:relcl"
    return added and tree.head(clause) < clause and tree.comma_before(clause) and not tree.of(clause, "mark")


def holds_jointly(tree: Tree, place: int, draft: Draft) -> bool:
    """Whether what is coordinated here is said of all of it together, not of each."""
    way = tree.way_up(place, draft.head)
    verbs = [step for step in way[1:] if tree.pos(step) == "VERB"]
    if any(tree.low(verb) in _JOINT for verb in verbs[:1]):
        return True
    near = [*way, *tree.conjuncts(place)]
    clause = {tree.low(i) for step in near for i in tree.kids[step] if i in draft.places and tree.kind(i) != "case"}
    if any(tree.low(kid) == "both" for step in verbs for kid in tree.kids[step]):
        return True  # "A and B both remain"
    return bool(clause & _RECIPROCAL)


def is_limited(tree: Tree, draft: Draft) -> bool:
    """Whether a fact is denied, or says how few or how many do, so that each of its circumstances counts."""
    head = draft.head
    if tree.is_negated(head):
        return True
    near = [head, *(kid for kid in tree.kids[head] if kid in draft.places)]
    words = {tree.low(kid) for step in near for kid in tree.kids[step]} | {tree.low(step) for step in near}
    return bool(words & FEW) or any(word in UNITS and UNITS[word].dimension == "percent" for word in words)


def _is_some(tree: Tree, noun: int, draft: Draft) -> bool:
    """Whether a noun speaks of some: what is said of it closer may then say less, too."""
    steps = tree.way_up(noun, draft.head)
    if any(tree.kind(step) in {"nsubj", "csubj", "obl"} for step in steps):
        return False
    return all(tree.low(det) in {"a", "an", "some", "several", "many"} for det in tree.of(noun, "det", "nmod:poss"))


def _is_known(tree: Tree, noun: int) -> bool:
    """Whether a noun speaks of certain things, however they are told apart: "the house built by Ada and Bert"."""
    return tree.is_definite(noun) or any(
        tree.low(det) in {"this", "that", "these", "those", "one", "another"} for det in tree.of(noun, "det", "nummod")
    )


def is_source(tree: Tree, place: int) -> bool:
    """Whether a phrase names who said it: "according to the report"."""
    return tree.says(place, "case", "according")


def by_adjunct(draft: Draft, tree: Tree) -> list[Draft]:
    """One fact for each circumstance of an event that has several."""
    found = circumstances(draft, tree)
    parts = []
    for one in found if len(found) > 1 else ():
        own = set(tree.under(one, without=[other for other in found if other != one]))
        gone = [i for other in found if other != one for i in tree.under(other) if i not in own]
        gone += [i for i in (min(own),) if tree.text(i) == "," and i - 1 in gone]
        parts.append(draft.without(gone))
    return parts or [draft]


def circumstances(draft: Draft, tree: Tree) -> list[int]:
    """What may be left out of an event: where, when, how long, with whom it was; empty where any of it counts."""
    head = draft.head
    if any(tree.kind(place) == "advcl" for place in draft.whole):
        return []
    starts = (kid for kid in tree.of(head, "obl") if tree.cases(kid)[:1] == ["from"] and tree.pos(kid) == "NUM")
    if not all(is_time(tree, kid, inside=False) for kid in starts):
        return []  # "rose from 94 in 2002 to 120 in 2022"
    clauses = [kid for kid in tree.of(head, "ccomp", "advcl") if kid in draft.places]
    if not is_event(tree, head) or is_limited(tree, draft) or not all(_is_apart(tree, kid, head) for kid in clauses):
        return []
    found = [kid for kid in tree.kids[head] if kid in draft.places and _is_circumstance(tree, kid)]
    found += clauses
    found += [
        nmod for kid in tree.of(head, "obj", "obl") if kid in draft.places and not is_time(tree, kid, inside=False)
        if not tree.conjuncts(kid) and not _limits(tree, kid)
        for nmod in tree.of(kid, "nmod") if nmod in draft.places and is_time(tree, nmod)
        if tree.says(nmod, "case", *_PLACING)
    ]  # fmt: skip
    limits = [(one, after) for one, after in pairwise(sorted(found)) if _limits(tree, one) and is_time(tree, after)]
    whole = all(is_time(tree, one, inside=False) for one, _ in limits)
    fronted = [kid for kid in found if kid < (tree.subject(head) or 0)]
    whole &= not any(tree.first(after) == one + 1 for one, after in pairwise(fronted))  # "for the first time since May"
    later = [i for kid in tree.of(head, "obj") for i in tree.conjuncts(kid) if i in draft.places]
    whole &= not any(found and min(found) < i < max(found) for i in later)  # "paid 5 euros in May, and 6 euros in June"
    return sorted(found) if whole else []  # "until the conquest in 1903"


def is_event(tree: Tree, head: int) -> bool:
    """Whether a predicate tells of something that happened, or will."""
    if tree.pos(head) != "VERB":
        return False
    chain = tree.words(head, "aux", "aux:pass")
    if chain & {"may", "might", "could", "would", "should", "can", "must", "used"}:
        return False
    return tree.is_past(head) or bool(chain & {"will", "has", "have", "been"})


def _is_circumstance(tree: Tree, kid: int) -> bool:
    if tree.kind(kid) != "obl":
        return False
    if tree.relation(kid) == "obl:agent":
        return True
    if tree.relation(kid) in {"obl:unmarked", "obl:tmod", "obl:npmod"} and not tree.of(kid, "case"):
        return is_time(tree, kid)
    cases, verb = tree.cases(kid), tree.head(kid)
    between = any(verb < i < kid for i in tree.of(verb, "obj", "obl"))
    if cases == ["with"] and not between:
        return False  # "met with Ada"
    if cases == ["for"] and not tree.of(kid, "acl", "nummod") and not tree.of(verb, "advcl"):
        has_object = any(verb < i < kid for i in tree.of(verb, "obj"))
        return has_object or any(tree.relation(i) == "nsubj:pass" for i in tree.kids[verb])
    if not cases or cases[0] not in _PLACING or (cases[0] == "by" and not tree.of(kid, "nummod")):
        return False
    if cases[0] in {"for", "through", "over"} and not (tree.of(kid, "nummod") and not tree.of(kid, "nmod")):
        return False
    known = tree.pos(kid) == "PROPN" or tree.of(kid, "det", "nummod", "nmod:poss")
    return cases[0] != "with" or bool(known and not tree.of(kid, "acl", "advcl"))


def _limits(tree: Tree, event: int) -> bool:
    return tree.says(event, "case", "until", "before", "after", "since")


def is_time(tree: Tree, kid: int, *, inside: bool = True) -> bool:
    """Whether a phrase is a date; `inside`: or holds one in a phrase below it."""
    left = () if inside else [nmod for nmod in tree.of(kid, "nmod") if tree.of(nmod, "case")]
    words = [(tree.text(i), tree.pos(i)) for i in tree.under(kid, without=left)]
    return any(pos == "NUM" and re.fullmatch(r"\d{4}", word) for word, pos in words) or any(
        word in FULL_MONTHS or word.rstrip("s") in _DAYS for word, _ in words
    )


def _is_apart(tree: Tree, clause: int, head: int) -> bool:
    """Whether a clause behind tells what for, or when: "left to study", "died while returning"."""
    marks = tree.words(clause, "mark")
    if tree.kind(clause) != "advcl":
        return False
    if not marks:
        return tree.tag(clause) == "VBG"
    return clause > head and marks <= {"to", "after", "before", "while"}

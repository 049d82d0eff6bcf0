"""Where a fact may say less than its sentence without saying something else.

"A and B" gives A where it is stated; not where it is denied, compared, asked to hold together, or a condition.
"""

from __future__ import annotations

from everyclaim.decompose.drafts import Draft
from everyclaim.decompose.nouns import is_definite
from everyclaim.decompose.tree import Tree
from everyclaim.text.tokens import word_set

_CLOSED = word_set("advcl csubj parataxis advmod reparandum vocative discourse flat fixed acl")
_TOGETHER = word_set(
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
_FEW = word_set("no few only hardly none neither nobody nothing every most least")


def way_up(tree: Tree, place: int, draft: Draft) -> list[int]:
    """The words between a word and the predicate of its fact, both of them included."""
    way = [place]
    while way[-1] != draft.head and tree.tokens[way[-1]].head >= 0:
        way.append(tree.tokens[way[-1]].head)
    return way


def is_stated(tree: Tree, place: int, draft: Draft, *, denied: bool = False) -> bool:
    """Whether a word stands where the fact states it. `denied`: also where it is denied, as "or" and "nor" may be."""
    way = way_up(tree, place, draft)
    if way[-1] != draft.head:
        return False
    for step in way[:-1]:
        if tree.kind(step) == "acl" and any(tree.low(mark) == "to" for mark in tree.of(step, "mark")):
            continue
        if tree.kind(step) == "acl" and (
            _is_some(tree, tree.tokens[step].head, draft) or _is_known(tree, tree.tokens[step].head)
        ):
            continue
        if tree.kind(step) in _CLOSED and not any(
            tree.low(mark) in {"by", "for", "to"} for mark in tree.of(step, "mark")
        ):
            return False
        subject = tree.subject(tree.tokens[step].head)
        if tree.kind(step) == "obl" and subject is not None and step < subject:
            return False
        if _likens(tree, step):
            return False
        if any(tree.low(case) == "with" for case in tree.of(step, "case")) and tree.of(step, "acl"):
            return False
        if {tree.low(kid) for kid in tree.of(step, "case", "mark")} & _TOGETHER:
            return False
    return denied or not any(tree.is_negated(step) for step in way)


def holds_jointly(tree: Tree, place: int, draft: Draft) -> bool:
    """Whether what is coordinated here is said of all of it together, not of each."""
    way = way_up(tree, place, draft)
    verbs = [step for step in way[1:] if tree.tokens[step].pos == "VERB"]
    if any(tree.low(verb) in _JOINT for verb in verbs[:1]):
        return True
    near = [*way, *tree.conjuncts(place)]
    clause = {tree.low(i) for step in near for i in tree.kids[step] if i in draft.places and tree.kind(i) != "case"}
    if any(tree.low(i) == "each" for i in tree.under(place)):
        return True  # "for each other"
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
    return bool(words & _FEW)


def _is_some(tree: Tree, noun: int, draft: Draft) -> bool:
    """Whether a noun speaks of some: what is said of it closer may then say less, too."""
    steps = way_up(tree, noun, draft)
    if any(tree.kind(step) in {"nsubj", "csubj", "obl"} for step in steps):
        return False
    return all(tree.low(det) in {"a", "an", "some", "several", "many"} for det in tree.of(noun, "det", "nmod:poss"))


def _is_known(tree: Tree, noun: int) -> bool:
    """Whether a noun speaks of certain things, however they are told apart: "the house built by Ada and Bert"."""
    return is_definite(tree, noun) or any(
        tree.low(det) in {"this", "that", "these", "those", "one", "another"} for det in tree.of(noun, "det", "nummod")
    )


def is_source(tree: Tree, place: int) -> bool:
    """Whether a phrase names who said it: "according to the report"."""
    return any(tree.low(case) == "according" for case in tree.of(place, "case"))


def _likens(tree: Tree, step: int) -> bool:
    """Whether a phrase is what something is compared with: "as tall as A and B"."""
    above = tree.tokens[step].head
    return any(tree.low(i) == "as" for i in tree.of(step, "case", "mark")) and above >= 0 and any(
        tree.low(i) in {"as", "so", "same"} for i in tree.of(above, "advmod", "amod")
    )  # fmt: skip

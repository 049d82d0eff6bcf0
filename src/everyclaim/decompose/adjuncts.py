"""The circumstances of an event, each a fact of it: "born in Ulm on 14 March 1879" is born in Ulm, and born then.

Only of what happened, and is not denied or limited: what is usual holds only under its circumstances.
"""

from __future__ import annotations

from itertools import pairwise

from everyclaim.decompose.conjuncts import SUBJECTS
from everyclaim.decompose.drafts import Draft
from everyclaim.decompose.monotone import is_limited
from everyclaim.decompose.repairs import MONTHS
from everyclaim.decompose.tree import Tree
from everyclaim.text.tokens import word_set

_PLACING = word_set(
    "in on at near during after before since until with within over by around about alongside throughout along across "
    "for through"
)
_DAYS = word_set("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")


def by_adjunct(draft: Draft, tree: Tree) -> list[Draft]:
    """One fact for each circumstance of an event that has several."""
    if any(tree.kind(place) == "advcl" for place in draft.whole):
        return [draft]
    head = draft.head
    clauses = [kid for kid in tree.of(head, "ccomp", "advcl") if kid in draft.places and kid not in draft.whole]
    if head == tree.root and tree.subject(head) is None and tree.is_finite(head):
        return [draft]  # "Having a car was once linked with wealth"
    if not is_event(tree, head) or is_limited(tree, draft) or not all(_is_apart(tree, kid, head) for kid in clauses):
        return [draft]
    found = [kid for kid in tree.kids[head] if kid in draft.places and _is_circumstance(tree, kid)]
    found += clauses
    found += [
        nmod for kid in tree.of(head, "obj", "obl") if kid in draft.places and not _is_time(tree, kid, inside=False)
        for nmod in tree.of(kid, "nmod") if nmod in draft.places and _is_placed(tree, nmod) and _is_time(tree, nmod)
    ]  # fmt: skip
    if len(found) < 2 or any(_may_date(tree, one, after) for one, after in pairwise(sorted(found))):
        return [draft]
    parts = []
    for one in sorted(found):
        own = set(tree.under(one, without=[other for other in found if other != one]))
        gone = [i for other in found if other != one for i in tree.under(other) if i not in own]
        parts.append(draft.without(gone))
    return parts


def is_event(tree: Tree, head: int) -> bool:
    """Whether a predicate tells of something that happened, or will."""
    if tree.tokens[head].pos != "VERB":
        return False
    chain = {tree.low(kid) for kid in tree.of(head, "aux", "aux:pass")}
    if chain & {"may", "might", "could", "would", "should", "can", "must", "used"}:
        return False
    return tree.is_past(head) or bool(chain & {"will", "has", "have", "been"})


def _is_circumstance(tree: Tree, kid: int) -> bool:
    if tree.kind(kid) != "obl" or tree.relation(kid) == "obl:agent":
        return False
    if tree.relation(kid) in {"obl:unmarked", "obl:tmod", "obl:npmod"} and not tree.of(kid, "case"):
        return _is_time(tree, kid)
    cases = [tree.low(case) for case in tree.of(kid, "case")]
    if cases[:1] == ["from"] and _is_time(tree, kid):
        return True
    if not cases or cases[0] not in _PLACING or (cases[0] == "by" and not tree.of(kid, "nummod")):
        return False
    if cases[0] in {"for", "through"} and not (tree.of(kid, "nummod") and not tree.of(kid, "nmod")):
        return False
    events = [kid for kid in tree.of(kid, "acl", "advcl") if tree.relation(kid) != "acl:relcl"]
    return cases[0] != "with" or not events


def _may_date(tree: Tree, event: int, time: int) -> bool:
    """Whether a time may be that of the event a phrase names: "until the conquest in 1903"."""
    limits = {tree.low(case) for case in tree.of(event, "case")} & {"until", "before", "after", "since"}
    return bool(limits) and not _is_time(tree, event) and _is_time(tree, time) and event < time


def _is_placed(tree: Tree, kid: int) -> bool:
    return any(tree.low(case) in _PLACING for case in tree.of(kid, "case"))


def _is_time(tree: Tree, kid: int, *, inside: bool = True) -> bool:
    """Whether a phrase is a date; `inside`: or holds one in a phrase below it."""
    left = () if inside else [nmod for nmod in tree.of(kid, "nmod") if tree.of(nmod, "case")]
    words = [tree.tokens[i] for i in tree.under(kid, without=left)]
    return any(w.pos == "NUM" and len(w.text) == 4 and w.text.isdecimal() for w in words) or any(
        w.text in MONTHS or w.text.rstrip("s") in _DAYS for w in words)  # fmt: skip


def _is_apart(tree: Tree, clause: int, head: int) -> bool:
    """Whether a clause behind tells what for, or when: "left to study", "died while returning"."""
    marks = {tree.low(mark) for mark in tree.of(clause, "mark")}
    if tree.kind(clause) != "advcl":
        return False
    if not marks:
        return tree.tokens[clause].tag == "VBG" and not tree.of(clause, *SUBJECTS)
    if marks == {"to"} and not any(head < kid < clause for kid in tree.of(head, "obj", "obl")):
        return False  # "worked to improve relations"
    return clause > head and marks <= {"to", "after", "before", "while"}

"""Phrases that the parser hung elsewhere than their neighbours speak for: behind a participle, or in a gap."""

from __future__ import annotations

from everyclaim.models.local.tree import HELPERS, MODIFIERS, TENSED, THINGS, Tree


def gapped(tree: Tree, place: int) -> tuple[int, int] | None:
    """What a noun hung on the phrase before it is rather beside, and the phrase of that kind behind it."""
    above = tree.head(place)
    cases, before = tree.cases(above), tree.first(above) - 1
    if cases in ([], ["of"]) or tree.cases(place) or tree.pos(place) not in THINGS or before < 0:
        return None
    starts = {place + 1, tree.under(place)[-1] + 1}
    behind = [i for i in range(place + 1, len(tree.tokens)) if tree.cases(i) == cases and tree.first(i) in starts]
    if not behind or tree.pos(behind[0]) != tree.pos(above):
        return None
    verb = tree.head(above) if tree.relation(above) == "obl" else tree.head(tree.head(above))
    nouns = [i for i in tree.of(verb, "obj", "nsubj") if i < above]
    alike = [i for i in nouns[::-1] if tree.pos(i) == tree.pos(place)]
    return (alike[0], behind[0]) if alike and alike[0] == nouns[-1] else None


def noun_before(tree: Tree, place: int) -> int | None:
    """The noun right before a phrase that no sign or conjunction joins to a list, or that hangs on a later noun."""
    if tree.relation(place) == "nmod" and tree.head(place) < place:
        return None
    before = tree.first(place) - 1
    is_phrase = tree.pos(place) in THINGS and tree.cases(place) and not tree.of(place, "cc", "punct")
    return before if is_phrase and before >= 0 and tree.pos(before) in THINGS else None


def verb_before(tree: Tree, place: int) -> int | None:
    """The verb right before an adjective or noun that no sign or conjunction joins to a list: "rated good"."""
    before = tree.first(place) - 1
    joined = any(kid < place for kid in tree.of(place, "cc", "punct"))
    if before < 0 or joined or not (tree.joiners(before) or tree.of(before, *HELPERS)):
        return None
    is_noun = tree.tag(place) in {"NN", "NNS"}
    forms = {"VBN"} if tree.pos(place) == "ADJ" else {"VB", *TENSED} if is_noun else set()
    return before if tree.tag(before) in forms else None


def first_modifier(tree: Tree, place: int) -> int | None:
    """The first of the adjectives that a sign or conjunction joins this one to: "local, state and tribal courts"."""
    if tree.relation(place) not in MODIFIERS:
        return None
    start = min([place, *tree.kids[place]])
    while start < place and (tree.pos(start) == "PUNCT" or tree.relation(start) == "cc"):
        start += 1
    before = start - 1
    while before >= 0 and (tree.text(before) == "," or tree.relation(before) == "cc"):
        before -= 1
    if before < 0 or before == start - 1:
        return None
    while tree.relation(before) == "conj":
        before = tree.head(before)
    same = tree.relation(before) in MODIFIERS and tree.head(before) == tree.head(place)
    return before if same else None

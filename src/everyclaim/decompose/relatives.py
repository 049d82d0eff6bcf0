"""What a relative clause says of its noun, as a fact of that noun."""

from __future__ import annotations

from dataclasses import replace

from everyclaim.decompose.aside import Aside, phrase
from everyclaim.decompose.clauses import renamed_in
from everyclaim.decompose.draft import Draft
from everyclaim.models.local.tree import THINGS, Tree


def said_by_clause(aside: Aside) -> Draft | None:
    """What a relative clause says of its noun, or of the subject where it describes that: "a painter who left"."""
    tree, place, noun = aside.tree, aside.place, aside.noun
    opener, pronoun = aside.body[0], tree.subject(place)
    is_owner = tree.tag(opener) == "WP$" and pronoun in {opener, tree.head(opener)}
    is_object = tree.relation(opener) == "obj" and not tree.of(place, "xcomp", "ccomp")
    pronoun = opener if is_owner or is_object else pronoun
    if pronoun is None or tree.tag(pronoun) not in {"WP", "WDT", "WP$"} or tree.low(pronoun) == "what":
        return None
    if aside.apart:
        before = next((i - 1 for i in range(aside.inside[0], 0, -1) if tree.pos(i - 1) != "PUNCT"), noun)
        listed = any(noun < kid < place for kid in tree.of(noun, "conj"))
        if listed or before not in tree.under(noun) or _has_rival(tree, noun, before, place):
            return None  # what stands before it is not said of this noun, or may be of another
    owner = noun if aside.apart and tree.low(pronoun) != "that" else aside.described
    if owner is None or tree.pos(noun) in {"PRON", "NUM"} or tree.tells_when(noun):
        return None  # "throws half away, which keeps it fresh"
    told = [i for i in aside.inside if i > pronoun]
    if is_object:
        said = _with_object(aside, owner, told)
    elif is_owner:
        last = tree.text(phrase(tree, owner, aside.draft, place)[-1])
        said = aside.said_of(owner, "'" if last.endswith("s") else "'s", *told, minor=aside.apart)
    elif tree.agrees(owner, place):
        said = aside.said_of(owner, *told, minor=aside.apart)
    else:
        return None
    first = next((i for i in tree.of(owner, "det") if i in said.places), owner)
    is_some = aside.apart and tree.low(first) in {"a", "an"}
    return replace(said, changes={**said.changes, first: "the"}) if is_some else said  # "an app, which is free"


def _with_object(aside: Aside, owner: int, told: list[int]) -> Draft:
    """The clause with the noun as its object: "the bridge, which Ada built in 1932"."""
    tree, place = aside.tree, aside.place
    verb, named = max([place, *tree.of(place, "compound:prt")]), phrase(tree, owner, aside.draft, place)
    begins = {} if tree.pos(named[0]) == "PROPN" else {named[0]: tree.low(named[0])}
    pieces = (*(i for i in told if i <= verb), *named, *(i for i in told if i > verb))
    said = Draft(pieces, place, begins, aside.apart, subject=owner)
    return renamed_in(said, tree, place, tree.predicate_of(aside.noun, aside.draft.head), aside.draft.places)


def is_free(aside: Aside) -> bool:
    """Whether a relative clause begins with its pronoun, and so only adds: ", where she taught"."""
    tree = aside.tree
    opener = next(i for i in aside.inside if tree.pos(i) not in {"PUNCT", "ADP"})
    return tree.tag(opener) in {"WDT", "WP", "WP$", "WRB"} and tree.low(opener) != "that"


def _has_rival(tree: Tree, noun: int, last: int, verb: int) -> bool:
    """Whether a clause may be said of another noun of its phrase: "the lives of the pupils, who"."""
    while tree.relation(last) in {"flat", "compound", "conj", "appos", "punct", "nummod"} and last != noun:
        last = tree.head(last)
    near = [last] if last != noun else []
    above = noun
    while last == noun and tree.relation(above) == "nmod" and tree.pos(noun) != "PROPN":
        above = tree.head(above)
        near.append(above)
    return any(tree.pos(i) in THINGS and tree.agrees(i, verb) for i in near)

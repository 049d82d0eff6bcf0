"""What something has, and what somebody does meanwhile, told behind "with"."""

from __future__ import annotations

from everyclaim.decompose.adjuncts import is_event
from everyclaim.decompose.drafts import Draft
from everyclaim.decompose.nouns import be_of, have_of, phrase, predicate_of, touches, unsigned
from everyclaim.decompose.tree import Tree


def possession(draft: Draft, tree: Tree, place: int, noun: int, inside: list[int]) -> Draft | None:
    """What something has: ", with about 2.8 million residents"."""
    case = tree.of(place, "case")
    opener = next((i for i in inside if tree.tokens[i].pos != "PUNCT"), place)
    if [tree.low(i) for i in case] != ["with"] or opener not in case or tree.tokens[place].pos not in {"NOUN", "PROPN"}:
        return None
    if any(tree.kind(i) in {"acl", "advcl", "nsubj"} and tree.relation(i) != "acl:relcl" for i in inside):
        return None
    if tree.conjuncts(noun) and tree.tokens[noun].pos == "NOUN" and inside[-1] < tree.conjuncts(noun)[-1]:
        return None  # "a hall, with two rooms, and a bar": of the first of a list
    if inside[0] < noun and noun == draft.head:
        return _opening_possession(draft, tree, place, noun, inside)
    owner = noun
    verb = tree.tokens[noun].head if tree.kind(noun) in {"obj", "obl"} else noun
    counted = tree.of(verb, "aux:pass") and tree.of(place, "nummod")
    subject = None if counted or tree.tokens[verb].pos != "VERB" else tree.subject(verb)
    if subject is not None and not any(tree.low(det) == "the" for det in tree.of(noun, "det")):
        placed = [kid for kid in tree.of(verb, "obl") if kid != place]
        if is_event(tree, verb) or tree.kind(noun) == "obl" or (noun == verb and placed):
            return None  # "the ship caught fire, with no injuries"
        owner = subject
    if tree.of(noun, "cop"):
        if noun != draft.head or tree.is_negated(noun):
            return None
        subject = tree.subject(noun)
        owner = noun if tree.tokens[noun].pos == "PROPN" or subject is None else subject
    if tree.tokens[owner].pos not in {"NOUN", "PROPN"}:
        return None
    if owner == noun and inside[0] > noun and not touches(tree, noun, inside):
        return None
    body = [i for i in unsigned(tree, inside) if i not in case]
    has = have_of(tree, owner, past=tree.is_past(predicate_of(tree, draft, noun)))
    return Draft((*phrase(tree, owner, draft, place), has, *body), place, minor=True)


def _opening_possession(draft: Draft, tree: Tree, place: int, head: int, inside: list[int]) -> Draft | None:
    """What the subject has, told before it: "With a rating of 3.5 stars, the café …"."""
    subject = tree.subject(head)
    told = any(tree.tokens[i].pos == "NUM" for i in inside) or tree.of(head, "cop")
    if subject is None or tree.tokens[subject].pos not in {"NOUN", "PROPN"} or tree.relation(subject) == "nsubj:pass":
        return None
    generic = tree.tokens[subject].tag == "NNS" and not tree.of(subject, "det", "nmod:poss", "nummod", "amod")
    if not told or generic or place > subject or any(tree.low(i) in {"the", "this"} for i in tree.of(place, "det")):
        return None
    has = have_of(tree, subject, past=tree.is_past(head))
    body = [i for i in inside[1:] if not (i == inside[-1] and tree.tokens[i].pos == "PUNCT")]
    return Draft((*phrase(tree, subject, draft, place), has, *body), place, minor=True, subject=subject)


def absolute(draft: Draft, tree: Tree, place: int, inside: list[int]) -> Draft | None:
    """What somebody does meanwhile: ", with some customers praising the food"."""
    opener = [i for i in tree.of(place, "case", "mark") if tree.low(i) == "with"]
    verb = place if tree.kind(place) == "advcl" else next(iter(tree.of(place, "acl")), None)
    owner = tree.subject(place) if tree.kind(place) == "advcl" else place
    if (
        not opener
        or not (tree.comma_before(place) or inside[0] == 0)
        or verb is None
        or owner is None
        or tree.tokens[verb].tag not in {"VBG", "VBN"}
        or not owner < verb
    ):
        return None
    if tree.is_finite(verb) or tree.is_plural(owner) is None or set(tree.of(verb, "mark")) - set(opener):
        return None
    chain = min([verb, *tree.of(verb, "aux", "aux:pass", "advmod")], key=lambda i: (i < owner, i))
    body = [i for i in unsigned(tree, inside) if i not in opener]
    before, after = [i for i in body if i < chain], [i for i in body if i >= chain]
    if not before or tree.tokens[before[-1]].pos == "PUNCT":
        return None
    past, many = tree.is_past(draft.head), tree.is_plural(owner)
    be = ("were" if many else "was") if past else "are" if many else "is"
    return Draft((*before, be, *after), verb, minor=True, subject=owner)


def of_described(draft: Draft, tree: Tree, place: int, owner: int, inside: list[int]) -> Draft | None:
    """Where that is, or what it has, which an indefinite noun describes: "is a café in Rome with a garden"."""
    case = [tree.low(i) for i in tree.of(place, "case")]
    if case == ["in"] and tree.tokens[place].pos == "PROPN":
        return Draft((*phrase(tree, owner, draft, place), be_of(tree, draft, owner), *inside), place, minor=True)
    if case != ["with"] or inside[0] not in tree.of(place, "case") or tree.of(place, "acl"):
        return None
    if tree.tokens[tree.tokens[place].head].tag in {"NNS", "NNPS"}:
        return None  # "38 people, mostly families with children"
    has = have_of(tree, owner, past=tree.is_past(draft.head))
    return Draft((*phrase(tree, owner, draft, place), has, *inside[1:]), place, minor=True)

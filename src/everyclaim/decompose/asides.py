"""What only adds to a noun, as facts of that noun: appositions, relative clauses, participles, what it has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from everyclaim.decompose.aside import Aside, form_of_be, phrase, with_commas
from everyclaim.decompose.coordination import EXEMPLARY
from everyclaim.decompose.draft import Draft
from everyclaim.decompose.examples import instance
from everyclaim.decompose.monotone import TOGETHER, is_event, is_limited, is_source
from everyclaim.decompose.relatives import is_free, said_by_clause
from everyclaim.models.local.tree import HELPERS, THINGS, Tree

_CLOSED = frozenset({"advcl", "csubj", "ccomp", "parataxis", "acl", "acl:relcl", "advmod"})
_PEOPLE = frozenset({"he", "she", "they"})
_LONG = 4  # words of a modifier that tells something


def detached(draft: Draft, tree: Tree) -> list[Draft]:
    """The fact without the first thing that can stand apart from one of its nouns, and that as a fact of its own."""
    return next(_detachments(draft, tree), [draft])


def without_asides(draft: Draft, tree: Tree) -> list[Draft]:
    """The same of what only adds to the fact."""
    return next((parts for parts in _detachments(draft, tree) if parts[1].minor), [draft])


def unbracketed(draft: Draft, tree: Tree) -> list[Draft]:
    """The fact without its first brackets, and what they hold."""
    places = sorted(draft.places)
    opened = next((i for i in places if tree.text(i) in {"(", "["}), len(tree.tokens))
    closed = next((i for i in places if i > opened and tree.text(i) in {")", "]"}), None)
    inside = [i for i in places if closed is not None and opened <= i <= closed]
    if not inside or draft.head in inside or len(inside) == len(draft.pieces):
        return [draft]
    tops = [i for i in inside if tree.head(i) not in inside]
    if any(tree.relation(step) in _CLOSED for top in tops for step in tree.way_up(top, draft.head)[1:-1]):
        return [draft]
    return [draft.without(inside), replace(draft.only(inside), minor=True)]


def _detachments(draft: Draft, tree: Tree) -> Iterator[list[Draft]]:
    for place in sorted(draft.places):
        noun = tree.head(place)
        if noun not in draft.places or place == draft.head or place in draft.whole or tree.pos(place) == "PUNCT":
            continue
        if any(tree.relation(step) in _CLOSED for step in tree.way_up(noun, draft.head)[:-1]):
            continue
        aside = Aside(draft, tree, place, noun, [i for i in tree.under(place) if i in draft.places])
        made = _told(aside) or (aside.kept if _may_go(aside) else None)
        if made is not None:
            yield [draft.without(with_commas(tree, tree.under(place))), _as_told(draft, tree, made)]


def _as_told(draft: Draft, tree: Tree, made: Draft) -> Draft:
    """A fact behind who told it, where that opens the sentence: "According to Ada, …"."""
    source = next((kid for kid in tree.of(draft.head, "obl") if kid in draft.places and is_source(tree, kid)), None)
    if source is None or source > draft.head or source in made.places:
        return made
    told = tree.under(source)
    return replace(made, pieces=(*told, *(i for i in (told[-1] + 1,) if tree.text(i) == ","), *made.pieces))


def _told(aside: Aside) -> Draft | None:
    """What an aside says as a fact of its own; the whole fact where the aside only goes."""
    tree, place, noun = aside.tree, aside.place, aside.noun
    relation, kind, tag = tree.relation(place), tree.kind(place), tree.tag(place)
    if relation == "appos" and aside.apart:
        return _apposition(aside) or (aside.kept if tree.pos(place) in {"NOUN", "NUM", "SYM"} and aside.ends else None)
    if relation == "nmod:desc" or (relation == "nmod" and place < noun and not aside.cases):
        return _title(aside)
    if not EXEMPLARY.isdisjoint(aside.cases):
        return instance(aside)
    if relation == "acl:relcl":
        return said_by_clause(aside) or (aside.kept if aside.apart and is_free(aside) else None)
    if relation == "acl" and tag == "VBN":
        return _participle(aside)
    if kind in {"nmod", "obl", "advcl"} and (meanwhile := _absolute(aside)):
        return meanwhile
    if kind in {"advcl", "acl"} and aside.apart and tag == "VBG" and noun < place and not tree.of(place, "mark"):
        certain = not (tree.is_negated(noun) or tree.is_negated(place))
        return (_meanwhile(aside) or replace(aside.kept, minor=True)) if certain else None
    if kind not in {"nmod", "obl"}:
        return None
    if not aside.apart and noun < place:
        return _of_described(aside)
    said = _possession(aside) if noun > place or aside.inside[-1] + 2 >= len(tree.tokens) else None
    closed = is_limited(tree, aside.draft) or not TOGETHER.isdisjoint(aside.cases) or aside.cases == ["for"]
    loose = kind == "obl" and not closed and aside.apart and noun < place and aside.ends  # adds a circumstance
    return said or (aside.kept if loose and not is_source(tree, place) else None)


def _may_go(aside: Aside) -> bool:
    """Whether a fact stands without what is said of one of its things: "left a note listing the payments".

    It stands of what somebody did, has, or is or seems to be.
    """
    tree, draft, place, noun = aside.tree, aside.draft, aside.place, aside.noun
    closer = tree.kind(place) == "acl" or (tree.kind(place) == "nmod" and aside.cases == ["with"])
    if not closer or aside.apart or len(aside.inside) < _LONG or is_limited(tree, draft):
        return False
    if set(tree.conjuncts(draft.head)) & draft.places:
        return False  # other clauses come off first
    counted = tree.words(noun, "det", "nummod", "nmod:poss")
    if not counted <= {"a", "an", "several", "some"}:
        return False
    if tree.of(noun, "cop") or (tree.kind(noun) == "obj" and tree.low(tree.head(noun)) in {"has", "have", "had"}):
        held = tree.pos(noun) == "NOUN" and tree.low(noun) not in tree.words(noun, "nsubj")  # "a diet is a diet that …"
    else:
        held = bool(counted) and tree.kind(noun) in {"obj", "obl"} and is_event(tree, draft.head)
    return held and all(tree.kind(step) == "xcomp" for step in tree.way_up(noun, draft.head)[1:-1])


def _apposition(aside: Aside) -> Draft | None:
    """What something is called besides: ", a painter,"."""
    tree, place, noun = aside.tree, aside.place, aside.noun
    name, title = tree.tokens[noun], tree.tokens[place]
    if name.pos not in THINGS or not (title.pos in THINGS or tree.of(place, "nmod")):
        return None
    if tree.conjuncts(noun) or aside.cases:
        return None
    if any(tree.pos(of) == "PRON" for of in tree.of(place, "nmod")):
        return None  # "31 of them"
    if any(token.pos != "PUNCT" for token in tree.tokens[aside.inside[-1] + 1 :][:1]):
        return None  # the second of a list, or of a clause without its verb: "at one a minute 14 months"
    if tree.conjuncts(place) and not tree.is_a(place):
        return None  # "the pier, the tower and the hall"
    if not aside.touches and name.pos != "PROPN":
        return None  # "soldiers of the Front, a movement"
    if name.pos == "PROPN" and title.pos == "PROPN" and not tree.of(place, "det", "nmod", "nmod:poss"):
        return None  # "Lund, Sweden"
    if name.tag == "NN" and not tree.is_definite(noun):
        words = phrase(tree, noun, aside.draft, place)  # "a painter, Ada Lind, left"
        said = Draft((*aside.body, aside.be(noun), *words), place, {words[0]: tree.low(words[0])}, True, subject=place)
        return said if title.pos == "PROPN" else None
    return aside.said_of(noun, aside.be(noun), *aside.body)


def named(tree: Tree) -> dict[frozenset[int], list[int]]:
    """The words of each noun that stand for somebody or something named beside it: "the painter, Ada Lind,"."""
    found = {}
    whole = Draft(tuple(range(len(tree.tokens))), tree.root)
    for place, token in enumerate(tree.tokens):
        if token.relation == "appos" and token.pos == "PROPN" and tree.pos(token.head) == "NOUN":
            aside = Aside(whole, tree, place, token.head, tree.under(place))
            if aside.apart and aside.ends and tree.tag(token.head) == "NN" and _apposition(aside):
                words = phrase(tree, token.head, whole, place)
                beside = [kid for kid in tree.kids[place] if tree.kind(kid) in {"punct", "acl", "appos"}]
                found[frozenset(words)] = tree.under(place, without=beside)
    return found


def _title(aside: Aside) -> Draft | None:
    """What somebody is by title: "mayor Ada Lind promised"."""
    tree, place, noun, inside = aside.tree, aside.place, aside.noun, aside.inside
    first, before = inside[0], inside[0] - 1
    is_name = tree.pos(place) == "PROPN"
    if tree.tag(place) == "NNS" or (is_name and len(inside) == 1) or tree.pos(noun) != "PROPN":
        return None
    if tree.of(place, "conj", "nmod") or inside != [*range(first, noun)]:
        return None
    if before >= 0 and (tree.relation(before) == "cc" or tree.pos(before) in THINGS):
        return None
    article = "an" if tree.low(first + (tree.low(first) == "the"))[0] in "aeiou" else "a"
    bare = not (is_name or tree.of(place, "det", "nmod:poss"))
    title = aside.said_of(noun, aside.be(noun), *([article] if bare else []), *inside)
    if is_name or tree.pos(first) == "PROPN":
        return title
    return replace(title, changes={first: article if tree.low(first) == "the" else tree.low(first)})


def _participle(aside: Aside) -> Draft | None:
    """What was done to a noun: ", built in 1901," and "is a hall built in 1901"."""
    tree, place, noun = aside.tree, aside.place, aside.noun
    owner = aside.described
    if owner is None and aside.touches and (aside.apart or _is_some_subject(aside)):
        owner = noun
    if owner is None or len(aside.inside) < 2 or tree.low(place) in {"called", "including"} or tree.subject(place):
        return None
    if tree.pos(aside.inside[0]) == "ADP":
        return None  # "a statement of tax paid"
    if owner == noun and tree.is_a(noun) and not is_event(tree, tree.predicate_of(noun, aside.draft.head)):
        return None  # "you need a passport, issued in the last ten years"
    be = aside.be(owner, past=tree.low(place) == "born" or aside.tells_year)
    return aside.said_of(owner, be, *aside.body, minor=aside.apart)


def _is_some_subject(aside: Aside) -> bool:
    """Whether something happened to one or some: "a boat built in 1901 sank"."""
    tree, noun, head = aside.tree, aside.noun, aside.draft.head
    some = tree.words(noun, "det") <= {"a", "an", "some"} and bool(tree.of(noun, "det", "nummod"))
    return some and tree.subject(head) == noun and is_event(tree, head) and not is_limited(tree, aside.draft)


def _meanwhile(aside: Aside) -> Draft | None:
    """What the subject did besides, where a participle behind its clause is said of it: ", praising the soup"."""
    tree, place = aside.tree, aside.place
    verb = tree.predicate_of(aside.noun, aside.draft.head)
    subject = tree.subject(verb)
    if subject is None or tree.words(verb, *HELPERS) & {"has", "have", "had"}:
        return None  # "has shaped policy, providing …" tells no time
    acts = tree.low(subject) in _PEOPLE
    if not acts and (verb != aside.noun or not tree.of(verb, "obj", "xcomp", "ccomp", "cop")):
        return None  # "crashed into a wall, killing the passenger" tells of the event
    if any(tree.pos(kid) == "PRON" for kid in tree.of(place, "obj", "nsubj", "iobj")):
        return None  # "making it popular" may speak of the whole statement
    past, plural = tree.is_past(verb) or aside.tells_year, tree.is_plural(subject)
    return aside.said_of(subject, *aside.body).made_finite(tree, place, past=past, plural=plural)


def _possession(aside: Aside) -> Draft | None:
    """What something has: ", with about 2.8 million residents"."""
    tree, noun = aside.tree, aside.noun
    if aside.cases != ["with"]:
        return None
    if any(tree.tag(i) == "MD" for i in tree.of(tree.predicate_of(noun, aside.draft.head), "aux")):
        return None  # "will be wet, with gusts"
    if aside.inside[0] < noun == aside.draft.head:
        return _opening_possession(aside)
    owner = noun
    verb = tree.head(noun) if tree.kind(noun) in {"obj", "obl"} else noun
    subject = tree.subject(verb)
    if tree.pos(verb) == "VERB" and subject is not None:
        lasts = tree.is_definite(subject) and not (tree.kind(noun) == "obl" or len(tree.of(verb, "obl")) > 1)
        if is_event(tree, verb) or not lasts:
            return None  # "the ship caught fire, with no injuries"
        owner = subject
    elif tree.of(noun, "cop") and subject is not None and tree.pos(noun) != "PROPN":
        owner = subject
    if tree.pos(owner) not in THINGS or (owner == noun and not aside.touches):
        return None
    has = aside.have(owner, past=tree.is_past(tree.predicate_of(noun, aside.draft.head)))
    return aside.said_of(owner, has, *aside.body[1:])


def _opening_possession(aside: Aside) -> Draft | None:
    """What the subject has, told before it: "With a rating of 3.5 stars, the café …"."""
    tree, head = aside.tree, aside.noun
    subject = tree.subject(head)
    told = any(tree.pos(i) == "NUM" for i in aside.inside) or tree.of(head, "cop")
    if subject is None or not told or aside.place > subject or tree.pos(subject) not in THINGS:
        return None
    return aside.said_of(subject, aside.have(subject, past=tree.is_past(head)), *aside.inside[1:-1])


def _absolute(aside: Aside) -> Draft | None:
    """What somebody does meanwhile: ", with some customers praising the food"."""
    tree, place = aside.tree, aside.place
    is_clause = tree.kind(place) == "advcl"
    verb = place if is_clause else next(iter(tree.of(place, "acl")), place)
    owner = tree.subject(place) if is_clause else place
    opener = [i for i in tree.of(place, "case", "mark") if tree.low(i) == "with"]
    if not opener or owner is None or tree.tag(verb) not in {"VBG", "VBN"} or (aside.inside[0] and not aside.apart):
        return None
    chain = min([verb, *tree.of(verb, "aux", "aux:pass", "advmod")], key=lambda i: (i < owner, i))
    body = [i for i in aside.body if i not in opener]
    before, after = [i for i in body if i < chain], [i for i in body if i >= chain]
    past, plural = tree.is_past(aside.draft.head), tree.is_plural(owner)
    said = Draft((*before, *after), verb, minor=True, subject=owner)
    told = said.made_finite(tree, verb, past=past, plural=plural) if chain == verb else None
    return told or replace(said, pieces=(*before, form_of_be(past=past, plural=plural), *after))


def _of_described(aside: Aside) -> Draft | None:
    """Where that is, or what it has, which an indefinite noun describes: "is a café in Rome with a garden"."""
    tree, place, owner = aside.tree, aside.place, aside.described
    if owner is None:
        return None
    if aside.cases == ["in"] and tree.pos(place) == "PROPN":
        return aside.said_of(owner, aside.be(owner), *aside.inside)
    if aside.cases != ["with"] or tree.is_definite(place):
        return None  # "is a member of the band with Ada Lind", "was a clerk with the tramways"
    return aside.said_of(owner, aside.have(owner, past=tree.is_past(aside.draft.head)), *aside.inside[1:])

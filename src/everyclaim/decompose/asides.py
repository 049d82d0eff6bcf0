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
        if tree.says(noun, "case", "between") and tree.tag(noun) == "NN" and not tree.conjuncts(noun):
            continue  # "between cats, which purr, and dogs", read as if dogs purr
        beside = tree.relation(place) in {"appos", "acl:relcl", "nmod:desc"} and tree.is_definite(noun)
        way = tree.way_up(noun, draft.head)[:-1]
        if any(tree.relation(step) in _CLOSED and not (beside and _is_open(tree, step)) for step in way):
            continue
        aside = Aside(draft, tree, place, noun, [i for i in tree.under(place) if i in draft.places])
        made = _told(aside) or (aside.kept if not aside.apart and _may_go(aside) else None)
        if made is not None:
            yield [draft.without(with_commas(tree, tree.under(place))), _as_told(draft, tree, made)]


def _is_open(tree: Tree, clause: int) -> bool:
    """Whether what stands beside a noun of a clause holds by itself: not in what somebody says."""
    how = any(tree.tag(i) == "WRB" for i in tree.of(clause, "advmod", "mark"))
    return tree.relation(clause) in {"advcl", "advmod", "acl"} or how


def _as_told(draft: Draft, tree: Tree, made: Draft) -> Draft:
    """A fact behind who told it, where that opens the sentence: "According to Ada, …"."""
    source = next((kid for kid in tree.of(draft.head, "obl") if kid in draft.places and is_source(tree, kid)), None)
    if source is None or source > draft.head or source in made.places:
        return made
    told = tree.under(source)
    comma = [i for i in (told[-1] + 1,) if tree.text(i) == ","]
    return replace(made, pieces=(*told, *comma, *made.pieces))


def _told(aside: Aside) -> Draft | None:
    """What an aside says as a fact of its own; the whole fact where the aside only goes."""
    tree, place, noun = aside.tree, aside.place, aside.noun
    relation, kind, tag = tree.relation(place), tree.kind(place), tree.tag(place)
    first = aside.inside[0]
    titled = tree.pos(noun) == "PROPN" and ":" in {tree.low(i) for i in (first - 1, first, noun - 1)}
    if relation == "appos" and aside.apart and not titled:  # "X-Men: Apocalypse"
        loose = tree.pos(place) in {"NOUN", "NUM", "SYM"} and aside.ends and tree.pos(aside.body[0]) != "ADP"
        return _apposition(aside) or (aside.kept if loose else None)
    if relation == "nmod:desc" or (relation == "nmod" and place < noun and not aside.cases):
        return _title(aside)
    if not EXEMPLARY.isdisjoint(aside.cases) and (tree.pos(noun) == "NOUN" or aside.apart):
        return instance(aside)
    if relation == "acl:relcl" and not titled:
        return said_by_clause(aside) or (aside.kept if aside.apart and is_free(aside) else None)
    if relation == "acl" and tree.pos(noun) in THINGS and tag == "VBN":
        return _participle(aside)
    if relation == "amod" and tag == "JJ" and tree.text(place)[0].isupper():
        return _origin(aside)
    if kind in {"nmod", "obl", "advcl"} and (meanwhile := _absolute(aside)):
        return meanwhile
    if kind == "advcl" and tag in {"VBN", "VBG"} and aside.inside[-1] < noun:
        return _opening_participle(aside)
    having = "having" in tree.words(place, "aux")
    if kind in {"advcl", "acl"} and aside.apart and (tag == "VBG" or having):
        follows = first > noun and not tree.of(place, "mark") and not tree.of(noun, "ccomp")
        if follows and not (tree.is_negated(noun) or tree.is_negated(place)):
            return _meanwhile(aside) or replace(aside.kept, minor=True)
    if kind not in {"nmod", "obl"}:
        return None
    if aside.apart or tree.text(aside.inside[-1]) == ",":
        closed = is_limited(tree, aside.draft) or is_source(tree, place) or not TOGETHER.isdisjoint(aside.cases)
        along = aside.cases == ["along", "with"] and tree.kind(noun) in {"obj", "obl"}
        closed |= aside.cases == ["for"]  # "once, for a fee"
        loose = aside.cases == ["with"] or along or (kind == "obl" and not closed)  # adds a circumstance
        given = [kid for kid in tree.of(noun, "advcl") if kid > place]
        loose = loose and aside.apart and first > noun and aside.ends and not given
        closed = all(token.pos == "PUNCT" for token in tree.tokens[aside.inside[-1] + 1 :][:1]) or first < noun
        return (_possession(aside) if closed else None) or (aside.kept if loose else None)
    return _of_described(aside)


def _may_go(aside: Aside) -> bool:
    """Whether a fact stands without what is said of one of its things: "left a note listing the payments".

    It stands of what somebody did, has, or is or seems to be.
    """
    tree, draft, place, noun = aside.tree, aside.draft, aside.place, aside.noun
    closer = tree.relation(place) == "acl:relcl" or (tree.kind(place) == "acl" and tree.tag(place)[:2] == "VB")
    if not (closer or (tree.kind(place) == "nmod" and aside.cases == ["with"])) or len(aside.inside) < _LONG:
        return False
    if set(tree.conjuncts(draft.head)) & draft.places or any(noun < c < place for c in tree.conjuncts(noun)):
        return False  # other clauses come off first; a modifier behind a list goes with its last member
    counted = tree.words(noun, "det", "nummod", "nmod:poss")
    if tree.is_negated(noun) or is_limited(tree, draft) or not counted <= {"a", "an", "several", "some"}:
        return False
    has = tree.kind(noun) == "obj" and tree.low(tree.head(noun)) in {"has", "have", "had"}
    if tree.of(noun, "cop") or has:
        held = (bool(counted) or tree.pos(noun) == "NOUN") and not tree.of(noun, "case")
        held &= tree.low(noun) not in tree.words(noun, "nsubj")  # "the diet is a diet that …"
    else:
        held = bool(counted) and tree.kind(noun) in {"obj", "obl"} and is_event(tree, draft.head)
    return held and all(tree.kind(step) == "xcomp" for step in tree.way_up(noun, draft.head)[1:-1])


def _apposition(aside: Aside) -> Draft | None:
    """What something is called besides: ", a painter,"."""
    tree, place, noun = aside.tree, aside.place, aside.noun
    name, title = tree.tokens[noun], tree.tokens[place]
    if (
        not (title.pos in THINGS or tree.of(place, "nmod"))
        or name.pos not in THINGS
        or tree.conjuncts(noun)
        or aside.cases
        or any(tree.pos(of) == "PRON" for of in tree.of(place, "nmod"))  # "31 of them"
        or tree.says(place, "advmod", "also")  # "all bells, also old ones"
    ):
        return None
    behind = tree.tokens[aside.inside[-1] + 1 :][:1]
    if any(token.pos != "PUNCT" for token in behind) or tree.pos(aside.body[0]) == "ADP":
        return None  # the second of a list, or of a clause without its verb: "at one a minute 14 months"
    if any(tree.pos(i) == "NUM" and i > place for i in tree.of(place, "flat", "nummod")) and title.pos == "NOUN":
        return None  # "holds 250 sheets, the small tray 100"
    if (tree.conjuncts(place) and not tree.is_a(place)) or any(tree.tag(i) == "VBG" for i in tree.of(place, "acl")):
        return None  # "the pier, the tower and the hall", "goes to Lund, the trip starting in May"
    known = name.pos == "PROPN" or tree.of(noun, "det", "nmod:poss") or name.tag == "NNS"
    if not known or (not aside.touches and name.pos != "PROPN"):
        return None  # "soldiers of the Front, a movement"
    if name.pos == "PROPN" and title.pos == "PROPN" and not tree.of(place, "det", "nmod", "nmod:poss"):
        return None  # "Lund, Sweden"
    if name.pos == "NOUN" and name.tag != "NNS" and not tree.is_definite(noun):
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


def _origin(aside: Aside) -> Draft | None:
    """Where somebody is from, by an adjective made of a name: "is an American painter", not "a French horn player"."""
    tree, noun, owner = aside.tree, aside.noun, aside.described
    if owner is None or not tree.text(noun).islower() or tree.conjuncts(noun):
        return None
    alone = tree.of(noun, "amod", "compound") == [aside.place]
    return aside.said_of(owner, aside.be(owner), *aside.inside) if alone else None


def _title(aside: Aside) -> Draft | None:
    """What somebody is by title: "mayor Ada Lind promised"."""
    tree, place, noun, inside = aside.tree, aside.place, aside.noun, aside.inside
    first, before = inside[0], inside[0] - 1
    is_name = tree.pos(place) == "PROPN"
    ranks = (tree.pos(place) == "NOUN" and tree.tag(place) != "NNS") or (is_name and len(inside) > 1)
    if not ranks or tree.pos(noun) != "PROPN" or tree.of(place, "conj", "nmod") or tree.conjuncts(noun):
        return None
    if tree.pos(first) in {"PUNCT", "ADP"} or inside != [*range(first, noun)]:
        return None
    if before >= 0 and (tree.relation(before) == "cc" or tree.pos(before) in THINGS):
        return None
    article = "an" if tree.low(first if first == place else first + (tree.low(first) == "the"))[0] in "aeiou" else "a"
    bare = not (is_name or tree.of(place, "det", "nmod:poss"))
    title = aside.said_of(noun, aside.be(noun), *([article] if bare else []), *inside)
    named = is_name or tree.pos(first) == "PROPN"
    any_one = tree.low(first) == "the" and place == first + 1 and not is_name
    told = article if any_one else tree.low(first) if first == 0 else tree.text(first)
    return title if named else replace(title, changes={first: told})


def _participle(aside: Aside) -> Draft | None:
    """What was done to a noun: ", built in 1901," and "is a hall built in 1901"."""
    tree, place = aside.tree, aside.place
    owner = aside.described
    owner = aside.noun if owner is None and aside.touches and (aside.apart or _is_some_subject(aside)) else owner
    if owner is None or len(aside.inside) < 2 or tree.low(place) in {"called", "including"} or tree.subject(place):
        return None
    if tree.pos(aside.inside[0]) == "ADP":
        return None  # "a statement of tax paid"
    if owner == aside.noun and tree.pos(owner) == "PROPN" and tree.kind(owner) == "obl" and aside.ends:
        return aside.kept  # "a shop opened in Lund, paid for by Ada"
    if owner == aside.noun and tree.is_a(owner) and not is_event(tree, tree.predicate_of(owner, aside.draft.head)):
        return None  # "you need a passport, issued in the last ten years"
    if tree.tag(place) == "VBG":
        said = aside.said_of(owner, *aside.body, minor=aside.apart)
        past = tree.is_past(tree.predicate_of(owner, aside.draft.head))
        return said.made_finite(tree, place, past=past, plural=tree.is_plural(owner))
    be = aside.be(owner, past=tree.low(place) == "born" or aside.tells_year)
    return aside.said_of(owner, be, *aside.body, minor=aside.apart)


def _opening_participle(aside: Aside) -> Draft | None:
    """What the subject was or did, told before it: "Built in 1901, the hall …", "Working in Lund, she wrote …"."""
    tree, place, verb = aside.tree, aside.place, aside.noun
    subject, rest = tree.subject(verb), {"case", "mark", "nsubj", "nsubj:pass", *HELPERS}
    if subject is None or place > subject or any(tree.relation(kid) in rest for kid in tree.kids[place]):
        return None
    certain = tree.pos(subject) in {"PROPN", "PRON"} or tree.says(subject, "det", "the")
    if not certain or tree.relation(subject) == "expl" or tree.of(place, "conj") or tree.conjuncts(subject):
        return None
    opener, between = aside.inside[0], range(aside.inside[-1] + 1, tree.first(subject))
    if opener != place and (tree.kind(opener) != "advmod" or tree.tag(opener)[0] == "W"):
        return None
    if any(tree.text(i) != "," for i in between):
        return None
    past, plural = tree.is_past(verb) or aside.tells_year, tree.is_plural(subject)
    be = form_of_be(past=past, plural=plural)
    passive = tree.tag(place) == "VBN"
    said = aside.said_of(subject, *([be] if passive else []), *aside.inside)
    said = replace(said, changes={opener: tree.low(opener)} if passive or opener != place else {})
    if passive:
        return said
    return said.made_finite(tree, place, past=past, plural=plural) if past else None


def _is_some_subject(aside: Aside) -> bool:
    """Whether something happened to one or some: "a boat built in 1901 sank"."""
    tree, noun, draft = aside.tree, aside.noun, aside.draft
    if tree.subject(draft.head) != noun or not is_event(tree, draft.head) or is_limited(tree, draft):
        return False
    counted = tree.words(noun, "det")
    return counted <= {"a", "an", "some"} and bool(counted or tree.of(noun, "nummod")) and not tree.conjuncts(noun)


def _meanwhile(aside: Aside) -> Draft | None:
    """What the subject did besides, where a participle behind its clause is said of it: ", praising the soup"."""
    tree, place = aside.tree, aside.place
    verb = tree.predicate_of(aside.noun, aside.draft.head)
    subject = tree.subject(verb)
    acts = subject is not None and tree.low(subject) in _PEOPLE
    acts &= not any(tree.kind(i) == "nsubj" for i in range(verb + 1, place))
    if subject is None or not (acts or (tree.pos(subject) in THINGS and verb == aside.noun)):
        return None
    if any(tree.pos(kid) == "PRON" for kid in tree.of(place, "obj", "nsubj", "iobj")):
        return None  # "making it popular" may speak of the whole statement
    if not (acts or tree.of(verb, "obj", "xcomp", "ccomp", "cop") or tree.of(place, "ccomp")):
        return None  # "crashed into a wall, killing the passenger" tells of the event
    if tree.words(verb, *HELPERS) & {"has", "have", "had"}:
        return None  # "has shaped policy, providing …" tells no time
    past, plural = tree.is_past(verb) or aside.tells_year, tree.is_plural(subject)
    said = aside.said_of(subject, *aside.body)
    having = [i for i in tree.of(place, "aux") if tree.low(i) == "having"]
    if tree.tag(place) == "VBN" and having and having == aside.body[:1]:
        return replace(said, changes={having[0]: "had" if tree.is_past(verb) else "have" if plural else "has"})
    return said.made_finite(tree, place, past=past, plural=plural)


def _possession(aside: Aside) -> Draft | None:
    """What something has: ", with about 2.8 million residents"."""
    tree, place, noun = aside.tree, aside.place, aside.noun
    if aside.cases != ["with"] or aside.body[0] not in tree.of(place, "case") or tree.pos(place) not in THINGS:
        return None
    if any(tree.tag(i) == "MD" for i in tree.of(tree.predicate_of(noun, aside.draft.head), "aux")):
        return None  # "will be wet, with gusts"
    if aside.inside[0] < noun == aside.draft.head:
        return _opening_possession(aside)
    owner = noun
    verb = tree.head(noun) if tree.kind(noun) in {"obj", "obl"} else noun
    subject = tree.subject(verb) if tree.pos(verb) == "VERB" else None
    if subject is not None and not tree.says(noun, "det", "the"):
        placed = [kid for kid in tree.of(verb, "obl") if kid != place]
        vague = any(tree.pos(kid) == "PRON" for kid in tree.of(verb, "obj"))
        lasts = not tree.is_past(verb) and tree.is_definite(subject) and not vague
        if noun == verb and placed:
            lasts &= min(placed) > subject  # not "for Lund the same rule holds, with ten places"
        if is_event(tree, verb) or (not lasts and (tree.kind(noun) == "obl" or (noun == verb and placed))):
            return None  # "the ship caught fire, with no injuries"
        owner = subject
    if tree.of(noun, "cop"):
        subject = tree.subject(noun)
        if noun != aside.draft.head:
            return None
        owner = noun if tree.pos(noun) == "PROPN" or subject is None else subject
    if tree.pos(owner) not in THINGS or (owner == noun and not aside.touches):
        return None
    has = aside.have(owner, past=tree.is_past(tree.predicate_of(noun, aside.draft.head)))
    return aside.said_of(owner, has, *aside.body[1:])


def _opening_possession(aside: Aside) -> Draft | None:
    """What the subject has, told before it: "With a rating of 3.5 stars, the café …"."""
    tree, head = aside.tree, aside.noun
    subject = tree.subject(head)
    told = any(tree.pos(i) == "NUM" for i in aside.inside) or tree.of(head, "cop")
    if subject is None or tree.pos(subject) not in THINGS or tree.relation(subject) == "nsubj:pass":
        return None
    generic = tree.pos(subject) == "NOUN" and not tree.of(subject, "det", "nmod:poss", "nummod", "amod")
    if not told or generic or aside.place > subject:
        return None
    return aside.said_of(subject, aside.have(subject, past=tree.is_past(head)), *aside.inside[1:-1])


def _absolute(aside: Aside) -> Draft | None:
    """What somebody does meanwhile: ", with some customers praising the food"."""
    tree, place, inside = aside.tree, aside.place, aside.inside
    opener = [i for i in tree.of(place, "case", "mark") if tree.low(i) == "with"]
    is_clause = tree.kind(place) == "advcl"
    verb = place if is_clause else next(iter(tree.of(place, "acl")), None)
    owner = tree.subject(place) if is_clause else place
    if not opener or verb is None or owner is None or tree.tag(verb) not in {"VBG", "VBN"}:
        return None
    if (inside[0] and not aside.apart) or tree.is_plural(owner) is None or set(tree.of(verb, "mark")) - set(opener):
        return None
    chain = min([verb, *tree.of(verb, "aux", "aux:pass", "advmod")], key=lambda i: (i < owner, i))
    body = [i for i in aside.body if i not in opener]
    past, many = tree.is_past(aside.draft.head), tree.is_plural(owner)
    be = form_of_be(past=past, plural=many)
    before, after = [i for i in body if i < chain], [i for i in body if i >= chain]
    if not before:
        return None
    said = Draft((*before, *after), verb, minor=True, subject=owner)
    told = said.made_finite(tree, verb, past=past, plural=many) if chain == verb else None
    return told or replace(said, pieces=(*before, be, *after))


def _of_described(aside: Aside) -> Draft | None:
    """Where that is, or what it has, which an indefinite noun describes: "is a café in Rome with a garden"."""
    tree, place, owner = aside.tree, aside.place, aside.described
    if owner is None:
        return None
    if aside.cases == ["in"] and tree.pos(place) == "PROPN" and not aside.tells_year:
        return aside.said_of(owner, aside.be(owner), *aside.inside)
    if aside.cases != ["with"] or tree.of(place, "acl") or tree.is_plural_alone(aside.noun):
        return None  # "38 people, mostly families with children"
    if tree.pos(place) == "PROPN" or tree.says(place, "det", "the"):
        return None  # "is a member of the band with Ada Lind", "was a clerk with the tramways"
    return aside.said_of(owner, aside.have(owner, past=tree.is_past(aside.draft.head)), *aside.inside[1:])

"""What only adds to a noun, as facts of that noun: appositions, relative clauses, participles, what it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from everyclaim.decompose.coordination import EXEMPLARY
from everyclaim.decompose.monotone import TOGETHER, is_event, is_limited, is_source, way_up
from everyclaim.decompose.repairs import HELPERS
from everyclaim.decompose.tree import Draft, Tree

_ADDING = frozenset({"appos", "acl", "acl:relcl"})
_CLOSED = frozenset({"advcl", "csubj", "ccomp", "parataxis", "acl", "acl:relcl", "advmod"})
_OUTSIDE = frozenset({"case", "cop", "nsubj", "aux", "mark", "punct", "advcl", "obl", "advmod", "parataxis"})
_SIGNS = frozenset({",", "–", "—", "-"})
_THINGS = frozenset({"NOUN", "PROPN"})
_VAGUE = frozenset({"this", "that", "there", "what", "these", "those", "it"})
_LONG = 4  # words of a modifier that tells something
_YEAR = 4  # digits


def detached(draft: Draft, tree: Tree) -> list[Draft]:
    """The fact without the first thing that can stand apart from one of its nouns, and that as a fact of its own."""
    return next(_detachments(draft, tree), [draft])


def without_asides(draft: Draft, tree: Tree) -> list[Draft]:
    """The same of what only adds to the fact."""
    return next((parts for parts in _detachments(draft, tree) if parts[1].minor), [draft])


def unbracketed(draft: Draft, tree: Tree) -> list[Draft]:
    """The fact without its first brackets, and what they hold."""
    places = sorted(draft.places)
    opened = next((i for i in places if tree.tokens[i].text in {"(", "["}), len(tree.tokens))
    closed = next((i for i in places if i > opened and tree.tokens[i].text in {")", "]"}), None)
    inside = [i for i in places if closed is not None and opened <= i <= closed]
    if not inside or draft.head in inside or len(inside) == len(draft.pieces):
        return [draft]
    tops = [i for i in inside if tree.tokens[i].head not in inside]
    if any(tree.relation(step) in _CLOSED for top in tops for step in way_up(tree, top, draft)[1:-1]):
        return [draft]
    return [draft.without(inside), replace(draft.only(inside), minor=True)]


def _detachments(draft: Draft, tree: Tree) -> Iterator[list[Draft]]:
    for place in sorted(draft.places):
        noun = tree.tokens[place].head
        if noun not in draft.places or place == draft.head or place in draft.whole:
            continue
        beside = tree.relation(place) in {"appos", "acl:relcl", "nmod:desc"} and tree.is_definite(noun)
        way = way_up(tree, noun, draft)[:-1]
        if any(tree.relation(step) in _CLOSED and not (beside and _is_open(tree, step)) for step in way):
            continue
        aside = _Aside(draft, tree, place, noun, [i for i in tree.under(place) if i in draft.places])
        made = _told(aside) or (aside.kept if not aside.apart and _may_go(aside) else None)
        if made is not None:
            yield [draft.without(_with_commas(tree, tree.under(place))), _as_told(draft, tree, made)]


def _is_open(tree: Tree, clause: int) -> bool:
    """Whether what stands beside a noun of a clause holds by itself: not in what somebody says."""
    how = any(tree.tokens[i].tag == "WRB" for i in tree.of(clause, "advmod", "mark"))
    return tree.relation(clause) in {"advcl", "advmod", "acl"} or how


def _as_told(draft: Draft, tree: Tree, made: Draft) -> Draft:
    """A fact behind who told it, where that opens the sentence: "According to Ada, …"."""
    source = next((kid for kid in tree.of(draft.head, "obl") if kid in draft.places and is_source(tree, kid)), None)
    if source is None or source > draft.head or source in made.places:
        return made
    told = tree.under(source)
    comma = [i for i in (told[-1] + 1,) if tree.tokens[i].text == ","]
    return replace(made, pieces=(*told, *comma, *made.pieces))


def _with_commas(tree: Tree, places: Sequence[int]) -> list[int]:
    """Words, and the signs that set them apart."""
    first, last = places[0], places[-1]
    before = [first - 1] if first and tree.tokens[first - 1].text in _SIGNS else []
    opened = before or tree.tokens[first].text in _SIGNS
    behind = [last + 1] if opened and last + 1 < len(tree.tokens) and tree.tokens[last + 1].text in _SIGNS else []
    return [*before, *places, *behind]


@dataclass(frozen=True, slots=True)
class _Aside:
    """A word with all below it (`inside`), and the word that it depends on."""

    draft: Draft
    tree: Tree
    place: int
    noun: int
    inside: Sequence[int]

    @property
    def cases(self) -> list[str]:
        """Its prepositions."""
        return [self.tree.low(i) for i in self.tree.of(self.place, "case")]

    @property
    def apart(self) -> bool:
        """Whether a sign parts it from what stands before."""
        return self.tree.comma_before(self.place)

    @property
    def body(self) -> Sequence[int]:
        """Its words without the sign before them."""
        return self.inside[self.tree.tokens[self.inside[0]].pos == "PUNCT" :]

    @property
    def kept(self) -> Draft:
        """The whole fact, where the aside goes and says nothing alone; without what went before it."""
        tree, draft = self.tree, self.draft
        before = [one for one in draft.whole if tree.relation(one) != "advcl" or not tree.is_finite(one)]
        gone = {i for one in before if self.noun not in tree.under(one) for i in _with_commas(tree, tree.under(one))}
        return replace(draft.without(gone - set(tree.under(self.place))), whole=draft.whole | {self.place})

    def said_of(self, owner: int, *said: int | str, minor: bool = True) -> Draft:
        """What it says, as a fact of a noun."""
        named = _phrase(self.tree, owner, self.draft, self.place)
        return Draft((*named, *said), self.place, minor=minor, subject=owner)

    def be(self, owner: int, *, past: bool = False) -> str:
        """The form of "be" that a noun takes in the tense of its clause."""
        head = self.tree.predicate_of(owner, self.draft)
        past |= self.tree.is_past(head)
        if self.tree.is_plural(owner) and not (self.tree.subject(head) == owner and self.tree.is_singular(head)):
            return "were" if past else "are"
        return "was" if past else "is"

    def have(self, owner: int, *, past: bool) -> str:
        """The form of "have" that a noun takes."""
        return "had" if past else "have" if self.tree.is_plural(owner) else "has"

    @property
    def tells_year(self) -> bool:
        """Whether a year is among its words."""
        numbers = [
            self.tree.tokens[i].text for i in self.body
            if self.tree.tokens[i].pos == "NUM" and self.tree.relation(i) != "nummod"
        ]  # fmt: skip
        return any(len(number) == _YEAR and number < "2100" for number in numbers)

    @property
    def touches(self) -> bool:
        """Whether nothing but a sign stands between the noun, with what is part of its name, and it."""
        tree, before = self.tree, self.body[0] - 1
        while before > self.noun and tree.tokens[before].text in _SIGNS:
            before -= 1
        named = (i for kid in tree.of(self.noun, "flat", "compound") for i in tree.under(kid))
        return before <= self.noun or before in named

    @property
    def ends(self) -> bool:
        """Whether a sign ends what a sign begins, and no list goes on behind it."""
        behind = self.tree.tokens[self.inside[-1] + 1 :][:2]
        return not behind or (behind[0].pos == "PUNCT" and behind[-1].text not in {"and", "or"})

    @property
    def described(self) -> int | None:
        """The subject that the noun describes, an indefinite one behind "be"."""
        tree, draft, noun = self.tree, self.draft, self.noun
        if tree.kind(noun) == "conj" and tree.tokens[noun].head == draft.head:
            noun = draft.head  # "is a pilot and retired colonel who …"
        if noun == draft.head and draft.subject is not None and tree.kind(noun) == "appos":
            return draft.subject
        subject = tree.subject(noun)
        if noun != draft.head or subject is None or not tree.of(noun, "cop") or tree.is_negated(noun):
            return None
        if tree.of(noun, "case") or not any(tree.low(det) in {"a", "an"} for det in tree.of(noun, "det")):
            return None
        return None if tree.low(subject) in _VAGUE else subject


def _phrase(tree: Tree, noun: int, draft: Draft, without: int) -> list[int]:
    """A noun with what names it: without prepositions, asides and conjuncts. An 's may be part of it: "Denny's"."""
    left = set(tree.under(without)) | {
        i for kid in tree.kids[noun]
        if tree.kind(kid) in _OUTSIDE
        or (tree.kind(kid) in {"conj", "cc"} and noun != tree.subject(draft.head))
        or (tree.relation(kid) in _ADDING and kid > noun)
        or (tree.kind(kid) == "nmod" and kid > noun and tree.comma_before(kid))
        if tree.tokens[kid].tag != "POS" or tree.relation(noun) == "nmod:poss"
        for i in tree.under(kid)
    }  # fmt: skip
    kept = [i for i in tree.under(noun) if i in draft.places and i not in left]
    opened = next((i for i in kept if tree.tokens[i].text == "(" and i > noun), None)
    closed = next((i for i in kept if tree.tokens[i].text == ")"), None)
    return kept if opened is None or closed is None else [i for i in kept if not opened <= i <= closed]


def _told(aside: _Aside) -> Draft | None:
    """What an aside says as a fact of its own; the whole fact where the aside only goes."""
    tree, place, noun = aside.tree, aside.place, aside.noun
    relation, kind, tag = tree.relation(place), tree.kind(place), tree.tokens[place].tag
    first = aside.inside[0]
    titled = tree.tokens[noun].pos == "PROPN" and ":" in {tree.low(i) for i in (first - 1, first, noun - 1)}
    if relation == "appos" and aside.apart and not titled:  # "X-Men: Apocalypse"
        loose = tree.tokens[place].pos in {"NOUN", "NUM", "SYM"} and aside.ends
        return _apposition(aside) or (aside.kept if loose else None)
    if relation == "nmod:desc" or (relation == "nmod" and place < noun and not aside.cases):
        return _title(aside)
    if not EXEMPLARY.isdisjoint(aside.cases) and tree.tokens[noun].pos == "NOUN":
        return _instance(aside)
    if relation == "acl:relcl" and not titled:
        return _relative(aside) or (aside.kept if aside.apart and _is_free(aside) else None)
    if relation == "acl" and tag == "VBN" and tree.tokens[noun].pos in _THINGS:
        return _participle(aside)
    if relation == "amod" and tag == "JJ" and tree.tokens[place].text[0].isupper():
        return _origin(aside)
    if kind in {"nmod", "obl", "advcl"} and (meanwhile := _absolute(aside)):
        return meanwhile
    if kind in {"advcl", "acl"} and aside.apart and tag == "VBG":
        follows = first > noun and not tree.of(place, "mark") and not tree.of(noun, "ccomp")
        if follows and not tree.is_negated(noun):
            return _meanwhile(aside) or replace(aside.kept, minor=True)
    if kind not in {"nmod", "obl"}:
        return None
    if aside.apart or tree.tokens[aside.inside[-1]].text == ",":
        closed = is_limited(tree, aside.draft) or is_source(tree, place) or not TOGETHER.isdisjoint(aside.cases)
        loose = aside.cases == ["with"] or (kind == "obl" and not closed)  # adds a circumstance
        loose = loose and aside.apart and first > noun and aside.ends
        return _possession(aside) or (aside.kept if loose else None)
    return _of_described(aside)


def _may_go(aside: _Aside) -> bool:
    """Whether a fact stands without what is said of one of its things: "left a note listing the payments".

    It stands of what somebody did, has, or is or seems to be.
    """
    tree, draft, place, noun = aside.tree, aside.draft, aside.place, aside.noun
    closer = tree.relation(place) == "acl:relcl" or (tree.kind(place) == "acl" and tree.tokens[place].tag[:2] == "VB")
    if not (closer or (tree.kind(place) == "nmod" and aside.cases == ["with"])) or len(aside.inside) < _LONG:
        return False
    if set(tree.conjuncts(draft.head)) & draft.places or any(noun < c < place for c in tree.conjuncts(noun)):
        return False  # other clauses come off first; a modifier behind a list goes with its last member
    counted = {tree.low(det) for det in tree.of(noun, "det", "nummod", "nmod:poss")}
    if tree.is_negated(noun) or is_limited(tree, draft) or not counted <= {"a", "an", "several", "some"}:
        return False
    has = tree.kind(noun) == "obj" and tree.low(tree.tokens[noun].head) in {"has", "have", "had"}
    if tree.of(noun, "cop") or has:
        held = (bool(counted) or tree.tokens[noun].pos == "NOUN") and not tree.of(noun, "case")
    else:
        held = bool(counted) and tree.kind(noun) in {"obj", "obl"} and is_event(tree, draft.head)
    return held and all(tree.kind(step) == "xcomp" for step in way_up(tree, noun, draft)[1:-1])


def _apposition(aside: _Aside) -> Draft | None:
    """What something is called besides: ", a painter,"."""
    tree, place, noun = aside.tree, aside.place, aside.noun
    name, title = tree.tokens[noun], tree.tokens[place]
    if title.pos not in _THINGS or name.pos not in _THINGS or tree.conjuncts(noun) or aside.cases:
        return None
    behind = tree.tokens[aside.inside[-1] + 1 :][:1]
    if any(token.pos != "PUNCT" for token in behind):
        return None  # the second of a list
    if tree.conjuncts(place) and not any(tree.low(det) in {"a", "an"} for det in tree.of(place, "det")):
        return None  # "the pier, the tower and the hall"
    known = name.pos == "PROPN" or tree.of(noun, "det", "nmod:poss") or name.tag == "NNS"
    if not known or (not aside.touches and name.pos != "PROPN"):
        return None  # "soldiers of the Front, a movement"
    if name.pos == "PROPN" and title.pos == "PROPN" and not tree.of(place, "det", "nmod", "nmod:poss"):
        return None  # "Lund, Sweden"
    return aside.said_of(noun, aside.be(noun), *aside.body)


def _title(aside: _Aside) -> Draft | None:
    """What somebody is by title: "mayor Ada Lind promised"."""
    tree, place, noun, inside = aside.tree, aside.place, aside.noun, aside.inside
    first, before = inside[0], inside[0] - 1
    is_name = tree.tokens[place].pos == "PROPN"
    ranks = tree.tokens[place].pos == "NOUN" or (is_name and len(inside) > 1)
    if not ranks or tree.tokens[noun].pos != "PROPN" or tree.of(place, "conj", "nmod") or tree.conjuncts(noun):
        return None
    if tree.tokens[first].pos in {"PUNCT", "ADP"} or inside != [*range(first, noun)]:
        return None
    if before >= 0 and (tree.relation(before) == "cc" or tree.tokens[before].pos in _THINGS):
        return None
    article = "an" if tree.low(first)[0] in "aeiou" else "a"
    bare = not (is_name or tree.of(place, "det", "nmod:poss"))
    title = aside.said_of(noun, aside.be(noun), *([article] if bare else []), *inside)
    named = is_name or tree.tokens[first].pos == "PROPN"
    return title if named else replace(title, changes={first: tree.low(first)})


def _instance(aside: _Aside) -> Draft | None:
    """One thing in the place of those it is among: "offers drinks such as tea" offers tea."""
    tree, draft, noun = aside.tree, aside.draft, aside.noun
    case = {i for top in tree.of(aside.place, "case") for i in tree.under(top)}
    behind = tree.tokens[aside.inside[-1] + 1 :][:1]
    opener = next((i for i in aside.inside if tree.tokens[i].pos not in {"PUNCT", "ADV"}), aside.place)
    if noun > aside.place or tree.low(opener) not in EXEMPLARY or any(one.tag in {"VBG", "VBN"} for one in behind):
        return None  # "mishaps such as guards leaving their post"
    named = tree.under(noun, without=tree.of(noun, "case"))
    way = [tree.kind(step) for step in way_up(tree, noun, draft)[:-1]]
    direct = way[:1] == ["obj"] or (way[:1] == ["obl"] and _is_meant(aside))
    direct = direct and set(way[1:]) <= {"xcomp"} and named == [*range(named[0], named[-1] + 1)]
    if not direct or is_limited(tree, draft):
        return aside.kept
    return replace(draft.without(set(named) - {i for i in aside.inside if i not in case and i > opener}), minor=True)


def _is_meant(aside: _Aside) -> bool:
    """Whether one of several things takes part in an event as they do: "sang in halls such as the Rosa"."""
    tree, head, noun = aside.tree, aside.draft.head, aside.noun
    if not is_event(tree, head) or not tree.is_plural(noun) or "of" in map(tree.low, tree.of(noun, "case")):
        return False
    before = [i for i in tree.of(head, "obj", "obl") if head < i < noun and tree.is_plural_alone(i)]
    return not before or not aside.apart


def _relative(aside: _Aside) -> Draft | None:
    """What a relative clause says of its noun, or of the subject where it describes that: "a painter who left"."""
    tree, place, noun = aside.tree, aside.place, aside.noun
    pronoun = tree.subject(place)
    if pronoun is None or tree.low(pronoun) not in {"who", "which", "that"} or tree.tokens[pronoun].tag[0] != "W":
        return None
    if aside.apart:
        before = next((i - 1 for i in range(aside.inside[0], 0, -1) if tree.tokens[i - 1].pos != "PUNCT"), noun)
        listed = any(noun < c < place for c in tree.conjuncts(noun))
        if listed or before not in tree.under(noun) or _has_rival(tree, noun, before, place):
            return None  # what stands before it is not said of this noun, or may be of another
    owner = noun if aside.apart and tree.low(pronoun) != "that" else aside.described
    if owner is None or not tree.agrees(owner, place) or tree.tokens[noun].pos in {"PRON", "NUM"}:
        return None
    return aside.said_of(owner, *(i for i in aside.inside if i > pronoun), minor=aside.apart)


def _is_free(aside: _Aside) -> bool:
    """Whether a relative clause begins with its pronoun, and so only adds: ", where she taught"."""
    tree = aside.tree
    opener = next(i for i in aside.inside if tree.tokens[i].pos not in {"PUNCT", "ADP"})
    return tree.tokens[opener].tag in {"WDT", "WP", "WP$", "WRB"} and tree.low(opener) != "that"


def _has_rival(tree: Tree, noun: int, last: int, verb: int) -> bool:
    """Whether a clause may be said of another noun of its phrase: "the lives of the pupils, who"."""
    while tree.relation(last) in {"flat", "compound", "conj", "appos", "punct", "nummod"} and last != noun:
        last = tree.tokens[last].head
    near = [last] if last != noun else []
    while near and tree.relation(near[-1]) in {"nmod", "obl", "acl"} and tree.tokens[near[-1]].head != noun:
        near.append(tree.tokens[near[-1]].head)
    above = noun
    while not near and tree.relation(above) == "nmod" and tree.tokens[noun].pos != "PROPN":
        above = tree.tokens[above].head
        near.append(above)
    return any(tree.tokens[i].pos in _THINGS and not tree.of(i, "nummod") and tree.agrees(i, verb) for i in near)


def _participle(aside: _Aside) -> Draft | None:
    """What was done to a noun: ", built in 1901," and "is a hall built in 1901"."""
    tree, place = aside.tree, aside.place
    owner = aside.described
    owner = aside.noun if aside.apart and owner is None and aside.touches else owner
    if owner is None or len(aside.inside) < 2 or tree.low(place) in {"called", "including"} or tree.subject(place):
        return None
    if tree.tokens[aside.inside[0]].pos == "ADP":
        return None  # "a statement of tax paid"
    be = aside.be(owner, past=tree.low(place) == "born" or aside.tells_year)
    return aside.said_of(owner, be, *aside.body, minor=aside.apart)


def _origin(aside: _Aside) -> Draft | None:
    """Where somebody is from, by an adjective made of a name: "is an American painter", not "a French horn player"."""
    tree, noun, owner = aside.tree, aside.noun, aside.described
    if owner is None or not tree.tokens[noun].text.islower() or tree.conjuncts(noun):
        return None
    alone = tree.of(noun, "amod", "compound") == [aside.place]
    return aside.said_of(owner, aside.be(owner), *aside.inside) if alone else None


def _meanwhile(aside: _Aside) -> Draft | None:
    """What the subject did besides, where a participle behind its clause is said of it: ", praising the soup"."""
    tree, place, verb = aside.tree, aside.place, aside.noun
    subject = tree.subject(verb)
    if subject is None or tree.tokens[subject].pos not in _THINGS:
        return None
    if any(tree.tokens[kid].pos == "PRON" for kid in tree.of(place, "obj", "nsubj", "iobj")):
        return None  # "making it popular" may speak of the whole statement
    if not (tree.of(verb, "obj", "xcomp", "ccomp", "cop") or tree.of(place, "ccomp")):
        return None  # "crashed into a wall, killing the passenger" tells of the event
    perfect = any(tree.low(kid) in {"has", "have", "had"} for kid in tree.of(verb, *HELPERS))
    past, plural = tree.is_past(verb) or aside.tells_year or perfect, tree.is_plural(subject)
    return aside.said_of(subject, *aside.body).made_finite(tree, place, past=past, plural=plural)


def _possession(aside: _Aside) -> Draft | None:
    """What something has: ", with about 2.8 million residents"."""
    tree, place, noun = aside.tree, aside.place, aside.noun
    if aside.cases != ["with"] or aside.body[0] not in tree.of(place, "case") or tree.tokens[place].pos not in _THINGS:
        return None
    if aside.inside[0] < noun == aside.draft.head:
        return _opening_possession(aside)
    owner = noun
    verb = tree.tokens[noun].head if tree.kind(noun) in {"obj", "obl"} else noun
    subject = tree.subject(verb) if tree.tokens[verb].pos == "VERB" else None
    if subject is not None and not any(tree.low(det) == "the" for det in tree.of(noun, "det")):
        placed = [kid for kid in tree.of(verb, "obl") if kid != place]
        if is_event(tree, verb) or tree.kind(noun) == "obl" or (noun == verb and placed):
            return None  # "the ship caught fire, with no injuries"
        owner = subject
    if tree.of(noun, "cop"):
        subject = tree.subject(noun)
        if noun != aside.draft.head:
            return None
        owner = noun if tree.tokens[noun].pos == "PROPN" or subject is None else subject
    if tree.tokens[owner].pos not in _THINGS or (owner == noun and not aside.touches):
        return None
    has = aside.have(owner, past=tree.is_past(tree.predicate_of(noun, aside.draft)))
    return aside.said_of(owner, has, *aside.body[1:])


def _opening_possession(aside: _Aside) -> Draft | None:
    """What the subject has, told before it: "With a rating of 3.5 stars, the café …"."""
    tree, head = aside.tree, aside.noun
    subject = tree.subject(head)
    told = any(tree.tokens[i].pos == "NUM" for i in aside.inside) or tree.of(head, "cop")
    if subject is None or tree.tokens[subject].pos not in _THINGS or tree.relation(subject) == "nsubj:pass":
        return None
    generic = tree.tokens[subject].tag == "NNS" and not tree.of(subject, "det", "nmod:poss", "nummod", "amod")
    if not told or generic or aside.place > subject:
        return None
    return aside.said_of(subject, aside.have(subject, past=tree.is_past(head)), *aside.inside[1:-1])


def _absolute(aside: _Aside) -> Draft | None:
    """What somebody does meanwhile: ", with some customers praising the food"."""
    tree, place, inside = aside.tree, aside.place, aside.inside
    opener = [i for i in tree.of(place, "case", "mark") if tree.low(i) == "with"]
    is_clause = tree.kind(place) == "advcl"
    verb = place if is_clause else next(iter(tree.of(place, "acl")), None)
    owner = tree.subject(place) if is_clause else place
    if not opener or verb is None or owner is None or tree.tokens[verb].tag not in {"VBG", "VBN"}:
        return None
    if (inside[0] and not aside.apart) or tree.is_plural(owner) is None or set(tree.of(verb, "mark")) - set(opener):
        return None
    chain = min([verb, *tree.of(verb, "aux", "aux:pass", "advmod")], key=lambda i: (i < owner, i))
    body = [i for i in aside.body if i not in opener]
    past, many = tree.is_past(aside.draft.head), tree.is_plural(owner)
    be = ("were" if many else "was") if past else "are" if many else "is"
    before, after = [i for i in body if i < chain], [i for i in body if i >= chain]
    if not before:
        return None
    said = Draft((*before, *after), verb, minor=True, subject=owner)
    told = said.made_finite(tree, verb, past=past, plural=many) if chain == verb else None
    return told or replace(said, pieces=(*before, be, *after))


def _of_described(aside: _Aside) -> Draft | None:
    """Where that is, or what it has, which an indefinite noun describes: "is a café in Rome with a garden"."""
    tree, place, owner = aside.tree, aside.place, aside.described
    if owner is None:
        return None
    if aside.cases == ["in"] and tree.tokens[place].pos == "PROPN":
        return aside.said_of(owner, aside.be(owner), *aside.inside)
    if aside.cases != ["with"] or tree.of(place, "acl") or tree.tokens[aside.noun].tag in {"NNS", "NNPS"}:
        return None  # "38 people, mostly families with children"
    return aside.said_of(owner, aside.have(owner, past=tree.is_past(aside.draft.head)), *aside.inside[1:])

"""What only adds to a noun, as facts of that noun: appositions, relative clauses, participles, what it has."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from everyclaim.decompose.clauses import renamed_in
from everyclaim.decompose.coordination import EXEMPLARY
from everyclaim.decompose.monotone import is_event, is_limited, is_source, way_up
from everyclaim.decompose.nouns import (
    apposition,
    be_of,
    described_by,
    ends_phrase,
    have_of,
    is_definite,
    of_described,
    phrase,
    predicate_of,
    tells_year,
    title_of,
    touches,
    unsigned,
)
from everyclaim.decompose.repairs import HELPERS, SUBJECTS
from everyclaim.decompose.tree import Draft, Tree

_LONG = 4  # words of a modifier that tells something
_HAVING = frozenset({"has", "have", "had"})
_CLOSED = frozenset({"advcl", "csubj", "ccomp", "parataxis", "acl", "acl:relcl", "advmod"})


def detached(draft: Draft, tree: Tree) -> list[Draft]:
    """The fact without the first thing that can stand apart from one of its nouns, and that as a fact of its own."""
    return next(_detachments(draft, tree), [draft])


def without_asides(draft: Draft, tree: Tree) -> list[Draft]:
    """The same of what only adds to the fact."""
    return next((parts for parts in _detachments(draft, tree) if parts[1].minor), [draft])


def _detachments(draft: Draft, tree: Tree) -> Iterator[list[Draft]]:
    for place in sorted(draft.places):
        noun = tree.tokens[place].head
        if noun not in draft.places or place == draft.head or place in draft.whole:
            continue
        way = way_up(tree, noun, draft)[:-1]
        beside = tree.relation(place) in {"appos", "acl:relcl", "nmod:desc"} and is_definite(tree, noun)
        if any(tree.relation(step) in _CLOSED and not (beside and _is_open(tree, step)) for step in way):
            continue
        made = _aside(draft, tree, place, noun)
        if made is not None:
            yield [draft.without(_with_commas(tree, tree.under(place))), _as_told(draft, tree, made)]


def _as_told(draft: Draft, tree: Tree, made: Draft) -> Draft:
    """A fact behind who told it, where that opens the sentence: "According to Ada, …"."""
    source = next((kid for kid in tree.of(draft.head, "obl") if kid in draft.places and is_source(tree, kid)), None)
    if source is None or source > draft.head or source in made.places:
        return made
    told = tree.under(source)
    comma = [i for i in (told[-1] + 1,) if tree.tokens[i].text == ","]
    return replace(made, pieces=(*told, *comma, *made.pieces))


def _is_open(tree: Tree, clause: int) -> bool:
    """Whether what stands beside a noun of a clause holds by itself: not in what somebody says."""
    how = any(tree.tokens[i].tag == "WRB" for i in tree.of(clause, "advmod", "mark"))
    return tree.relation(clause) in {"advcl", "advmod", "acl"} or how


def _aside(draft: Draft, tree: Tree, place: int, noun: int) -> Draft | None:
    """What a word with all below it says as a fact of its own; the fact itself where it only goes."""
    inside = [i for i in tree.under(place) if i in draft.places]
    told = _told(draft, tree, place, noun, inside)
    goes = told is None and not tree.comma_before(place) and _may_go(draft, tree, place, noun, inside)
    return _kept(draft, tree, place, noun) if goes else told


def _kept(draft: Draft, tree: Tree, place: int, noun: int) -> Draft:
    """The fact with what only goes, and says nothing alone; without what went before it."""
    before = [one for one in draft.whole if tree.relation(one) != "advcl" or not tree.is_finite(one)]
    gone = {i for one in before if noun not in tree.under(one) for i in _with_commas(tree, tree.under(one))}
    return replace(draft.without(gone - set(tree.under(place))) if gone else draft, whole=draft.whole | {place})


def _told(draft: Draft, tree: Tree, place: int, noun: int, inside: list[int]) -> Draft | None:
    relation = tree.relation(place)
    apart = tree.comma_before(place)
    named = tree.tokens[noun].pos == "PROPN" and ":" in {tree.low(i) for i in (inside[0] - 1, inside[0], noun - 1)}
    kept = _kept(draft, tree, place, noun)
    if relation == "appos" and apart and not named:  # "X-Men: Apocalypse"
        loose = tree.tokens[place].pos in {"NOUN", "NUM", "SYM"} and ends_phrase(tree, inside)
        return apposition(draft, tree, place, noun, inside) or (kept if loose else None)
    if relation == "nmod:desc" or (relation == "nmod" and place < noun and not tree.of(place, "case")):
        return title_of(draft, tree, place, noun, inside)
    if {tree.low(i) for i in tree.of(place, "case")} & EXEMPLARY and tree.tokens[noun].pos == "NOUN":
        return _instance(draft, tree, place, noun, inside)
    if relation == "acl:relcl" and not named:
        told = _relative(draft, tree, place, noun, inside, apart=apart)
        if told is None and apart and _is_free(tree, draft, inside):
            told = _turned(draft, tree, place, noun, inside) or kept
        return told
    if relation == "acl" and tree.tokens[place].tag == "VBN" and tree.tokens[noun].pos in {"NOUN", "PROPN"}:
        return _participle(draft, tree, place, noun, inside, apart=apart)
    if tree.kind(place) in {"nmod", "obl", "advcl"} and (meanwhile := absolute(draft, tree, place, inside)):
        return meanwhile
    if tree.kind(place) == "advcl" and apart and any(tree.low(i) in EXEMPLARY for i in tree.of(place, "mark")):
        return kept
    if tree.kind(place) in {"advcl", "acl"} and apart and tree.tokens[place].tag in {"VBG", "VBN"}:
        following = max(inside) + 2
        if following < len(tree.tokens) and tree.tokens[following].tag in {"WDT", "WP"}:
            return None
        if tree.tokens[place].tag == "VBN":
            return _opening(draft, tree, place, noun, inside)
        if _follows(tree, place, noun, inside):
            return _meanwhile(draft, tree, place, noun, inside) or replace(kept, minor=True)
    if tree.kind(place) in {"nmod", "obl"}:
        if apart or tree.tokens[inside[-1]].text == ",":
            told = possession(draft, tree, place, noun, inside)
            loose = apart and inside[0] > noun and [tree.low(i) for i in tree.of(place, "case")] == ["with"]
            return told or (kept if loose and ends_phrase(tree, inside) else None)
        owner = described_by(tree, draft, noun)
        return of_described(draft, tree, place, owner, inside) if owner is not None else None
    return None


def _instance(draft: Draft, tree: Tree, place: int, noun: int, inside: list[int]) -> Draft | None:
    """One thing in the place of those it is among: "offers drinks such as tea" offers tea."""
    case = {i for top in tree.of(place, "case") for i in tree.under(top)}
    member = [i for i in inside if i not in case and tree.tokens[i].text != ","] if noun < place else []
    opener = next((i for i in inside if tree.tokens[i].pos not in {"PUNCT", "ADV"}), place)
    if not member or tree.low(opener) not in EXEMPLARY:
        return None
    if any(token.tag in {"VBG", "VBN"} for token in tree.tokens[max(inside) + 1 :][:1]):
        return None  # "mishaps such as guards leaving their post"
    named = tree.under(noun, without=tree.of(noun, "case"))
    way = [tree.kind(step) for step in way_up(tree, noun, draft)[:-1]]
    subject = way == ["nsubj"] and tree.is_plural(noun)
    direct = subject or way[:1] == ["obj"] or (way[:1] == ["obl"] and _is_meant(tree, draft, place, noun))
    direct = direct and set(way[1:]) <= {"xcomp"} and named == [*range(named[0], named[-1] + 1)]
    if not direct or is_limited(tree, draft):
        return _kept(draft, tree, place, noun)
    told = replace(draft.without(set(named) - {i for i in inside if i not in case and i > opener}), minor=True)
    if subject and tree.is_plural(place) is not True:
        return told.in_singular(tree, draft.head) if tree.is_plural(place) is False else None
    return told


def _is_meant(tree: Tree, draft: Draft, place: int, noun: int) -> bool:
    """Whether one of several things takes part in an event as they do: "sang in halls such as the Rosa"."""
    if (
        not is_event(tree, draft.head)
        or not tree.is_plural(noun)
        or any(tree.low(case) == "of" for case in tree.of(noun, "case"))
    ):
        return False
    before = [i for i in tree.of(draft.head, "obj", "obl") if draft.head < i < noun and tree.is_plural_alone(i)]
    return not before or not tree.comma_before(place)


def _opening(draft: Draft, tree: Tree, place: int, verb: int, inside: list[int]) -> Draft | None:
    """What was done to the subject of a clause: ", followed by a café"."""
    subject = tree.subject(verb)
    if verb != draft.head or subject is None or tree.of(place, "mark", *SUBJECTS):
        return None
    if tree.tokens[subject].pos not in {"NOUN", "PROPN"}:
        return None
    placed = {tree.low(case) for kid in tree.of(place, "obl") for case in tree.of(kid, "case")}
    if "by" not in placed:
        return None
    body = [i for i in inside if not (tree.tokens[i].pos == "PUNCT" and i in {inside[0], inside[-1]})]
    named = phrase(tree, subject, draft, place)
    return Draft((*named, be_of(tree, draft, subject), *body), place, minor=True, subject=subject)


def _relative(draft: Draft, tree: Tree, place: int, noun: int, inside: list[int], *, apart: bool) -> Draft | None:
    """What a relative clause says of its noun, or of the subject where it describes that: "a painter who left"."""
    pronoun = next(
        (i for i in inside if tree.low(i) in {"who", "which", "that"} and tree.tokens[i].tag in {"WP", "WDT"}), None
    )
    if pronoun is None or tree.relation(pronoun) not in SUBJECTS or tree.tokens[pronoun].head != place:
        return None
    owner: int | None = noun
    if apart and any(tree.kind(c) == "conj" and _goes_on(tree, c) for c in inside):
        return None
    before = next((i - 1 for i in range(inside[0], 0, -1) if tree.tokens[i - 1].pos != "PUNCT"), noun)
    listed = any(noun < c < place for c in tree.conjuncts(noun))
    if apart and (listed or before not in tree.under(noun) or _has_rival(tree, noun, before, place)):
        return None  # what stands before it is not said of this noun, or may be of another
    if apart and (
        _goes_on_behind(tree, draft, max(inside))
        or any(tree.comma_before(k) for k in tree.of(place, "obl") if k > place)
    ):
        return None  # ", which can refuse entry, at least 24 hours before arrival"
    if not apart or tree.low(pronoun) == "that":
        owner = described_by(tree, draft, noun)
    elif tree.low(pronoun) == "which" and tree.of(noun, "cop") and tree.tokens[noun].pos != "PROPN":
        return None
    named = [i for i in tree.of(tree.tokens[noun].head, "obj", "nsubj") if tree.tokens[i].pos == "PROPN"]
    if apart and named and tree.low(pronoun) == "who" and tree.tokens[noun].pos != "PROPN":
        return None  # "met Ada at the game, who won"
    if apart and any(tree.tokens[i].pos == "PRON" for i in tree.of(place, "obj")):
        return None  # "which makes it" may speak of the whole statement
    if (
        apart
        and tree.tokens[noun].tag == "NNS"
        and not tree.of(noun, "det", "nmod:poss", "nummod")
        and not _tells_number(tree, place)
    ):
        return None  # "refunds for guests, which may take days"
    if owner is None or not tree.agrees(owner, place) or tree.tokens[noun].pos in {"PRON", "NUM"}:
        return None
    rest = [i for i in inside if i > pronoun]
    return Draft((*phrase(tree, owner, draft, place), *rest), place, minor=apart, subject=owner)


def _turned(draft: Draft, tree: Tree, place: int, noun: int, inside: list[int]) -> Draft | None:
    """What a clause says of a noun that is not its subject: ", whose father was a smith", ", which she led"."""
    opener = next(i for i in inside if tree.tokens[i].pos != "PUNCT")
    before = next(i for i in range(inside[0] - 1, -1, -1) if tree.tokens[i].pos != "PUNCT")
    if tree.subject(place) in {None, opener} or not tree.is_finite(place) or tree.conjuncts(noun):
        return None
    goes_on = any(_goes_on(tree, c) for c in tree.conjuncts(place))
    if goes_on or tree.tokens[noun].pos not in {"NOUN", "PROPN"} or tree.low(place) == "do":
        return None  # "won, which others did not do"
    if before not in tree.under(noun) or _has_rival(tree, noun, before):
        return None
    rest = [i for i in inside if i > opener and (i != inside[-1] or tree.tokens[i].pos != "PUNCT")]
    named, cases = phrase(tree, noun, draft, place), tree.of(noun, "case")
    pieces: tuple[int | str, ...]
    if tree.tokens[opener].tag == "WP$" and tree.relation(tree.tokens[opener].head) in SUBJECTS:
        pieces = (*named, "'s", *rest)
    elif tree.relation(opener) == "obj" and tree.tokens[opener].head == place:
        pieces = (*(i for i in rest if i <= place), *named, *(i for i in rest if i > place))
    elif tree.low(opener) == "where" and [tree.low(i) for i in cases] in (["in"], ["at"]):
        pieces = (*rest, *cases, *named)
    else:
        return None
    return renamed_in(Draft(pieces, place, minor=True), tree, place, predicate_of(tree, draft, noun), draft.places)


def _goes_on_behind(tree: Tree, draft: Draft, last: int) -> bool:
    """Whether a participle follows a clause, and may go with its verb or with the one before: ", warning him"."""
    return any(tree.relation(i) == "advcl" and tree.tokens[i].tag == "VBG" for i in draft.places if i > last)


def _is_free(tree: Tree, draft: Draft, inside: list[int]) -> bool:
    """Whether a relative clause begins with its pronoun, and so only adds: ", where she taught"."""
    opener = next(i for i in inside if tree.tokens[i].pos not in {"PUNCT", "ADP"})
    relative = tree.tokens[opener].tag in {"WDT", "WP", "WP$", "WRB"} and tree.low(opener) != "that"
    return relative and not _goes_on_behind(tree, draft, max(inside))


def _has_rival(tree: Tree, noun: int, last: int, verb: int | None = None) -> bool:
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
    near = [i for i in near if tree.tokens[i].pos in {"NOUN", "PROPN"} and not tree.of(i, "nummod")]
    return any(verb is None or tree.agrees(i, verb) for i in near)


def _tells_number(tree: Tree, verb: int) -> bool:
    """Whether the form of a verb tells whether it speaks of one or of several."""
    forms = [tree.tokens[kid] for kid in tree.of(verb, *HELPERS)] or [tree.tokens[verb]]
    return forms[0].tag in {"VBZ", "VBP"} or forms[0].text.lower() in {"was", "were"}


def _goes_on(tree: Tree, conjunct: int) -> bool:
    """Whether a list may go on outside a clause: "a vault, which uses keys, and a safe"."""
    return tree.comma_before(conjunct) and len(tree.conjuncts(tree.tokens[conjunct].head)) == 1


def _participle(draft: Draft, tree: Tree, place: int, noun: int, inside: list[int], *, apart: bool) -> Draft | None:
    """What was done to a noun: ", built in 1901," and "is a hall built in 1901"."""
    owner = described_by(tree, draft, noun)
    owner = noun if apart and owner is None and touches(tree, noun, inside) else owner
    if owner is None or len(inside) < 2 or tree.low(place) in {"called", "including"} or tree.subject(place):
        return None
    if tree.tokens[inside[0]].pos == "ADP":
        return None  # "a statement of tax paid"
    body = unsigned(tree, inside)
    be = be_of(tree, draft, owner, past=tree.low(place) == "born" or tells_year(tree, body))
    return Draft((*phrase(tree, owner, draft, place), be, *body), place, minor=apart)


def _follows(tree: Tree, place: int, verb: int, inside: list[int]) -> bool:
    """Whether a participle behind its clause tells what came with it: ", making it popular"."""
    behind = inside[0] > verb and not tree.of(place, "mark")
    if any(verb < i < place and tree.is_finite(i) for i in [*tree.conjuncts(verb), *tree.of(verb, "ccomp", "advcl")]):
        return False
    return behind and not tree.is_negated(verb) and not tree.of(verb, "ccomp")


def _meanwhile(draft: Draft, tree: Tree, place: int, verb: int, inside: list[int]) -> Draft | None:
    """What the subject did besides, where a participle behind its clause is said of it: ", praising the soup"."""
    subject = tree.subject(verb)
    if subject is None or tree.tokens[subject].pos not in {"NOUN", "PROPN"}:
        return None
    if any(tree.tokens[kid].pos == "PRON" for kid in tree.of(place, "obj", "nsubj", "iobj")):
        return None  # "making it popular" may speak of the whole statement
    acts = tree.of(verb, "obj", "xcomp", "ccomp", "cop")
    if not (acts or tree.of(place, "ccomp")):
        return None  # "crashed into a wall, killing the passenger" tells of the event
    body = unsigned(tree, inside)
    perfect = any(tree.low(kid) in {"has", "have", "had"} for kid in tree.of(verb, *HELPERS))
    past, plural = tree.is_past(verb) or tells_year(tree, body) or perfect, tree.is_plural(subject)
    told: Draft | None = Draft((*phrase(tree, subject, draft, place), *body), place, minor=True, subject=subject)
    also = [kid for kid in tree.of(place, "conj", "advcl") if tree.joiners(kid) and tree.tokens[kid].tag == "VBG"]
    for one in [place, *also]:
        told = told.made_finite(tree, one, past=past, plural=plural) if told else None
    return told


def _may_go(draft: Draft, tree: Tree, place: int, noun: int, inside: list[int]) -> bool:
    """Whether a fact about some thing stands without what is said of it closer: "left a note listing the payments".

    It stands of what somebody did, has, or is or seems to be.
    """
    if tree.kind(place) == "acl":
        told = tree.relation(place) == "acl:relcl" or tree.tokens[place].tag in {"VBG", "VBN"}
    else:
        told = tree.kind(place) == "nmod" and [tree.low(case) for case in tree.of(place, "case")] == ["with"]
    if not told or len(inside) < _LONG:
        return False
    verb = tree.tokens[noun].head
    counted = {tree.low(det) for det in tree.of(noun, "det", "nummod", "nmod:poss")}
    is_some = bool(counted) and counted <= {"a", "an", "several", "some"}
    if set(tree.conjuncts(draft.head)) & draft.places or any(noun < c < place for c in tree.conjuncts(noun)):
        return False  # other clauses come off first; a modifier behind a list goes with its last member
    if tree.of(noun, "cop") or (tree.kind(noun) == "obj" and tree.low(verb) in _HAVING):
        held = is_some or (not counted and tree.tokens[noun].pos == "NOUN")
        held &= not is_limited(tree, draft) and not tree.is_negated(noun) and not tree.of(noun, "case")
    else:
        held = is_some and tree.kind(noun) in {"obj", "obl"} and is_event(tree, draft.head)
        held &= not tree.is_negated(draft.head)
    return held and all(tree.kind(step) == "xcomp" for step in way_up(tree, noun, draft)[1:-1])


def _with_commas(tree: Tree, places: Collection[int]) -> list[int]:
    """Words, and the signs that set them apart."""
    first, last = min(places), max(places)
    found = list(places)
    if first and tree.tokens[first - 1].text in {",", "–", "—", "-"}:
        found.append(first - 1)
        opened = True
    else:
        opened = tree.tokens[first].text in {",", "–", "—", "-"}
    if opened and last + 1 < len(tree.tokens) and tree.tokens[last + 1].text in {",", "–", "—", "-"}:
        found.append(last + 1)
    return found


def unbracketed(draft: Draft, tree: Tree) -> list[Draft]:
    """The fact without its first brackets, and what they hold."""
    opened = next((i for i in sorted(draft.places) if tree.tokens[i].text in {"(", "["}), None)
    closer = {"(": ")", "[": "]"}[tree.tokens[opened].text] if opened is not None else ""
    closed = next(
        (i for i in sorted(draft.places) if opened is not None and i > opened and tree.tokens[i].text == closer), None
    )
    if opened is None or closed is None or draft.head in range(opened, closed):
        return [draft]
    inside = [i for i in draft.places if opened <= i <= closed]
    tops = [i for i in inside if tree.tokens[i].head not in inside]
    if any(tree.relation(step) in _CLOSED for top in tops for step in way_up(tree, top, draft)[1:-1]):
        return [draft]
    if all(piece in inside for piece in draft.pieces):
        return [draft]
    return [draft.without(inside), replace(draft.only(inside), minor=True)]


def possession(draft: Draft, tree: Tree, place: int, noun: int, inside: list[int]) -> Draft | None:
    """What something has: ", with about 2.8 million residents"."""
    case = tree.of(place, "case")
    opener = next((i for i in inside if tree.tokens[i].pos != "PUNCT"), place)
    if [tree.low(i) for i in case] != ["with"] or opener not in case or tree.tokens[place].pos not in {"NOUN", "PROPN"}:
        return None
    if any(tree.kind(i) in {"acl", "advcl", "nsubj"} for i in inside):
        return None
    if tree.conjuncts(noun) and tree.tokens[noun].pos == "NOUN" and inside[-1] < tree.conjuncts(noun)[-1]:
        return None  # "a hall, with two rooms, and a bar": of the first of a list
    if inside[0] < noun and noun == draft.head:
        return _opening_possession(draft, tree, place, noun, inside)
    owner = noun
    verb = tree.tokens[noun].head if tree.kind(noun) in {"obj", "obl"} else noun
    subject = None if tree.tokens[verb].pos != "VERB" else tree.subject(verb)
    if subject is not None and not any(tree.low(det) == "the" for det in tree.of(noun, "det")):
        placed = [kid for kid in tree.of(verb, "obl") if kid != place]
        if is_event(tree, verb) or tree.kind(noun) == "obl" or (noun == verb and placed):
            return None  # "the ship caught fire, with no injuries"
        owner = subject
    if tree.of(noun, "cop"):
        if noun != draft.head:
            return None
        subject = tree.subject(noun)
        owner = noun if tree.tokens[noun].pos == "PROPN" or subject is None else subject
    if tree.tokens[owner].pos not in {"NOUN", "PROPN"}:
        return None
    if owner == noun and not touches(tree, noun, inside):
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
    if not told or generic or place > subject:
        return None
    has = have_of(tree, subject, past=tree.is_past(head))
    return Draft((*phrase(tree, subject, draft, place), has, *inside[1:-1]), place, minor=True, subject=subject)


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

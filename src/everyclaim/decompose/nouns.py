"""A noun and what names it: the phrase that a fact about it begins with, and the form of "be" that it takes."""

from __future__ import annotations

from dataclasses import replace

from everyclaim.decompose.tree import Draft, Tree

_ADDING = frozenset({"appos", "acl", "acl:relcl"})
YEAR = 4  # digits


def phrase(tree: Tree, noun: int, draft: Draft, without: int = -1) -> list[int]:
    """A noun with what names it: without prepositions, asides and conjuncts."""
    left = set(tree.under(without) if without >= 0 else ()) | {
        i for kid in tree.kids[noun]
        if tree.kind(kid) in {"case", "cop", "nsubj", "aux", "mark", "punct", "advcl", "obl", "advmod", "parataxis"}
        or (tree.kind(kid) in {"conj", "cc"} and noun != tree.subject(draft.head))
        or (tree.relation(kid) in _ADDING and kid > noun)
        or (tree.kind(kid) == "nmod" and kid > noun and tree.comma_before(kid))
        if not _ends_name(tree, noun, kid)
        for i in tree.under(kid)
    }  # fmt: skip
    kept = [i for i in tree.under(noun) if i in draft.places and i not in left]
    opened = next((i for i in kept if tree.tokens[i].text == "(" and i > noun), None)
    closed = next((i for i in kept if tree.tokens[i].text == ")"), None)
    return kept if opened is None or closed is None else [i for i in kept if not opened <= i <= closed]


def _ends_name(tree: Tree, noun: int, kid: int) -> bool:
    """Whether an 's is part of a name: "Denny's is a café"."""
    return tree.tokens[kid].tag == "POS" and tree.relation(noun) != "nmod:poss"


def predicate_of(tree: Tree, draft: Draft, place: int) -> int:
    """The predicate of the clause that a word stands in."""
    while place != draft.head and tree.tokens[place].pos not in {"VERB", "AUX"} and tree.tokens[place].head >= 0:
        place = tree.tokens[place].head
    return place


def be_of(tree: Tree, draft: Draft, noun: int, *, past: bool = False) -> str:
    """The form of "be" that a noun takes in the tense of its clause."""
    head = predicate_of(tree, draft, noun)
    past |= tree.is_past(head)
    if tree.is_plural(noun) and not (tree.subject(head) == noun and tree.is_singular(head)):
        return "were" if past else "are"
    return "was" if past else "is"


def have_of(tree: Tree, owner: int, *, past: bool) -> str:
    """The form of "have" that a noun takes."""
    return "had" if past else "have" if tree.is_plural(owner) else "has"


def unsigned(tree: Tree, inside: list[int]) -> list[int]:
    """The words of a phrase without the sign that sets it apart in front."""
    return inside[1:] if tree.tokens[inside[0]].pos == "PUNCT" else inside


def tells_year(tree: Tree, words: list[int]) -> bool:
    """Whether a year is among words."""
    return any(
        tree.tokens[i].pos == "NUM"
        and len(tree.tokens[i].text) == YEAR
        and tree.tokens[i].text < "2100"
        and tree.relation(i) != "nummod"
        for i in words
    )


def touches(tree: Tree, noun: int, inside: list[int]) -> bool:
    """Whether nothing but a sign stands between a noun, with what is part of its name, and what is said of it."""
    before = inside[0] - (tree.tokens[inside[0]].pos != "PUNCT")
    while before > noun and tree.tokens[before].text in {",", "–", "—", "-"}:
        before -= 1
    if tree.tokens[before].text == ")":
        before = max(i for i in range(before) if i == noun or tree.tokens[i].text == "(") - 1
    return before <= noun or before in [i for kid in tree.of(noun, "flat", "compound") for i in tree.under(kid)]


def described_by(tree: Tree, draft: Draft, noun: int) -> int | None:
    """The subject that an indefinite noun behind "be" describes."""
    if noun == draft.head and draft.subject is not None and tree.kind(noun) == "appos":
        return draft.subject
    if tree.kind(noun) == "conj" and tree.tokens[noun].head == draft.head:
        return described_by(tree, draft, draft.head)  # "is a pilot and retired colonel who …"
    subject = tree.subject(noun)
    if noun != draft.head or not tree.of(noun, "cop") or subject is None or tree.is_negated(noun):
        return None
    if tree.of(noun, "case"):
        return None  # "is for a car"
    if not any(tree.low(det) in {"a", "an"} for det in tree.of(noun, "det")):
        return None
    vague = tree.low(subject) in {"this", "that", "there", "what", "these", "those", "it"}
    return None if vague else subject


def ends_phrase(tree: Tree, inside: list[int]) -> bool:
    """Whether a sign ends what a sign begins, and no list goes on behind it."""
    behind = tree.tokens[max(inside) + 1 :][:2]
    return not behind or (behind[0].pos == "PUNCT" and behind[-1].text not in {"and", "or"})


def is_definite(tree: Tree, noun: int) -> bool:
    """Whether a noun is known by itself, so that what stands beside it holds wherever it is named."""
    return tree.tokens[noun].pos == "PROPN" or any(
        tree.low(det) == "the" or tree.relation(det) == "nmod:poss" for det in tree.of(noun, "det", "nmod:poss")
    )


def title_of(draft: Draft, tree: Tree, place: int, noun: int, inside: list[int]) -> Draft | None:
    """What somebody is by title: "mayor Ada Lind promised"."""
    before = inside[0] - 1
    ranks = tree.tokens[place].pos == "NOUN" or (tree.tokens[place].pos == "PROPN" and len(inside) > 1)
    if not ranks or tree.tokens[noun].pos != "PROPN" or tree.of(place, "conj", "nmod"):
        return None
    if (
        tree.tokens[inside[0]].pos in {"PUNCT", "ADP"}
        or inside != [*range(inside[0], noun)]
        or (before >= 0 and (tree.relation(before) == "cc" or tree.tokens[before].pos in {"NOUN", "PROPN"}))
        or tree.conjuncts(noun)
    ):
        return None
    first = tree.low(inside[0])
    article = ["an" if first[0] in "aeiou" else "a"]
    if tree.of(place, "det", "nmod:poss") or tree.tokens[place].pos == "PROPN":
        article = []
    named = phrase(tree, noun, draft, place)
    title = Draft((*named, be_of(tree, draft, noun), *article, *inside), place, minor=True, subject=noun)
    named_by = {tree.tokens[i].pos for i in (place, inside[0])}
    return title if "PROPN" in named_by else replace(title, changes={inside[0]: first})


def apposition(draft: Draft, tree: Tree, place: int, noun: int, inside: list[int]) -> Draft | None:
    """What something is called besides: ", a painter,"."""
    name, title = tree.tokens[noun], tree.tokens[place]
    if title.pos == "NUM" and name.pos == "PROPN" and not tree.of(place, "nmod", "amod"):
        age = Draft(
            (*phrase(tree, noun, draft, place), be_of(tree, draft, noun), place), place, minor=True, subject=noun
        )
        return age if len(title.text) < YEAR else None
    if title.pos not in {"NOUN", "PROPN"} or name.pos not in {"NOUN", "PROPN"} or tree.conjuncts(noun):
        return None
    if not (tree.of(place, "det", "nmod:poss", "amod", "compound", "nmod") or title.pos == "PROPN"):
        return None
    if max(inside) + 1 < len(tree.tokens) and tree.tokens[max(inside) + 1].pos != "PUNCT":
        return None  # the second of a list
    if tree.conjuncts(place) and not any(tree.low(det) in {"a", "an"} for det in tree.of(place, "det")):
        return None  # "the pier, the tower and the hall"
    known = name.pos == "PROPN" or tree.of(noun, "det", "nmod:poss") or name.tag == "NNS"
    if not known or (not touches(tree, noun, inside) and name.pos != "PROPN"):
        return None  # "soldiers of the Front, a movement"
    if name.pos == "PROPN" and title.pos == "PROPN" and not tree.of(place, "det", "nmod", "nmod:poss"):
        return None  # "Lund, Sweden"
    body = unsigned(tree, inside)
    return Draft((*phrase(tree, noun, draft, place), be_of(tree, draft, noun), *body), place, minor=True, subject=noun)


def of_described(draft: Draft, tree: Tree, place: int, owner: int, inside: list[int]) -> Draft | None:
    """Where that is, or what it has, which an indefinite noun describes: "is a café in Rome with a garden"."""
    case = [tree.low(i) for i in tree.of(place, "case")]
    if case == ["in"] and tree.tokens[place].pos == "PROPN":
        return Draft((*phrase(tree, owner, draft, place), be_of(tree, draft, owner), *inside), place, minor=True)
    if case != ["with"] or tree.of(place, "acl"):
        return None
    if tree.tokens[tree.tokens[place].head].tag in {"NNS", "NNPS"}:
        return None  # "38 people, mostly families with children"
    has = have_of(tree, owner, past=tree.is_past(draft.head))
    return Draft((*phrase(tree, owner, draft, place), has, *inside[1:]), place, minor=True)

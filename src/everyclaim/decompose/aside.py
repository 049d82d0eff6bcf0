"""A word that adds to another with all below it, and what may be said of it as a fact of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from everyclaim.decompose.draft import Draft
from everyclaim.decompose.monotone import circumstances
from everyclaim.models.local.tree import Tree

_ADDING = frozenset({"appos", "acl", "acl:relcl"})
_OUTSIDE = frozenset({"case", "cop", "nsubj", "aux", "mark", "punct", "advcl", "obl", "advmod", "parataxis"})
_SIGNS = frozenset({",", "–", "—", "-"})
_VAGUE = frozenset({"this", "that", "there", "what", "these", "those", "it"})
_YEAR = 4  # digits


@dataclass(frozen=True, slots=True)
class Aside:
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
        return self.inside[self.tree.pos(self.inside[0]) == "PUNCT" :]

    @property
    def kept(self) -> Draft:
        """The whole fact, where the aside goes and says nothing alone; without what else may go."""
        tree, draft = self.tree, self.draft
        alone = tree.predicate_of(self.noun, draft.head) == draft.head and tree.kind(self.place) != "advcl"
        others = [*draft.whole, *(circumstances(draft, tree) if alone else ())]
        gone = {i for one in others if not tree.is_under(self.noun, one) for i in with_commas(tree, tree.under(one))}
        return replace(draft.without(gone - set(tree.under(self.place))), whole=draft.whole | {self.place})

    def said_of(self, owner: int, *said: int | str, minor: bool = True) -> Draft:
        """What it says, as a fact of a noun."""
        named = phrase(self.tree, owner, self.draft, self.place)
        return Draft((*named, *said), self.place, minor=minor, subject=owner)

    def be(self, owner: int, *, past: bool = False) -> str:
        """The form of "be" that a noun takes in the tense of its clause."""
        head = self.tree.predicate_of(owner, self.draft.head)
        past |= self.tree.is_past(head)
        alone = self.tree.subject(head) == owner and self.tree.is_singular(head)
        return form_of_be(past=past, plural=bool(self.tree.is_plural(owner)) and not alone)

    def have(self, owner: int, *, past: bool) -> str:
        """The form of "have" that a noun takes."""
        return "had" if past else "have" if self.tree.is_plural(owner) else "has"

    @property
    def tells_year(self) -> bool:
        """Whether a year is among its words."""
        return any(len(self.tree.text(i)) == _YEAR and self.tree.text(i) < "2100" for i in self.body)

    @property
    def touches(self) -> bool:
        """Whether nothing but a sign stands between the noun, with what is part of its name, and it."""
        tree, before = self.tree, self.body[0] - 1
        while before > self.noun and tree.text(before) in _SIGNS:
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
        if noun == draft.head and draft.subject is not None and tree.kind(noun) == "appos":
            return draft.subject
        subject = tree.subject(noun)
        if noun != draft.head or subject is None or not tree.of(noun, "cop") or tree.is_negated(noun):
            return None
        bare = tree.tag(noun) == "NNS" and not tree.of(noun, "det", "nmod:poss", "nummod")
        if tree.of(noun, "case") or not (bare or tree.is_a(noun)):
            return None
        return None if tree.low(subject) in {*_VAGUE, tree.low(noun)} else subject  # "the diet is a diet that …"


def form_of_be(*, past: bool, plural: bool | None) -> str:
    """The form of "be" of a tense and number."""
    return ("were" if plural else "was") if past else "are" if plural else "is"


def phrase(tree: Tree, noun: int, draft: Draft, without: int) -> list[int]:
    """A noun with what names it: without prepositions, asides and conjuncts. An 's may be part of it: "Denny's"."""
    left = set(tree.under(without)) | {
        i for kid in tree.kids[noun]
        if tree.kind(kid) in _OUTSIDE
        or (tree.kind(kid) in {"conj", "cc"} and noun != tree.subject(draft.head))
        or (tree.relation(kid) in _ADDING and kid > noun)
        or (tree.relation(kid) == "nmod" and (tree.comma_before(kid) if kid > noun else tree.cases(kid)))
        if tree.tag(kid) != "POS" or tree.relation(noun) == "nmod:poss"
        for i in tree.under(kid)
    }  # fmt: skip
    kept = [i for i in tree.under(noun) if i in draft.places and i not in left]
    opened = next((i for i in kept if tree.text(i) == "(" and i > noun), None)
    closed = next((i for i in kept if tree.text(i) == ")"), None)
    return kept if opened is None or closed is None else [i for i in kept if not opened <= i <= closed]


def with_commas(tree: Tree, places: Sequence[int]) -> list[int]:
    """Words, and the signs that set them apart."""
    first, last = places[0], places[-1]
    before = [first - 1] if first and tree.text(first - 1) in _SIGNS else []
    opened = before or tree.text(first) in _SIGNS
    behind = [last + 1] if opened and last + 1 < len(tree.tokens) and tree.text(last + 1) in _SIGNS else []
    return [*before, *places, *behind]

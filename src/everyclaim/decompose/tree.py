"""A parsed sentence as a tree, and what the splitter asks of it.

Words are named by their places. `Tree.under(i)` is a word with all that depends on it, in the order of the text.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from everyclaim.decompose.conjuncts import HELPERS, SUBJECTS
from everyclaim.decompose.repairs import repaired
from everyclaim.models.local.parser import ParsedToken
from everyclaim.text.numerals import UNITS
from everyclaim.text.tokens import word_set

NOMINAL = frozenset({"NOUN", "PROPN", "PRON", "NUM"})
_JOINING = frozenset({"and", "&", "but", "yet", "plus", "as", ",", ";"})  # "as well as"
_DENYING = word_set("not n't never neither nor no hardly barely rarely seldom")
_SEVERAL = word_set("some many most several few both others these those all")  # where no noun follows
_CONDITIONS = word_set("if unless when whenever once until till provided whether where lest")


@dataclass(frozen=True, slots=True)
class Tree:
    """The words of a sentence with the places of what depends on each."""

    tokens: Sequence[ParsedToken]
    kids: Sequence[Sequence[int]] = field(init=False)
    root: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", repaired(self.tokens))
        kids: list[list[int]] = [[] for _ in self.tokens]
        root = 0
        for place, token in enumerate(self.tokens):
            if token.head >= 0:
                kids[token.head].append(place)
            else:
                root = place
        object.__setattr__(self, "kids", kids)
        object.__setattr__(self, "root", root)

    def low(self, place: int) -> str:
        """A word in lower case, its apostrophe straight."""
        return self.tokens[place].text.lower().replace("’", "'")

    def relation(self, place: int) -> str:
        """The relation of a word to its head."""
        return self.tokens[place].relation

    def of(self, place: int, *relations: str) -> list[int]:
        """What depends on a word in one of these relations, or a kind of it: "nsubj" finds "nsubj:pass" as well."""
        return [kid for kid in self.kids[place] if self.relation(kid) in relations or self.kind(kid) in relations]

    def kind(self, place: int) -> str:
        """The relation of a word without what is said of it closer: "acl" of "acl:relcl"."""
        return self.tokens[place].relation.partition(":")[0]

    def under(self, place: int, without: Collection[int] = ()) -> list[int]:
        """The places of a word and all below it, in order; what hangs below `without` is left out with it."""
        found, waiting = [], [place]
        while waiting:
            here = waiting.pop()
            if here not in without:
                found.append(here)
                waiting += self.kids[here]
        return sorted(found)

    def stripped(self, place: int) -> frozenset[int]:
        """A conjunct with all below it, without the signs and conjunctions before it."""
        found = self.under(place)
        first = next((i for i, one in enumerate(found) if self.relation(one) not in {"cc", "punct", "cc:preconj"}), 0)
        gone = {i for kid in self.of(place, "cc") if kid < place for i in self.under(kid)}
        return frozenset(found[first:]) - gone

    def subject(self, place: int) -> int | None:
        """The subject of a predicate."""
        return next((kid for kid in self.kids[place] if self.relation(kid) in SUBJECTS), None)

    def conjuncts(self, place: int) -> list[int]:
        """What is coordinated with a word, in order."""
        return sorted(self.of(place, "conj"))

    def joiners(self, place: int) -> list[int]:
        """The conjunctions before a conjunct."""
        return [kid for kid in self.kids[place] if self.relation(kid) == "cc"]

    def joins(self, place: int) -> bool:
        """Whether all the conjuncts of a word hold: they are joined by "and" or "but", not by "or"."""
        words = {self.low(cc) for one in [place, *self.conjuncts(place)] for cc in self.joiners(one)}
        pairing = {self.low(cc) for cc in self.of(place, "cc:preconj")}
        return bool(words) and words <= _JOINING and pairing <= {"both"}

    def is_negated(self, place: int) -> bool:
        """Whether a predicate is denied."""
        return any(map(self.is_denying, self.kids[place]))

    def is_denying(self, word: int) -> bool:
        """Whether a word denies its predicate."""
        return self.low(word) in _DENYING

    def is_finite(self, place: int) -> bool:
        """Whether a predicate is a clause by its own form: "built it", "was a hall", "may open"."""
        if self.tokens[place].tag in {"VBD", "VBZ", "VBP"}:
            return True
        return any(self.tokens[kid].tag in {"VBD", "VBZ", "VBP", "MD"} for kid in self.of(place, *HELPERS))

    def is_singular(self, place: int) -> bool:
        """Whether the form of a predicate is that of one alone: "is", "has", "costs", "was"."""
        chain = [self.tokens[kid] for kid in self.of(place, *HELPERS)] or [self.tokens[place]]
        return chain[0].tag == "VBZ" or chain[0].text.lower() == "was"

    def is_conditional(self, place: int) -> bool:
        """Whether an adverbial clause is a condition or a time at which something holds."""
        return any(self.low(mark) in _CONDITIONS for mark in self.of(place, "mark", "advmod"))

    def tells_when(self, noun: int) -> bool:
        """Whether a noun stands as an adverbial: "works mornings and evenings", "day and night"."""
        unit = UNITS.get(self.low(noun))
        return self.relation(noun) in {"obl:unmarked", "obl:tmod"} or (
            unit is not None and unit.dimension == "duration"
        )

    def is_plural(self, noun: int) -> bool | None:
        """Whether a noun phrase takes a plural verb; None when it does not tell."""
        token = self.tokens[noun]
        if token.text.lower() in _SEVERAL:
            return True
        if any(self.tokens[one].pos in NOMINAL for one in self.conjuncts(noun)) or token.tag in {"NNS", "NNPS"}:
            return True
        if token.tag == "PRP":
            return self.low(noun) in {"they", "we", "you", "i"}
        return False if token.tag in {"NN", "NNP"} else None

    def is_plural_alone(self, noun: int) -> bool | None:
        """Whether a noun without its conjuncts takes a plural verb; None when it does not tell."""
        tag = self.tokens[noun].tag
        return tag in {"NNS", "NNPS"} if tag in {"NN", "NNP", "NNS", "NNPS"} else None

    def is_past(self, place: int) -> bool:
        """Whether a predicate tells of the past."""
        forms = [self.tokens[kid] for kid in self.of(place, *HELPERS)] or [self.tokens[place]]
        return forms[0].tag == "VBD" or forms[0].text.lower() in {"was", "were", "had", "did"}

    def agrees(self, noun: int, verb: int) -> bool:
        """Whether a verb can be said of a noun, by number: ", which means" is said of no plural."""
        forms = [self.tokens[kid] for kid in self.of(verb, *HELPERS)] or [self.tokens[verb]]
        plural, first = self.is_plural(noun), forms[0]
        if first.tag == "VBZ" or first.text.lower() == "was":
            return plural is not True
        return plural is not False if first.tag == "VBP" or first.text.lower() == "were" else True

    def comma_before(self, place: int) -> bool:
        """Whether a sign parts a phrase from what stands before it."""
        first = self.under(place)[0]
        signs = {",", "–", "—", "-", ";", ":"}
        return self.tokens[first].text in signs or (first > 0 and self.tokens[first - 1].text in signs)

"""A sentence as the tree that the parser read: what hangs on what, and what the form of its words tells.

Words are named by their places. `Tree.under(i)` is a word with all that depends on it, in the order of the text.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Sequence

from everyclaim.models.local.parser import ParsedToken, parse
from everyclaim.text.numerals import UNITS
from everyclaim.text.tokens import word_set

SUBJECTS = frozenset({"nsubj", "nsubj:pass", "nsubj:outer", "csubj", "csubj:pass", "expl"})
HELPERS = frozenset({"aux", "aux:pass", "cop"})
MODIFIERS = frozenset({"amod", "compound"})
THINGS = frozenset({"NOUN", "PROPN"})
NOMINAL = frozenset({"NOUN", "PROPN", "PRON", "NUM"})
TENSED = frozenset({"VBD", "VBZ", "VBP"})
FINITE = TENSED | {"MD"}
_SINGULAR, _PLURAL = frozenset({"NN", "NNP"}), frozenset({"NNS", "NNPS"})
_JOINING = frozenset({"and", "&", "but", "yet", "plus", "as", ",", ";"})  # "as well as"
_DENYING = word_set("not n't never neither nor no hardly barely rarely seldom")
_SEVERAL = word_set("some many most several few both others these those all")  # where no noun follows
_CONDITIONS = word_set("if unless when whenever once until till provided whether where lest")
_PARTING = frozenset({",", "–", "—", "-", ";", ":"})


class Tree:
    """The words of a sentence with the places of what hangs on each (`kids`, in order) and of the `root`."""

    __slots__ = ("kids", "root", "tokens")

    def __init__(self, tokens: Sequence[ParsedToken]) -> None:
        self.tokens = list(tokens)
        self.kids: list[list[int]] = [[] for _ in tokens] or [[]]
        self.root = 0
        for place, token in enumerate(tokens):
            if token.head >= 0:
                self.kids[token.head].append(place)
            else:
                self.root = place

    def hang(self, place: int, head: int, relation: str) -> None:
        """Hang a word on another, unless that hangs on it."""
        if not self.is_under(head, place):
            if place in self.kids[self.head(place)]:
                self.kids[self.head(place)].remove(place)
            insort(self.kids[head], place)
            self.tokens[place] = self.tokens[place]._replace(head=head, relation=relation)

    def call(self, place: int, relation: str) -> None:
        """Give a word another relation to its head."""
        self.tokens[place] = self.tokens[place]._replace(relation=relation)

    # ---- a word

    def low(self, place: int) -> str:
        """A word in lower case, its apostrophe straight."""
        return self.tokens[place].text.lower().replace("’", "'")

    def text(self, place: int) -> str:
        """A word as it is written."""
        return self.tokens[place].text

    def pos(self, place: int) -> str:
        """The universal part of speech of a word."""
        return self.tokens[place].pos

    def tag(self, place: int) -> str:
        """The Penn Treebank's part of speech of a word."""
        return self.tokens[place].tag

    def head(self, place: int) -> int:
        """The place of the word that a word depends on; -1 for the root."""
        return self.tokens[place].head

    def relation(self, place: int) -> str:
        """The relation of a word to its head."""
        return self.tokens[place].relation

    def kind(self, place: int) -> str:
        """The relation of a word without what is said of it closer: "acl" of "acl:relcl"."""
        return self.tokens[place].relation.partition(":")[0]

    # ---- what hangs on it

    def of(self, place: int, *relations: str) -> list[int]:
        """What depends on a word in one of these relations, or a kind of it: "nsubj" finds "nsubj:pass" as well."""
        return [kid for kid in self.kids[place] if self.relation(kid) in relations or self.kind(kid) in relations]

    def words(self, place: int, *relations: str) -> set[str]:
        """What depends on a word in one of these relations, in lower case."""
        return {self.low(kid) for kid in self.of(place, *relations)}

    def says(self, place: int, relation: str, *words: str) -> bool:
        """Whether one of some words depends on a word in a relation: `says(noun, "det", "a", "an")`."""
        return any(self.low(kid) in words for kid in self.of(place, relation))

    def cases(self, place: int) -> list[str]:
        """The prepositions of a word, in lower case."""
        return [self.low(kid) for kid in self.of(place, "case")]

    def is_a(self, noun: int) -> bool:
        """Whether a noun has an indefinite article."""
        return self.says(noun, "det", "a", "an")

    def under(self, place: int, without: Collection[int] = ()) -> list[int]:
        """The places of a word and all below it, in order; what hangs below `without` is left out with it."""
        found, waiting = [], [place]
        while waiting:
            here = waiting.pop()
            if here not in without:
                found.append(here)
                waiting += self.kids[here]
        return sorted(found)

    def clause(self, place: int) -> list[int]:
        """The places of a word and all below it, in order, without clauses that are joined to it."""
        joined = (i for i, one in enumerate(self.tokens) if i != place and one.relation in {"conj", "parataxis"})
        return self.under(place, without=[i for i in joined if self.pos(i) in {"VERB", "AUX"}])

    def span(self, places: Sequence[int]) -> tuple[int, int]:
        """The offsets at which words in order begin and end."""
        return self.tokens[places[0]].start, self.tokens[places[-1]].end

    def is_under(self, word: int, place: int) -> bool:
        """Whether a word is another, or depends on it."""
        while word >= 0 and word != place:
            word = self.head(word)
        return word == place

    def first(self, place: int) -> int:
        """The place where what hangs on a word begins."""
        return min(self.under(place))

    def way_up(self, place: int, head: int) -> list[int]:
        """The words between a word and a predicate, both of them included; to the root where it is not below."""
        way = [place]
        while way[-1] != head and self.head(way[-1]) >= 0:
            way.append(self.head(way[-1]))
        return way

    def comma_before(self, place: int) -> bool:
        """Whether a sign parts a phrase from what stands before it."""
        first = self.first(place)
        return self.text(first) in _PARTING or (first > 0 and self.text(first - 1) in _PARTING)

    def comma_behind(self, place: int) -> bool:
        """Whether a comma follows a phrase."""
        behind = max(self.under(place)) + 1
        return behind < len(self.tokens) and self.text(behind) == ","

    # ---- lists

    def conjuncts(self, place: int) -> list[int]:
        """What is coordinated with a word, in order."""
        return self.of(place, "conj")

    def joiners(self, place: int) -> list[int]:
        """The conjunctions before a conjunct."""
        return [kid for kid in self.kids[place] if self.relation(kid) == "cc"]

    def joins(self, place: int) -> bool:
        """Whether all the conjuncts of a word hold: they are joined by "and" or "but", not by "or"."""
        words = {self.low(cc) for one in [place, *self.conjuncts(place)] for cc in self.joiners(one)}
        return bool(words) and words <= _JOINING

    def stripped(self, place: int) -> frozenset[int]:
        """A conjunct with all below it, without the signs and conjunctions before it."""
        found = self.under(place)
        first = next((i for i, one in enumerate(found) if self.relation(one) not in {"cc", "punct", "cc:preconj"}), 0)
        gone = {i for kid in self.of(place, "cc") if kid < place for i in self.under(kid)}
        return frozenset(found[first:]) - gone

    # ---- predicates

    def subject(self, place: int) -> int | None:
        """The subject of a predicate."""
        return next((kid for kid in self.kids[place] if self.relation(kid) in SUBJECTS), None)

    def forms(self, place: int) -> list[ParsedToken]:
        """The words that tell the tense of a predicate, the first before all: its auxiliaries, or itself."""
        return [self.tokens[kid] for kid in self.of(place, *HELPERS)] or [self.tokens[place]]

    def is_negated(self, place: int) -> bool:
        """Whether a predicate is denied."""
        return any(map(self.is_denying, self.kids[place]))

    def is_denying(self, word: int) -> bool:
        """Whether a word denies its predicate."""
        return self.low(word) in _DENYING

    def is_finite(self, place: int) -> bool:
        """Whether a predicate is a clause by its own form: "built it", "was a hall", "may open"."""
        return self.tag(place) in TENSED or any(self.tag(kid) in FINITE for kid in self.of(place, *HELPERS))

    def is_singular(self, place: int) -> bool:
        """Whether the form of a predicate is that of one alone: "is", "has", "costs", "was"."""
        first = self.forms(place)[0]
        return first.tag == "VBZ" or first.text.lower() == "was"

    def is_past(self, place: int) -> bool:
        """Whether a predicate tells of the past."""
        return self.forms(place)[0].tag == "VBD"

    def agrees(self, noun: int, verb: int) -> bool:
        """Whether a verb can be said of a noun, by number: ", which means" is said of no plural."""
        plural, first = self.is_plural(noun), self.forms(verb)[0]
        if self.is_singular(verb):
            return plural is not True
        return plural is not False if first.tag == "VBP" or first.text.lower() == "were" else True

    def is_conditional(self, place: int) -> bool:
        """Whether an adverbial clause is a condition or a time at which something holds."""
        return any(mark < place and self.low(mark) in _CONDITIONS for mark in self.of(place, "mark", "advmod"))

    def predicate_of(self, place: int, head: int) -> int:
        """The predicate of the clause that a word stands in; at most `head`, that of all."""
        while place != head and self.pos(place) not in {"VERB", "AUX"} and self.head(place) >= 0:
            place = self.head(place)
        return place

    # ---- nouns

    def tells_when(self, noun: int) -> bool:
        """Whether a noun stands as an adverbial: "works mornings and evenings", "day and night"."""
        unit = UNITS.get(self.low(noun))
        return self.relation(noun) in {"obl:unmarked", "obl:tmod"} or bool(unit and unit.dimension == "duration")

    def is_plural(self, noun: int) -> bool | None:
        """Whether a noun phrase takes a plural verb; None when it does not tell."""
        tag = self.tag(noun)
        if self.text(noun).lower() in _SEVERAL or tag in _PLURAL:
            return True
        if any(self.pos(one) in NOMINAL for one in self.conjuncts(noun)):
            return True
        if tag == "PRP":
            return self.low(noun) in {"they", "we", "you", "i"}
        return False if tag in _SINGULAR else None

    def is_plural_alone(self, noun: int) -> bool | None:
        """Whether a noun without its conjuncts takes a plural verb; None when it does not tell."""
        tag = self.tag(noun)
        return tag in _PLURAL if tag in _PLURAL | _SINGULAR else None

    def is_definite(self, noun: int) -> bool:
        """Whether a noun is known by itself, so that what stands beside it holds wherever it is named."""
        if self.pos(noun) == "PROPN" or self.says(noun, "det", "the"):
            return True
        return any(self.relation(kid) == "nmod:poss" for kid in self.kids[noun])


def tree_of(text: str) -> Tree:
    """Read a sentence."""
    return Tree(parse([text])[0])

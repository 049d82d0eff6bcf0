"""A parsed sentence as a tree, what the splitter asks of it, and a fact on its way to its wording.

Words are named by their places. `Tree.under(i)` is a word with all that depends on it, in the order of the text. A
draft tells which words of the sentence a fact keeps, and in what order they are written.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from everyclaim.decompose.parsed_names import QUOTES
from everyclaim.decompose.repairs import HELPERS, SUBJECTS, repaired
from everyclaim.models.local.cross_encoder import shipped_tokenizer
from everyclaim.models.local.parser import ParsedToken
from everyclaim.text.cues import irregular_forms
from everyclaim.text.numerals import UNITS
from everyclaim.text.tokens import word_set

NOMINAL = frozenset({"NOUN", "PROPN", "PRON", "NUM"})
_JOINING = frozenset({"and", "&", "but", "yet", "plus", "as", ",", ";"})  # "as well as"
_DENYING = word_set("not n't never neither nor no hardly barely rarely seldom")
_SEVERAL = word_set("some many most several few both others these those all")  # where no noun follows
_CONDITIONS = word_set("if unless when whenever once until till provided whether where lest")
_IDENTIFIER = re.compile(r"\w{2,}(?:\(\)|\.\w|_\w)")  # code, whose case tells
_SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does", "'re": "is", "'ve": "has"}
_TIGHT = frozenset({",", ".", ";", ":", "!", "?", ")", "]", "%", "…"})
_OPENERS = frozenset({"(", "[", "$", "€", "£"})
FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
_EDGES = frozenset({",", ";", ":", "-", "–", "—", "."})


@dataclass(frozen=True, slots=True)
class Tree:
    """The words of a sentence with the places of what depends on each."""

    tokens: Sequence[ParsedToken]
    kids: Sequence[Sequence[int]] = field(init=False)
    root: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", repaired(tuple(self.tokens)))
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
        return bool(words) and words <= _JOINING

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
        return any(mark < place and self.low(mark) in _CONDITIONS for mark in self.of(place, "mark", "advmod"))

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
        return forms[0].tag == "VBD"

    def agrees(self, noun: int, verb: int) -> bool:
        """Whether a verb can be said of a noun, by number: ", which means" is said of no plural."""
        forms = [self.tokens[kid] for kid in self.of(verb, *HELPERS)] or [self.tokens[verb]]
        plural, first = self.is_plural(noun), forms[0]
        if first.tag == "VBZ" or first.text.lower() == "was":
            return plural is not True
        return plural is not False if first.tag == "VBP" or first.text.lower() == "were" else True

    def is_definite(self, noun: int) -> bool:
        """Whether a noun is known by itself, so that what stands beside it holds wherever it is named."""
        return self.tokens[noun].pos == "PROPN" or any(
            self.low(det) == "the" or self.relation(det) == "nmod:poss" for det in self.of(noun, "det", "nmod:poss")
        )

    def predicate_of(self, place: int, draft: Draft) -> int:
        """The predicate of the clause that a word stands in."""
        while place != draft.head and self.tokens[place].pos not in {"VERB", "AUX"} and self.tokens[place].head >= 0:
            place = self.tokens[place].head
        return place

    def comma_before(self, place: int) -> bool:
        """Whether a sign parts a phrase from what stands before it."""
        first = self.under(place)[0]
        signs = {",", "–", "—", "-", ";", ":"}
        return self.tokens[first].text in signs or (first > 0 and self.tokens[first - 1].text in signs)


@dataclass(frozen=True, slots=True)
class Draft:
    """The words of a fact in order: places in the sentence, and the few that are added ("is", "has").

    `head` is the predicate. `changes` are words written otherwise than in the sentence. `minor` facts only add to
    what the sentence says.
    """

    pieces: tuple[int | str, ...]
    head: int
    changes: Mapping[int, str] = field(default_factory=dict)
    minor: bool = False
    whole: frozenset[int] = frozenset()  # what stays although it only adds to the rest
    subject: int | None = None  # of a predicate that has none of its own in the sentence
    places: frozenset[int] = field(init=False)  # the words of the sentence that are kept

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", frozenset(piece for piece in self.pieces if isinstance(piece, int)))

    def without(self, places: Collection[int]) -> Draft:
        """Leave words out."""
        gone = set(places)
        return replace(self, pieces=tuple(piece for piece in self.pieces if piece not in gone))

    def breaks(self, tree: Tree) -> bool:
        """Whether a hyphenated word is torn apart."""
        places = self.places
        for i in range(1, len(tree.tokens) - 1):
            before, sign, after = tree.tokens[i - 1 : i + 2]
            if sign.text in {"-", "/"} and before.end == sign.start and sign.end == after.start:
                kept = {i - 1 in places, i in places, i + 1 in places}
                if len(kept) > 1:
                    return True
        for place, (sign, word) in enumerate(pairwise(tree.tokens)):
            if sign.text == "--" and sign.end == word.start and (place in places) != (place + 1 in places):
                return True
        if any(0 < len(places & inner) < len(inner) for inner in _quoted(tree)):
            return True
        return any(
            not {first, last} <= places and places & set(range(first, last + 1)) for first, last in _bracketed(tree)
        )

    def is_clause(self, tree: Tree) -> bool:
        """Whether a finite verb is left, and does not come first; what is in brackets need not be one."""
        kept = [i for i in self.pieces if isinstance(i, str) or tree.tokens[i].pos != "PUNCT"]
        first = kept[0] if kept else ""
        if isinstance(self.pieces[0], int) and tree.tokens[self.pieces[0]].text in _OPENERS:
            return True
        told = [i for i in kept if isinstance(i, int) and tree.tokens[i].tag == "VBN" and tree.subject(i)]
        finite = [
            i for i in kept
            if isinstance(i, str) or i in told or tree.tokens[i].tag in FINITE
            or (i in self.changes and tree.tokens[i].pos != "DET")
        ]  # fmt: skip
        return bool(finite) and (first not in finite or first == min(tree.under(tree.root)))

    def only(self, places: Collection[int]) -> Draft:
        """Leave all other words out."""
        kept = set(places)
        return replace(self, pieces=tuple(p for p in self.pieces if isinstance(p, str) or p in kept))

    def called(self, names: Mapping[frozenset[int], Sequence[int]]) -> Draft:
        """Put a name in the place of the words that it is another name of, where it does not stand itself."""
        for words, name in names.items():
            if words <= self.places and self.places.isdisjoint(name):
                at = self.pieces.index(min(words))
                return replace(
                    self, pieces=(*self.pieces[:at], *name, *(i for i in self.pieces[at:] if i not in words))
                )
        return self

    def in_singular(self, tree: Tree, verb: int) -> Draft | None:
        """Put a predicate into the singular; None where its form is not known."""
        chain = [kid for kid in tree.of(verb, *HELPERS) if kid in self.places] or [verb]
        first = tree.tokens[chain[0]]
        if first.tag in {"MD", "VBZ"} or (first.tag == "VBD" and first.text.lower() != "were"):
            return self
        word = _SINGULAR.get(tree.low(chain[0])) or (_third_person(first.text) if first.tag == "VBP" else None)
        return replace(self, changes={**self.changes, chain[0]: word}) if word else None

    def made_finite(self, tree: Tree, verb: int, *, past: bool, plural: bool | None) -> Draft | None:
        """Put a participle, and those joined to it, into the past or present; None where a form is not known."""
        also = [kid for kid in tree.of(verb, "conj", "advcl") if tree.joiners(kid) and tree.tokens[kid].tag == "VBG"]
        changes = {one: _finite_form(tree.low(one), past=past, plural=plural) for one in [verb, *also]}
        return replace(self, changes={**self.changes, **changes}) if all(changes.values()) else None

    def text(self, tree: Tree) -> str:
        """Write the fact as a sentence."""
        written = ""
        last: int | str | None = None
        for piece in _clean(self.pieces, tree):
            word = piece if isinstance(piece, str) else self.changes.get(piece, tree.tokens[piece].text)
            if isinstance(last, int) and piece != last + 1 and tree.low(last) in {"a", "an"}:
                written = written.removesuffix("n") + ("n" if word[0].lower() in "aeiou" else "")
            written += _gap(last, piece, tree) + word
            last = piece
        if written[:1].islower() and not _IDENTIFIER.match(written):
            written = written[0].upper() + written[1:]
        return written if written.rstrip("\"'”’)").endswith((".", "!", "?")) else f"{written}."


def _finite_form(participle: str, *, past: bool, plural: bool | None) -> str:
    """The past or present of "making"; empty where it is not known."""
    stem = participle.removesuffix("ing")
    if stem == participle:
        return ""
    single = stem[:-1] if stem[-2:-1] == stem[-1:] else stem
    if past:
        irregular = irregular_forms()
        known = [irregular[base] for base in (stem, f"{stem}e", single) if base in irregular]
        forms = [*(words[len(words) > 1] for words in known), f"{stem}ed", f"{stem[:-1]}ied"]
    elif plural:
        forms = [f"{stem}e", stem, single]
    else:
        forms = [f"{stem}es", f"{stem}s", f"{single}s", f"{stem[:-1]}ies"]
    vocabulary = shipped_tokenizer()
    return next((form for form in forms if vocabulary.token_to_id(form) is not None), "")


def _third_person(verb: str) -> str:
    if re.search(r"(?:s|x|z|ch|sh|o)$", verb):
        return f"{verb}es"
    return re.sub(r"(?<=[^aeiou])y$", "ie", verb) + "s"


def _gap(last: int | str | None, piece: int | str, tree: Tree) -> str:
    """What stands between two words."""
    if last is None:
        return ""
    if isinstance(last, int) and isinstance(piece, int) and piece == last + 1:
        return " " if tree.tokens[piece].start > tree.tokens[last].end else ""
    return "" if _text(piece, tree) in _TIGHT or _text(piece, tree)[0] in "'’" else " "


def _clean(pieces: Sequence[int | str], tree: Tree) -> list[int | str]:
    """Drop signs that stand at an edge, beside another, or beside what is gone."""
    kept: list[int | str] = []
    for piece, following in zip(pieces, [*pieces[1:], ""], strict=True):
        before = kept[-1] if kept else None
        beside_sign = before is None or _is_sign(before, tree) or _is_orphan(piece, following, pieces, tree)
        if not (_is_sign(piece, tree) and beside_sign):
            kept.append(piece)
    kept = [piece for piece in kept if not _joins_nothing(piece, tree, pieces)]
    while kept and _is_sign(kept[-1], tree):
        kept.pop()
    while kept and isinstance(kept[0], int) and tree.relation(kept[0]) == "cc" and not tree.is_denying(kept[0]):
        kept.pop(0)
    return kept


def _is_orphan(sign: int | str, following: int | str, pieces: Sequence[int | str], tree: Tree) -> bool:
    """Whether what a sign set apart from the rest is gone."""
    if not isinstance(sign, int) or not isinstance(following, int):
        return False
    pos = tree.tokens[following].pos
    if following != sign + 1:
        inside = _subject_around(sign - 1, tree)
        opened = any(i in pieces and tree.tokens[i].text == "," for i in inside if i < sign)
        return pos in {"VERB", "AUX", "ADP", "CCONJ", "ADV"} and bool(inside) and not opened
    last = max(tree.under(tree.tokens[following].head))
    closes = any(i in pieces and tree.tokens[i].text == "," for i in (last, last + 1) if i < len(tree.tokens))
    return sign - 1 not in pieces and pos == "ADP" and not closes


def _joins_nothing(piece: int | str, tree: Tree, pieces: Sequence[int | str]) -> bool:
    """Whether a conjunction stands before a conjunct whose first one is gone."""
    if not isinstance(piece, int) or tree.relation(piece) != "cc":
        return False
    conjunct = tree.tokens[piece].head
    return tree.relation(conjunct) == "conj" and tree.tokens[conjunct].head not in pieces


def _subject_around(place: int, tree: Tree) -> list[int]:
    """The words of the subject that a word stands in."""
    while place >= 0 and tree.relation(place) not in SUBJECTS:
        place = tree.tokens[place].head
    return tree.under(place) if place >= 0 else []


def _is_sign(piece: int | str, tree: Tree) -> bool:
    return isinstance(piece, int) and tree.tokens[piece].text in _EDGES and tree.tokens[piece].pos == "PUNCT"


def _text(piece: int | str, tree: Tree) -> str:
    return piece if isinstance(piece, str) else tree.tokens[piece].text


def _bracketed(tree: Tree) -> list[tuple[int, int]]:
    """The places of brackets that open and close."""
    found, opened = list[tuple[int, int]](), list[int]()
    for place, token in enumerate(tree.tokens):
        if token.text in {"(", "["}:
            opened.append(place)
        elif token.text in {")", "]"} and opened:
            found.append((opened.pop(), place))
    return found


def _quoted(tree: Tree) -> list[frozenset[int]]:
    """The words of each quotation, with its marks."""
    marks = [i for i, token in enumerate(tree.tokens) if token.text in QUOTES]
    return [frozenset(range(first, last + 1)) for first, last in zip(marks[::2], marks[1::2], strict=False)]

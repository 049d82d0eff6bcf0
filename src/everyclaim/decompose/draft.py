"""A fact on its way to its wording: which words of the sentence it keeps, and in what order they are written."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from everyclaim.decompose.repairs import quotations
from everyclaim.models.local.cross_encoder import shipped_tokenizer
from everyclaim.models.local.tree import FINITE, HELPERS, Tree
from everyclaim.text.cues import irregular_forms

_IDENTIFIER = re.compile(r"\w{2,}(?:\(\)|\.\w|_\w)")  # code, whose case tells
_SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does", "'re": "is", "'ve": "has"}
_TIGHT = frozenset({",", ".", ";", ":", "!", "?", ")", "]", "%", "…"})
_CLOSING = frozenset({",", ".", ")"})
_OPENERS = frozenset({"(", "[", "$", "€", "£"})
_EDGES = frozenset({",", ";", ":", "-", "–", "—", "."})


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
        if any(0 < len(places & inner) < len(inner) for inner in map(frozenset, quotations(tree))):
            return True
        return any(
            not {first, last} <= places and places & set(range(first, last + 1)) for first, last in _bracketed(tree)
        )

    def is_clause(self, tree: Tree) -> bool:
        """Whether a finite verb is left, and does not come first; what is in brackets need not be one."""
        if isinstance(self.pieces[0], int) and tree.text(self.pieces[0]) in _OPENERS:
            return True
        kept = [i for i in self.pieces if isinstance(i, str) or tree.pos(i) != "PUNCT"]
        finite = [
            i for i in kept
            if isinstance(i, str) or tree.tag(i) in FINITE or (i in self.changes and tree.pos(i) != "DET")
        ]  # fmt: skip
        return bool(finite) and (kept[0] not in finite or kept[0] == tree.first(tree.root))

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
        also = [kid for kid in tree.of(verb, "conj", "advcl") if tree.joiners(kid) and tree.tag(kid) == "VBG"]
        changes = {one: _finite_form(tree.low(one), past=past, plural=plural) for one in [verb, *also]}
        return replace(self, changes={**self.changes, **changes}) if all(changes.values()) else None

    def text(self, tree: Tree) -> str:
        """Write the fact as a sentence."""
        written = ""
        last: int | str | None = None
        for piece in _clean(self.pieces, tree):
            word = piece if isinstance(piece, str) else self.changes.get(piece, tree.text(piece))
            if isinstance(last, int) and piece != last + 1 and tree.low(last) in {"a", "an"}:
                written = written.removesuffix("n") + ("n" if word[0].lower() in "aeiou" and word != "U" else "")
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
        tight = tree.text(piece) in _CLOSING or tree.text(last) == "("
        return " " if tree.tokens[piece].start > tree.tokens[last].end and not tight else ""
    return "" if _text(piece, tree) in _TIGHT or _text(piece, tree)[0] in "'’" else " "


def _clean(pieces: Sequence[int | str], tree: Tree) -> list[int | str]:
    """Drop signs that stand at an edge, beside another, or beside what is gone."""
    kept: list[int | str] = []
    for piece, following in zip(pieces, [*pieces[1:], ""], strict=True):
        before = kept[-1] if kept else None
        beside_sign = before is None or _is_sign(before, tree) or _is_orphan(piece, following, pieces, tree)
        if not (_is_sign(piece, tree) and beside_sign):
            kept.append(piece)
    while kept and _is_sign(kept[-1], tree):
        kept.pop()
    return kept


def _is_orphan(sign: int | str, following: int | str, pieces: Sequence[int | str], tree: Tree) -> bool:
    """Whether what a sign set apart from a preposition is gone."""
    if not isinstance(sign, int) or following != sign + 1:
        return False
    last = max(tree.under(tree.head(sign + 1)))
    closes = any(i in pieces and tree.text(i) == "," for i in (last, last + 1) if i < len(tree.tokens))
    return sign - 1 not in pieces and tree.pos(sign + 1) == "ADP" and not closes


def _is_sign(piece: int | str, tree: Tree) -> bool:
    return isinstance(piece, int) and tree.text(piece) in _EDGES and tree.pos(piece) == "PUNCT"


def _text(piece: int | str, tree: Tree) -> str:
    return piece if isinstance(piece, str) else tree.text(piece)


def _bracketed(tree: Tree) -> list[tuple[int, int]]:
    """The places of brackets that open and close."""
    found, opened = list[tuple[int, int]](), list[int]()
    for place, token in enumerate(tree.tokens):
        if token.text in {"(", "["}:
            opened.append(place)
        elif token.text in {")", "]"} and opened:
            found.append((opened.pop(), place))
    return found

"""The clauses of a sentence: predicates that share a subject, clauses with subjects of their own, concessions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from everyclaim.decompose.coordination import denied, inherited, is_gapped
from everyclaim.decompose.draft import Draft
from everyclaim.decompose.monotone import FEW, is_source, is_stated
from everyclaim.models.local.tree import HELPERS, MODIFIERS, NOMINAL, SUBJECTS, THINGS, Tree

_REASONS = frozenset({"because", "since"})
_LIMITING = _REASONS | {"as", "so", "that"}
_CONCEDING = frozenset({"although", "though", "while", "whereas"})
_PRONOUNS = {"it": False, "they": True, "them": True, "he": False, "she": False}
_POINTING = frozenset({"that", "those"})  # "whereas that of cats is long"
_SPEAKING = frozenset({"i", "we", "you"})
_BEHIND = frozenset({"amod", "advmod", "obl", "advcl", "parataxis"})


def by_clause(draft: Draft, tree: Tree) -> list[Draft]:
    """One fact for each clause of the first coordination of predicates; the fact itself when there is one."""
    for place in sorted(draft.places, key=lambda i: (i != draft.head, i)):
        if place == draft.head:
            parts = _beside(draft, tree)
            if len(parts) > 1:
                return parts
        conjuncts = [c for c in tree.conjuncts(place) if c in draft.places]
        if conjuncts and _are_clauses(tree, place, conjuncts) and _may_part(tree, draft, place, conjuncts):
            return [_clause(draft, tree, place, one, conjuncts) for one in [place, *conjuncts]]
    return [draft]


def _beside(draft: Draft, tree: Tree) -> list[Draft]:
    """A clause behind a semicolon, or one that concedes: "although it is closed"."""
    head = draft.head
    for kid in tree.of(head, "parataxis", "advcl"):
        if kid not in draft.places or kid in draft.whole or tree.subject(kid) is None or not tree.is_finite(kid):
            continue
        inside = [i for i in tree.under(kid) if i in draft.places]
        first = inside[0]
        marks = tree.of(kid, "mark")
        gives_reason = False
        if tree.kind(kid) == "parataxis":
            signs = {tree.low(first), tree.low(first - 1)}
            apart = ";" in signs or (":" in signs and tree.is_finite(head))
        else:
            gives_reason = bool(marks) and all(tree.low(mark) in _REASONS for mark in marks)
            gives_reason &= not any(is_source(tree, i) for i in tree.of(head, "obl"))
            gives_reason &= all(token.text != "or" for token in tree.tokens[first : inside[-1] + 3])
            apart = gives_reason or (
                bool(marks)
                and all(tree.low(mark) in _CONCEDING for mark in marks)
                and (tree.subject(head) is not None or tree.kind(head) == "conj")
                and not (tree.low(marks[0]) == "while" and _is_meanwhile(tree, kid, head))
                and tree.kind(head) != "acl"  # "a note that sounds although no key is pressed"
            )
        subject = tree.subject(kid)
        apart &= not (subject is not None and tree.low(subject) in _POINTING and tree.of(subject, "nmod"))
        apart &= tree.kind(kid) == "parataxis" or "WRB" not in [tree.tag(i) for i in tree.of(kid, "advmod", "mark")]
        unsure = [i for i in tree.kids[head] if i > inside[-1] and tree.kind(i) not in {"punct", "parataxis", "conj"}]
        if apart and not (marks and kid > head and unsure):
            own = replace(draft, pieces=tuple(sorted(draft.places))).only(
                [i for i in inside if tree.kind(kid) == "parataxis" or i > max(marks)] + _condition(tree, head)
            )
            own = replace(own, head=kid)  # "it" in a clause before may be what was spoken of before
            own = renamed_in(own, tree, kid, head, draft.places) if kid > head else own
            subject = tree.subject(kid)
            if gives_reason and subject in own.places and tree.tag(subject) == "PRP":
                continue  # whom it speaks of, the whole tells
            rest = replace(draft, whole=draft.whole | {kid}) if gives_reason else draft.without(inside)
            return [rest, own]
    return [draft]


def _condition(tree: Tree, head: int) -> list[int]:
    """What opens a sentence and says when it holds: "If it rains, …"."""
    fronts = [kid for kid in tree.of(head, "advcl") if kid < head and tree.is_conditional(kid)]
    return [i for kid in fronts for i in tree.under(kid)]


def _is_meanwhile(tree: Tree, clause: int, head: int) -> bool:
    """Whether "while" tells when: "the lamp blinks while it charges", "while the oven is heating, …"."""
    return tree.tag(clause) == "VBG" or (clause > head and not tree.comma_before(clause))


def _are_clauses(tree: Tree, place: int, conjuncts: list[int]) -> bool:
    """Whether predicates are coordinated, not nouns in one of them."""
    members = [place, *conjuncts]
    verbal = any(tree.pos(i) in {"VERB", "AUX"} or tree.of(i, "cop") or tree.subject(i) is not None for i in members)
    return verbal and tree.pos(place) != "NUM" and tree.kind(place) not in MODIFIERS


def _may_part(tree: Tree, draft: Draft, place: int, conjuncts: list[int]) -> bool:
    """Whether each predicate holds alone."""
    subject, last = tree.subject(place), conjuncts[-1]
    denying = [kid for kid in tree.kids[place] if tree.is_denying(kid)]
    own = all(tree.is_finite(c) for c in conjuncts) and (subject is None or all(kid > subject for kid in denying))
    if not is_stated(tree, place, draft, denied=own) or not _are_joined(tree, place, conjuncts):
        return False
    if tree.tells_when(place):
        return False
    nouns = [c for c in conjuncts if tree.pos(c) in NOMINAL and not tree.of(c, "cop", *SUBJECTS)]
    if nouns and any(tree.pos(c) == "VERB" and (c == place or not tree.is_finite(c)) for c in [place, *conjuncts]):
        return False  # "is goat hair, sold, and yak hair"
    if tree.pos(place) in NOMINAL and not tree.of(place, "cop", *SUBJECTS) and len(nouns) < len(conjuncts):
        return False
    if any(_may_hang_lower(tree, place, c) for c in conjuncts):
        return False
    limited = any(tree.is_conditional(kid) and kid > place for kid in tree.of(place, "advcl"))
    if limited and any(tree.says(c, "cc", "so") for c in conjuncts):
        return False  # "stops if it is cold, so the pipes may freeze"
    behind = [kid for kid in tree.of(last, "advcl") if kid > last]
    behind = [kid for kid in behind if tree.is_conditional(kid) or tree.says(kid, "mark", *_LIMITING)]
    if behind and (tree.subject(last) is None or not tree.comma_before(last)):
        return False
    infinite = [c for c in conjuncts if tree.of(c, "mark") and not tree.of(c, *HELPERS, *SUBJECTS)]
    if (infinite and not tree.of(place, "mark")) or is_gapped(tree, place, conjuncts):
        return False  # "announced a halt and to begin again"
    verb = tree.pos(place) == "VERB"
    if verb and tree.tag(place) != "VBG" and any(tree.tag(c) == "VBG" and not tree.of(c, *HELPERS) for c in conjuncts):
        return False  # "took work, earning little and moving on"
    bare = verb and not [k for k in tree.kids[place] if place < k < conjuncts[0]]
    if bare and tree.of(conjuncts[0], "obj") and tree.subject(conjuncts[0]) is None:
        return False  # "designed and built the house"
    told = [kid for kid in tree.of(place, "ccomp") if tree.is_finite(kid)]
    return not told or all(
        tree.subject(c) is None and (tree.of(c, "ccomp") or tree.is_past(told[0]) is not tree.is_past(c))
        for c in conjuncts
    )


def _compared(tree: Tree, place: int, conjuncts: list[int]) -> set[int]:
    """What a later predicate and the first are compared with: "slept longer and ate less than the others"."""
    own = tree.under(place, without=conjuncts)
    than = [i for one in conjuncts for i in tree.under(one, without=tree.of(one, "advcl")) if tree.low(i) == "than"]
    if not than or "than" in map(tree.low, own) or not any(tree.tag(i) in {"JJR", "RBR"} for i in own):
        return set()
    return {i for i in tree.under(tree.head(than[0])) if i >= than[0]}


def _may_hang_lower(tree: Tree, place: int, one: int) -> bool:
    """Whether a predicate may as well go on a clause inside the first: "a house that was old and fell"."""
    if tree.comma_before(one):
        return False
    inner = [kid for kid in tree.of(place, "advcl") if place < kid < one and tree.is_finite(kid)]
    if any(tree.of(kid, "mark") or tree.is_conditional(kid) for kid in inner):
        return True  # "is excluded unless it was locked and there are signs"
    between = [i for i in tree.under(place) if place < i < one and tree.relation(i) in {"acl:relcl", "ccomp"}]
    between = [i for i in between if tree.relation(i) == "ccomp" or tree.agrees(tree.head(i), one)]
    if tree.of(place, "cop"):  # of "birds that sing and swim" both are said of the subject
        between = [i for i in between if tree.head(i) != place]
    return tree.subject(one) is None and any(
        tree.is_past(i) is tree.is_past(one) and tree.is_finite(one) for i in between
    )


def _are_joined(tree: Tree, place: int, conjuncts: list[int]) -> bool:
    """Whether all the predicates hold, none of them instead of another."""
    words = {tree.low(cc) for c in conjuncts for cc in tree.joiners(c)}
    if any(not tree.joiners(c) and not tree.comma_before(c) for c in conjuncts):
        return False  # "Ada thought selling it made them poor"
    if tree.says(place, "aux", "can"):
        words -= {"or"}  # who can do either can do each
    return words <= {"and", "but", "yet", "&", ";", "so", "while"} and not tree.of(place, "cc:preconj")


def _clause(draft: Draft, tree: Tree, place: int, one: int, conjuncts: list[int]) -> Draft:
    """The fact of one predicate."""
    last = conjuncts[-1]
    behind = [kid for kid in tree.of(place, "parataxis", "advcl") if kid > last and tree.subject(kid) is None]
    loose = [kid for kid in behind if not (tree.of(kid, "mark") or tree.is_conditional(kid))]
    of_last = [i for kid in loose for i in tree.under(kid)]
    if one == place:
        nouns = [
            kid for kid in tree.of(place, "nmod") if kid > last and tree.of(place, "cop")
        ]  # "pilot and head of it"
        gone = {i for kid in [*conjuncts, *tree.of(place, "cc"), *nouns] for i in tree.under(kid)} | {*of_last}
        gone -= {i for i in (max(gone),) if tree.text(i) == ","}  # before who said it
        return draft.only(draft.places - (gone - _compared(tree, place, conjuncts)))
    own = tree.stripped(one) | frozenset(of_last if one == last else ())
    shared = _framing(tree, place, one)
    if tree.subject(one) is None:
        shared = inherited(tree, place, one)
        if tree.is_finite(one):
            shared -= {k for k in tree.kids[place] if tree.relation(k) in HELPERS or tree.low(k) in {"not", "n't"}}
        if tree.tag(one) == "VB" and tree.pos(place) != "VERB":
            shared -= set(tree.of(place, "cop"))  # "should be aware and take care"
    opener = next((kid for kid in tree.kids[one] if min(own) in tree.under(kid)), one)
    signs = {tree.text(min(own) - 1), tree.text(max(tree.under(opener)))}
    if opener != one and signs == {","} and tree.subject(one) is None:
        own |= {min(own) - 1}  # "was built and, in 1920, sold"
    of_all = frozenset(
        i for kid in tree.kids[place]
        if kid > last and not (kid in loose or tree.kind(kid) in {"conj", "punct", "parataxis"})
        for i in tree.under(kid)
    )  # fmt: skip  # an object or a condition of all
    found = draft.only(draft.places - frozenset(tree.under(place)) | own | shared | of_all)
    found = replace(found, head=one) if place == draft.head else found
    found = denied(found, tree, one, place) if tree.is_negated(one) and shared else found
    return renamed_in(found, tree, one, place, draft.places)


def _framing(tree: Tree, place: int, one: int) -> frozenset[int]:
    """What stands before all clauses and governs them: conditions, who said it, in what frame."""
    subject, own = tree.subject(place), tree.subject(one)
    start = place if subject is None and tree.tag(place) == "VB" else subject
    front = any(kid < (own or one) and tree.kind(kid) in {"obl", "nmod", "advcl", "advmod"} for kid in tree.kids[one])
    front |= any(tree.pos(i) == "NUM" and tree.kind(i) in {"obl", "nmod"} for i in tree.under(one))  # "at 14:45"
    front |= tree.is_past(place) != tree.is_past(one)
    found: set[int] = set()
    for kid in tree.kids[place]:
        of_all = is_source(tree, kid) or (tree.kind(kid) == "advcl" and tree.is_conditional(kid))
        of_all |= (
            not front and tree.kind(kid) in {"advmod", "obl"} and not (tree.is_denying(kid) or tree.low(kid) in FEW)
        )
        if start is not None and kid < start and of_all:
            found |= set(tree.under(kid))
    return frozenset(found)


def renamed_in(draft: Draft, tree: Tree, one: int, before: int, known: Collection[int]) -> Draft:
    """A noun of the clauses before in the place of each pronoun of a clause that can stand for nothing else."""
    subject = tree.subject(before)
    if tree.relation(before) == "ccomp":
        return draft  # or who said it
    inside = tree.under(one)
    told = [
        i for i in tree.under(before, without=[one])
        if i == subject or (before < i < inside[0] and tree.pos(i) != "PRON")
    ]  # fmt: skip
    pieces, changes = list[int | str](), dict(draft.changes)
    for piece in draft.pieces:
        noun = _meant(tree, piece, told, inside) if isinstance(piece, int) and piece in inside else None
        if noun is None or noun not in known or noun in pieces or noun in draft.pieces:
            pieces.append(piece)
            continue
        apart = [i for i in tree.kids[noun] if i > noun and (tree.comma_before(i) or tree.kind(i) in _BEHIND)]
        named = [i for i in tree.under(noun, without=apart) if i in known and tree.kind(i) != "punct"]
        if pieces and named[0] == 0 and tree.pos(0) != "PROPN":
            changes[0] = tree.low(0)
        pieces += named
    return replace(draft, pieces=tuple(pieces), changes=changes)


def _meant(tree: Tree, pronoun: int, told: Sequence[int], inside: Sequence[int]) -> int | None:
    """The noun before its clause that a pronoun stands for: the only one of its number, a subject or an object.

    A subject is not taken for what a preposition governs, and a person only for one with a name. What is said of "no
    lead", "few guests" or "every guest" is not what a pronoun speaks of.
    """
    plural, is_subject = _PRONOUNS.get(tree.low(pronoun)), tree.kind(pronoun) == "nsubj"
    if plural is None or tree.relation(pronoun) == "expl":
        return None
    kinds = {"nsubj", "obj", "iobj"}
    people = tree.low(pronoun) in {"he", "she"}
    nouns = [
        i for i in told
        if tree.is_plural(i) is not (not plural) and (not people or tree.pos(i) in {"PROPN", "PRON"})
        and (tree.kind(i) in kinds or (not is_subject and tree.kind(i) in {"obl", "nmod"}))
        and not tree.tells_when(i) and tree.pos(i) != "NUM" and tree.low(i) not in _SPEAKING
    ]  # fmt: skip
    own = [i for i in inside if i < pronoun and tree.pos(i) in THINGS and i != tree.head(pronoun)]
    if len(nouns) != 1 or any(tree.is_plural_alone(i) is plural for i in own) or tree.kind(nouns[0]) not in kinds:
        return None
    vague = (tree.kind(nouns[0]) != "nsubj" or not is_subject) and tree.is_a(nouns[0])
    vague |= not (FEW | {"any"}).isdisjoint(map(tree.low, tree.under(nouns[0])))
    sure = tree.pos(nouns[0]) in THINGS and tree.is_plural(nouns[0]) is plural and not vague
    return nouns[0] if sure else None

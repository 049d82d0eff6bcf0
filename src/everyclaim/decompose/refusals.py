"""Sentences that decline to answer, by their grammar: "I do not know", "the passages do not say", "no information"."""

from __future__ import annotations

import re

from everyclaim.decompose.assertions import asserts, is_talk, statements, tree_of
from everyclaim.decompose.tree import Tree
from everyclaim.text.language import ENGLISH, language_of
from everyclaim.text.tokens import word_set

_LONGEST = 2000  # characters
_WORDS = re.compile(
    r"(?:un-?answerable|cannot ?answer|no answer|n/?a|not (?:mentioned|specified|stated|given|available|found|"
    r"provided)|unknown)",
    re.IGNORECASE,
)
_SOURCES = word_set("context contexts passage passages document documents source sources excerpt excerpts")
_ANSWERS = word_set("question query answer information")
_TEXTS = word_set("text texts snippet snippets article articles material materials data results references contents")
_GIVEN = word_set("provided given available retrieved supplied above search reference referenced uploaded shared")
_LACKING = _ANSWERS | word_set(
    "details detail data answers mention idea knowledge access context source sources reference conclusion result"
)
_TELLING = word_set(  # what sources do, and what becomes of an answer
    "contain provide mention include specify say state have address discuss give answer cover offer list indicate "
    "describe explain contained provided mentioned included specified stated given found answered listed indicated "
    "tell told described available clear determined reached derived drawn possible"
)
_SAYING = word_set("say tell state specify mention indicate")
_FINDING = word_set("know see find answer determine provide tell say help locate confirm give assist sure certain able")


def is_abstention(text: str) -> bool:
    """Whether a sentence declines to answer and asserts nothing else about the world."""
    if len(text) > _LONGEST:
        return False
    bare = text.replace("’", "'").strip().rstrip(".!")
    if _WORDS.fullmatch(bare):
        return True
    tree = tree_of(bare)
    if any(_declines(tree, place) for place in range(len(tree.tokens))) and not asserts(bare):
        return True
    withheld = {place for place in range(len(tree.tokens)) if _withholds(tree, place)}
    others = [place for place in statements(tree) if place not in withheld and not is_talk(tree, place)]
    return bool(withheld) and not others and language_of(bare) in {"", ENGLISH}


def _withholds(tree: Tree, place: int) -> bool:
    """Whether something does not tell the answer, whatever it is called: "the manual does not describe this".

    The answer is "this", a question ("how long it lasts"), or what "is not mentioned in the text"; "I do not have it".
    """
    subject = tree.subject(place)
    if subject is None or not tree.is_negated(place):
        return False
    if tree.low(subject) == "i":
        return tree.low(place) == "have" and bool(tree.of(place, "obj"))
    if tree.low(place) not in _TELLING or tree.tokens[subject].tag.startswith("PRP"):
        return False
    if tree.relation(subject) == "nsubj:pass":
        return any(tree.low(noun) in _SOURCES | _TEXTS for noun in tree.of(place, "obl"))
    objects = [tree.low(noun) for noun in tree.of(place, "obj")]
    asked = [tree.tokens[min(tree.under(kid))].tag for kid in tree.of(place, "ccomp")]
    if not objects and not asked:
        return tree.low(place) in _SAYING and not tree.of(place, "xcomp")  # "the menu does not say"
    return (bool(objects) and all(word in _ANSWERS | {"this", "it", "that"} for word in objects)) or (
        bool(asked) and all(tag.startswith("W") for tag in asked)
    )


def _declines(tree: Tree, place: int) -> bool:
    """Whether a predicate declines: we do not know, the sources do not say, there is no information."""
    subject, word = tree.subject(place), tree.low(place)
    speaks = subject is None or tree.low(subject) in {"i", "we"}
    objects = tree.of(place, "obj")
    about = subject is not None and _is_about_sources(tree, subject)
    if (speaks or about or (subject is not None and tree.relation(subject) == "expl")) and any(
        tree.low(noun) in _LACKING and _is_none(tree, noun) for noun in [*objects, *tree.of(place, "nsubj")]
    ):
        return True
    if speaks and word == "unable":
        return True
    if not tree.is_negated(place) or subject is None:
        return False
    if speaks:
        return word in _FINDING or (word == "have" and any(tree.low(noun) in _LACKING for noun in objects))
    return about and word in _TELLING | _SOURCES  # "the answer is not in the documents"


def _is_about_sources(tree: Tree, subject: int) -> bool:
    """Whether a subject is the sources, or the answer; of words for other texts only where they are "provided"."""
    word = tree.low(subject)
    if word in {"it", "this", "that"}:
        return tree.relation(subject) == "nsubj:pass"  # "it is not mentioned"
    named = {tree.low(i) for i in tree.under(subject)}
    return word in _SOURCES | _ANSWERS or (word in _TEXTS and not named.isdisjoint(_GIVEN)) or _is_none(tree, subject)


def _is_none(tree: Tree, noun: int) -> bool:
    """Whether a noun is denied: "no information", "not enough information"."""
    before = {tree.low(i) for i in tree.under(noun) if i < noun}
    return not before.isdisjoint({"no", "insufficient"}) or {"not", "enough"} <= before

"""Sentences that decline to answer, by their grammar: "I do not know", "the passages do not say", "no information"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from everyclaim.core.types import Span
from everyclaim.decompose.assertions import asserts, is_talk, plain_tree, statements
from everyclaim.models.local.tree import Tree
from everyclaim.text.language import ENGLISH, language_of
from everyclaim.text.tokens import capital, word_set

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
_MENTIONING = word_set("mention state specify")  # what a text does, and neither data nor results of a study
_SAID = word_set("stated specified mentioned indicated")  # which only texts do
_DENIES = re.compile(r"n[o'’]t\b|\b(?:no|unable|insufficient)\b", re.IGNORECASE)
_CAN = word_set("can ca could")
_BESIDE = word_set("while although though whereas")
_FINDING = word_set("know see find answer determine provide tell say help locate confirm give assist sure certain able")
TALK_WORDS = _SOURCES | _TEXTS | _GIVEN | _LACKING | _TELLING | _FINDING | word_set("unable could")


def is_abstention(text: str) -> bool:
    """Whether a sentence declines to answer and asserts nothing else about the world."""
    if len(text) > _LONGEST:
        return False
    if _WORDS.fullmatch(text.strip(" .!")):
        return True
    tree = plain_tree(text)
    if any(_declines(tree, place) for place in range(len(tree.tokens))) and not asserts(_without_content(tree, text)):
        return True
    withheld = {place for place in range(len(tree.tokens)) if _withholds(tree, place)}
    others = [place for place in statements(tree) if place not in withheld and not is_talk(tree, place)]
    return bool(withheld) and not others and language_of(text) in {"", ENGLISH}


def denied_statement(text: str) -> str:
    """Return what a refusal says that the sources do not tell, where it is a statement; empty where it is none.

    "The documents do not mention that the pool closed." denies "The pool closed.", which a passage may state.
    """
    if len(text) > _LONGEST:
        return ""
    bare = text.strip().rstrip(".!")
    tree = plain_tree(bare)
    for place in range(len(tree.tokens)):
        if tree.kind(place) not in {"ccomp", "acl"} or tree.subject(place) is None or not tree.is_finite(place):
            continue
        words = tree.under(place)
        words = words[1:] if tree.low(words[0]) == "that" else words
        if not tree.tag(words[0]).startswith("W") and not tree.is_conditional(place):  # "whether it closed"
            return f"{capital(bare[slice(*tree.span(words))])}."
    return ""


def _without_content(tree: Tree, text: str) -> str:
    """Leave out what is denied to be in the sources: "no information that the pool closed"."""
    for place in range(len(tree.tokens)):
        noun = tree.head(place)
        if tree.kind(place) == "acl" and tree.low(noun) in _LACKING and _is_none(tree, noun):
            start, end = tree.span(tree.under(place))
            return text[:start] + text[end:]
    return text


def refused_part(text: str) -> tuple[Span, Span] | None:
    """Return where a sentence declines to tell one thing, at its beginning or its end, and where it tells another.

    "I could not find the price, but the warranty is two years."
    """
    if len(text) > _LONGEST or not _DENIES.search(text):
        return None
    tree = plain_tree(text)
    if not tree.tokens:
        return None
    beside = [kid for kid in tree.kids[tree.root] if _is_beside(tree, kid)]
    for clause in [*map(tree.under, beside), tree.under(tree.root, without=beside)]:
        part, others = _words(tree, clause), _words(tree, {*range(len(tree.tokens))} - {*clause})
        if not part or not others or not (others[-1] < part[0] or part[-1] < others[0]):
            continue
        declined, rest = (Span(*tree.span(one)) for one in (part, others))
        if is_abstention(text[slice(*declined)]) and asserts(text[slice(*rest)]):
            return declined, rest if rest < declined else Span(rest.start, len(text))
    return None


def _words(tree: Tree, places: Iterable[int]) -> list[int]:
    """The places without the signs and conjunctions at their edges."""
    joining = {"PUNCT", "CCONJ", "SCONJ"}
    inner = [i for i in sorted(places) if tree.pos(i) not in joining]
    return [i for i in sorted(places) if inner[0] <= i <= inner[-1]] if inner else []


def _is_beside(tree: Tree, place: int) -> bool:
    """Whether a clause stands beside the main one: joined to it, or opposed to it by "while"."""
    if tree.kind(place) in {"conj", "parataxis"}:
        return tree.is_finite(place) and tree.subject(place) is not None
    return tree.kind(place) == "advcl" and tree.says(place, "mark", *_BESIDE)


def _withholds(tree: Tree, place: int) -> bool:
    """Whether something does not tell the answer, whatever it is called: "the manual does not describe this".

    The answer is "this", a question ("how long it lasts"), or what "is not mentioned in the text"; "I do not have it".
    """
    subject = tree.subject(place)
    if subject is None or not tree.is_negated(place):
        return False
    if tree.low(subject) == "i":
        fails = tree.says(place, "aux", *_CAN)  # "I couldn't load the page"
        return bool(tree.of(place, "obj")) and (fails or tree.low(place) == "have")
    if tree.low(place) not in _TELLING or tree.tag(subject).startswith("PRP"):
        return False
    if tree.relation(subject) == "nsubj:pass":
        where = tree.of(place, "obl")
        is_said = tree.low(place) in _SAID and not where and not tree.of(place, "xcomp", "ccomp")
        return is_said or any(tree.low(noun) in _SOURCES | _TEXTS for noun in where)
    objects = [tree.low(noun) for noun in tree.of(place, "obj")]
    asked = [tree.tag(tree.first(kid)) for kid in tree.of(place, "ccomp")]
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
    about = subject is not None and (
        _is_about_sources(tree, subject) or (tree.low(subject) in _TEXTS and word in _MENTIONING)
    )
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

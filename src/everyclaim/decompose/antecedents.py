"""What a pronoun at the beginning of a sentence stands for, by the grammar of the sentences and turns before."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from everyclaim.core.types import TURNS_BEFORE, Claim, Decomposition, Sample
from everyclaim.decompose.citing import cited_beside
from everyclaim.decompose.repairs import parsed
from everyclaim.models.local.tree import THINGS, Tree
from everyclaim.text.segment import sentences
from everyclaim.text.sources import CONNECTIVES
from everyclaim.text.tokens import capital

_CONNECTIVE = re.compile(
    rf"(?:{CONNECTIVES})\b(?:,\s*|\s+(?=(?:the|a|an|it|he|she|they|this|in|its)\b))|(?:but|and)\b,?\s+", re.IGNORECASE
)
PRONOUN = re.compile(
    r"(?P<subject>it|he|she|they)(?=\s+[a-z])|(?P<owner>its|his|her|their)\s+|(?:this|that|these|those|such|both)\b",
    re.IGNORECASE,
)
_OWNED_TWICE = re.compile(r"(?<=['’]s)['’]s\b")  # "Denny's's"
_NO_SUBJECT = frozenset({"PRP", "EX", "WDT", "WP", "RB"})
_ASKED = frozenset({"what", "which", "who", "whose", "that"})
_POINTING = frozenset({"this", "that", "these", "those", "both"})
_ROLES = frozenset({"nsubj", "obj", "iobj", "appos"})
_WITHIN = frozenset({"acl", "nmod"})  # what stands in these is not what a sentence is about
_LONGEST_SUBJECT = 60  # characters; a longer one is not repeated
_CLAIMS_BEFORE = 12  # of the same answer
_SEVERAL = frozenset({"they", "their"})
_PEOPLE = frozenset({"he", "she", "his", "her"})
_OWNERS = {"its": "it", "their": "they", "his": "he", "her": "she"}
_OBJECTS = frozenset({"it", "them", "him", "her"})


def unconnected(text: str) -> str:
    """Leave out the word that ties a sentence to the one before: "However, the pump leaks."."""
    found = _CONNECTIVE.match(text)
    return capital(text[found.end() :]) if found else text


def named(text: str, pronoun: re.Match[str], before: Iterable[str]) -> str:
    """Put the subject of the nearest sentence before in the place of a pronoun; empty where none fits."""
    subject = antecedent(pronoun, before)
    return put(subject, text, pronoun) if subject else ""


def antecedent(pronoun: re.Match[str], before: Iterable[str], *, is_topic_enough: bool = False) -> str:
    """Return the subject of the nearest sentence before that a pronoun may stand for; empty where none fits.

    What a sentence is about otherwise ("Tell me about the Classica.", "And the Grande?") is one where it is enough.
    """
    word = _word_of(pronoun)
    for sentence in before if word else ():
        found = _subject(sentence, word) or (is_topic_enough and _topic(sentence, word))
        if found or (is_topic_enough and _turns_elsewhere(sentence)):
            return found or ""
    return ""


class Spoken(NamedTuple):
    """What was spoken of: nouns of the sentences before and of the question, in lower case, and the question's
    sentences where nothing was said before.
    """

    nouns: Collection[str] = ()
    asked: Collection[str] = ()
    questions: Sequence[str] = ()


def _word_of(pronoun: re.Match[str] | None) -> str:
    return (pronoun["subject"] or pronoun["owner"] or "").lower() if pronoun else ""


def completed(text: str, before: str, spoken: Spoken) -> str:
    """Put the subject of the sentence before in the place of the pronoun that is a text's, if it is certain.

    It is where nothing else in that sentence could be meant: no other subject, object or agent of the same number, and
    nothing from before, of whose nouns the subject is one; and where the rest only adds to what the question is about.
    """
    pronoun = _first_pronoun(text)
    word = _word_of(pronoun)
    if not pronoun or not word or _means_nothing(text[pronoun.start() :]):
        return text
    word = _OWNERS.get(word, word)
    if spoken.questions:
        name = _asked_about(spoken.questions, word)
    elif not before or ":" in before or _has_rival(before, word, spoken):
        name = ""
    else:
        name = _subject(before, word, is_spoken_of=True)
    return put(name, text, pronoun) if name else text


def _asked_about(questions: Sequence[str], pronoun: str) -> str:
    """What a question is about, where a pronoun after it can stand for nothing else in it; else empty."""
    found = list[str]()
    for question in questions:
        tree = parsed(question)
        for place, token in enumerate(tree.tokens):
            if tree.low(place) in {*_OWNERS, *_OWNERS.values(), *_OBJECTS} and not found:
                return ""  # "What does she do?"
            named = token.pos in THINGS and tree.kind(place) not in {"compound", "flat"}
            named &= token.relation not in {"nmod:desc", "nmod:poss"}  # of "Rosa's bar" the bar is spoken of
            if named and tree.is_plural_alone(place) is not (pronoun not in _SEVERAL):
                found.append(_phrase(question, tree, place, pronoun, alone=True) if _is_asked_of(tree, place) else "")
    return found[0] if len(found) == 1 else ""


def _is_asked_of(tree: Tree, place: int) -> bool:
    """Whether a question tells something of a noun: it is a subject, or what somebody speaks about."""
    above = tree.head(place)
    if above < 0:
        return tree.says(place, "nsubj", "who", "what")
    if tree.says(above, "nsubj", *_ASKED):
        return False
    return tree.kind(place) == "nsubj" or tree.says(place, "case", "about")


def _first_pronoun(text: str) -> re.Match[str] | None:
    """The pronoun that a text begins with, or that is its subject behind a time or place: "In 1938 she fled"."""
    if (pronoun := PRONOUN.match(text)) or not text:
        return pronoun
    tree = parsed(text)
    subject = tree.subject(tree.root)
    if subject is None or any(tree.tag(i) == "PRP" or tree.is_finite(i) for i in range(subject)):
        return None
    return PRONOUN.match(text, tree.tokens[subject].start)


def described(sentence: str) -> dict[str, str]:
    """What a sentence about something named calls it, with its name: "Rosa is a café …", "Rosa Hall opened …"."""
    tree = parsed(sentence)
    subject = tree.subject(tree.root)
    if subject is None or not tree.text(subject)[:1].isupper():
        return {}
    name = _subject(sentence, "it").partition(",")[0]
    is_one = tree.is_a(tree.root) and tree.of(tree.root, "cop")
    nouns = [subject, *tree.of(subject, "compound", "flat"), *([tree.root] if is_one else [])]
    return dict.fromkeys((f"the {tree.low(noun)}" for noun in nouns), name) if name else {}


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Put the name in the place of what it was said to be: "The café opens at nine"."""
    name = names.get(" ".join(text.split()[:2]).lower(), "")
    if not name:
        return text
    tree = parsed(text)
    return f"{name}{text[tree.tokens[1].end :]}" if tree.subject(tree.root) == 1 and len(tree.under(1)) == 2 else text


def _means_nothing(text: str) -> bool:
    """Whether a sentence begins as in "It is important to …", "It is mentioned that …"."""
    tree = parsed(text)
    return is_expletive(text) or (tree.low(0) == "it" and bool(tree.of(tree.root, "csubj", "ccomp", "mark")))


def is_expletive(text: str) -> bool:
    """Whether a sentence begins as in "It is important to …"."""
    tokens = parsed(text).tokens
    return bool(tokens) and tokens[0].relation == "expl"


def nouns_of(sentence: str) -> set[str]:
    """The nouns of a sentence, in lower case."""
    tree = parsed(sentence)
    return {tree.low(i) for i in range(len(tree.tokens)) if tree.pos(i) in THINGS and tree.kind(i) != "compound"}


def _has_rival(sentence: str, pronoun: str, spoken: Spoken) -> bool:
    """Whether a pronoun after a sentence may stand for something else than its subject."""
    tree = parsed(sentence)
    subject = _spoken_of(tree)
    if subject is None or tree.pos(subject) not in THINGS or tree.of(subject, "nmod:poss", "nummod"):
        return True  # "Rosa's bar is small. It …"
    if tree.words(tree.root, "obj") & _OBJECTS:
        return True  # "The mayor opened it. It …"
    own, people = set(tree.under(subject)), pronoun in _PEOPLE
    if any(tree.low(i) in spoken.asked for i in own):
        return False
    if spoken.nouns and tree.pos(subject) == "NOUN" and tree.low(subject) not in spoken.nouns:
        return True  # "Rosa has a bar. The owner left. …"
    return any(
        token.pos in ({"PROPN"} if people else {*THINGS, "PRON"})
        and place not in own
        and _WITHIN.isdisjoint(map(tree.kind, tree.way_up(place, tree.root)[1:]))
        and (
            tree.kind(place) in _ROLES
            or tree.says(place, "case", "by", *(("with", "for") if people else ()))
            or any(tree.pos(kid) == "PROPN" for kid in tree.of(place, "appos", "flat"))  # "her novel Salt Rain"
        )
        and tree.is_plural_alone(place) is not (pronoun not in _SEVERAL)
        for place, token in enumerate(tree.tokens)
    )


def put(name: str, text: str, pronoun: re.Match[str]) -> str:
    """Put a name in the place of a pronoun of a text."""
    first, _, rest = name.partition(" ")
    if pronoun.start() and first in {"The", "A", "An"}:
        name = f"{first.lower()} {rest}"
    owner = "" if pronoun["subject"] else "' " if name.endswith("s") and pronoun["owner"].lower() == "their" else "'s "
    return _OWNED_TWICE.sub("", f"{text[: pronoun.start()]}{name}{owner}{text[pronoun.end() :]}")


def _subject(sentence: str, pronoun: str, *, is_spoken_of: bool = False) -> str:
    """Return the subject of a sentence, or what it speaks of, that a pronoun after it may stand for; empty where that
    is not sure.
    """
    plain = unconnected(sentence)
    tree = parsed(plain)
    place = _spoken_of(tree) if is_spoken_of else tree.subject(tree.root)
    return "" if place is None else _phrase(plain, tree, place, pronoun)


def _spoken_of(tree: Tree) -> int | None:
    """The subject of a sentence; of a request its object, of a fragment its noun."""
    if not tree.tokens:
        return None
    subject = tree.subject(tree.root)
    if subject is None:
        is_alone = tree.pos(tree.root) in THINGS and not tree.of(tree.root, "case")  # "Not on Saturday."
        return next(iter(tree.of(tree.root, "obj")), tree.root if is_alone else None)
    return subject


def _topic(sentence: str, pronoun: str) -> str:
    """Return what a question, a request or a fragment is about, where a pronoun after it may stand for that.

    It is a fragment's noun ("And the Grande?"), the object ("I bought the drill in Ghent"), or what is spoken about.
    """
    tree = parsed(sentence)
    subject = tree.subject(tree.root) if tree.tokens else None
    if not tree.tokens or (subject is not None and tree.low(subject) not in {"i", "we", "you"} | _ASKED):
        return ""
    acts = [tree.root, *tree.of(tree.root, "xcomp", "ccomp")]
    objects = [noun for act in acts for noun in tree.of(act, "obj")]
    about = [noun for act in [*acts, *objects] for noun in tree.of(act, "obl", "nmod")]
    things = [*objects, *(noun for noun in about if tree.says(noun, "case", "about"))]
    things = [noun for noun in things if not tree.says(noun, "det", "a", "an", "any", "some")]
    if subject is None and (not tree.of(tree.root, "det") or any(token.pos == "PROPN" for token in tree.tokens)):
        things.insert(0, tree.root)  # "The weight." asks for something of what was spoken of before
    nouns = [noun for noun in things if tree.pos(noun) in THINGS]
    return next(filter(None, (_phrase(sentence, tree, noun, pronoun) for noun in nouns)), "")


def _turns_elsewhere(sentence: str) -> bool:
    """Whether a fragment asks about another thing without naming it: "And those of 2024?", "The other one?"."""
    tree = parsed(sentence)
    if not tree.tokens or tree.subject(tree.root) is not None:
        return False
    asked = [tree.root, *(tree.of(tree.root, "nmod") if tree.low(tree.root) == "what" else ())]
    return any(tree.low(word) in _POINTING | {"one", "ones"} and len(tree.kids[word]) > 1 for word in asked)


def _phrase(text: str, tree: Tree, place: int, pronoun: str, *, alone: bool = False) -> str:
    """Return a noun with what belongs to it, where a pronoun may stand for it; empty where it may not.

    `alone`: without those beside it.
    """
    gone = [kid for kid in tree.kids[place] if tree.kind(kid) in {"cc", "case", "advmod", "discourse", "punct"}]
    gone = [kid for kid in gone if tree.tag(kid) != "POS"]  # "Denny's"
    gone += [kid for kid in tree.kids[place] if kid > place and tree.comma_before(kid) and tree.kind(kid) != "flat"]
    words = tree.under(place, without=[*gone, *(tree.conjuncts(place) if alone else ())])
    if pronoun in _PEOPLE:  # "Ada Lind" of "the painter Ada Lind in bed 12"
        words = [i for i in words if i == place or tree.kind(i) in {"flat", "compound"}]
        if tree.of(place, "det") or any(tree.tag(i) != "NNP" for i in words):
            return ""
    if any(tree.tag(i) in _NO_SUBJECT or tree.low(i) in _POINTING for i in words):
        return ""
    several = tree.is_plural_alone(place) if alone else tree.is_plural(place)
    if several is (pronoun not in _SEVERAL):
        return ""
    phrase = text[slice(*tree.span(words))]
    return capital(phrase) if len(phrase) <= _LONGEST_SUBJECT else ""


class _Completed(NamedTuple):
    """A claim with the pronoun that it began with, if any, as a subject, and what was put in its place."""

    sentence: str
    text: str
    word: str
    thing: str


def in_conversation(parts: Decomposition, sample: Sample) -> Decomposition:
    """Complete the claims of a response from the turns before it, and give them the citations that came beside it."""
    claims = parts.claims
    if sample.history:
        claims = _completed(claims, sample)
    if sample.citations:
        claims = cited_beside(claims, sample)
    return replace(parts, claims=claims)


def _completed(claims: Sequence[Claim], sample: Sample) -> tuple[Claim, ...]:
    """Put what they stand for in the place of pronouns that begin a claim, where the response does not say it."""
    told = [*(turn.text for turn in sample.history[-TURNS_BEFORE:]), sample.question]
    earlier = [text[one.start : one.end] for text in told for one in sentences(text)][::-1]
    found: list[Claim] = []
    before = deque[_Completed](maxlen=_CLAIMS_BEFORE)  # the last one first
    for claim in claims:
        pronoun = PRONOUN.match(claim.text)
        word, thing = _word_of(pronoun), ""
        word = _OWNERS.get(word, word)
        if pronoun and word and not is_expletive(claim.text):
            others = [one for one in before if one.sentence != claim.sentence]
            thing = _meant(pronoun, word, others, earlier)
            thing = "" if thing.lower() in claim.text.lower() else thing
        found.append(replace(claim, text=put(thing, claim.text, pronoun)) if pronoun and thing else claim)
        before.appendleft(_Completed(claim.sentence, found[-1].text, word, thing))
    return tuple(found)


def _meant(pronoun: re.Match[str], word: str, before: Sequence[_Completed], earlier: Sequence[str]) -> str:
    """Return what a pronoun stands for: what it stood for last, or what was spoken of; empty where a claim names it."""
    for one in before:
        if one.thing and one.word == word:
            return one.thing
        if antecedent(pronoun, [one.text]):
            return ""
        if fragment := antecedent(pronoun, [one.text], is_topic_enough=True):
            return fragment
    return antecedent(pronoun, earlier, is_topic_enough=True)

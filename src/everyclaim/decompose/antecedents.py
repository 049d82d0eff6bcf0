"""What a pronoun at the beginning of a sentence stands for, by the grammar of the sentences before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from everyclaim.decompose.repairs import SUBJECTS
from everyclaim.decompose.tree import Tree
from everyclaim.models.local.parser import parse
from everyclaim.text.edges import capital

CONNECTIVE = re.compile(
    r"(?:however|but|and|also|moreover|furthermore|additionally|in addition|besides|therefore|thus|hence|consequently|"
    r"as a result|instead|nevertheless|nonetheless|on the other hand|in contrast|by contrast|similarly|likewise|"
    r"for example|for instance|in fact|still|yet|so|then)\b(?:,\s*|\s+(?=(?:the|a|an|it|he|she|they|this|in|its)\b)"
    r"|(?<=^but)\s+|(?<=^and)\s+)",
    re.IGNORECASE,
)
PRONOUN = re.compile(
    r"(?P<subject>it|he|she|they)(?=\s+[a-z])|(?P<owner>its|his|her|their)\s+|(?:this|that|these|those|such|both)\b",
    re.IGNORECASE,
)
_DEFINITE = re.compile(r"(?:the|this)\s+(?P<noun>[^\W\d_]+)(?=['’\s])", re.IGNORECASE)
_NO_SUBJECT = frozenset({"PRP", "EX", "WDT", "WP", "RB"})
_POINTING = frozenset({"this", "that", "these", "those", "both"})
_ROLES = frozenset({"nsubj", "obj", "iobj", "conj", "appos"})
_LONGEST_SUBJECT = 60  # characters; a longer one is not repeated


def named(text: str, pronoun: re.Match[str], before: Iterable[str]) -> str:
    """Put the subject of the nearest sentence before in the place of a pronoun; empty where none fits."""
    word = (pronoun["subject"] or pronoun["owner"] or "").lower()
    subject = next((found for sentence in before if (found := _subject(sentence, word))), "") if word else ""
    return put(subject, text, pronoun) if subject else ""


def completed(text: str, before: str) -> str:
    """Put the subject of the sentence before in the place of a pronoun that begins a text, if it is certain.

    It is where nothing else in that sentence could be meant: no other subject, object or agent of the same number.
    """
    pronoun = PRONOUN.match(text)
    word = (pronoun["subject"] or pronoun["owner"] or "").lower() if pronoun else ""
    if not pronoun or not word or not before or ":" in before or _has_rival(before, word) or _means_nothing(text):
        return text
    return named(text, pronoun, [before]) or text


def described(sentence: str) -> tuple[str, str]:
    """What a sentence that says what something named is calls it, and its name: "Rosa is a café …"; else empty."""
    tokens = parse([sentence])[0]
    tree = Tree(tokens) if tokens else None
    subject = tree.subject(tree.root) if tree else None
    if tree is None or subject is None or not tree.of(tree.root, "cop") or tokens[subject].pos != "PROPN":
        return "", ""
    indefinite = any(tree.low(det) in {"a", "an"} for det in tree.of(tree.root, "det"))
    name = _subject(sentence, "it").partition(",")[0]
    return (tree.low(tree.root), name) if indefinite and name and not tree.is_negated(tree.root) else ("", "")


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Put the name in the place of what it was said to be: "The café opens at nine"."""
    begins = _DEFINITE.match(text)
    name = names.get(begins["noun"].lower(), "") if begins else ""
    if not begins or not name or parse([text])[0][1].relation not in {*SUBJECTS, "nmod:poss"}:
        return text
    return f"{name}{text[begins.end() :]}"


def _means_nothing(text: str) -> bool:
    """Whether a sentence begins as in "It is important to …", "It is mentioned that …"."""
    tree = Tree(parse([text])[0])
    return is_expletive(text) or (tree.low(0) == "it" and bool(tree.of(tree.root, "ccomp", "csubj")))


def is_expletive(text: str) -> bool:
    """Whether a sentence begins as in "It is important to …"."""
    tokens = parse([text])[0]
    return bool(tokens) and tokens[0].relation == "expl"


def _has_rival(sentence: str, pronoun: str) -> bool:
    """Whether a pronoun after a sentence may stand for something else than its subject."""
    tokens = parse([sentence])[0]
    tree = Tree(tokens) if tokens else None
    subject = tree.subject(tree.root) if tree else None
    if tree is None or subject is None or tree.tokens[subject].pos not in {"NOUN", "PROPN"}:
        return True
    if any(tokens[i].tag == "PRP$" for i in tree.under(subject)):
        return True
    people, several = pronoun in {"he", "she", "his", "her"}, pronoun in {"they", "their"}
    own = set(tree.under(subject))
    things = {"NOUN", "PROPN", "PRON"}
    return any(
        token.pos in ({"PROPN"} if people else things)
        and (tree.kind(place) in _ROLES or any(tree.low(kid) == "by" for kid in tree.of(place, "case")))
        and place not in own
        and tree.is_plural_alone(place) is not (not several)
        for place, token in enumerate(tokens)
    )


def put(name: str, text: str, pronoun: re.Match[str]) -> str:
    """Put a name in the place of a pronoun that begins a text."""
    owner = "" if pronoun["subject"] else "' " if name.endswith("s") and pronoun["owner"].lower() == "their" else "'s "
    return f"{name}{owner}{text[pronoun.end() :]}"


def _subject(sentence: str, pronoun: str) -> str:
    """Return the subject of a sentence that a pronoun after it may stand for; empty where that is not sure."""
    plain = CONNECTIVE.sub("", sentence, count=1) if CONNECTIVE.match(sentence) else sentence
    tokens = parse([plain])[0]
    tree = Tree(tokens) if tokens else None
    place = tree.subject(tree.root) if tree else None
    if tree is None or place is None or tree.relation(place) == "expl":
        return ""
    words = tree.under(place)
    while words[-1] != place and tree.tokens[words[-1]].pos == "PUNCT":
        words.pop()
    if any(tokens[i].tag in _NO_SUBJECT or tree.low(i) in _POINTING for i in words):
        return ""
    several = tree.is_plural(place)
    if several is not (pronoun in {"they", "their"}) and several is not None:
        return ""
    if pronoun in {"he", "she", "his", "her"} and any(tokens[i].tag != "NNP" for i in words):
        return ""
    text = plain[tokens[words[0]].start : tokens[words[-1]].end]
    return capital(text) if len(text) <= _LONGEST_SUBJECT else ""

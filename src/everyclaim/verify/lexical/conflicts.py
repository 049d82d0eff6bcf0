"""Passages that disagree: "The warranty lasts 24 months" in one, "Warranty: 12 months" in another.

A sentence that speaks of more than the claim, its question and its evidence do ("The pool opens at 7 am" beside "The
library opens at 9 am") states something else, and contradicts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from everyclaim.core.types import Evidence, Label, Passage, Verdict
from everyclaim.models.local.parser import ParsedToken, parse
from everyclaim.text.tokens import STOPWORDS, stem, tokenize
from everyclaim.verify.lexical.alignment import sentence
from everyclaim.verify.lexical.checks import check_facts, facts
from everyclaim.verify.lexical.comparison import LexicalComparison
from everyclaim.verify.lexical.evidence import shown
from everyclaim.verify.lexical.shortlist import Piece
from everyclaim.verify.lexical.spelling import foremost

_TELLING = frozenset({"NOUN", "PROPN", "VERB", "ADJ"})


def with_conflict(
    verdict: Verdict, it: LexicalComparison, pieces: Sequence[Piece], passages: Sequence[Passage], question: str
) -> Verdict:
    """Add to a support where another passage states a different value of the same thing, if one does."""
    claim = it.spelling.written
    support = [one for one in verdict.evidence if _statuses(claim, one.quote) == {"found"}]
    if verdict.label is not Label.SUPPORTED or not support:
        return verdict
    near, holding = set(foremost(it.source, it.alignment)), {one.passage_id for one in support}
    for column, (number, _) in enumerate(it.source.places):
        passage, text = passages[pieces[number].passage], sentence(it.source, column)
        if passage.id in holding or text not in near or "conflict" not in _statuses(claim, text):
            continue
        if is_of_same(claim, question, support, text, passage):
            opposing = shown([(column, column)], it.source, pieces, passages)
            said = f"{verdict.rationale}; another passage disagrees: «{text}»"
            return replace(verdict, evidence=(*support, *opposing), conflict=True, rationale=said)
    return verdict


def is_of_same(claim: str, question: str, support: Sequence[Evidence], opposing: str, passage: Passage) -> bool:
    """Whether a sentence of a passage speaks of what a claim does and of nothing else, by all of its telling words."""
    ours, asked, theirs = parse([claim, question, opposing])
    named = {_key(token) for token in (*ours, *asked) if token.pos == "PROPN"}
    if not named <= _keys(f"{passage.title} {passage.text}"):
        return False
    values = [(fact.start, fact.end) for fact in facts(opposing)]
    told = {
        _key(token)
        for place, token in enumerate(theirs)
        if token.pos in _TELLING
        and token.text.lower() not in STOPWORDS
        and not any(low <= token.start < high for low, high in values)
        and not any(other.head == place and other.relation == "cop" for other in theirs)  # "is valid for 12 months"
    }
    return bool(told & _keys(claim)) and told <= _keys(" ".join([claim, question, *(one.quote for one in support)]))


def _statuses(claim: str, text: str) -> set[str]:
    return {check.status for check in check_facts(claim, [text])}


def _key(token: ParsedToken) -> str:
    return stem(token.text.lower())


def _keys(text: str) -> set[str]:
    return {stem(token.norm) for token in tokenize(text)}

"""Reported speech: who is said to have said what, as the parser reads it.

"Smith said the bridge was safe" is not supported by a passage in which Jones said it and Smith only attended. A
`Report` keeps the speaker and the content apart, so that both can be checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from everyclaim.core.types import Span
from everyclaim.models.local.parser import parse
from everyclaim.models.local.tree import Tree
from everyclaim.text.lists import WORDS
from everyclaim.text.stops import sentence_spans
from everyclaim.text.tokens import content_stems, tidied, word_set

_PLAIN = word_set(WORDS["speech"]["plain_verbs"])  # these report a thing, too: "announced a merger"
_VERBS = _PLAIN | word_set(WORDS["speech"]["clause_verbs"])  # the others a clause alone: "added salt" reports nothing
_SAYING = re.compile(rf"\b(?:according to|{'|'.join(sorted(_VERBS))})\b", re.IGNORECASE)
_AROUND = ("appos", "acl", "acl:relcl", "parataxis", "case", "punct")  # what is said of a speaker beside the name
_OPENING = re.compile(r"[:,]?\s*[\"“«]")  # a quotation, behind the verb
_CLOSING = re.compile(r"[\"”»]")
_STOP = re.compile(r",|[.;]?\s*$")  # endpos ends the text
_CLOSED = re.compile(r"[\"”»]\s*$")
_NOBODY = frozenset({"it", "that", "this", "which", "what", "there"})


class Report(NamedTuple):
    """One thing said. ``source[slice(*speaker_span)] == speaker``."""

    speaker: str
    speaker_span: Span
    content_span: Span


def reports(text: str) -> list[Report]:
    """Find what `text` reports somebody to have said, thought or found, in order.

    The speaker is a noun phrase as written, a pronoun included. Sayings without one ("it is said") are left out.
    """
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        is_quoted = bool(spans) and _is_open(text[slice(*spans[-1])])
        spans[-1:] = [(spans[-1][0], end)] if is_quoted else [*spans[-1:], (start, end)]
    spans = [span for span in spans if _SAYING.search(text, *span)]
    read = zip(spans, parse([text[slice(*span)] for span in spans]), strict=True)
    return [report for (start, end), words in read for report in _in_sentence(text, start, end, Tree(words))]


def same_speaker(mine: str, theirs: str) -> bool:
    """Say whether two speakers share a telling word; a pronoun may be anyone."""
    ours, others = content_stems(mine), content_stems(theirs)
    return not ours or not others or bool(ours & others)


def _is_open(text: str) -> bool:
    return text.count('"') % 2 == 1 or text.count("“") > text.count("”")


def _speaker(tree: Tree, verb: int) -> int | None:
    """Who says what a verb of saying tells: its subject or, in the passive, its agent."""
    subject = tree.subject(verb)
    relation = "" if subject is None else tree.relation(subject)
    agents = [kid for kid in tree.of(verb, "obl") if tree.cases(kid)] if relation in {"nsubj:pass", "expl"} else []
    return subject if relation == "nsubj" else next(iter(agents), None)


def _in_sentence(text: str, start: int, end: int, tree: Tree) -> Iterator[Report]:
    def whole(head: int, without: Sequence[int] = ()) -> tuple[int, int]:
        return tree.span(tree.under(head, without))

    def beside(low: int, high: int) -> tuple[int, int]:
        """What of the sentence stands before the words that name a speaker, or behind where they open it."""
        opens = not any(character.isalnum() for character in text[start : start + low])
        return (high, end - start) if opens else (0, low)

    for at, word in enumerate(tree.tokens):
        low = word.text.lower()
        if low == "according":
            stop = _STOP.search(text, start + word.end, end)
            speaker = word.end + len(" to "), (stop.start() if stop else end) - start
            content = beside(word.start, speaker[1])
        elif low in _VERBS and word.pos == "VERB":
            who = _speaker(tree, at)
            who = _speaker(tree, word.head) if who is None and word.relation == "conj" else who
            clauses = tree.of(at, "ccomp") or (tree.of(at, "obj") if low in _PLAIN else [])
            clauses = clauses or [each for each in tree.of(at, "parataxis") if each > at]
            quote = _OPENING.match(text, start + word.end, end)
            if who is None or tree.low(who) in _NOBODY:
                continue
            speaker = whole(who, tree.of(who, *_AROUND))
            if quote:
                closed = _CLOSING.search(text, quote.end(), end)
                content = quote.end() - start, (closed.start() if closed else end) - start
            elif clauses:
                content = whole(clauses[0], tree.of(clauses[0], "mark"))
            elif word.relation in ("parataxis", "advcl"):
                content = beside(*whole(at))
            elif _CLOSED.search(text, start, start + word.start):
                content = 0, word.start
            else:
                continue
        else:
            continue
        first, last = tidied(text, start + speaker[0], start + speaker[1])
        told = Span(*tidied(text, start + content[0], start + content[1]))
        if text[slice(*told)]:
            yield Report(text[first:last], Span(first, last), told)

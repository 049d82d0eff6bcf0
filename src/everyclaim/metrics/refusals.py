"""Refusals: an answer that says the sources do not tell is right or wrong by whether they do.

Offline, a passage answers a question where it holds what the question is about and a word of the kind that is asked
for: a name (who, which), a time (when), a number (how many), a reason (why). It is made to be right where it says
"wrong": what is worded otherwise in the passages it misses. A language model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from everyclaim.core.protocols import Verifier
from everyclaim.core.types import Claim, Decomposition, Evidence, Label, Passage, Span
from everyclaim.decompose.refusals import TALK_WORDS, denied_statement
from everyclaim.models.local.parser import parse
from everyclaim.text.dates import moments
from everyclaim.text.names import names
from everyclaim.text.quantities import quantities
from everyclaim.text.stops import sentence_spans
from everyclaim.text.tokens import content_stems, stem
from everyclaim.verify.verdicts import judged

_WHOLE = 500  # characters of a passage that is read as one
_ALL, _MOST = 0.8, 0.6  # of what a question is about: of any question, of one whose answer is of the kind asked for
_REASON = re.compile(r"\b(?:because|due to|owing to|caused by|as a result of|thanks to|since|so that)\b", re.IGNORECASE)
_NAMED = re.compile(r"NN|JJ|CD")


class _RefusedQuestion(NamedTuple):
    """What a question is about, by stems, and the kind of the answer."""

    named: frozenset[str]  # nouns and adjectives: all of them must be there
    others: frozenset[str]
    subject: frozenset[str]  # of a common noun, which a document may leave unsaid: its own product, its own shop
    kind: str  # name, time, number, reason; empty: any
    counted: frozenset[str]  # of "how many": what is counted
    whose: frozenset[str]  # names, and what stands behind "of": "the price of the lamp"


async def refusal(
    question: str, passages: Sequence[Passage], verifier: Verifier, parts: Decomposition
) -> dict[str, Any] | None:
    """Say whether a refusal to answer a question is right, and which passage answers it; None without a refusal.

    Of an answer that tells something all the same, each part that it declines is judged by what it asks for, and the
    first wrong one counts: "I could not find the price, but the warranty is two years." None where nothing is asked.
    """
    declined = [piece.text for piece in parts.skipped if piece.reason == "abstention"]
    denied = {statement: text for text in declined if (statement := denied_statement(text))}
    whole = question if parts.abstained and question.strip() and getattr(verifier, "chat", None) is not None else ""
    asked_for = [f"The passages contain an answer to: {whole}"] if whole else []
    if supported := await _supporting([*denied, *asked_for], passages, verifier, whole):
        statement, finding = supported
        if statement not in denied:
            return finding
        return finding | {"denied": statement} | ({} if parts.abstained else {"declined": denied[statement]})
    if not question.strip() or not (declined or parts.abstained):
        return None
    if parts.abstained:
        return {"finding": "right"} if whole else _by_words(_read(question), question, passages)
    said = content_stems(" ".join(claim.text for claim in parts.claims))
    best: dict[str, Any] | None = None
    for text in declined:
        asked = _asked_by(text, question)
        if asked is not None and (asked.kind or not asked.named | asked.others <= said):
            found = {**await _judged(asked, question, text, passages, verifier), "declined": text}
            if found["finding"] == "wrong":
                return found
            best = best or found
    return best


async def _judged(
    asked: _RefusedQuestion, question: str, declined: str, passages: Sequence[Passage], verifier: Verifier
) -> dict[str, Any]:
    """Say whether passages tell a part that an answer declines: offline by words, else by the model."""
    if getattr(verifier, "chat", None) is None:
        return _by_words(asked, f"{question} {declined}", passages)
    missing = f"There is an answer to what this sentence leaves open: {declined!r}"
    found = await _supporting([missing], passages, verifier, question)
    return found[1] if found else {"finding": "right"}


def _by_words(asked: _RefusedQuestion, question: str, passages: Sequence[Passage]) -> dict[str, Any]:
    found = _answer(asked, question, passages)
    return _wrong_by(found) if found else {"finding": "right"}


async def _supporting(
    statements: Sequence[str], passages: Sequence[Passage], verifier: Verifier, question: str
) -> tuple[str, dict[str, Any]] | None:
    """Return the first statement that the judge finds supported, with the finding of its refusal; None without one."""
    claims = [Claim(f"r{i}", text, Span(0, len(text)), text) for i, text in enumerate(statements, start=1)]
    for claim, judgement in zip(claims, await judged(verifier, claims, passages, question=question), strict=True):
        if judgement.verdict.label is Label.SUPPORTED:
            return claim.text, _wrong_by(next(iter(judgement.verdict.evidence), None))
    return None


def _wrong_by(found: Evidence | None) -> dict[str, Any]:
    if found is None:
        return {"finding": "wrong"}
    return {"finding": "wrong", "passage": found.passage_id, "span": [found.start, found.end], "quote": found.quote}


def _asked_by(text: str, question: str) -> _RefusedQuestion | None:
    """Return what a part of an answer declines to tell: its own words, and whose it is by the question."""
    asked, whole = _read(text), _read(question)
    talk = frozenset(stem(word) for word in TALK_WORDS)
    own = (asked.named | asked.others) - talk
    if not own:
        return None
    return asked._replace(named=(asked.named - talk) | whole.whose, others=asked.others - talk, subject=whole.whose)


def _answer(asked: _RefusedQuestion, question: str, passages: Sequence[Passage]) -> Evidence | None:
    """Return the stretch of a passage that answers a question, by words."""
    everywhere = frozenset[str]().union(*(content_stems(f"{one.title} {one.text}") for one in passages))
    about = asked.named | asked.others
    if not asked.subject & everywhere:
        about -= asked.subject
    if len(about) < (1 if asked.kind else 2):  # "What of the lamp?"
        return None
    for passage in passages:
        title = content_stems(passage.title)
        spans = sentence_spans(passage.text)
        windows = [(0, len(passage.text))] if len(passage.text) <= _WHOLE else [
            (start, following[1]) for (start, _), following in zip(spans, [*spans[1:], spans[-1]], strict=True)
        ]  # fmt: skip
        for start, end in windows:
            text = passage.text[start:end]
            known = (content_stems(text) | title) & about
            is_kind = bool(asked.kind) and _holds(asked, text, question)
            enough = len(known) >= _ALL * len(about) or (
                is_kind and (asked.named & about) <= known and len(known) >= _MOST * len(about)
            )
            if enough and (is_kind or not asked.kind):
                return Evidence(passage.id, start, end, text)
    return None


def _read(question: str) -> _RefusedQuestion:
    tokens = parse([question.strip()])[0]
    left, kind, counted = set[int](), "", frozenset[str]()
    for place, token in enumerate(tokens):
        if token.tag not in {"WP", "WRB", "WDT", "WP$"}:
            continue
        if left:  # "… when it is empty?" asks nothing
            left.add(place)
            continue
        word, follows = token.text.lower(), tokens[place + 1] if place + 1 < len(tokens) else token
        left.add(place)
        if word == "how" and follows.tag[:2] in {"JJ", "RB"}:
            left |= {place + 1} | ({follows.head} if follows.relation == "amod" else set())
            kind = "number"
            counted = content_stems(tokens[follows.head].text) if follows.relation == "amod" else counted
        elif token.relation == "det":
            left.add(token.head)
        kind = kind or {"who": "name", "whom": "name", "which": "name", "when": "time", "why": "reason"}.get(word, "")
    stems = {place: content_stems(token.text) for place, token in enumerate(tokens) if place not in left}

    def of(places: Sequence[int]) -> frozenset[str]:
        return frozenset[str]().union(*(stems[place] for place in places))

    subjects = [place for place in stems if tokens[place].relation.startswith("nsubj") and tokens[place].tag == "NN"]
    nouns = [place for place in stems if _NAMED.match(tokens[place].tag)]
    others = [place for place in stems if place not in nouns]
    owners = {token.head for token in tokens if token.relation == "case" and token.text.lower() == "of"}
    whose = [place for place in nouns if tokens[place].tag.startswith("NNP") or place in owners]
    return _RefusedQuestion(of(nouns), of(others), of(subjects), kind, counted, of(whose))


def _holds(asked: _RefusedQuestion, text: str, question: str) -> bool:
    """Whether a text holds a word of the kind that is asked for, and that the question does not hold."""
    kind = asked.kind
    if asked.counted:
        return any(asked.counted & content_stems(one.noun or one.unit) for one in quantities(text))
    if kind == "reason":
        return _REASON.search(text) is not None
    if kind == "name":
        proper = {start + token.start for start, end in sentence_spans(text)
                  for token in parse([text[start:end]])[0] if token.tag.startswith("NNP")}  # fmt: skip
        return any(name.start in proper and name.text.lower() not in question.lower() for name in names(text))
    amounts = [one for one in quantities(text) if kind != "time" or not one.dimension.startswith("money")]
    spans = [(one.start, one.end) for one in moments(text)] + [(one.start, one.end) for one in amounts]
    return any(text[start:end].lower() not in question.lower() for start, end in spans)

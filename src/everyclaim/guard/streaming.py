"""Check an answer while it is being written: every sentence as soon as it is complete."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from itertools import pairwise

from everyclaim.core.errors import GeneratorError
from everyclaim.core.types import Outcome, Result
from everyclaim.guard.answers import GuardedSentence, SentenceStatus
from everyclaim.guard.authors import Task
from everyclaim.guard.claim_removal import cut
from everyclaim.guard.loop import Loop, checked
from everyclaim.text.segment import Sentence, sentences

_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)", re.MULTILINE)


async def stream(loop: Loop, task: Task) -> AsyncIterator[GuardedSentence]:
    """Yield the answer sentence by sentence, each checked; nothing is shown that the rules block.

    Of a sentence with blocked claims the rest is shown where that is clean and holds when it is checked again
    (`repaired`), else nothing (`held_back`). The threshold plays no part: it is for whole answers. A sentence is
    judged with the question, but without the sentences around it. Raises `GeneratorError` when the generator fails,
    after what came before it was yielded.
    """
    if loop.author is None:
        raise GeneratorError("a guard needs a generator to stream from")
    said = False
    async for piece in pieces(loop.author.stream(task), loop.language):
        said = said or bool(piece.strip())
        yield await _guarded(loop, task, piece)
    if not said:
        raise GeneratorError("the generator returned an empty answer")


async def pieces(chunks: AsyncIterator[str], language: str = "") -> AsyncIterator[str]:
    """Yield a text in pieces that can be judged alone, each as it is complete, with what stands before it.

    A piece is a sentence, a table, or a list with its lead-in; it is complete when the next one has begun. The pieces
    together are the text.
    """
    waiting = ""
    async for chunk in chunks:
        waiting += chunk
        if len(_FENCE.findall(waiting)) % 2:
            continue  # code that is still open looks like sentences
        *whole, waiting = _divided(waiting, language)
        for piece in whole:
            yield piece
    for piece in _divided(waiting, language):
        if piece:
            yield piece


def _divided(text: str, language: str) -> list[str]:
    """Cut a text into its pieces; the last one may not be complete."""
    ends: list[int] = []
    listed = False  # inside a list that has a lead-in
    before: Sentence | None = None
    for sentence in sentences(text, language):
        introduced = before is not None and text[before.start : before.end].rstrip(" *_").endswith(":")
        listed = sentence.kind == "item" and (listed or introduced)
        in_table = before is not None and sentence.kind == before.kind == "table_row"
        if ends and (listed or in_table):
            ends.pop()
        ends.append(sentence.end)
        before = sentence
    return [text[start:end] for start, end in pairwise([0, *ends[:-1], len(text)])]


async def _guarded(loop: Loop, task: Task, piece: str) -> GuardedSentence:
    rules = loop.rules
    result = await checked(loop.metric, task, piece, rules)
    status: SentenceStatus = "passed"
    text = piece
    if result.outcome is Outcome.FAILED:
        status = "unchecked"
    elif rules.blocked(result):
        text, status = await _rest(loop, task, piece, result)
    elif any(claim.verdict.label in rules.labels("annotate") for claim in result.claims):
        status = "annotated"
    elif result.unchecked:
        status = "unchecked"
    return GuardedSentence(text, status, piece, result, rules.labels("annotate"))


async def _rest(loop: Loop, task: Task, piece: str, result: Result) -> tuple[str, SentenceStatus]:
    """Return what can be shown of a sentence with blocked claims."""
    blocked = {claim.id for claim in loop.rules.blocked(result)}
    left = cut(piece, result.claims, blocked, loop.language) if loop.rules.repair != "none" else None
    if left is None or not left.clean:
        return "", "held_back"
    again = await checked(loop.metric, task, left.text, loop.rules)
    if again.outcome is not Outcome.SCORED or loop.rules.blocked(again):
        return "", "held_back"
    lead = piece[: len(piece) - len(piece.lstrip())]
    return lead + left.text, "repaired"

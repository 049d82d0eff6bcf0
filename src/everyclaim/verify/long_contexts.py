"""Passages that are too many for one call: judged in parts, then together what no part supports."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from everyclaim.core.gather import gather
from everyclaim.core.protocols import Ranker
from everyclaim.core.types import Claim, Label, Passage, Verdict
from everyclaim.verify.sizes import by_input, tokens
from everyclaim.verify.strategies import combined

Judge = Callable[[Sequence[Claim], Sequence[Passage]], Awaitable[list[Verdict]]]


async def in_parts(
    judge: Judge, ranker: Ranker, claims: Sequence[Claim], passages: Sequence[Passage], input_tokens: int
) -> list[Verdict]:
    """Judge every claim by every part of the passages, and combine as single passages are.

    What no part settles may be spread over them: it is tried once more against the passages that matter most for all
    such claims, as many as fit into a call.
    """
    parts = by_input(passages, input_tokens)
    rounds = await gather(_of(judge(claims, part)) for part in parts)
    settled = {}
    for place, claim in enumerate(claims):
        alone = [(part[0], verdicts[place]) for part, verdicts in zip(parts, rounds, strict=True)]
        settled[claim.id] = replace(combined(alone), per_passage=())  # a part is no passage
    open_claims = [claim for claim in claims if settled[claim.id].label is Label.UNSUPPORTED]
    if open_claims and len(parts) > 1:
        chosen = _best(ranker, open_claims, passages, input_tokens)
        for verdict in await judge(open_claims, chosen):
            if verdict.label is not Label.UNSUPPORTED:
                settled[verdict.claim_id] = replace(verdict, flags=(*verdict.flags, "spread_evidence"))
    return [settled[claim.id] for claim in claims]


async def _of(verdicts: Awaitable[list[Verdict]]) -> list[Verdict]:
    return await verdicts


def _best(ranker: Ranker, claims: Sequence[Claim], passages: Sequence[Passage], input_tokens: int) -> list[Passage]:
    """Take the best passage of every claim, then the second best, and so on, up to the size of a call."""
    orders = [ranker.rank(claim.text, passages) for claim in claims]
    chosen: dict[int, None] = {}
    size = 0
    for turn in zip(*orders, strict=True):
        for place in turn:
            takes = tokens(passages[place].text) + tokens(passages[place].title)
            if place not in chosen and (not chosen or size + takes <= input_tokens):
                chosen[place] = None
                size += takes
    return [passages[place] for place in sorted(chosen)]

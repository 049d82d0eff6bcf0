"""Marked answers → labelled claims, as the shipped decomposer cuts them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from answers.read import Fault, MarkedAnswer
from everyclaim.api.specs import DECOMPOSERS
from everyclaim.core.types import Claim

CARRIES = 0.5  # a claim is wrong when it holds this share of a fault, or a fault this share of it


class LabelledAnswer(NamedTuple):
    """An answer's claims with their labels; None where a fault is cut so that nobody can say which claim carries it."""

    answer: MarkedAnswer
    claims: tuple[Claim, ...]
    labels: tuple[str | None, ...]
    missed: int  # faults in text that became no claim


def split_answers(answers: Iterable[MarkedAnswer], decomposer: str = "embedded") -> Iterator[LabelledAnswer]:
    """Split every answer and give its claims the labels of the faults they carry."""
    split = DECOMPOSERS.create(decomposer, None)
    for answer in answers:
        yield labelled(answer, asyncio.run(split.decompose(answer.response, question=answer.question)).claims)


def labelled(answer: MarkedAnswer, claims: Sequence[Claim]) -> LabelledAnswer:
    """Give the claims of an answer the labels of the faults they carry."""
    carried = [tuple(_carried(claim, fault, answer.response) for fault in answer.faults) for claim in claims]
    labels = tuple(_label(shares, answer.faults) for shares in carried)
    missed = sum(not any(shares[i] for shares in carried) for i in range(len(answer.faults)))
    return LabelledAnswer(answer, tuple(claims), labels, missed)


def _carried(claim: Claim, fault: Fault, response: str) -> float:
    """Give the larger of two shares: of the fault that lies in the claim, of the claim that lies in the fault."""
    low, high = max(claim.span.start, fault.start), min(claim.span.end, fault.end)
    common = _letters(response[low:high]) if low < high else 0
    if not common:
        return 0.0
    return common / min(_letters(response[fault.start : fault.end]), _letters(response[slice(*claim.span)]))


def _letters(text: str) -> int:
    return sum(char.isalnum() for char in text) or len(text.strip())


def _label(shares: tuple[float, ...], faults: tuple[Fault, ...]) -> str | None:
    labels = {fault.label for share, fault in zip(shares, faults, strict=True) if share >= CARRIES}
    if "CONTRADICTED" in labels:
        return "CONTRADICTED"
    if labels:
        return "UNSUPPORTED"
    return None if any(shares) else "SUPPORTED"

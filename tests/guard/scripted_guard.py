"""Judges, metrics and generators that do as they are told, and remember what they were shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import everyclaim as ec
from everyclaim.core.types import Provenance
from scripted_judge import ScriptedJudge

MADE_BY = Provenance("scripted", "d", "v", "joint", "0")


class Judge(ScriptedJudge):
    """Finds a claim supported unless it holds the word "wrong" (contradicted) or "maybe" (unsupported)."""

    def __init__(self, fails: Callable[[str], bool] = lambda _: False) -> None:
        super().__init__(self._verdict)
        self.fails = fails

    def _verdict(self, claim: ec.Claim, _: object) -> ec.Verdict:
        if self.fails(claim.text):
            raise ec.JudgeError("timeout", "no answer in 30 s")
        return ec.Verdict(claim.id, label(claim.text), rationale="so it is")


def label(text: str) -> ec.Label:
    if "wrong" in text:
        return ec.Label.CONTRADICTED
    return ec.Label.UNSUPPORTED if "maybe" in text else ec.Label.SUPPORTED


@dataclass
class Writer:
    """A generator that says these things one after the other, the last for ever; an exception is raised."""

    says: Sequence[str | Exception]
    told: list[str] = field(default_factory=list)
    shown: list[tuple[str, tuple[ec.Passage, ...]]] = field(default_factory=list)

    def __call__(self, question: str, passages: Sequence[ec.Passage], instructions: str) -> str:
        self.told.append(instructions)
        self.shown.append((question, tuple(passages)))
        answer = self.says[min(len(self.told), len(self.says)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


@dataclass
class Scores:
    """A metric that gives each text the score that was planned for it."""

    plan: dict[str, float]
    asked: list[str] = field(default_factory=list)
    provenance: Provenance = MADE_BY

    async def score(self, sample: ec.Sample) -> ec.Result:
        self.asked.append(sample.response)
        return ec.Result.of(sample, MADE_BY, ec.Outcome.SCORED, self.plan[sample.response])

"""Ways to compare the answers of a response with those of its passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from everyclaim.core.gather import gather
from everyclaim.core.types import Claim, Label, Passage, Span
from everyclaim.metrics.context import MetricContext
from everyclaim.metrics.qa import Exam, answers
from everyclaim.metrics.qa_answers import exact, token_f1
from everyclaim.models.chat.reask import Inquiry, ask_for_each, portions
from everyclaim.prompts.questions import AgreementPrompt


class TokenF1:
    """The words the two answers share (QAGS)."""

    name = "token_f1"

    async def agreements(self, exams: Sequence[Exam], ctx: MetricContext) -> list[float]:
        """Return the F1 of each pair."""
        del ctx
        return [token_f1(*answers(exam)) for exam in exams]


class Exact:
    """1 for the same words, else 0."""

    name = "exact"

    async def agreements(self, exams: Sequence[Exam], ctx: MetricContext) -> list[float]:
        """Return 1 or 0 for each pair."""
        del ctx
        return [float(exact(*answers(exam))) for exam in exams]


class Entailment:
    """Q²: 1 for the same words; else 1 where the passages' answer entails the response's, 0 where it contradicts it,
    and the token F1 where it does neither.
    """

    name = "nli"

    async def agreements(self, exams: Sequence[Exam], ctx: MetricContext) -> list[float]:
        """Return a number for each pair; only pairs of different words are put to the judge."""
        return await gather(_entailment(exam, ctx) for exam in exams)


async def _entailment(exam: Exam, ctx: MetricContext) -> float:
    ours, theirs = answers(exam)
    if exact(ours, theirs):
        return 1.0
    hypothesis = exam.question.answered(ours)
    claim = Claim(exam.question.id, hypothesis, Span(0, len(hypothesis)), hypothesis)
    premise = Passage("answer", exam.question.answered(theirs))
    (found,) = await ctx.judge([claim], [premise], question="", labels_only=True)
    label = found.verdict.label
    return token_f1(ours, theirs) if label is Label.UNSUPPORTED else float(label is Label.SUPPORTED)


@dataclass(frozen=True, slots=True)
class Agreement:
    """1 where the judge's language model says that the two answers say the same, else 0; the same words need none."""

    prompt: AgreementPrompt = field(default_factory=AgreementPrompt)
    name: str = "judge"

    async def agreements(self, exams: Sequence[Exam], ctx: MetricContext) -> list[float]:
        """Ask about all pairs of different words together."""
        pairs = {
            exam.question.id: {"question": exam.question.text, "first": ours, "second": theirs}
            for exam in exams
            if not exact(ours := answers(exam)[0], theirs := answers(exam)[1])
        }
        inquiry: Inquiry[Mapping[str, str], bool] = Inquiry(
            ctx.chat, self.prompt, lambda part, _: self.prompt.messages(part), ids="q"
        )
        same = await ask_for_each(inquiry, portions(pairs))
        return [float(same.get(exam.question.id, True)) for exam in exams]

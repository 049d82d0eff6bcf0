"""Ways to compare the answers of a response with those of its passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from everyclaim.core.gather import gather
from everyclaim.core.protocols import ChatModel, Verifier
from everyclaim.core.types import Claim, Label, Passage, Span
from everyclaim.metrics.qa import Exam, answers
from everyclaim.metrics.qa_answers import exact, token_f1
from everyclaim.models.chat.reask import Inquiry, ask_for_each, portions
from everyclaim.prompts.questions import AgreementPrompt
from everyclaim.verify import judged


class TokenF1:
    """The words the two answers share (QAGS)."""

    async def agreements(self, exams: Sequence[Exam]) -> list[float]:
        """Return the F1 of each pair."""
        return [token_f1(*answers(exam)) for exam in exams]


class Exact:
    """1 for the same words, else 0."""

    async def agreements(self, exams: Sequence[Exam]) -> list[float]:
        """Return 1 or 0 for each pair."""
        return [float(exact(*answers(exam))) for exam in exams]


@dataclass(frozen=True, slots=True)
class Entailment:
    """Q²: 1 for the same words; else 1 where the passages' answer entails the response's, 0 where it contradicts it,
    and the token F1 where it does neither.
    """

    verifier: Verifier

    async def agreements(self, exams: Sequence[Exam]) -> list[float]:
        """Return a number for each pair; only pairs of different words are put to the verifier."""
        return await gather(self._agreement(exam) for exam in exams)

    async def _agreement(self, exam: Exam) -> float:
        ours, theirs = answers(exam)
        if exact(ours, theirs):
            return 1.0
        hypothesis = exam.question.answered(ours)
        claim = Claim(exam.question.id, hypothesis, Span(0, len(hypothesis)), hypothesis)
        premise = Passage("answer", exam.question.answered(theirs))
        label = (await judged(self.verifier, [claim], [premise]))[0].verdict.label
        return token_f1(ours, theirs) if label is Label.UNSUPPORTED else float(label is Label.SUPPORTED)


@dataclass(frozen=True, slots=True)
class Agreement:
    """1 where a chat model says that the two answers say the same, else 0; the same words need no model."""

    chat: ChatModel
    prompt: AgreementPrompt = field(default_factory=AgreementPrompt)

    async def agreements(self, exams: Sequence[Exam]) -> list[float]:
        """Ask about all pairs of different words together."""
        pairs = {
            exam.question.id: {"question": exam.question.text, "first": ours, "second": theirs}
            for exam in exams
            if not exact(ours := answers(exam)[0], theirs := answers(exam)[1])
        }
        inquiry: Inquiry[Mapping[str, str], bool] = Inquiry(
            self.chat, self.prompt, lambda part, _: self.prompt.messages(part)
        )
        same = await ask_for_each(inquiry, portions(pairs))
        return [float(same.get(exam.question.id, True)) for exam in exams]

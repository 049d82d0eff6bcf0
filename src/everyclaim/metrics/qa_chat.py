"""QA consistency with a chat model: it asks, and it answers from either text without seeing the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from everyclaim.core.gather import gather
from everyclaim.core.protocols import ChatModel
from everyclaim.core.types import Claim, Sample
from everyclaim.metrics.context import MetricContext
from everyclaim.metrics.qa import Exam, Question
from everyclaim.models.chat.reask import Inquiry, ask_for_each, portions
from everyclaim.prompts.questions import Answer, AnswerPrompt, QuestionPrompt
from everyclaim.verify.llm import passage_data


@dataclass(frozen=True, slots=True)
class ChatExaminer:
    """Ask and answer with a chat model: three requests for a response of up to twenty sentences and questions."""

    questions: QuestionPrompt = field(default_factory=QuestionPrompt)
    answers: AnswerPrompt = field(default_factory=AnswerPrompt)

    @property
    def parameters(self) -> Mapping[str, str]:
        """What else made the questions and answers, for the result's provenance."""
        return {"question_prompt": self.questions.version, "answer_prompt": self.answers.version}

    async def examine(self, sample: Sample, claims: Sequence[Claim], ctx: MetricContext) -> list[Exam]:
        """Ask about every sentence, then answer all from the response and, apart from that, from the passages.

        Raises `JudgeError` when the model cannot be reached, declines, or twice leaves out a sentence or question.
        """
        sentences = {f"s{i}": text for i, text in enumerate(dict.fromkeys(claim.sentence for claim in claims), start=1)}
        chat = ctx.chat
        inquiry: Inquiry[str, tuple[str, ...]] = Inquiry(
            chat, self.questions, lambda part, _: self.questions.messages(part, sample.question), ids="s"
        )
        found = await ask_for_each(inquiry, portions(sentences))
        asked: dict[str, str] = {}
        for key, sentence in sentences.items():
            for text in found[key]:
                asked.setdefault(text, sentence)
        listed = [Question(f"q{i}", text, sentence) for i, (text, sentence) in enumerate(asked.items(), start=1)]
        shelf = [passage for passage in sample.passages if passage.text.strip()]
        ours, theirs = await gather(
            [
                self._answers(chat, listed, {"t1": sample.response}),
                self._answers(chat, listed, {key.replace("p", "t"): text for key, text in passage_data(shelf).items()}),
            ]
        )
        return [Exam(question, ours[question.id].words, theirs[question.id].words) for question in listed]

    async def _answers(
        self, chat: ChatModel, questions: Sequence[Question], texts: Mapping[str, Any]
    ) -> Mapping[str, Answer]:
        if not texts:  # nothing to ask a model about
            return {question.id: Answer(None) for question in questions}
        asked = {question.id: question.text for question in questions}
        inquiry: Inquiry[str, Answer] = Inquiry(
            chat, self.answers, lambda part, shared: self.answers.messages(part, texts, shared=shared), ids="q"
        )
        return await ask_for_each(inquiry, portions(asked))

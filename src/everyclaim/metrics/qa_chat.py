"""QA consistency with a chat model: it asks, and it answers from either text without seeing the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import ChatModel, Message
from everyclaim.core.types import Claim, Sample
from everyclaim.core.waiting import all_of
from everyclaim.metrics.qa import Exam, Question
from everyclaim.models.asking import TOO_MUCH, WORTH_ASKING_AGAIN, Asking
from everyclaim.prompts.questions import Answer, AnswerPrompt, QuestionPrompt
from everyclaim.verify.llm import passage_data

AT_ONCE = 20  # questions, sentences or pairs in one request
_Item = TypeVar("_Item")
_Found_co = TypeVar("_Found_co", covariant=True)
_Found = TypeVar("_Found")
_Writer = Callable[[Mapping[str, _Item]], list[Message]]


class _Form(Protocol[_Found_co]):
    """A prompt as far as a reply is concerned."""

    @property
    def version(self) -> str: ...

    @property
    def schema(self) -> Mapping[str, Any]: ...

    def parse(self, reply: Mapping[str, Any], asked: Mapping[str, Any]) -> Mapping[str, _Found_co]: ...


@dataclass(frozen=True, slots=True)
class ChatExaminer:
    """Ask and answer with a chat model: three requests for a response of up to twenty sentences and questions."""

    chat: ChatModel
    questions: QuestionPrompt = field(default_factory=QuestionPrompt)
    answers: AnswerPrompt = field(default_factory=AnswerPrompt)

    @property
    def parameters(self) -> Mapping[str, str]:
        """What else made the questions and answers, for the result's provenance."""
        return {"question_prompt": self.questions.version, "answer_prompt": self.answers.version}

    async def examine(self, sample: Sample, claims: Sequence[Claim]) -> list[Exam]:
        """Ask about every sentence, then answer all from the response and, apart from that, from the passages.

        Raises `JudgeError` when the model cannot be reached, declines, or twice leaves out a sentence or question.
        """
        sentences = {f"s{i}": text for i, text in enumerate(dict.fromkeys(claim.sentence for claim in claims), start=1)}
        found = await ask_for_all(
            self.chat, sentences, lambda part: self.questions.messages(part, sample.question), self.questions
        )
        asked: dict[str, str] = {}
        for key, sentence in sentences.items():
            for text in found[key]:
                asked.setdefault(text, sentence)
        listed = [Question(f"q{i}", text, sentence) for i, (text, sentence) in enumerate(asked.items(), start=1)]
        shelf = [passage for passage in sample.passages if passage.text.strip()]
        ours, theirs = await all_of(
            [
                self._answers(listed, {"t1": sample.response}),
                self._answers(listed, {key.replace("p", "t"): text for key, text in passage_data(shelf).items()}),
            ]
        )
        return [Exam(question, ours[question.id].words, theirs[question.id].words) for question in listed]

    async def _answers(self, questions: Sequence[Question], texts: Mapping[str, Any]) -> Mapping[str, Answer]:
        if not texts:  # nothing to ask a model about
            return {question.id: Answer(None) for question in questions}
        asked = {question.id: question.text for question in questions}
        shared = len(asked) > AT_ONCE
        return await ask_for_all(
            self.chat, asked, lambda part: self.answers.messages(part, texts, shared=shared), self.answers
        )


async def ask_for_all(
    chat: ChatModel, items: Mapping[str, _Item], write: _Writer[_Item], form: _Form[_Found]
) -> dict[str, _Found]:
    """Return what the model says of every item, by id; what a reply leaves out is asked for once more.

    Raises `JudgeError` when the model cannot be reached, declines, or twice leaves something out.
    """
    answers = await all_of(_ask(chat, part, write, form) for part in _portions(items))
    return {key: found for answer in answers for key, found in answer.items()}


async def _ask(
    chat: ChatModel, items: Mapping[str, _Item], write: _Writer[_Item], form: _Form[_Found]
) -> dict[str, _Found]:
    found: dict[str, _Found] = {}
    asking = Asking(chat)
    for attempt in (1, 2):
        missing = {key: item for key, item in items.items() if key not in found}
        tag = form.version if attempt == 1 else f"{form.version}#2"
        try:
            reply = await asking.for_object(write(missing), schema=form.schema, tag=tag)
            found |= form.parse(reply, missing)
        except JudgeError as error:
            if error.code in TOO_MUCH and len(missing) > 1:
                middle = len(missing) // 2
                halves = (dict(list(missing.items())[:middle]), dict(list(missing.items())[middle:]))
                first, second = await all_of(_ask(chat, half, write, form) for half in halves)
                return found | first | second
            if error.code not in WORTH_ASKING_AGAIN or attempt == 2:
                asking.regret(error)
                raise
        if len(found) == len(items):
            return found
    asking.regret()
    absent = ", ".join(key for key in items if key not in found)
    raise JudgeError("missing_answer", f"{chat.spec} said nothing usable to {absent}, asked twice ({form.version})")


def _portions(items: Mapping[str, _Item]) -> Iterator[dict[str, _Item]]:
    keys = list(items)
    for start in range(0, len(keys), AT_ONCE):
        yield {key: items[key] for key in keys[start : start + AT_ONCE]}

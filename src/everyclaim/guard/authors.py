"""Who writes the answers: a function of yours, or a chat model.

    def generate(question, passages, instructions): ...      # sync or async; a text, or pieces of one

A guard's guidance reaches a generator here, in its instructions, and goes nowhere else.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from everyclaim.core.errors import GeneratorError, JudgeError, OperatorError, UserError
from everyclaim.core.events import accounted
from everyclaim.core.protocols import ChatModel
from everyclaim.core.spec import call, places
from everyclaim.core.types import Passage
from everyclaim.models.chat.replies import Inquiry, ask_for_each, portions
from everyclaim.prompts.writing import Faulty, GenerationPrompt, ReportedFault, RewritePrompt, rewrite_one
from everyclaim.verify.llm import passage_data

Text = str | Iterable[str] | AsyncIterable[str]
Generate = Callable[[str, Sequence[Passage], str], Text | Awaitable[Text]]


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of a generator: the application's question, passages and instructions."""

    question: str
    passages: tuple[Passage, ...]
    instructions: str = ""
    model: str | None = None  # that writes, where it is known


@dataclass(frozen=True, slots=True)
class FunctionAuthor:
    """A function called with question, passages and instructions.

    It returns the answer, or an iterator over pieces of it, or does either asynchronously. One that is not
    asynchronous is called in a worker thread, so that it may wait without holding up an event loop; never twice at a
    time for one answer.
    """

    generate: Generate

    def __post_init__(self) -> None:
        places(self.generate, ("question", "passages", "instructions"), "a generator")

    async def write(self, task: Task, told: str, faults: Sequence[ReportedFault]) -> str:
        """Call the function, with what there is to avoid behind the application's instructions."""
        del faults  # `told` says them
        return await self._whole(task, told)

    async def rewrite(self, task: Task, answer: str, sentences: Mapping[str, Faulty]) -> Mapping[str, str]:
        """Call the function once for each sentence, one after the other."""
        del answer
        return {
            key: await self._whole(task, rewrite_one(faulty), may_be_blank=True) for key, faulty in sentences.items()
        }

    async def stream(self, task: Task) -> AsyncIterator[str]:
        """Give the pieces as the function gives them; a whole answer is one piece."""
        try:
            async for piece in _pieces(await self._called(task, "")):
                yield _text(piece)
        except Exception as error:
            raise _generator_error(error) from error

    async def _whole(self, task: Task, told: str, *, may_be_blank: bool = False) -> str:
        try:
            found = await self._called(task, told)
            text = found if isinstance(found, str) else "".join([_text(piece) async for piece in _pieces(found)])
        except Exception as error:
            raise _generator_error(error) from error
        if not text.strip() and not may_be_blank:
            raise GeneratorError("the generator returned an empty answer")
        return text

    async def _called(self, task: Task, told: str) -> Any:
        instructions = "\n\n".join(part for part in (task.instructions, told) if part)
        values = {"question": task.question, "passages": task.passages, "instructions": instructions}
        return await call(self.generate, values, "a generator")


@dataclass(frozen=True, slots=True)
class ChatAuthor:
    """A chat model, told to answer from the passages alone."""

    chat: ChatModel
    answering: GenerationPrompt = field(default_factory=GenerationPrompt)
    rewriting: RewritePrompt = field(default_factory=RewritePrompt)

    async def write(self, task: Task, told: str, faults: Sequence[ReportedFault]) -> str:
        """Ask for an answer; what there is to avoid goes with the request as data."""
        instructions = task.instructions if faults else f"{task.instructions}\n{told}".strip()
        messages = self.answering.messages(task.question, passage_data(task.passages), instructions, faults)
        try:
            reply = await accounted(self.chat).complete(messages, tag=self.answering.version)
        except JudgeError as error:
            raise GeneratorError(f"the generator {self.chat.spec} gave no answer: {error}") from error
        if reply.finish != "stop" or not reply.content.strip():
            what = "an empty answer" if reply.finish == "stop" else f"an answer that ended with {reply.finish!r}"
            raise GeneratorError(f"the generator {self.chat.spec} gave {what}")
        return reply.content.strip()

    async def rewrite(self, task: Task, answer: str, sentences: Mapping[str, Faulty]) -> Mapping[str, str]:
        """Ask for all sentences together; those left out once more."""
        shelf = passage_data(task.passages)
        inquiry: Inquiry[Faulty, str] = Inquiry(
            self.chat,
            self.rewriting,
            lambda part, _: self.rewriting.messages(part, shelf, task.question, answer),
            ids="s",
        )
        try:
            return await ask_for_each(inquiry, portions(sentences))
        except JudgeError as error:
            raise GeneratorError(f"the generator {self.chat.spec} could not correct the answer: {error}") from error

    async def stream(self, task: Task) -> AsyncIterator[str]:
        """Give the answer in one piece: the protocol of chat models has no others."""
        yield await self.write(task, "", ())


Author = FunctionAuthor | ChatAuthor  # writes answers, corrects sentences; raises `GeneratorError` when it cannot


async def _pieces(found: Any) -> AsyncIterator[Any]:
    """Give the pieces of an answer of any form; waiting for the next piece of a plain iterator is left to a thread."""
    if isinstance(found, str):
        yield found
    elif isinstance(found, AsyncIterable):
        async for piece in found:
            yield piece
    elif isinstance(found, Iterable):
        pieces, end = iter(found), object()
        while (piece := await asyncio.to_thread(next, pieces, end)) is not end:
            yield piece
    else:
        yield found  # and have it refused


def _text(piece: Any) -> str:
    if not isinstance(piece, str):
        raise GeneratorError(f"the generator returned {type(piece).__name__}, not a text")
    return piece


def _generator_error(error: Exception) -> Exception:
    """Return what to raise for a generator's error: what concerns the whole application stays what it is."""
    if isinstance(error, GeneratorError | OperatorError | UserError):
        return error
    return GeneratorError(f"the generator failed: {type(error).__name__}: {error}")

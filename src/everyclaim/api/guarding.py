"""A guard from specs: what writes, what judges, and the rules in between."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Self, Unpack, cast

from everyclaim.api.components import Options, build_decomposer, build_metric, in_talks
from everyclaim.api.door import public
from everyclaim.api.scoring import Passages, read_sample
from everyclaim.api.talking import author_spec, check_address
from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.limits import Limits, within
from everyclaim.core.nearest import did_you_mean
from everyclaim.core.protocols import ChatModel
from everyclaim.core.scope import scope
from everyclaim.core.spec import Spec
from everyclaim.core.validation import UNDER_TEST, Text
from everyclaim.engine import wait
from everyclaim.guard.answers import GuardedAnswer, GuardedSentence
from everyclaim.guard.authors import Author, ChatAuthor, FunctionAuthor, Generate, SplitAuthors, Task
from everyclaim.guard.loop import Loop
from everyclaim.guard.rules import Action, OnFailure, Repair, Rules
from everyclaim.guard.streaming import stream
from everyclaim.models.chat.providers import is_provider, provider_names

if TYPE_CHECKING:
    from types import TracebackType

_RULES = frozenset(field.name for field in fields(Rules))


Share = Annotated[float, Range(0, 1)]
Generator = Annotated[Generate | ChatModel | str | None, "a function, a chat model or its spec, or None"]


class GuardOptions(Options, total=False):
    """What can be chosen about a guard: its `Rules`, and what can be chosen about a score."""

    rewriter: Annotated[str | ChatModel | None, "a chat model or its spec"]  # of single sentences; None: the generator
    threshold: Share
    max_retries: Annotated[int, Range(0)]
    repair: Repair
    contradicted: Action
    unsupported: Action
    on_failure: OnFailure
    keep: Share
    refusal: str


class Guard:
    """Generate an answer, check it, repair what failed, and return the best that was seen.

    `generate` is a function of question, passages and instructions that returns an answer (sync or async, whole or
    in pieces), a chat model or its spec such as ``openai:gpt-5-mini``, or None where answers are given. Options:

    - `threshold` (0.8): the least score; `max_retries` (2): how often the generator may be asked again.
    - `repair`: `rewrite` the sentences that failed (usual for chat models), `drop` the claims that failed (usual
      for functions), or `none`. When that does not help, another answer is generated, with guidance in the
      generator's instructions. The evidence is in every round what the caller gave. `rewriter`: a chat model for
      rewriting alone. `base_url` and `headers` are for the generator and the rewriter as well.
    - `contradicted` (`block`), `unsupported` (`annotate`): `block`, `annotate` or `pass`. With a blocked claim an
      answer is not shown: the claim is dropped in the end, or `refusal` returned.
    - `on_failure`: `return` an answer that the judge could not check, not validated and with a warning, or `raise`
      `JudgeError`. `keep` (0.5): the least share of claims left when some are dropped.
    - those of `everyclaim.score`: `metric`, `judge`, `decomposer`, `strategy`, …

    Call it, or `answer`, with a question and passages; `aanswer` and `astream` are for async code. A guard may be
    kept and used for many answers; limits such as `max_cost` are for all of them together. Raises `ConfigError` for
    a wrong option.
    """

    @public
    def __init__(self, generate: Generator, **options: Unpack[GuardOptions]) -> None:
        rules = {name: value for name, value in options.items() if name in _RULES}
        rewriter = options.get("rewriter")
        scoring = {name: value for name, value in options.items() if name not in _RULES and name != "rewriter"}
        self._limits = Limits.of(scoring)
        self._open = ExitStack()
        try:
            talking = in_talks(cast("Options", scoring), *_specs(generate, rewriter))
            chosen = self._open.enter_context(talking)
            check_address(chosen, generate, rewriter, chosen.get("judge"), chosen.get("decomposer"))
            author = _author(generate, rewriter, chosen)
            writes_chats = isinstance(author, ChatAuthor | SplitAuthors)
            rules = {"repair": "rewrite" if writes_chats else "drop", **rules}
            metric = build_metric(chosen)
            language = getattr(build_decomposer(chosen), "language", "")
            self._generator = _name(generate)
            self._loop = Loop(metric, author, Rules(**cast("dict[str, Any]", rules)), language)
        except BaseException:
            self.close()
            raise

    @property
    def rules(self) -> Rules:
        """What may pass, and what is done about the rest."""
        return self._loop.rules

    @public
    async def aanswer(
        self,
        question: Text,
        passages: Passages,
        *,
        instructions: Text = "",
        response: Annotated[str | None, UNDER_TEST] = None,
    ) -> GuardedAnswer:
        """Return a guarded answer; see `answer`."""
        task, given = self._task(question, passages, instructions, response)
        async with scope():
            return await self._loop.answer(task, given)

    @public
    def answer(
        self,
        question: Text,
        passages: Passages,
        *,
        instructions: Text = "",
        response: Annotated[str | None, UNDER_TEST] = None,
    ) -> GuardedAnswer:
        """Return the best answer that can be had within the rules.

        `response` is a first answer, where there is one already; `instructions` go to the generator. Never returns
        an answer that scored less than another it saw. Raises `GeneratorError` when there is none at all. Works
        inside a running event loop, too.
        """
        return wait(self.aanswer(question, passages, instructions=instructions, response=response))

    __call__ = answer

    @public
    async def astream(
        self, question: Text, passages: Passages, *, instructions: Text = ""
    ) -> AsyncIterator[GuardedSentence]:
        """Yield the answer sentence by sentence, each checked; nothing blocked is shown.

        The generator may give its answer in pieces, so that the first sentence is there before the last is written.
        There are no retries, and the threshold plays no part.
        """
        task, _ = self._task(question, passages, instructions, None)
        async with scope():
            async for sentence in stream(self._loop, task):
                yield sentence

    def _task(
        self, question: str, passages: Passages, instructions: str, response: str | None
    ) -> tuple[Task, str | None]:
        with within(self._limits):
            sample = read_sample("" if response is None else response, passages, question, None)
        task = Task(sample.question, sample.passages, instructions, self._generator)
        return task, None if response is None else sample.response

    def close(self) -> None:
        """Close the cache of replies, where there is one."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _specs(*models: Any) -> list[str]:
    return [model for model in models if isinstance(model, str)]


def _author(generate: Any, rewriter: Any, options: Options) -> Author | None:
    if generate is None and rewriter is None:
        return None
    writer: Author | None
    if generate is None:
        writer = None
    elif isinstance(generate, str) or hasattr(generate, "complete"):
        writer = ChatAuthor(_chat(generate, options))
    else:
        writer = FunctionAuthor(generate)
    if rewriter is None:
        return writer
    corrector = ChatAuthor(_chat(rewriter, options))
    return SplitAuthors(writer, corrector)


def _chat(model: Any, options: Options) -> ChatModel:
    if not isinstance(model, str):
        return cast("ChatModel", model)
    spec = Spec.parse(author_spec(model, options))
    if not is_provider(spec.name):
        meant = did_you_mean(spec.name, provider_names())
        raise ConfigError(
            f"{spec.shown!r} is no chat model; name one as in 'openai:gpt-5-mini' or 'anthropic:claude-…'{meant}"
        )
    return options["chats"].model(spec)


def _name(generate: Any) -> str | None:
    """Return what the generator's model is called, where it says so."""
    spec = generate if isinstance(generate, str) else getattr(generate, "spec", None)
    return spec.partition("?")[0] if isinstance(spec, str) else None

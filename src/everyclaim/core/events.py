"""What happens and what is used while work goes on, for whoever wants to know: progress bars, telemetry, bills.

A hook is any callable that takes an event. There are two kinds of events, and two ways to be told:

- of a run (`RunStarted` … `RunFinished`), told to the hooks that the run was given, in their order, from the thread
  that runs the engine. They must be quick, and what they raise stops the run.
- of the work itself (`ScoringStarted` … `RequestAnswered`), told to the observers in whose block it is done, wherever
  in tasks and threads that is, and from there: an observer must be quick and safe from any thread. What it raises is
  logged, a kind of fault once, and changes nothing: telemetry that is down must not take the scoring with it.

      with observed([metrics]), tallied() as tally:
          await evaluator.ascore(row)
      tally.usage                    # of every judge call made inside, whatever became of it

Tallies and observers follow the work into tasks and threads, because a context does. Whoever asks a chat model asks
it `accounted`; the engine reads the tally of each sample.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import ChatModel, ChatReply, Message
from everyclaim.core.types import Result, Sample, Usage

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run starts. `total` is the number of samples if known beforehand."""

    run: str
    total: int | None


@dataclass(frozen=True, slots=True)
class SampleFinished:
    """One sample is done and stored. `seconds` is its wall time."""

    run: str
    result: Result
    seconds: float


@dataclass(frozen=True, slots=True)
class SampleSkipped:
    """One sample was already stored by an earlier, interrupted attempt at this run."""

    run: str
    sample_id: str


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The input is exhausted. `scored_now` excludes skipped samples."""

    run: str
    scored_now: int


# What is judged: an answer that was given; a guard's draft, which it may still change or reject; claims without an
# answer; something known, to try or to fit a judge.
Purpose = Literal["answer", "draft", "claims", "trial"]


@dataclass(frozen=True, slots=True)
class ScoringStarted:
    """Emitted when scoring of a sample starts. Only samples with the purpose `answer` count in rates of answers."""

    sample: Sample
    purpose: Purpose = "answer"


@dataclass(frozen=True, slots=True)
class ScoringEnded:
    """Emitted when scoring of a sample ends, in the same context as `ScoringStarted`; `seconds` of wall time.

    `result` is None if the work was cancelled, or ended by an error that is not the sample's.
    """

    sample: Sample
    result: Result | None
    seconds: float
    purpose: Purpose = "answer"


@dataclass(frozen=True, slots=True)
class AnswerGuarded:
    """A guard has decided: the result of the answer that it returns or refuses, and the number of checks."""

    result: Result
    validated: bool
    refused: bool
    checks: int


@dataclass(frozen=True, slots=True)
class JudgeCalled:
    """One call of a language model, with waiting and retries, or answered from the cache.

    `model` is the name in the spec, without options; `answered_by` the name that the endpoint reported, empty on
    failure. `failure` is the error code, empty on success. `began` is in seconds since the epoch.
    """

    model: str
    answered_by: str
    usage: Usage
    began: float
    seconds: float
    failure: str = ""

    @property
    def is_cached(self) -> bool:
        """Whether the reply came from the local cache."""
        return bool(self.usage.cache_hits) and not self.usage.calls


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """Length of a queue of a service or a watch. `queue` is one of few names."""

    queue: str
    waiting: int


@dataclass(frozen=True, slots=True)
class RequestAnswered:
    """A request to the service was answered or rejected. `route` is one of few route names, not the URL."""

    route: str
    method: str
    status: int
    seconds: float


Event = RunStarted | SampleFinished | SampleSkipped | RunFinished
Hook = Callable[[Event], None]

WorkEvent = ScoringStarted | ScoringEnded | AnswerGuarded | JudgeCalled | QueueChanged | RequestAnswered
Observer = Callable[[WorkEvent], None]

_SAID: set[tuple[str, str]] = set()  # observers and their faults that are not logged again
_OBSERVERS: ContextVar[tuple[Observer, ...]] = ContextVar("everyclaim_observers", default=())


@contextmanager
def observed(observers: Iterable[Observer]) -> Iterator[None]:
    """Send events inside the block to these observers, in addition to those of enclosing blocks; each once."""
    told = list(_OBSERVERS.get())
    for observer in observers:
        if observer not in told:
            told.append(observer)
    token = _OBSERVERS.set(tuple(told))
    try:
        yield
    finally:
        _OBSERVERS.reset(token)


def tell(event: WorkEvent) -> None:
    """Send an event to every observer of the enclosing blocks."""
    for observer in _OBSERVERS.get():
        try:
            observer(event)
        except Exception as error:  # noqa: BLE001 - an observer may raise anything, and must not take the work with it
            named = getattr(observer, "__qualname__", type(observer).__qualname__)
            fault = (named, type(error).__qualname__)
            level = logging.DEBUG if fault in _SAID else logging.WARNING
            _SAID.add(fault)
            _log.log(level, "an observer failed; scoring continues: %s: %s", type(error).__name__, error)


class UsageTally:
    """What was used so far inside one `tallied` block."""

    def __init__(self) -> None:
        self.usage = Usage()
        self._lock = threading.Lock()

    def add(self, usage: Usage) -> None:
        """Add what one call used; safe from any thread."""
        with self._lock:
            self.usage += usage


_OPEN: ContextVar[tuple[UsageTally, ...]] = ContextVar("everyclaim_tallies", default=())


@contextmanager
def tallied(tally: UsageTally | None = None) -> Iterator[UsageTally]:
    """Count what is used inside the block, on a new tally or on this one.

    Blocks nest: an outer one counts what its inner ones count, and a tally that is open already counts once.
    """
    tally = tally or UsageTally()
    others = tuple(one for one in _OPEN.get() if one is not tally)
    token = _OPEN.set((*others, tally))
    try:
        yield tally
    finally:
        _OPEN.reset(token)


def account(usage: Usage) -> None:
    """Add to every tally that is open here; without one it is nobody's business."""
    for tally in _OPEN.get():
        tally.add(usage)


@dataclass(frozen=True, slots=True)
class Accounted:
    """A chat model whose calls are added to the open tallies, whoever makes them."""

    chat: ChatModel

    @property
    def spec(self) -> str:
        """The model's own."""
        return self.chat.spec

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None, tag: str = ""
    ) -> ChatReply:
        """Answer, account for it, also for a call that was paid and failed, and tell observers."""
        model, at, begun = self.chat.spec.partition("?")[0], time.time(), time.perf_counter()
        try:
            reply = await self.chat.complete(messages, schema=schema, tag=tag)
        except JudgeError as error:
            if error.usage:
                account(error.usage)
            tell(JudgeCalled(model, "", error.usage or Usage(), at, time.perf_counter() - begun, error.code))
            raise
        account(reply.usage)
        tell(JudgeCalled(model, reply.model, reply.usage, at, time.perf_counter() - begun))
        return reply


def accounted(chat: ChatModel) -> Accounted:
    """Return a chat model whose calls are accounted for, once."""
    return chat if isinstance(chat, Accounted) else Accounted(chat)


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """Calls, tokens and dollars of a run, about; `cost` is None where no price is known. `is_most`: an upper bound."""

    answers: int
    calls: int
    prompt_tokens: int
    reply_tokens: int
    cost: float | None
    is_most: bool = False

    def __str__(self) -> str:
        if not self.calls:
            return f"{self.answers:,} answers: no calls to language models"
        used = f"{self.prompt_tokens:,} prompt and {self.reply_tokens:,} reply tokens"
        cost = "price unknown" if self.cost is None else f"${self.cost:,.2f}"
        kind = "at most" if self.is_most else "about"
        return f"{self.answers:,} answers: {kind} {self.calls:,} calls, {used}, {cost}"

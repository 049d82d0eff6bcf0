"""What happens while work goes on, for whoever wants to watch: progress bars, telemetry, logs.

A hook is any callable that takes an event. There are two kinds of events, and two ways to be told:

- of a run (`RunStarted` … `RunFinished`), told to the hooks that the run was given, in their order, from the thread
  that runs the engine. They must be quick, and what they raise stops the run.
- of the work itself (`ScoringStarted` … `RequestAnswered`), told to the observers in whose block it is done, wherever
  in tasks and threads that is, and from there: an observer must be quick and safe from any thread. What it raises is
  logged, a kind of fault once, and changes nothing: telemetry that is down must not take the scoring with it.

      with observed([metrics]):
          await evaluator.ascore(row)
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

from everyclaim.core.types import Result, Sample, Usage

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins. `total` is the number of samples when it is known beforehand."""

    run: str
    total: int | None


@dataclass(frozen=True, slots=True)
class SampleFinished:
    """One sample is done and kept. `seconds` is its wall time."""

    run: str
    result: Result
    seconds: float


@dataclass(frozen=True, slots=True)
class SampleSkipped:
    """One sample was already kept by an earlier, interrupted attempt at this run."""

    run: str
    sample_id: str


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The input is exhausted. `scored_now` leaves out what was skipped."""

    run: str
    scored_now: int


# What is judged: an answer that was given; a guard's draft, which it may still change or reject; claims without an
# answer; something known, to try or to fit a judge.
Purpose = Literal["answer", "draft", "claims", "trial"]


@dataclass(frozen=True, slots=True)
class ScoringStarted:
    """A sample goes into the metric. Only those whose purpose is an `answer` belong into rates of answers."""

    sample: Sample
    purpose: Purpose = "answer"


@dataclass(frozen=True, slots=True)
class ScoringEnded:
    """A sample came out of the metric, in the context in which `ScoringStarted` was told; `seconds` of wall time.

    `result` is None where there is none: the work was cancelled, or an error that is not the sample's ended it.
    """

    sample: Sample
    result: Result | None
    seconds: float
    purpose: Purpose = "answer"


@dataclass(frozen=True, slots=True)
class AnswerGuarded:
    """A guard has decided: the result of the answer it returns, or refuses at best, after so many checks."""

    result: Result
    validated: bool
    refused: bool
    checks: int


@dataclass(frozen=True, slots=True)
class JudgeCalled:
    """One call of a language model, by whomever: whole, with waiting and retries, or answered from the cache.

    `model` is the name in the spec, without options; `answered_by` what the endpoint called it, empty when it failed.
    `failure` is the code of the error, empty when there is none. `began` is in seconds since the epoch.
    """

    model: str
    answered_by: str
    usage: Usage
    began: float
    seconds: float
    failure: str = ""

    @property
    def is_cached(self) -> bool:
        """Whether the reply came from our own cache, without a call."""
        return bool(self.usage.cache_hits) and not self.usage.calls


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """So many pieces of work wait in a queue; of a service, a watch. `queue` is one of few names."""

    queue: str
    waiting: int


@dataclass(frozen=True, slots=True)
class RequestAnswered:
    """A request to the service is answered, or turned away. `route` is one of few, not the address as it was given."""

    route: str
    method: str
    status: int
    seconds: float


Event = RunStarted | SampleFinished | SampleSkipped | RunFinished
Hook = Callable[[Event], None]

WorkEvent = ScoringStarted | ScoringEnded | AnswerGuarded | JudgeCalled | QueueChanged | RequestAnswered
Observer = Callable[[WorkEvent], None]

_OBSERVERS: ContextVar[tuple[_Guarded, ...]] = ContextVar("everyclaim_observers", default=())


@contextmanager
def observed(observers: Iterable[Observer]) -> Iterator[None]:
    """Tell these of what happens inside the block, beside those of the blocks around it; nobody is told twice."""
    told = list(_OBSERVERS.get())
    for observer in observers:
        if all(one.observer != observer for one in told):
            told.append(_Guarded(observer))
    token = _OBSERVERS.set(tuple(told))
    try:
        yield
    finally:
        _OBSERVERS.reset(token)


def tell(event: WorkEvent) -> None:
    """Tell every observer in whose block this is."""
    for observer in _OBSERVERS.get():
        observer(event)


_SAID: set[tuple[str, str]] = set()  # observers and their faults that are not logged again


@dataclass(frozen=True, slots=True, eq=False)
class _Guarded:
    """An observer whose faults stay its own."""

    observer: Observer

    def __call__(self, event: WorkEvent) -> None:
        try:
            self.observer(event)
        except Exception as error:  # noqa: BLE001 - an observer may raise anything, and must not take the work with it
            named = getattr(self.observer, "__qualname__", type(self.observer).__qualname__)
            fault = (named, type(error).__qualname__)
            level = logging.DEBUG if fault in _SAID else logging.WARNING
            _SAID.add(fault)
            _log.log(level, "an observer failed, and scoring goes on: %s: %s", type(error).__name__, error)

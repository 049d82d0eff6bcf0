"""What happens while a run goes on, for whoever wants to watch: progress bars, telemetry, logs.

A hook is any callable that takes an event. Hooks are called in the order they were given, from the
thread that runs the engine; they must be quick, and what they raise stops the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from everyclaim.core.types import Result


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


Event = RunStarted | SampleFinished | SampleSkipped | RunFinished
Hook = Callable[[Event], None]

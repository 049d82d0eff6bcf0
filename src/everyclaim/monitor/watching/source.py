"""What a watch reads from: answers with keys that stay the same, in batches, each with how far it brings the reader."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol

from everyclaim.core.types import Result, Sample


class Absent(Enum):
    """Why there is nothing to judge behind a key."""

    NOT_YET = "not yet complete"  # it is looked at again
    GONE = "deleted since"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Something that should be an answer, and why it cannot be read as one."""

    reason: str


Loaded = Sample | Unreadable | Absent


@dataclass(frozen=True, slots=True)
class Found:
    """An answer as a source lists it; what it says is loaded only when somebody has to know."""

    key: str  # the same whenever and wherever it is read
    load: Callable[[], Awaitable[Loaded]]
    unit: str = ""  # what is sampled as a whole, such as a trace; the key where there is none
    about: Mapping[str, Any] = field(default_factory=dict)  # plain JSON that `send_back` needs


class Batch(NamedTuple):
    """Answers, and the checkpoint that stands for having decided about them and all before them."""

    found: Sequence[Found]
    checkpoint: Any  # plain JSON


class Return(NamedTuple):
    """A result on its way back to the source."""

    answer: str  # a name that no other answer of the watch has
    about: Mapping[str, Any]
    run: str
    result: Result


class Source(Protocol):
    """Where answers come from. Whatever cannot be reached or read is a `SourceError`."""

    name: str  # what the watch is known by; the same for the same answers, and without secrets
    title: str  # a short word for people
    takes_scores: bool  # whether `send_back` is of any use

    async def open(self) -> None:
        """Begin: connect, listen."""

    async def close(self) -> None:
        """End."""

    def batches(self, checkpoint: Any) -> AsyncIterator[Batch]:
        """Yield what there is behind a checkpoint (None: from the beginning), and end there.

        When the next batch is asked for, everything in the one before has been decided, durably.
        """

    async def send_back(self, results: Sequence[Return]) -> Mapping[str, bool]:
        """Hand scores to the source; return by name whether it took them (True) or never will (False).

        What is not named is sent again later.
        """

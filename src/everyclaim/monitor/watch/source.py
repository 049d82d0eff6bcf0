"""What a watch reads from: answers with keys that stay the same, in batches, each with how far it brings the reader."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, NamedTuple, Protocol

from everyclaim.core.limits import limits_here
from everyclaim.core.types import Result, Sample
from everyclaim.io.fields import SAMPLE_FIELDS, Fields
from everyclaim.io.rows import RowMaker
from everyclaim.io.values import RowError


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


class AnswerSource(Protocol):
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


Source = AnswerSource  # by its name in former versions


class ReadOnlySource:
    """What files and databases have in common: nothing is kept open, and no score goes back."""

    takes_scores = False

    async def open(self) -> None:
        """Begin."""

    async def close(self) -> None:
        """End."""

    async def send_back(self, results: Sequence[Return]) -> Mapping[str, bool]:
        """Write nothing."""
        return {returned.answer: True for returned in results}


def found_now(key: str, loaded: Loaded, unit: str = "", about: Mapping[str, Any] | None = None) -> Found:
    """Return an answer that is loaded already."""

    async def load() -> Loaded:
        return loaded

    return Found(key, load, unit, about or {})


class Rows:
    """Makes samples of rows, by the rules that rows of files have.

    Raises `ConfigError` for a mapping that names no field of ours.
    """

    def __init__(self, mapping: Mapping[str, str] | None = None, slices: Sequence[str] = ()) -> None:
        self._fields = Fields(SAMPLE_FIELDS, mapping, [name for name in slices if name not in {"model", "release"}])
        self._limits = limits_here()

    def given_id(self, row: Mapping[str, Any]) -> str:
        """Return the row's own id, empty where it has none."""
        given = self._fields.get(row, "id")
        return "" if given is None else str(given)

    def sample(self, row: Mapping[str, Any], otherwise: str, where: str) -> Sample | Unreadable:
        """Make a sample, with the id `otherwise` where the row has none; or say `where` why it cannot be one."""
        try:
            made = RowMaker(self._fields, lambda *_: None, self._limits).sample(1, row)
        except RowError as error:
            return Unreadable(f"{where}: {error}")
        return made if self.given_id(row) else replace(made, id=otherwise)

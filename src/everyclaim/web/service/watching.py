"""What whoever watches the service is told: every request, every result, and how much there is to do.

This is where metrics come in: a `Watching` is told of what happens and may answer at addresses of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from everyclaim.core.events import Event

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


@dataclass(frozen=True, slots=True)
class RequestFinished:
    """One request is answered, or was turned away. `route` is one of few, and not the address as it was given."""

    route: str
    method: str
    status: int
    seconds: float
    token: str  # its name; empty where none was given


@dataclass(frozen=True, slots=True)
class Load:
    """How much there is to do at this moment, in this process."""

    working: int
    waiting: int
    places: int
    queue: int
    jobs_waiting: int


Observed = Event | RequestFinished
Page = Callable[["Request"], Awaitable["Response"]]


@dataclass(frozen=True, slots=True)
class Watching:
    """Somebody who watches.

    `observe` is told of every request, of every result (a `SampleFinished`, of single answers with an empty `run`) and
    of what else happens in runs; it must be quick. `begin` is given a function that tells the load whenever it is
    asked. `pages` are answered at these addresses, to tokens of the scope `read`.
    """

    observe: Callable[[Observed], None]
    begin: Callable[[Callable[[], Load]], None] | None = None
    pages: Mapping[str, Page] = field(default_factory=dict)

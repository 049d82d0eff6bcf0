"""How much is done at once, how much may wait, and what those are told for whom there is no room."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from everyclaim.core.events import Observer, QueueChanged, observed, tell
from everyclaim.web.service.problems import Problem

_LEARNING = 0.1  # how fast the usual time of a request follows the last ones


class Admission:
    """So many requests are worked on, so many more wait in turn; the next is sent away at once.

    Waiting longer than a client waits is work for nobody, so a queue that is short and an honest no are better than one
    that is long: in requests no longer than `queue`, in seconds that it is likely to take no longer than `patience`.
    `usual` is the time, in seconds, that a request takes of late.
    """

    def __init__(self, places: int, queue: int, patience: float, observers: Sequence[Observer] = ()) -> None:
        self.places = places
        self.queue = queue
        self.working = 0
        self.waiting = 0
        self.usual = 0.1  # until one is done
        self._done = 0
        self._patience = patience
        self._observers = observers
        self._free = asyncio.Semaphore(places)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for a place and have it inside. Raises `Problem` where too many wait already."""
        wait = self.usual * (self.waiting + 1) / self.places
        if self._free.locked() and (self.waiting >= self.queue or wait > self._patience):
            raise Problem(
                "overloaded",
                f"{self.working} requests are worked on and {self.waiting} wait: come again later",
                retry_after=wait,
            )
        self._wait(1)
        try:
            await self._free.acquire()
        finally:
            self._wait(-1)
        self.working += 1
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.working -= 1
            self._free.release()
            self._done += 1
            self.usual += max(_LEARNING, 1 / self._done) * (time.perf_counter() - begun - self.usual)

    def _wait(self, step: int) -> None:
        self.waiting += step
        with observed(self._observers):
            tell(QueueChanged("requests", self.waiting))

"""One answer at a time through the one evaluator: in its turn, within its time, and while somebody waits for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.requests import Request

from everyclaim.api.evaluator import Evaluator
from everyclaim.core.errors import UserError
from everyclaim.core.events import Observer, QueueChanged, observed, tell
from everyclaim.engine import BackgroundLoop
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
                f"{self.working} requests are in progress and {self.waiting} waiting: retry later",
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


T = TypeVar("T")
_PAUSE = 0.5  # seconds that a loop may compute without one, once something is to be cut off


@dataclass(frozen=True, slots=True)
class Work:
    """The evaluator and the loop it works in, apart from the one that answers requests: a long text holds up nobody."""

    evaluator: Evaluator
    loop: BackgroundLoop
    admission: Admission
    seconds: float
    _cuts: set[asyncio.Task[None]] = field(default_factory=set)

    async def done(self, request: Request, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do a piece of work for a request. Raises `Problem` where there is no room, no time, or nobody any more."""
        work = asyncio.create_task(self._in_turn(make))
        gone = asyncio.create_task(_gone(request))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise Problem("gone", "the client disconnected")
            return work.result()
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)

    async def _in_turn(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        try:
            async with asyncio.timeout(self.seconds), self.admission.place():
                return await self.joined(make())
        except TimeoutError:
            raise Problem(
                "timed-out", f"no result within {self.seconds:g} seconds", retry_after=self.admission.usual
            ) from None

    async def joined(self, work: Coroutine[Any, Any, T]) -> T:
        """Carry work out in the loop; cancelled, it ends also where it computes without a pause."""
        try:
            return await self.loop.join(work)
        except asyncio.CancelledError:
            cut = asyncio.create_task(self._cut_off(asyncio.sleep(0)))
            self._cuts.add(cut)
            cut.add_done_callback(self._cuts.discard)
            raise

    async def close(self) -> None:
        """End the loop, and with it whatever it computes."""
        await self._until_done(asyncio.to_thread(self.loop.close))

    async def _cut_off(self, nothing: Coroutine[Any, Any, None]) -> None:
        with suppress(UserError):  # the loop was closed meanwhile
            await self._until_done(self.loop.join(nothing))

    async def _until_done(self, answer: Coroutine[Any, Any, None]) -> None:
        """Wait for an answer of the loop; as long as there is none, cut off what it computes."""
        waiting = asyncio.create_task(answer)
        while not (await asyncio.wait({waiting}, timeout=_PAUSE))[0]:
            self.loop.interrupt()
        waiting.result()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass

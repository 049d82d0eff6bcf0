"""One answer at a time through the one evaluator: in its turn, within its time, and while somebody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.requests import Request

from everyclaim.api.evaluator import Evaluator
from everyclaim.core.errors import UserError
from everyclaim.engine import BackgroundLoop
from everyclaim.web.service.admission import Admission
from everyclaim.web.service.problems import Problem

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
                raise Problem("gone", "the client has gone")
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
                "timed-out", f"there was no result within {self.seconds:g} seconds", retry_after=self.admission.usual
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

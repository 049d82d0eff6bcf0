"""One answer at a time through the one evaluator: in its turn, within its time, and while somebody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.requests import Request

from everyclaim.api.evaluator import Evaluator
from everyclaim.engine import BackgroundLoop
from everyclaim.web.service.admission import Admission
from everyclaim.web.service.problems import Problem

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Work:
    """The evaluator and the loop it works in, apart from the one that answers requests: a long text holds up nobody."""

    evaluator: Evaluator
    loop: BackgroundLoop
    admission: Admission
    seconds: float

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
                return await self.loop.join(make())
        except TimeoutError:
            raise Problem(
                "timed-out", f"there was no result within {self.seconds:g} seconds", retry_after=self.admission.usual
            ) from None


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass

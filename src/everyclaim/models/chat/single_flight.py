"""Let identical calls that run at the same time share one answer."""

from __future__ import annotations

import asyncio
from copy import copy
from dataclasses import replace

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import ChatReply
from everyclaim.core.types import Usage
from everyclaim.models.chat.call import Call, Link
from everyclaim.models.chat.loop_local import LoopLocal


class Shared:
    """One call for all who ask the same at the same time. Whoever joins pays nothing and counts as a cache hit."""

    def __init__(self, following: Link) -> None:
        self._next = following
        self._running: LoopLocal[dict[bytes, _Flight]] = LoopLocal(dict)

    async def ask(self, call: Call) -> ChatReply:
        """Ask, or wait for the same question's answer. A call ends early only when nobody waits for it any more."""
        running = self._running.get()
        flight = running.get(call.key)
        joined = flight is not None
        if flight is None:
            task = asyncio.ensure_future(self._next.ask(call))
            flight = running[call.key] = _Flight(task)
            task.add_done_callback(lambda done: _forget(running, call.key, done))
        flight.waiting += 1
        try:
            reply = await asyncio.shield(flight.task)
        except JudgeError as error:
            if not joined:
                raise
            unpaid = copy(error)
            unpaid.usage = Usage(cache_hits=1)
            raise unpaid from None
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                running.pop(call.key, None)
                flight.task.cancel()
        return replace(reply, usage=Usage(cache_hits=1)) if joined else reply


def _forget(running: dict[bytes, _Flight], key: bytes, done: asyncio.Future[ChatReply]) -> None:
    running.pop(key, None)
    if not done.cancelled():
        done.exception()  # looked at, so that asyncio does not warn when nobody waited to the end


class _Flight:
    """One running call and how many wait for it."""

    def __init__(self, task: asyncio.Future[ChatReply]) -> None:
        self.task = task
        self.waiting = 0

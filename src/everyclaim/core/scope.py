"""Who closes what was opened on the way: connections of judges, made deep inside, closed where the call began.

    async with scope():
        await metric.score(sample)        # opens connections
    # closed here

Every public call opens a scope; one inside another joins it, so connections are kept for as long as the
outermost one lasts. Whoever opens something says so with `at_end`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")
Closer = Callable[[], Awaitable[None]]

# With its loop: a context is copied into threads, where another loop may run.
_OPEN: ContextVar[tuple[asyncio.AbstractEventLoop, list[Closer]] | None] = ContextVar("everyclaim_scope", default=None)


@asynccontextmanager
async def scope() -> AsyncIterator[None]:
    """Close at the end what is opened inside, last opened first; a scope inside a scope leaves it to the outer one."""
    loop = asyncio.get_running_loop()
    outer = _OPEN.get()
    if outer is not None and outer[0] is loop:
        yield
        return
    closers: list[Closer] = []
    token = _OPEN.set((loop, closers))
    try:
        yield
    finally:
        _OPEN.reset(token)
        for close in reversed(closers):
            await close()


def at_end(close: Closer) -> None:
    """Have something closed when the scope ends; without a scope it is the caller's to close."""
    found = _OPEN.get()
    if found is not None and found[0] is asyncio.get_running_loop():
        found[1].append(close)


async def in_scope(work: Coroutine[Any, Any, T]) -> T:
    """Await a coroutine inside a scope."""
    async with scope():
        return await work


class SharedScope:
    """A scope that calls under way at the same time share, whoever made them: the last one to end closes it.

    For an object whose methods are called again and again, often many at once: they keep its connections, and
    none closes what another still uses.
    """

    def __init__(self) -> None:
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, _Visit] = WeakKeyDictionary()

    @asynccontextmanager
    async def joined(self) -> AsyncIterator[bool]:
        """Join the calls under way in this event loop; yields whether this one is the first."""
        loop = asyncio.get_running_loop()
        visit = self._open.setdefault(loop, _Visit())
        visit.guests += 1
        token = _OPEN.set((loop, visit.closers))
        try:
            yield visit.guests == 1
        finally:
            _OPEN.reset(token)
            visit.guests -= 1
            if not visit.guests:
                del self._open[loop]
                for close in reversed(visit.closers):
                    await close()


class KeptScope:
    """A scope that outlasts the calls inside it: it closes what they opened when it is told to, in their event loop."""

    def __init__(self) -> None:
        self._closers: list[Closer] = []

    @asynccontextmanager
    async def joined(self) -> AsyncIterator[None]:
        """Let what is opened inside stay open."""
        token = _OPEN.set((asyncio.get_running_loop(), self._closers))
        try:
            yield
        finally:
            _OPEN.reset(token)

    async def aclose(self) -> None:
        """Close everything, last opened first."""
        while self._closers:
            await self._closers.pop()()


class _Visit:
    """The calls of one event loop that share a scope."""

    def __init__(self) -> None:
        self.guests = 0
        self.closers: list[Closer] = []

"""Who closes what was opened on the way: connections and files, made deep inside, closed where the work began.

    async with scope():
        await metric.score(sample)                         # opens connections, which say so with `on_close`
    # closed here

    with keeping_open():
        with opened("runs.db", open_it) as store: ...     # opens it
        with opened("runs.db", open_it) as store: ...     # the same, still open

Every public call opens a scope; one inside another joins it, so what is opened lasts as long as the outermost one.
Outside of `scope` it is the caller's to close; outside of `keeping_open` everybody opens and closes their own.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Any, Generic, Self, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")

# With its loop: a context is copied into threads, where another loop may run.
_SCOPE: ContextVar[tuple[asyncio.AbstractEventLoop, AsyncExitStack] | None] = ContextVar(
    "everyclaim_scope", default=None
)
_KEPT: ContextVar[tuple[ExitStack, dict[str, Any]] | None] = ContextVar("everyclaim_kept_open", default=None)


class Closing(ABC):
    """What is closed at the end of a `with`."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClosing(ABC):
    """What is closed at the end of an `async with`."""

    @abstractmethod
    async def aclose(self) -> None:
        """Let go of what is held, without holding up the event loop."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


@asynccontextmanager
async def scope() -> AsyncIterator[None]:
    """Close at the end what is opened inside, last opened first; a scope inside a scope leaves it to the outer one."""
    outer = _SCOPE.get()
    if outer is not None and outer[0] is asyncio.get_running_loop():
        yield
        return
    async with AsyncExitStack() as stack:
        with _closed_by(stack):
            yield


def on_close(close: Callable[[], Awaitable[None]]) -> None:
    """Have something closed when the scope ends; without a scope it is the caller's to close."""
    found = _SCOPE.get()
    if found is not None and found[0] is asyncio.get_running_loop():
        found[1].push_async_callback(close)


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
        self._stacks: LoopLocal[AsyncExitStack] = LoopLocal(AsyncExitStack)
        self._guests: LoopLocal[set[object]] = LoopLocal(set)

    @asynccontextmanager
    async def joined(self) -> AsyncIterator[bool]:
        """Join the calls under way in this event loop; yields whether this one is the first."""
        guests, guest = self._guests.get(), object()
        guests.add(guest)
        try:
            with _closed_by(self._stacks.get()):
                yield len(guests) == 1
        finally:
            guests.discard(guest)
            if not guests and (stack := self._stacks.pop()):
                await stack.aclose()


class KeptScope:
    """A scope that outlasts the calls inside it: it closes what they opened when it is told to, in their event loop."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()

    def joined(self) -> AbstractContextManager[None]:
        """Let what is opened inside stay open."""
        return _closed_by(self._stack)

    async def aclose(self) -> None:
        """Close everything, last opened first."""
        await self._stack.aclose()


@contextmanager
def _closed_by(stack: AsyncExitStack) -> Iterator[None]:
    token = _SCOPE.set((asyncio.get_running_loop(), stack))
    try:
        yield
    finally:
        _SCOPE.reset(token)


class LoopLocal(Generic[T]):
    """One `T` per running event loop, made when it is first asked for: connection pools, semaphores, rate limiters.

    A chat model may be used from several loops one after the other (a notebook, a sync facade).
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()

    def get(self) -> T:
        """Return this loop's own."""
        loop = asyncio.get_running_loop()
        found = self._made.get(loop)
        if found is None:
            found = self._made[loop] = self._make()
        return found

    def pop(self) -> T | None:
        """Return this loop's own, if it was ever made, and forget it."""
        return self._made.pop(asyncio.get_running_loop(), None)


@contextmanager
def keeping_open() -> Iterator[None]:
    """Keep open what is `opened` meanwhile, up to the end of the outermost such piece of work."""
    if _KEPT.get() is not None:
        yield
        return
    with ExitStack() as stack:
        token = _KEPT.set((stack, {}))
        try:
            yield
        finally:
            _KEPT.reset(token)


@contextmanager
def opened(name: str, make: Callable[[], AbstractContextManager[T]]) -> Iterator[T]:
    """Yield what is open under a name, or what `make` opens."""
    found = _KEPT.get()
    if found is None:
        with make() as own:
            yield own
        return
    stack, kept = found
    if name not in kept:
        kept[name] = stack.enter_context(make())
    yield kept[name]

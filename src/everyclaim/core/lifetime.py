"""How long things live: connections and files are closed where the work began, results are kept while there is room.

    async with scope():
        await metric.score(sample)                         # opens connections, which say so with `on_close`
    # closed here

Every public call opens a scope; one inside another joins it, so what is opened lasts as long as the outermost one.
Outside of `scope` it is the caller's to close.

The texts that come in are of any length, so a cache that counts its entries holds any amount of memory. In a `Memory`
every entry is weighed, the least recently used make room, and what is larger than all the room is not kept at all.
"""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Hashable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from typing import Any, Generic, ParamSpec, Self, TypeVar, cast
from weakref import WeakKeyDictionary

T = TypeVar("T")

# With its loop: a context is copied into threads, where another loop may run.
_SCOPE: ContextVar[tuple[asyncio.AbstractEventLoop, AsyncExitStack] | None] = ContextVar(
    "everyclaim_scope", default=None
)


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
        with closed_by(stack):
            yield


def on_close(close: Callable[[], Awaitable[None]]) -> None:
    """Have something closed when the scope ends; without a scope it is the caller's to close."""
    found = _SCOPE.get()
    if found is not None and found[0] is asyncio.get_running_loop():
        found[1].push_async_callback(close)


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
            with closed_by(self._stacks.get()):
                yield len(guests) == 1
        finally:
            guests.discard(guest)
            if not guests and (stack := self._stacks.pop()):
                await stack.aclose()


@contextmanager
def closed_by(stack: AsyncExitStack) -> Iterator[None]:
    """Let what is opened inside stay open until the stack is closed, in this event loop."""
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


async def gather(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Await all, then return what they returned, in order, or raise the first error.

    Unlike `asyncio.gather` it leaves nothing running behind an error: a judge's call that was made is paid,
    so its answer is waited for. Cancelling it cancels all.
    """
    several = list(work)
    if len(several) == 1:  # needs no task of its own
        return [await several[0]]
    done = await asyncio.gather(*several, return_exceptions=True)
    results: list[T] = []
    for one in done:
        if isinstance(one, BaseException):
            raise one
        results.append(one)
    return results


P = ParamSpec("P")

_ENTRY = 400  # bytes of an entry besides what it holds: key, links, place in the table


class Memory:
    """Values by key, at most `room` bytes of them as they were weighed; the least recently used go first.

    May be used from several threads.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.held = 0  # bytes
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> tuple[Any] | None:
        """Return what was put under a key, in a tuple; None when there is nothing."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            self._kept.move_to_end(key)
            return (kept[0],)

    def put(self, key: Hashable, value: Any, weight: int) -> None:
        """Keep a value of so many bytes, if there can be room for it."""
        weight += _ENTRY
        if weight > self.room:
            return
        with self._lock:
            if before := self._kept.pop(key, None):
                self.held -= before[1]
            self._kept[key] = (value, weight)
            self.held += weight
            while self.held > self.room:
                self.held -= self._kept.popitem(last=False)[1][1]

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self.held = 0


def remembered(room: int, weigh: Callable[..., int]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a pure function remember at most `room` bytes of its results, in its `memory`.

    `weigh(result, *positional)` says how many bytes an entry takes, the key included, about.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        memory = Memory(room)

        @wraps(function)
        def asked(*args: P.args, **kwargs: P.kwargs) -> T:
            key = (args, *sorted(kwargs.items())) if kwargs else args
            if found := memory.get(key):
                return cast("T", found[0])
            result = function(*args, **kwargs)
            memory.put(key, result, weigh(result, *args))
            return result

        asked.memory = memory  # type: ignore[attr-defined]
        return asked

    return decorate


def once(load: Callable[[], T]) -> Callable[[], T]:
    """Make a function do its work once, also when several threads ask for it at the same time.

    `functools.cache` lets each of them do it, and hold the result for a while.
    """
    lock = threading.Lock()
    cached = cache(load)

    @wraps(load)
    def get() -> T:
        with lock:
            return cached()

    return get

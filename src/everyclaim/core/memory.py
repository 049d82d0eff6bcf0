"""Results kept for when they are asked for again, bounded in bytes.

The texts that come in are of any length, so a cache that counts its entries holds any amount of memory. Here every
entry is weighed, the least recently used make room, and what is larger than all the room is not kept at all.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cache, wraps
from typing import Any, ParamSpec, Protocol, TypeVar, cast

P = ParamSpec("P")
T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")

_ENTRY = 400  # bytes of an entry besides what it holds: key, links, place in the table


class Remembering(Protocol[P, T_co]):
    """A function that remembers. `memory` is what it holds."""

    memory: Memory

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T_co:
        """Return what the function returns."""


class Memory:
    """Values by key, at most `room` bytes of them as they were weighed; the least recently used go first.

    May be used from several threads.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.held = 0  # bytes
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

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


def remembered(room: int, weigh: Callable[..., int]) -> Callable[[Callable[P, T]], Remembering[P, T]]:
    """Make a pure function remember at most `room` bytes of its results.

    `weigh(result, *positional)` says how many bytes an entry takes, the key included, about.
    """

    def decorate(function: Callable[P, T]) -> Remembering[P, T]:
        memory = Memory(room)

        @wraps(function)
        def remembering(*args: P.args, **kwargs: P.kwargs) -> T:
            key = (args, *sorted(kwargs.items())) if kwargs else args
            if found := memory.get(key):
                return cast("T", found[0])
            result = function(*args, **kwargs)
            memory.put(key, result, weigh(result, *args))
            return result

        remembering.memory = memory  # type: ignore[attr-defined]
        return cast("Remembering[P, T]", remembering)

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

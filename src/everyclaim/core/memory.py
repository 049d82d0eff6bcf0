"""Results kept for when they are asked for again, bounded in bytes.

The texts that come in are of any length, so a cache that counts its entries holds any amount of memory. Here every
entry is weighed, the least recently used make room, and what is larger than all the room is not kept at all.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cache, update_wrapper, wraps
from typing import Any, Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

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


class Remembered(Generic[P, T]):
    """A pure function and the `memory` of its results."""

    def __init__(self, function: Callable[P, T], room: int, weigh: Callable[..., int]) -> None:
        self.memory = Memory(room)
        self._function = function
        self._weigh = weigh
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what the function returns."""
        key = (args, *sorted(kwargs.items())) if kwargs else args
        if found := self.memory.get(key):
            return cast("T", found[0])
        result = self._function(*args, **kwargs)
        self.memory.put(key, result, self._weigh(result, *args))
        return result


def remembered(room: int, weigh: Callable[..., int]) -> Callable[[Callable[P, T]], Remembered[P, T]]:
    """Make a pure function remember at most `room` bytes of its results.

    `weigh(result, *positional)` says how many bytes an entry takes, the key included, about.
    """
    return lambda function: Remembered(function, room, weigh)


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

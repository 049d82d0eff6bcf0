"""Things that belong to one event loop: connection pools, semaphores, rate limiters.

A chat model may be used from several loops one after the other (a notebook, a sync facade); what is bound
to a loop is made once for each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class LoopLocal(Generic[T]):
    """One `T` per running event loop, made when it is first asked for."""

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

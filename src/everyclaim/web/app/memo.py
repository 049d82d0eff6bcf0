"""What takes long is computed once, beside the pages that ask for it, and kept while there is room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE = 1.0  # seconds that a page waits before it says that it is still at it
_MOST = 400  # values kept
_AT_ONCE = 2


class StillWorkingError(Exception):
    """What was asked for is being computed: ask again in a moment."""


class Memo:
    """Values by key, each made once whoever asks for it how often; the one not used for longest goes first.

    A key holds everything that the value depends on, such as a run and how many of its answers are kept.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._guard = Lock()
        self._workers = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="everyclaim-page")

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return a value, made now if need be. Raises `StillWorkingError` when that takes longer than `PATIENCE`."""
        found = self._future(key, make)
        try:
            return found.result(PATIENCE)
        except NotYet:
            if found.done():
                raise
            raise StillWorkingError from None

    def peek(self, key: Hashable, make: Callable[[], T]) -> T | None:
        """Return a value if it is there, else None; then it is on its way."""
        found = self._future(key, make)
        return found.result() if found.done() else None

    def close(self) -> None:
        """Begin nothing more; what is under way is not waited for."""
        self._workers.shutdown(wait=False, cancel_futures=True)

    def _future(self, key: Hashable, make: Callable[[], T]) -> Future[T]:
        with self._guard:
            found = self._kept.pop(key, None)
            if found is None or (found.done() and found.exception() is not None):  # a failure is tried again
                found = self._workers.submit(make)
            self._kept[key] = found
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
            return found

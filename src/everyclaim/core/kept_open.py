"""What several parts of one piece of work need open, opened once: a command, or a call of a public function.

    with keeping_open():
        with opened("runs.db", open_it) as store: ...     # opens it
        with opened("runs.db", open_it) as store: ...     # the same, still open

Outside of such a piece of work everybody opens and closes their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")


class _Shelf(ExitStack):
    def __init__(self) -> None:
        super().__init__()
        self.opened: dict[str, Any] = {}


_SHELF: ContextVar[_Shelf | None] = ContextVar("everyclaim_kept_open", default=None)


@contextmanager
def keeping_open() -> Iterator[None]:
    """Keep open what is opened meanwhile, up to the end of the outermost such piece of work."""
    if _SHELF.get() is not None:
        yield
        return
    with _Shelf() as shelf:
        token = _SHELF.set(shelf)
        try:
            yield
        finally:
            _SHELF.reset(token)


@contextmanager
def opened(name: str, make: Callable[[], AbstractContextManager[T]]) -> Iterator[T]:
    """Yield what is open under a name, or what `make` opens."""
    shelf = _SHELF.get()
    if shelf is None:
        with make() as own:
            yield own
        return
    if name not in shelf.opened:
        shelf.opened[name] = shelf.enter_context(make())
    yield shelf.opened[name]

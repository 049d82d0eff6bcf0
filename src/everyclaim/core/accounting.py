"""What is used while something is done, without passing a counter through every call.

    with tallied() as tally:
        await metric.score(sample)
    tally.usage                    # of every judge call made inside, whatever became of it

The tally follows the work into tasks and threads, because a context does. Whoever reads a chat model's
reply says what it cost, once, with `account`; the engine reads the tally of each sample.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from everyclaim.core.types import Usage


class Tally:
    """What was used so far inside one `tallied` block."""

    def __init__(self) -> None:
        self.usage = Usage()
        self._lock = threading.Lock()

    def add(self, usage: Usage) -> None:
        """Add what one call used; safe from any thread."""
        with self._lock:
            self.usage += usage


_OPEN: ContextVar[tuple[Tally, ...]] = ContextVar("everyclaim_tallies", default=())


@contextmanager
def tallied(tally: Tally | None = None) -> Iterator[Tally]:
    """Count what is used inside the block, on a new tally or on this one.

    Blocks nest: an outer one counts what its inner ones count, and a tally that is open already counts once.
    """
    tally = tally or Tally()
    others = tuple(one for one in _OPEN.get() if one is not tally)
    token = _OPEN.set((*others, tally))
    try:
        yield tally
    finally:
        _OPEN.reset(token)


def account(usage: Usage) -> None:
    """Add to every tally that is open here; without one it is nobody's business."""
    for tally in _OPEN.get():
        tally.add(usage)

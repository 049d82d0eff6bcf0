"""Wait for several things at once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


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

"""Where samples come from: anything that can be iterated, asynchronously or not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from contextlib import suppress
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


async def each(source: Iterable[T] | AsyncIterable[T]) -> AsyncGenerator[T, None]:
    """Yield from either kind of source, one at a time, and close it when the reader stops."""
    if isinstance(source, AsyncIterable):
        numbered = aiter(source)
        try:
            async for item in numbered:
                yield item
        finally:
            close = getattr(numbered, "aclose", None)
            if close:
                await close()
    else:
        items = iter(source)
        try:
            for item in items:
                yield item
        finally:
            shut = getattr(items, "close", None)
            if shut:
                shut()


async def in_thread(source: Iterable[T]) -> AsyncGenerator[T, None]:
    """Yield from a source that may block for long (a pipe, a slow disk) without holding up the loop.

    The source is read in a thread of its own, one item per request, never ahead. The thread does not
    keep the process alive, so an interrupt is not held up by a read that never returns.
    """
    loop = asyncio.get_running_loop()
    requests: SimpleQueue[asyncio.Future[tuple[T] | None] | None] = SimpleQueue()

    def read() -> None:
        items = iter(source)
        try:
            while (answer := requests.get()) is not None:
                try:
                    found: tuple[T] | None = (next(items),)
                except StopIteration:
                    found = None
                except BaseException as error:  # noqa: BLE001 - raised again in the reader's loop
                    _tell(loop, answer, error=error)
                    return
                _tell(loop, answer, found)
        finally:
            shut = getattr(items, "close", None)
            if shut:
                shut()

    threading.Thread(target=read, name="everyclaim-source", daemon=True).start()
    try:
        while True:
            answer: asyncio.Future[tuple[T] | None] = loop.create_future()
            requests.put(answer)
            found = await answer
            if found is None:
                return
            yield found[0]
    finally:
        requests.put(None)


def _tell(
    loop: asyncio.AbstractEventLoop,
    answer: asyncio.Future[tuple[T] | None],
    found: tuple[T] | None = None,
    *,
    error: BaseException | None = None,
) -> None:
    def settle() -> None:
        if answer.done():  # the reader was cancelled meanwhile
            return
        if error is None:
            answer.set_result(found)
        else:
            answer.set_exception(error)

    with suppress(RuntimeError):  # the loop is closed: nobody waits any more
        loop.call_soon_threadsafe(settle)

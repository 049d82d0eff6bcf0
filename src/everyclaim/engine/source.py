"""Where samples come from: anything that can be iterated, asynchronously or not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


async def each(source: Iterable[T] | AsyncIterable[T]) -> AsyncGenerator[T, None]:
    """Yield from either kind of source, one at a time, and close it when the reader stops."""
    items = aiter(source) if isinstance(source, AsyncIterable) else iter(source)
    try:
        if isinstance(items, AsyncIterator):
            async for item in items:
                yield item
        else:
            for item in items:
                yield item
    finally:
        if stop := getattr(items, "aclose", None):
            await stop()
        elif stop := getattr(items, "close", None):
            stop()


async def in_thread(source: Iterable[T]) -> AsyncGenerator[T, None]:
    """Yield from a source that may block for long (a pipe, a slow disk) without holding up the loop.

    The source is read in a thread of its own, one item per request, never ahead. The thread does not
    keep the process alive, so an interrupt is not held up by a read that never returns.
    """
    requests: SimpleQueue[Future[tuple[T] | None] | None] = SimpleQueue()

    def read() -> None:
        items = iter(source)
        try:
            while (answer := requests.get()) and answer.set_running_or_notify_cancel():
                try:
                    answer.set_result(next(((item,) for item in items), None))
                except BaseException as error:  # noqa: BLE001 - raised again in the reader's loop
                    answer.set_exception(error)
                    return
        finally:
            if stop := getattr(items, "close", None):
                stop()

    threading.Thread(target=read, name="everyclaim-source", daemon=True).start()
    try:
        while True:
            answer: Future[tuple[T] | None] = Future()
            requests.put(answer)
            if (found := await asyncio.wrap_future(answer)) is None:
                return
            yield found[0]
    finally:
        requests.put(None)

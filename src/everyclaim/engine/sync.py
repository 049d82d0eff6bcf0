"""The way from code that is not async into code that is, also where a loop runs already (notebooks)."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from everyclaim.core.scope import in_scope

T = TypeVar("T")

_GLANCE = 0.5  # seconds between looks at the keyboard, where a wait cannot be interrupted (Windows)


def wait(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return what it returns, or raise what it raises.

    Where no event loop runs this is `asyncio.run`. Inside a running loop, as in a notebook, the
    coroutine gets a loop of its own in a private thread, and the caller's loop stands still until it is
    done. An interrupt (Ctrl-C) cancels the coroutine, lets it clean up, and is then raised.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(in_scope(coroutine))
    return _wait_in_thread(in_scope(coroutine))


def _wait_in_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    started = threading.Event()
    finished = threading.Event()  # and not Thread.join, which takes an interrupted wait for the thread's end
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = []
    values: list[T] = []
    errors: list[BaseException] = []

    async def main() -> T:
        loop = asyncio.get_running_loop()
        task = loop.create_task(coroutine)
        running.append((loop, task))
        started.set()
        return await task

    def work() -> None:
        try:
            values.append(asyncio.run(main()))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            errors.append(error)
        finally:
            started.set()
            finished.set()

    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), name="everyclaim-wait", daemon=True)
    try:
        thread.start()
        while not finished.wait(_GLANCE):
            pass
    except BaseException:
        if thread.ident is not None:  # it began
            started.wait()
            for loop, task in running:
                with suppress(RuntimeError):  # it ended at the same moment
                    loop.call_soon_threadsafe(task.cancel)
            finished.wait()
        raise
    if errors:
        raise errors[0]
    return values[0]

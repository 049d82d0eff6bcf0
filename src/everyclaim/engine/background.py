"""An event loop in a thread of its own, for as long as its owner wants it: what is opened on it stays open.

Work comes to it from code that is not async (`run`) and from other event loops (`join`). A daemon thread, so that it
never keeps a process alive; whoever makes one closes it. `wait` is the way in for a single call.
"""

from __future__ import annotations

import asyncio
import ctypes
import threading
from collections.abc import Coroutine
from concurrent import futures
from contextlib import AsyncExitStack, suppress
from typing import Any, Generic, TypeVar

from everyclaim.core.errors import UserError
from everyclaim.core.lifetime import closed_by, scope

T = TypeVar("T")

GLANCE = 0.5  # seconds between looks at the keyboard, where a wait cannot be interrupted (Windows)
_ENDED = "the Evaluator was closed during this call"


class BackgroundLoop:
    """A running event loop in a daemon thread. What runs on it shares one scope, closed by `close`."""

    def __init__(self, name: str = "everyclaim") -> None:
        self._loop = asyncio.new_event_loop()
        self._scope = AsyncExitStack()
        self._lock = threading.Lock()
        self._is_open = True
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    @property
    def is_here(self) -> bool:
        """Whether the caller runs on this loop."""
        return threading.get_ident() == self._thread.ident

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for it. An interrupt cancels it, lets it clean up, and is then raised.

        Raises `UserError` on the loop itself, where waiting would never end, and for work that a `close` cut off.
        """
        if self.is_here:
            work.close()
            raise UserError(
                "a synchronous call inside another one of the same Evaluator would deadlock: await the "
                "asynchronous method"
            )
        call = self._begin(work)
        try:
            while not call.done.done():
                futures.wait([call.done], GLANCE)
        except BaseException:
            call.cancel()
            futures.wait([call.done])
            raise
        return call.result()

    async def join(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and await it from another; on the loop itself just await it.

        Cancelling the one cancels the other.
        """
        if self.is_here:
            return await work
        call = self._begin(work)
        loop, ended = asyncio.get_running_loop(), asyncio.Event()

        def wake(_: object) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(ended.set)

        call.done.add_done_callback(wake)
        try:
            await ended.wait()
        except asyncio.CancelledError:
            call.cancel()
            raise
        return call.result()

    def interrupt(self) -> None:
        """Cancel the task that computes at this moment, also where it never awaits; all others go on."""
        if asyncio.current_task(self._loop) is not None:
            thread = ctypes.c_ulong(self._thread.ident or 0)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(asyncio.CancelledError))

    def close(self) -> None:
        """Cancel what runs, close what was opened, end the thread and wait for it (but not on the loop itself)."""
        with self._lock:
            if self._is_open:
                self._is_open = False
                self._loop.call_soon_threadsafe(self._loop.stop)
        if not self.is_here:
            self._thread.join()

    def _begin(self, work: Coroutine[Any, Any, T]) -> _LoopCall[T]:
        call = _LoopCall(self._loop, self._scope, work)
        with self._lock:
            if self._is_open:
                self._loop.call_soon_threadsafe(call.start)  # in the caller's context, of which it takes a copy
                return call
        work.close()
        raise UserError(_ENDED)

    def _serve(self) -> None:
        loop = self._loop
        asyncio.set_event_loop(loop)
        while self._is_open:
            # An interrupt that a component raises tears a loop down; it is its caller's, not the others'. One of ours
            # may come when its task has just ended.
            with suppress(KeyboardInterrupt, SystemExit, asyncio.CancelledError):
                loop.run_forever()
        try:
            loop.run_until_complete(self._end())
        finally:
            asyncio.set_event_loop(None)
            loop.close()

    async def _end(self) -> None:
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._scope.aclose()
        await self._loop.shutdown_asyncgens()
        with suppress(RuntimeError):  # at the interpreter's end no thread can be started, not even to end others
            await self._loop.shutdown_default_executor()


class _LoopCall(Generic[T]):
    """One coroutine on its way through the loop. `done` holds what came of it, an error as a value."""

    def __init__(self, loop: asyncio.AbstractEventLoop, scope: AsyncExitStack, work: Coroutine[Any, Any, T]) -> None:
        self._loop = loop
        self._scope = scope
        self._work = work
        self._task: asyncio.Task[None] | None = None
        self._values: list[T] = []
        self._error: BaseException | None = None
        self.done: futures.Future[None] = futures.Future()

    def start(self) -> None:
        self._task = self._loop.create_task(self._carry_out())
        self._task.add_done_callback(self._settle)

    def cancel(self) -> None:
        """Cancel it, from any thread."""
        with suppress(RuntimeError):  # the loop is closed, and the call ended with it
            self._loop.call_soon_threadsafe(lambda: self._task and self._task.cancel())

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._values[0]

    async def _carry_out(self) -> None:
        try:
            with closed_by(self._scope):
                self._values.append(await self._work)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - raised again where the work came from
            self._error = error

    def _settle(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            self._work.close()  # it may not have begun
            self._error = UserError(_ENDED)
        self.done.set_result(None)


def wait(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return what it returns, or raise what it raises.

    Where no event loop runs this is `asyncio.run`. Inside a running loop, as in a notebook, the
    coroutine gets a loop of its own in a private thread, and the caller's loop stands still until it is
    done. An interrupt (Ctrl-C) cancels the coroutine, lets it clean up, and is then raised.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_scoped(coroutine))
    loop = BackgroundLoop("everyclaim-wait")
    try:
        return loop.run(coroutine)
    finally:
        loop.close()


async def _scoped(work: Coroutine[Any, Any, T]) -> T:
    async with scope():
        return await work

"""From code that is not async, with and without a running loop; and sources that block."""

import asyncio
import contextvars
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator

import pytest

from everyclaim.engine import in_thread, wait

NAME: contextvars.ContextVar[str] = contextvars.ContextVar("NAME")


async def twice(number: int) -> int:
    await asyncio.sleep(0)
    if number < 0:
        raise ValueError(number)
    return 2 * number


def test_waiting_inside_a_running_loop() -> None:
    """A notebook calls it like any function: values, errors and context variables pass."""

    async def name() -> str:
        return NAME.get()

    async def notebook() -> None:
        NAME.set("Ada")
        assert wait(twice(4)) == 8
        assert wait(name()) == "Ada"
        with pytest.raises(ValueError, match="-1"):
            wait(twice(-1))
        await asyncio.sleep(0)  # the outer loop is as it was

    asyncio.run(notebook())


PROGRAM = """
    import asyncio, sys
    from everyclaim.engine import wait
    async def work():
        try:
            print("begun", flush=True)
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)
            print("cleaned up", flush=True)
            raise
    async def notebook():
        wait(work())
    try:
        if sys.argv[1] == "inside":
            loop = asyncio.new_event_loop()  # as notebooks do: no signal handler of asyncio.run
            loop.run_until_complete(notebook())
        else:
            wait(work())
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("where", ["inside", "outside"])
def test_an_interrupt_cancels_and_is_raised(where: str) -> None:
    """Ctrl-C lets the coroutine clean up and then reaches the caller."""
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), where]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=20)
    assert rest == "cleaned up\ninterrupted\n"


def test_a_blocking_source_does_not_hold_up_the_loop() -> None:
    """While the source waits for its next item, other work goes on."""
    gate = threading.Event()

    def source() -> Iterator[int]:
        yield 1
        assert gate.wait(20)
        yield 2

    async def read() -> list[int]:
        asyncio.get_running_loop().call_later(0.01, gate.set)
        return [item async for item in in_thread(source())]

    assert asyncio.run(read()) == [1, 2]


def test_a_source_in_a_thread_is_read_one_at_a_time_and_its_error_passes() -> None:
    """Nothing is read before it is asked for."""
    read: list[int] = []

    def source() -> Iterator[int]:
        for number in range(3):
            read.append(number)
            yield number
        raise KeyError("broken")

    async def main() -> None:
        items = in_thread(source())
        assert await anext(items) == 0
        await asyncio.sleep(0.02)
        assert read == [0]
        assert [await anext(items), await anext(items)] == [1, 2]
        with pytest.raises(KeyError):
            await anext(items)

    asyncio.run(main())

"""Interrupts of code that is not async, with and without a running loop; and sources that block."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator

import pytest

from everyclaim.engine import in_thread


async def twice(number: int) -> int:
    await asyncio.sleep(0)
    if number < 0:
        raise ValueError(number)
    return 2 * number


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

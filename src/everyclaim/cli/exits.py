"""How a command ends: its exit codes, which are public, and Ctrl-C, a terminal that closes, a time limit, `kill`.

These stop the work in the same way: what is done is kept, and one line says how to go on. Imported before everything
else, so it imports little.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import FrameType

OK = 0
GATE_FAILED = 1
USAGE = 2  # bad input or usage, or a store that cannot be used
TOO_MANY_FAILURES = 3
INCONCLUSIVE = 4
BUG = 70
INTERRUPTED = 130
BROKEN_PIPE = 141


class InterruptedWorkError(Exception):
    """The user pressed Ctrl-C; the message says how to go on."""


def gravest(codes: Collection[int]) -> int:
    """Return the code that says most about several files."""
    return next((code for code in (USAGE, TOO_MANY_FAILURES, GATE_FAILED, INCONCLUSIVE) if code in codes), OK)


_WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}
_received: list[int] = []


def catch_signals() -> None:
    """From here on an interrupt is a `KeyboardInterrupt`, which ends a run in order; the others are the same to it."""
    _install(_interrupt)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # asyncio puts its own in the place of just this one


@contextmanager
def stopping(stop: Callable[[], object]) -> Iterator[None]:
    """Inside, the first signal only asks for an end; from the second on it is as `catch_signals` has it."""

    def ask(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature is given
        _received.append(number)
        catch_signals()
        stop()

    _install(ask)
    try:
        yield
    finally:
        catch_signals()


def signal_word() -> str:
    """What happened, in one word or two."""
    return _WORDS[signal.Signals(_received[-1]).name] if _received else "interrupted"


def signal_code() -> int:
    """Return the exit code of what happened, as shells have it."""
    return 128 + (_received[-1] if _received else signal.SIGINT)


def _install(handler: signal.Handlers | object) -> None:
    for name in _WORDS:
        number = getattr(signal, name, None)
        # One that is ignored stays so: that is what nohup is for.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)  # type: ignore[arg-type]


def _interrupt(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    now = signal.getsignal(signal.SIGINT)
    if callable(now):
        now(signal.SIGINT, frame)  # the running event loop's own, which lets it end what it has begun
    else:
        raise KeyboardInterrupt

"""Exit codes, which are part of the public surface."""

from __future__ import annotations

from collections.abc import Iterable

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


_GRAVEST_FIRST = (USAGE, TOO_MANY_FAILURES, GATE_FAILED, INCONCLUSIVE, OK)


def gravest(codes: Iterable[int]) -> int:
    """Return the code that says most about several files."""
    found = set(codes)
    return next((code for code in _GRAVEST_FIRST if code in found), OK)

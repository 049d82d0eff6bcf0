"""Retries without their waits, so that a test of ten attempts takes no time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from everyclaim.core.errors import MissingExtraError


@contextmanager
def no_sleep() -> Iterator[None]:
    """Let retries follow at once, for the time of a `with` block. How many there are stays as it is."""
    try:
        import stamina
    except ImportError:
        raise MissingExtraError("retrying", "testing") from None
    if stamina.is_testing():  # by an outer block, or by the user's own switch
        yield
        return
    stamina.set_testing(True, attempts=1_000_000, cap=True)
    try:
        yield
    finally:
        stamina.set_testing(False)

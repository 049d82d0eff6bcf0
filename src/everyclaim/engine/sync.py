"""The way from code that is not async into code that is, also where a loop runs already (notebooks)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from everyclaim.core.lifetime import in_scope
from everyclaim.engine.background import BackgroundLoop

T = TypeVar("T")


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
    loop = BackgroundLoop("everyclaim-wait")
    try:
        return loop.run(in_scope(coroutine))
    finally:
        loop.close()

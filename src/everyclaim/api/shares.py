"""One limit for several processes: each gets its share, so that together they stay within it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everyclaim.core.errors import ConfigError

SHARED = ("max_cost", "max_calls", "max_tokens", "requests_per_minute", "tokens_per_minute")


def share_of(options: Mapping[str, Any], workers: int) -> dict[str, Any]:
    """Return an evaluator's options with one worker's share of the limits and rates, which are for all together.

    Raises `ConfigError` for a limit on calls or tokens that is too small to be shared.
    """
    shared = dict(options)
    for name in SHARED:
        if (limit := options.get(name)) is not None and workers > 1:
            share = limit / workers if name == "max_cost" else limit // workers
            if not share:
                raise ConfigError(f"{name}={limit} cannot be shared by {workers} workers: take fewer")
            shared[name] = share
    return shared

"""How calls become batches."""

from __future__ import annotations

from dataclasses import dataclass

from everyclaim.core.errors import ConfigError
from everyclaim.models.batches.state import BatchState

BATCH_CONCURRENCY = 5_000  # samples in flight that a batched run should have
BATCH_SHARE = 0.5  # of the usual price, at both providers
BATCH_PATIENCE = 30 * 86_400.0  # seconds that retries of a call may take: every attempt is a batch of its own


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """How calls become batches. Times are in seconds; None for a limit means the provider's own.

    `resubmit` is how often a request that the provider did not get to (expired, cancelled) is sent again.
    Waits between looks at a batch double from `first_poll` to `longest_poll`.
    """

    state: BatchState
    linger: float = 2.0
    longest_wait: float = 120.0  # of the first call of a batch, for others to join
    max_requests: int | None = None
    max_bytes: int = 64_000_000
    first_poll: float = 15.0
    longest_poll: float = 300.0
    resubmit: int = 2
    attempts: int = 8  # to create a batch

    def __post_init__(self) -> None:
        for name in ("linger", "longest_wait", "first_poll", "longest_poll", "resubmit"):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"batch setting {name} must be at least 0, got {getattr(self, name)!r}")
        for name in ("max_requests", "max_bytes", "attempts"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"batch setting {name} must be at least 1, got {value!r}")

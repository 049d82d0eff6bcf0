"""A run as those see it who read what a store holds of it; `Run` is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from everyclaim.analysis import Summary
from everyclaim.core.protocols import Kept
from everyclaim.store import RunRecord


class StoredRun(Protocol):
    """Which run it is, where it is kept, and what is read from there."""

    @property
    def id(self) -> str:
        """What the store knows it by."""

    @property
    def store_location(self) -> str:
        """A file, or a URL."""

    @property
    def slices(self) -> tuple[str, ...]:
        """The tags that its summary is cut by."""

    @property
    def record(self) -> RunRecord:
        """Configuration, status, counts."""

    @property
    def summary(self) -> Summary:
        """What it adds up to."""

    def records(self) -> Iterator[Kept]:
        """Yield results with their samples."""

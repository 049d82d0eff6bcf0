"""The small SQLite files that one machine keeps for itself: how they are opened and used, not what they hold."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from everyclaim.core.errors import StoreError


class PrivateFile:
    """One file, opened when it is needed and by every process anew: a connection must not cross a fork.

    `what` names the file in messages, `table` is one that it has; `prepare` is run on a new connection. Used by one
    thread at a time. Raises `StoreError` when there can be no folder for it, and for a database of something else,
    which stays as it is.
    """

    def __init__(
        self, path: Path, what: str, table: str, lock_seconds: float, prepare: Callable[[sqlite3.Connection], object]
    ) -> None:
        self.path = path
        self.lock = threading.RLock()
        self._what = what
        self._table = table
        self._lock_seconds = lock_seconds
        self._prepare = prepare
        self._connection: sqlite3.Connection | None = None
        self._owner = 0  # the process that opened it

    @property
    def is_open(self) -> bool:
        """Whether this process has it open."""
        return self._connection is not None and self._owner == os.getpid()

    def connection(self) -> sqlite3.Connection:
        """Return the open file."""
        if self._connection is None or not self.is_open:
            self._connection, self._owner = self._open(), os.getpid()
        return self._connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Do several things, all or none, undisturbed by other threads and processes."""
        with self.lock, self.connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    def close(self) -> None:
        """Close the file; it opens again when it is needed."""
        with self.lock:
            if self._connection and self.is_open:
                self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"no folder for the {self._what} {self.path}: {error}") from None
        connection = sqlite3.connect(
            self.path, timeout=self._lock_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            self._check_ours(connection)
            self._prepare(connection)
        except Exception:
            connection.close()
            raise
        return connection

    def _check_ours(self, connection: sqlite3.Connection) -> None:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and self._table not in tables:
            raise StoreError(
                f"cannot use the {self._what} {self.path}: it is another kind of database; choose another name"
            )

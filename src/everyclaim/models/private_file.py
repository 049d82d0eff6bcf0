"""The small SQLite files that one machine keeps for itself: how they are opened, and nothing of what they hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from everyclaim.core.errors import StoreError


def connect(
    path: Path, what: str, table: str, lock_seconds: float, prepare: Callable[[sqlite3.Connection], object]
) -> sqlite3.Connection:
    """Open a file in a folder made for it, and `prepare` it; a file that cannot be prepared is closed again.

    `what` names the file in messages, `table` is one that it has. Raises `StoreError` when there can be no folder and
    for a database of something else, which stays as it is, and what `prepare` does.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"no folder for the {what} {path}: {error}") from None
    connection = sqlite3.connect(path, timeout=lock_seconds, isolation_level=None, check_same_thread=False)
    try:
        _check_ours(connection, path, what, table)
        prepare(connection)
    except Exception:
        connection.close()
        raise
    return connection


def _check_ours(connection: sqlite3.Connection, path: Path, what: str, table: str) -> None:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and table not in tables:
        raise StoreError(f"the {what} {path} cannot be used: it is another database; give another name")

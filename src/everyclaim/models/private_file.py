"""The small SQLite files that one machine keeps for itself: how they are opened, and nothing of what they hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from everyclaim.core.errors import StoreError


def connect(
    path: Path, what: str, lock_seconds: float, prepare: Callable[[sqlite3.Connection], object]
) -> sqlite3.Connection:
    """Open a file in a folder made for it, and `prepare` it; a file that cannot be prepared is closed again.

    `what` names the file in messages. Raises `StoreError` when there can be no folder, and what `prepare` does.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"no folder for the {what} {path}: {error}") from None
    connection = sqlite3.connect(path, timeout=lock_seconds, isolation_level=None, check_same_thread=False)
    try:
        prepare(connection)
    except Exception:
        connection.close()
        raise
    return connection

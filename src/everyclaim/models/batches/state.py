"""What was handed to a provider's batch API and what came back, in an SQLite file that outlives a kill.

A request goes through four states, each on the disk before the next begins:

    noted      its batch is about to be created; whether the provider took it must be found out after a kill
    accepted   the batch has the provider's id
    arrived    its outcome is here
    gone       its outcome was delivered; the row is deleted

The texts of requests are not kept, only their keys. One process at a time may use a file.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from everyclaim.core.errors import StoreError
from everyclaim.models.private_file import connect

T = TypeVar("T")
KEEP_SECONDS = 30 * 86_400.0  # providers keep results about as long
_LOCK_SECONDS = 0.5  # a process that was just killed may need a moment to be gone
_TABLES = """
CREATE TABLE IF NOT EXISTS batches_1 (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, token TEXT NOT NULL, begun REAL NOT NULL,
  size INTEGER NOT NULL, provider_id TEXT, certain INTEGER NOT NULL DEFAULT 0,
  strangers TEXT NOT NULL DEFAULT '[]', ended INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS requests_1 (
  key TEXT PRIMARY KEY, batch INTEGER NOT NULL, line INTEGER NOT NULL, outcome TEXT
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS requests_by_batch_1 ON requests_1 (batch, line);
"""


class Place(NamedTuple):
    """Where a request is: in a batch, with its outcome once there is one."""

    batch: int
    outcome: str | None


class Batch(NamedTuple):
    """One batch. `token` is part of all its custom ids; `certain` says that the provider's id is surely its own."""

    id: int
    token: str
    begun: float  # seconds since 1970, by our clock
    size: int
    provider_id: str | None
    certain: bool
    strangers: frozenset[str]  # provider ids that turned out to be something else
    ended: bool


class BatchState:
    """Batches and requests in one file. A second process that opens it is refused; models in one process share it."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.submitting: set[int] = set()  # batches that this process is creating right now
        self.delivered: set[str] = set()  # keys whose good replies were handed out; deleted on `close`
        self._gone: set[str] = set()  # keys that are to be deleted with the next writing
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._owner = 0

    def find(self, key: str) -> Place | None:
        """Return where a request is, None when it must be sent."""
        if key in self._gone:
            return None

        def look(connection: sqlite3.Connection) -> tuple[int, str | None] | None:
            row: tuple[int, str | None] | None = connection.execute(
                "SELECT batch, outcome FROM requests_1 WHERE key = ?", (key,)
            ).fetchone()
            return row

        row = self._run(look)
        return Place(*row) if row else None

    def begin(self, account: str, token: str, keys: Sequence[str]) -> tuple[int, list[str]]:
        """Note a batch that is about to be created; return its number and the keys that are in no batch yet."""

        def note(connection: sqlite3.Connection) -> tuple[int, list[str]]:
            self._delete_gone(connection)
            batch = connection.execute(
                "INSERT INTO batches_1 (account, token, begun, size) VALUES (?, ?, ?, 0)", (account, token, time.time())
            ).lastrowid
            assert batch is not None
            insert = "INSERT OR IGNORE INTO requests_1 VALUES (?, ?, ?, NULL)"
            new: list[str] = []
            for key in keys:
                if connection.execute(insert, (key, batch, len(new) + 1)).rowcount:
                    new.append(key)
            connection.execute("UPDATE batches_1 SET size = ? WHERE id = ?", (len(new), batch))
            return batch, new

        return self._run(note, writes=True)

    def accept(self, batch: int, provider_id: str, *, certain: bool = True) -> None:
        """Note that the provider has the batch, under this id."""
        statement = "UPDATE batches_1 SET provider_id = ?, certain = ? WHERE id = ?"
        self._write(statement, [(provider_id, int(certain), batch)])

    def reject(self, batch: Batch) -> None:
        """Note that the provider's id is that of something else."""
        strangers = json.dumps(sorted({*batch.strangers, batch.provider_id or ""}))
        self._write("UPDATE batches_1 SET provider_id = NULL, strangers = ? WHERE id = ?", [(strangers, batch.id)])

    def drop(self, batch: int) -> None:
        """Forget a batch that the provider never took; its requests are free again."""

        def delete(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM requests_1 WHERE batch = ?", (batch,))
            connection.execute("DELETE FROM batches_1 WHERE id = ?", (batch,))

        self._run(delete, writes=True)

    def batch(self, number: int) -> Batch | None:
        """Return a batch by its number."""

        def look(connection: sqlite3.Connection) -> Batch | None:
            row = connection.execute(
                "SELECT id, token, begun, size, provider_id, certain, strangers, ended FROM batches_1 WHERE id = ?",
                (number,),
            ).fetchone()
            if row is None:
                return None
            *first, certain, strangers, ended = row
            return Batch(
                first[0],
                first[1],
                first[2],
                first[3],
                first[4],
                bool(certain),
                frozenset(json.loads(strangers)),
                bool(ended),
            )

        return self._run(look)

    def known(self, account: str) -> frozenset[str]:
        """Return the provider's ids that are taken by batches of ours."""

        def look(connection: sqlite3.Connection) -> frozenset[str]:
            rows = connection.execute(
                "SELECT provider_id FROM batches_1 WHERE account = ? AND provider_id IS NOT NULL", (account,)
            )
            return frozenset(row[0] for row in rows)

        return self._run(look)

    def keys(self, batch: int) -> list[str]:
        """Return a batch's keys in the order of its lines."""

        def look(connection: sqlite3.Connection) -> list[str]:
            return [
                row[0]
                for row in connection.execute("SELECT key FROM requests_1 WHERE batch = ? ORDER BY line", (batch,))
            ]

        return self._run(look)

    def record(self, batch: int, outcomes: Iterable[tuple[str, str]]) -> None:
        """Keep outcomes by key, all or none; keys that are not in this batch are ignored."""
        rows = [(outcome, key, batch) for key, outcome in outcomes]
        self._write("UPDATE requests_1 SET outcome = ? WHERE key = ? AND batch = ?", rows)

    def finish(self, batch: int, otherwise: str) -> None:
        """Note that all outcomes of a batch are here; a request without one gets `otherwise`."""

        def note(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE requests_1 SET outcome = ? WHERE batch = ? AND outcome IS NULL", (otherwise, batch)
            )
            connection.execute("UPDATE batches_1 SET ended = 1 WHERE id = ?", (batch,))

        self._run(note, writes=True)

    def forget(self, key: str) -> None:
        """Free a request whose outcome was delivered. It is on the disk with the next writing."""
        place = self.find(key)
        if place and place.outcome is not None:
            self._gone.add(key)
            self.delivered.discard(key)

    def close(self) -> None:
        """Delete what was delivered and close the file, so that another process may use it; opens again when needed."""
        if self._connection and self._owner == os.getpid():
            self._gone |= self.delivered
            self._run(self._clean, writes=True)
        with self._lock:
            if self._connection and self._owner == os.getpid():
                self._connection.close()
            self._connection = None
        self.delivered.clear()

    def _clean(self, connection: sqlite3.Connection) -> None:
        self._delete_gone(connection)
        connection.execute(
            "DELETE FROM batches_1 WHERE ended AND NOT EXISTS (SELECT 1 FROM requests_1 WHERE batch = batches_1.id)"
        )

    def _delete_gone(self, connection: sqlite3.Connection) -> None:
        connection.executemany("DELETE FROM requests_1 WHERE key = ?", [(key,) for key in self._gone])
        self._gone.clear()

    def _write(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(statement, rows)

        self._run(write, writes=True)

    def _run(self, work: Callable[[sqlite3.Connection], T], *, writes: bool = False) -> T:
        with self._lock:
            try:
                connection = self._open()
                if not writes:
                    return work(connection)
                connection.execute("BEGIN IMMEDIATE")
                try:
                    done = work(connection)
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
            except sqlite3.OperationalError as error:
                if "locked" in str(error):
                    raise StoreError(
                        f"the batch file {self.path} is in use by another process: wait for its run to end, "
                        "or give this run a file of its own"
                    ) from None
                raise StoreError(f"the batch file {self.path} cannot be used: {error}") from None
            except sqlite3.Error as error:
                # Not set aside as a cache is: what it holds may be paid for and still under way.
                raise StoreError(
                    f"the batch file {self.path} cannot be read: {error}; move it away to begin anew, "
                    "batches that it knows are then not found again"
                ) from None
            return done

    def _open(self) -> sqlite3.Connection:
        if self._connection and self._owner == os.getpid():
            return self._connection
        connection = connect(self.path, "batch file", "batches_1", _LOCK_SECONDS, _prepare)
        self._connection, self._owner = connection, os.getpid()
        return connection


def _prepare(connection: sqlite3.Connection) -> None:
    # The lock is the operating system's: it is held until the file is closed and ends with the process.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.executescript(_TABLES)
    old = time.time() - KEEP_SECONDS
    connection.execute("BEGIN EXCLUSIVE")
    connection.execute("DELETE FROM requests_1 WHERE batch IN (SELECT id FROM batches_1 WHERE begun < ?)", (old,))
    connection.execute("DELETE FROM batches_1 WHERE begun < ?", (old,))
    connection.execute("COMMIT")

"""The small SQLite files that one machine keeps for itself: replies that were paid for, and batches under way.

Of a batch: what was handed to a provider's batch API and what came back, in a file that outlives a kill. A request goes
through four states, each on the disk before the next begins:

    noted      its batch is about to be created; whether the provider took it must be found out after a kill
    accepted   the batch has the provider's id
    arrived    its outcome is here
    gone       its outcome was delivered; the row is deleted

The texts of requests are not kept, only their keys. One process at a time may use a file of batches.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from everyclaim.core.errors import StoreError
from everyclaim.core.protocols import ChatReply, Fork
from everyclaim.core.types import Usage


@dataclass(eq=False)
class PrivateFile:
    """One file, opened when it is needed and by every process anew: a connection must not cross a fork.

    `what` names the file in messages, `table` is one that it has; `prepare` is run on a new connection. Used by one
    thread at a time. Raises `StoreError` when there can be no folder for it, and for a database of something else,
    which stays as it is.
    """

    path: Path
    what: str
    table: str
    lock_seconds: float
    prepare: Callable[[sqlite3.Connection], object]

    def __post_init__(self) -> None:
        self.lock = threading.RLock()
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
            raise StoreError(f"no folder for the {self.what} {self.path}: {error}") from None
        connection = sqlite3.connect(
            self.path, timeout=self.lock_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not tables or self.table in tables:
                self.prepare(connection)
                return connection
        except Exception:
            connection.close()
            raise
        connection.close()
        raise StoreError(f"cannot use the {self.what} {self.path}: it is another kind of database; choose another name")


_TABLE = "CREATE TABLE IF NOT EXISTS replies_1 (key BLOB PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID"
_LOCK_SECONDS = 10.0


class ReplyCache:
    """Replies by key in one file. Raises `StoreError` for one that is damaged, or no cache of ours."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._file = PrivateFile(self.path, "reply cache", "replies_1", _LOCK_SECONDS, _prepare)

    def get(self, key: bytes) -> ChatReply | None:
        """Return what was kept for a key. Its usage says: one cache hit, nothing paid."""
        row = self._run("SELECT reply FROM replies_1 WHERE key = ?", (key,))
        if row is None:
            return None
        kept = json.loads(row[0])
        forks = kept.get("forks")
        if forks is not None:
            forks = tuple(Fork(start, end, tuple(map(tuple, chances))) for start, end, chances in forks)
        return ChatReply(kept["content"], "stop", kept["model"], Usage(cache_hits=1), forks)

    def put(self, key: bytes, reply: ChatReply) -> None:
        """Keep a reply; it survives the end of this process from here on."""
        kept: dict[str, Any] = {"content": reply.content, "model": reply.model}
        if reply.forks is not None:
            kept["forks"] = reply.forks
        self._run("INSERT OR REPLACE INTO replies_1 VALUES (?, ?)", (key, json.dumps(kept)))

    def drop(self, key: bytes) -> None:
        """Forget what was kept for a key."""
        self._run("DELETE FROM replies_1 WHERE key = ?", (key,))

    def close(self) -> None:
        """Close the file; it is opened again when needed."""
        self._file.close()

    def _run(self, statement: str, values: tuple[Any, ...]) -> Any:
        with self._file.lock:
            try:
                return self._file.connection().execute(statement, values).fetchone()
            except sqlite3.Error as error:
                self._file.close()
                advice = "" if isinstance(error, sqlite3.OperationalError) else "; delete it to start a new one"
                raise StoreError(f"cannot use the reply cache {self.path}: {error}{advice}") from None


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(_TABLE)


KEEP_SECONDS = 30 * 86_400.0  # providers keep results about as long
_BATCH_LOCK_SECONDS = 0.5  # a process that was just killed may need a moment to be gone
_BATCH_TABLES = """
CREATE TABLE IF NOT EXISTS batches_2 (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, token TEXT NOT NULL, begun REAL NOT NULL,
  size INTEGER NOT NULL, provider_id TEXT, ended INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS requests_2 (
  key TEXT PRIMARY KEY, batch INTEGER NOT NULL, outcome TEXT
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS requests_by_batch_2 ON requests_2 (batch);
"""


class ProviderBatch(NamedTuple):
    """One batch. `token` is part of all its custom ids."""

    id: int
    token: str
    begun: float  # seconds since 1970, by our clock
    size: int
    provider_id: str | None
    ended: bool


class BatchState:
    """Batches and requests in one file. A second process that opens it is refused; models in one process share it."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.submitting: set[int] = set()  # batches that this process is creating right now
        self.delivered: set[str] = set()  # keys whose good replies were handed out; deleted on `close`
        self._gone: set[str] = set()  # keys that are to be deleted with the next writing
        self._file = PrivateFile(self.path, "batch file", "batches_2", _BATCH_LOCK_SECONDS, _prepare_batches)

    def find(self, key: str) -> tuple[int, str | None] | None:
        """Return a request's batch and its outcome, once there is one; None when the request must be sent."""
        if key in self._gone:
            return None
        return next(iter(self._run("SELECT batch, outcome FROM requests_2 WHERE key = ?", key)), None)

    def begin(self, account: str, token: str, keys: Sequence[str]) -> tuple[int, list[str]]:
        """Note a batch that is about to be created; return its number and the keys that are in no batch yet."""
        with self._opened() as file:
            self._delete_gone(file)
            row = (account, token, time.time())
            number = file.execute(
                "INSERT INTO batches_2 (account, token, begun, size) VALUES (?, ?, ?, 0)", row
            ).lastrowid
            assert number is not None
            insert = "INSERT OR IGNORE INTO requests_2 VALUES (?, ?, NULL)"
            new = [key for key in keys if file.execute(insert, (key, number)).rowcount]
            file.execute("UPDATE batches_2 SET size = ? WHERE id = ?", (len(new), number))
        return number, new

    def accept(self, number: int, provider_id: str) -> None:
        """Note that the provider has the batch, under this id."""
        self._run("UPDATE batches_2 SET provider_id = ? WHERE id = ?", provider_id, number)

    def drop(self, number: int) -> None:
        """Forget a batch that the provider never took; its requests are free again."""
        with self._opened() as file:
            file.execute("DELETE FROM requests_2 WHERE batch = ?", (number,))
            file.execute("DELETE FROM batches_2 WHERE id = ?", (number,))

    def batch(self, number: int) -> ProviderBatch | None:
        """Return a batch by its number."""
        select = "SELECT id, token, begun, size, provider_id, ended FROM batches_2 WHERE id = ?"
        return next(map(ProviderBatch._make, self._run(select, number)), None)

    def known(self, account: str) -> frozenset[str]:
        """Return the provider's ids that are taken by batches of ours."""
        taken = "SELECT provider_id FROM batches_2 WHERE account = ? AND provider_id IS NOT NULL"
        return frozenset(name for (name,) in self._run(taken, account))

    def record(self, number: int, outcomes: Iterable[tuple[str, str]]) -> None:
        """Keep outcomes by key, all or none; keys that are not in this batch are ignored."""
        rows = [(outcome, key, number) for key, outcome in outcomes]
        with self._opened() as file:
            file.executemany("UPDATE requests_2 SET outcome = ? WHERE key = ? AND batch = ?", rows)

    def finish(self, number: int, otherwise: str) -> None:
        """Note that all outcomes of a batch are here; a request without one gets `otherwise`."""
        with self._opened() as file:
            file.execute("UPDATE requests_2 SET outcome = ? WHERE batch = ? AND outcome IS NULL", (otherwise, number))
            file.execute("UPDATE batches_2 SET ended = 1 WHERE id = ?", (number,))

    def forget(self, key: str) -> None:
        """Free a request whose outcome was delivered. It is on the disk with the next writing."""
        found = self.find(key)
        if found and found[1] is not None:
            self._gone.add(key)
            self.delivered.discard(key)

    def close(self) -> None:
        """Delete what was delivered and close the file, so that another process may use it; opens again when needed."""
        if self._file.is_open:
            self._gone |= self.delivered
            with self._opened() as file:
                self._delete_gone(file)
                file.execute(
                    "DELETE FROM batches_2 "
                    "WHERE ended AND NOT EXISTS (SELECT 1 FROM requests_2 WHERE batch = batches_2.id)"
                )
        self._file.close()
        self.delivered.clear()

    def _delete_gone(self, file: sqlite3.Connection) -> None:
        file.executemany("DELETE FROM requests_2 WHERE key = ?", [(key,) for key in self._gone])
        self._gone.clear()

    def _run(self, statement: str, *values: Any) -> list[Any]:
        with self._opened() as file:
            return file.execute(statement, values).fetchall()

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one piece of work, all of it or nothing, undisturbed by other threads and processes.

        Raises `StoreError` that says what to do.
        """
        try:
            with self._file.lock, self._file.connection() as file:
                file.execute("BEGIN IMMEDIATE")
                yield file
        except sqlite3.Error as error:
            why = f"the batch file {self.path} cannot be used: {error}"
            if "locked" in str(error):
                why = f"the batch file {self.path} is in use by another process: wait for its run to end"
            elif not isinstance(error, sqlite3.OperationalError):
                why += "; move it away to start anew (batches in it are then lost)"
            raise StoreError(why) from None


def _prepare_batches(connection: sqlite3.Connection) -> None:
    # The lock is the operating system's: it is held until the file is closed and ends with the process.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.executescript(_BATCH_TABLES)
    old = (time.time() - KEEP_SECONDS,)
    with connection:
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("DELETE FROM requests_2 WHERE batch IN (SELECT id FROM batches_2 WHERE begun < ?)", old)
        connection.execute("DELETE FROM batches_2 WHERE begun < ?", old)

"""Which runs are being written at this moment: known by locks that end with the process, however it ends.

A run in a SQLite store is locked by a lock on a small file beside the store, one on a server by an advisory lock of a
connection. Both are let go by the system itself when the process is killed, so nobody has to judge by the clock, by
the number of a process or by the name of a machine whether it still lives.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import Lock

import sqlalchemy as sa
from sqlalchemy import exc

_TRIES, _PAUSE = 10, 0.02  # seconds; whoever only looks at a lock has it for a moment
_KEYS = 0x6576 << 48  # "ev": our part of the advisory locks that a database's users share; an id has 48 bits


class FileLocks:
    """Locks of a SQLite store: a locked file for each run beside it."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._files: dict[str, int] = {}
        self._guard = Lock()

    def take(self, run: str) -> bool:
        """Lock a run until it is released or this process ends; False when somebody else has it.

        Raises `OSError` when no file can be made beside the store.
        """
        with self._guard:
            for _ in range(_TRIES):
                if run in self._files:
                    return True
                file = os.open(self._place(run), os.O_RDWR | os.O_CREAT, 0o666)
                if not _lock(file, shared=False):
                    os.close(file)
                    time.sleep(_PAUSE)
                elif _is_named(file, self._place(run)):
                    self._files[run] = file
                    self._sweep()
                else:  # released, and so removed, between the opening and the locking
                    os.close(file)
            return run in self._files

    def renew(self) -> list[str]:
        """Lock again what was lost, and return what somebody else has taken meanwhile: a file stays locked."""
        return []

    def release(self, run: str) -> None:
        """Let go of a run; nothing happens when it is not locked here."""
        with self._guard:
            file = self._files.pop(run, None)
            if file is None:
                return
            if os.name == "posix":
                self._place(run).unlink(missing_ok=True)  # while it is locked, so that nobody else's is removed
            os.close(file)
            if os.name != "posix":  # an open file cannot be removed there
                with suppress(OSError):
                    self._place(run).unlink(missing_ok=True)

    def locked(self, connection: sa.Connection, runs: Iterable[str]) -> set[str]:  # noqa: ARG002 - as on a server
        """Return those of these runs that are locked, by us or by others."""
        return set(filter(self.is_locked, runs))

    def is_locked(self, run: str) -> bool:
        """Whether we or others have locked a run. What may not be looked at is taken as locked."""
        if run in self._files:
            return True
        try:
            file = os.open(self._place(run), os.O_RDONLY)
        except OSError as error:
            return not isinstance(error, FileNotFoundError)
        try:
            return not _lock(file, shared=True)
        finally:
            os.close(file)

    def close(self) -> None:
        """Let go of everything."""
        for run in list(self._files):
            self.release(run)

    def _place(self, run: str) -> Path:
        return self._store.with_name(f"{self._store.name}-{run}.lock")

    def _sweep(self) -> None:
        """Remove the files of processes that were killed."""
        for path in self._store.parent.iterdir():
            if not (path.match("*.lock") and path.name.startswith(f"{self._store.name}-")):
                continue
            with suppress(OSError):
                file = os.open(path, os.O_RDWR)
                try:
                    if _lock(file, shared=False) and _is_named(file, path):
                        path.unlink()
                finally:
                    os.close(file)


class ServerLocks:
    """Locks of a PostgreSQL store: advisory locks of a connection that is kept open for them.

    They need a connection of one's own to the server: a pool that shares connections between transactions has none.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._connection: sa.Connection | None = None
        self._runs: set[str] = set()
        self._locked: set[str] = set()  # of those, what the connection of this moment has locked
        self._guard = Lock()

    def take(self, run: str) -> bool:
        """See `FileLocks`."""
        with self._guard:
            if run in self._runs:
                return True
            if self._lock(run):
                self._runs.add(run)
            return run in self._runs

    def renew(self) -> list[str]:
        """See `FileLocks`."""
        with self._guard:
            if self._runs and self._connection is not None:
                try:
                    self._connection.exec_driver_sql("SELECT 1").close()
                except exc.DBAPIError:
                    self._drop()
            return [run for run in sorted(self._runs - self._locked) if not self._lock(run)]

    def _lock(self, run: str) -> bool:
        """Try to lock a run; a connection that broke while nobody used it is opened again."""
        was_open = self._connection is not None
        if self._connection is None:
            self._connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            if self._connection.scalar(sa.select(sa.func.pg_try_advisory_lock(_key(run)))):
                self._locked.add(run)
        except exc.DBAPIError:
            self._drop()
            if not was_open:
                raise
            return self._lock(run)
        return run in self._locked

    def _drop(self) -> None:
        self._locked.clear()
        if self._connection is not None:
            if not self._connection.closed:
                self._connection.invalidate()
            self._connection.close()
            self._connection = None

    def release(self, run: str) -> None:
        """See `FileLocks`."""
        with self._guard:
            if run not in self._runs:
                return
            self._runs.discard(run)
            self._locked.discard(run)
            if self._connection is None:
                return
            try:
                self._connection.execute(sa.select(sa.func.pg_advisory_unlock(_key(run))))
            except exc.DBAPIError:  # the server went away, and the locks with it
                self._drop()
            if not self._runs and self._connection is not None:
                self._connection.close()
                self._connection = None

    def locked(self, connection: sa.Connection, runs: Iterable[str]) -> set[str]:
        """See `FileLocks`."""
        wanted = {_key(run): run for run in runs}
        if not wanted:
            return set()
        query = sa.text(
            "SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1"
            " AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        return {wanted[key] for key in connection.execute(query).scalars() if key in wanted}

    def close(self) -> None:
        """See `FileLocks`."""
        for run in list(self._runs):
            self.release(run)


def _key(run: str) -> int:
    return _KEYS | int(run, 16)


def _is_named(file: int, place: Path) -> bool:
    """Whether an open file is still the one at a place."""
    try:
        return os.path.samestat(os.fstat(file), place.stat())
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int, *, shared: bool) -> bool:  # noqa: ARG001 - there is one kind of lock
        """Lock a file, let go of when it is closed; False when somebody else has it locked."""
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(file: int, *, shared: bool) -> bool:
        """Lock a file, let go of when it is closed; False when somebody else has it locked."""
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True  # a file system without locks: everything is taken as free
        return True

"""From a path or URL to a database engine, from a database's failure to one clear line, and who holds which run.

A run in a SQLite store is locked by a lock on a small file beside the store, one on a server by an advisory lock of a
connection. Both are let go by the system itself when the process is killed, so nobody has to judge by the clock, by
the number of a process or by the name of a machine whether it still lives.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc
from sqlalchemy.engine import make_url

from everyclaim.core.errors import MissingExtraError, NoStoreError, StoreError

_TRIES, _PAUSE = 3, 0.05  # seconds
LOCK_SECONDS = 30.0  # for which a store that another process writes to is waited for
POSTGRES_SCHEMA = "everyclaim"  # our own, so that a shared database keeps its own `runs` table

_HINTS = (  # a part of the database's message, and what it means for the user
    ("disk is full", "the disk is full; free some space and run again, stored results are safe"),
    ("no space left", "the disk is full; free some space and run again, stored results are safe"),
    ("database is locked", "another program has locked it; close that program and repeat the command"),
    ("readonly database", "it cannot be written; check the permissions of the file and its folder"),
    ("unable to open database file", "it cannot be opened; check that the folder exists and can be written"),
    ("not a database", "it is not a SQLite database; choose another file"),
    ("disk image is malformed", "the file is damaged; restore a backup, or move it away to start anew"),
    ("malformed database schema", "the file is damaged; restore a backup, or move it away to start anew"),
    ("codec can't decode", "the file is damaged; restore a backup, or move it away to start anew"),
    ("disk i/o error", "the disk cannot be read or written; check the drive"),
)


def engine_for(location: str | os.PathLike[str], *, read_only: bool = False) -> tuple[sa.Engine, str]:
    """Return an engine, not yet connected, and a name of the place without its password.

    With `read_only` nothing is made or changed: no folder, no file, no row.

    Raises `StoreError` for a URL that names no known kind of database, and `MissingExtraError` for
    PostgreSQL without its driver, `NoStoreError` where there is no file to read.
    """
    url = _url(location)
    shown = url.render_as_string(hide_password=True) if "://" in os.fspath(location) else os.fspath(location)
    if url.get_backend_name() == "sqlite":
        make = _sqlite_reader if read_only else _sqlite
        return make(url, shown), shown
    return _postgres(url, shown, read_only=read_only), shown


class ServerGoneError(StoreError):
    """The server cut the connection, or takes none: it may be back in a moment."""


@contextmanager
def translated(shown: str) -> Iterator[None]:
    """Turn what a database or the file system raises into `StoreError`."""
    try:
        yield
    except exc.DBAPIError as error:
        kind = ServerGoneError if _is_gone(error) else StoreError
        raise kind(_explain(shown, error.orig)) from error
    except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # of a damaged file SQLite may say anything
        raise StoreError(_explain(shown, error)) from error
    except exc.TimeoutError as error:
        raise StoreError(f"store {shown}: all connections are busy; read and write with fewer threads") from error


def sqlite_file(location: str | os.PathLike[str]) -> Path | None:
    """Return the file that a SQLite store is in, links followed; None for a server. Raises `StoreError` for neither."""
    url = _url(location)
    return Path(os.path.realpath(url.database or "")) if url.get_backend_name() == "sqlite" else None


def _url(location: str | os.PathLike[str]) -> sa.URL:
    text = os.fspath(location)
    if "://" not in text:
        if not text.strip() or text == ":memory:":
            raise StoreError(f"store {text!r}: pass a file path or postgresql://…")
        return sa.URL.create("sqlite+pysqlite", database=str(Path(text).expanduser().absolute()))
    try:
        url = make_url(text)
    except (exc.ArgumentError, ValueError):
        # The text may hold a password, so it is not repeated.
        raise StoreError("invalid store URL: write postgresql://user:***@host:5432/database") from None
    if "@" in (url.host or ""):
        raise StoreError("the store's URL: an '@' in a user name or password must be written as %40")
    backend = url.get_backend_name()
    if backend == "sqlite":
        if url.database in {None, "", ":memory:"}:
            raise StoreError(f"store {text!r}: pass a file path or postgresql://…")
        return url.set(drivername="sqlite+pysqlite")
    if backend in {"postgresql", "postgres"}:
        return url.set(drivername="postgresql+psycopg")
    raise StoreError(f"store URL starts with {backend}://: only a file path, sqlite:/// and postgresql:// are known")


def _sqlite(url: sa.URL, shown: str) -> sa.Engine:
    with translated(shown):
        path = _file_of(url, shown)
        path.parent.mkdir(parents=True, exist_ok=True)
    engine = sa.create_engine(url, connect_args={"timeout": LOCK_SECONDS}, hide_parameters=True)

    # The driver opens transactions on its own and late; we open them, and a writer takes the lock at
    # once, so that two writers wait for each other instead of failing half-way.
    @sa.event.listens_for(engine, "connect")
    def _configure(connection: sqlite3.Connection, _: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode=WAL").close()
        connection.execute("PRAGMA synchronous=NORMAL").close()

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _sqlite_reader(url: sa.URL, shown: str) -> sa.Engine:
    """Return an engine for reading alone, which needs no right to write.

    A store in WAL mode is read through two files beside it, a log and its index. Where we may, SQLite makes them and
    removes them again, and folds a log that a killed writer left into the file, so that the folder is as before. Where
    we may not, an older log is read together with the file; without one nobody is writing, and the file stands alone.
    """
    with translated(shown):
        path = _file_of(url, shown)
        if not path.exists():
            raise NoStoreError(f"there is no store at {shown}")

    def connect() -> sqlite3.Connection:
        for tries_left in reversed(range(_TRIES)):
            mode = "mode=rw"
            if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
                mode = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "mode=ro&immutable=1"
            # Read by one thread, closed by another: SQLAlchemy gives a connection to one thread at a time.
            connection = sqlite3.connect(
                f"{path.as_uri()}?{mode}",
                uri=True,
                timeout=LOCK_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                connection.execute("PRAGMA query_only=ON").close()
                connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").close()  # opens the files
            except sqlite3.OperationalError:
                connection.close()
                if not tries_left:
                    raise
                time.sleep(_PAUSE)  # a writer came or went between the look and the opening
            else:
                return connection
        raise AssertionError

    engine = sa.create_engine("sqlite+pysqlite://", creator=connect, poolclass=sa.NullPool, hide_parameters=True)
    sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine


def _file_of(url: sa.URL, shown: str) -> Path:
    path = Path(os.path.realpath(url.database or ""))
    if path.is_dir():
        raise StoreError(f"store {shown}: it is a folder; give the path of a file in it")
    return path


def _postgres(url: sa.URL, shown: str, *, read_only: bool) -> sa.Engine:
    try:
        return sa.create_engine(
            url,
            connect_args={} if "connect_timeout" in url.query else {"connect_timeout": 10},
            execution_options={"schema_translate_map": {None: POSTGRES_SCHEMA}, "postgresql_readonly": read_only},
            hide_parameters=True,
            pool_pre_ping=True,  # a server that restarted between two samples costs nothing
        )
    except ImportError:
        raise MissingExtraError("A PostgreSQL store", "postgres") from None
    except exc.ArgumentError as error:
        raise StoreError(f"store {shown}: {error}") from None


def _is_gone(error: exc.DBAPIError) -> bool:
    """Whether a server went away: connections have no code of a fault when they break, or one that says so."""
    code = getattr(error.orig, "sqlstate", None)
    if not isinstance(error, exc.OperationalError) or isinstance(error.orig, sqlite3.Error):
        return False
    return error.connection_invalidated or code is None or code.startswith(("08", "57P0"))


def _explain(shown: str, error: BaseException | None) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    lowered = text.lower()
    for part, meaning in _HINTS:
        if part in lowered:
            return f"store {shown}: {meaning}"
    return f"store {shown}: {text[:300]}"


_LOOKS, _MOMENT = 10, 0.02  # seconds; whoever only looks at a lock has it for a moment
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
            for _ in range(_LOOKS):
                if run in self._files:
                    return True
                file = os.open(self._place(run), os.O_RDWR | os.O_CREAT, 0o666)
                if not _lock(file, shared=False):
                    os.close(file)
                    time.sleep(_MOMENT)
                elif _is_named(file, self._place(run)):
                    self._files[run] = file
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

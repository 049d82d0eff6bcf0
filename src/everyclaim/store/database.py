"""A database of a store: opened, read, written, and its runs held while somebody is at them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Self, TypeVar

import sqlalchemy as sa

from everyclaim.core.errors import InputError, StoreError
from everyclaim.core.lifetime import Closing
from everyclaim.store.connect import POSTGRES_SCHEMA, ServerGoneError, engine_for, patiently, sqlite_file, translated
from everyclaim.store.holds import FileHolds, Holds, ServerHolds
from everyclaim.store.migrations import check_current, migrate
from everyclaim.store.tables import RUNS

T = TypeVar("T")

_PATIENCE = 30.0  # seconds for which whoever writes a run waits for a server that went away


class Database(Closing):
    """One SQLite file or PostgreSQL database, up to date; `location` is safe to show: it never holds a password."""

    def __init__(self, engine: sa.Engine, location: str) -> None:
        self._engine = engine
        self._holds = _holds_of(engine, location)
        self.location = location
        self._patience = _PATIENCE

    @classmethod
    def open(cls, location: str | os.PathLike[str], *, lock_seconds: float = 30.0) -> Self:
        """Open a store, made when it is not there and brought up to date when it is older.

        `location` is a file path or ``postgresql://user@host/database``. A SQLite store that another
        process is writing to is waited for, up to `lock_seconds`. Raises `StoreError`, and
        `MissingExtraError` for PostgreSQL without its driver.
        """
        engine, shown = engine_for(location, lock_seconds=lock_seconds)
        return cls._checked(engine, shown, migrate)

    @classmethod
    def open_to_read(cls, location: str | os.PathLike[str], *, lock_seconds: float = 30.0) -> Self:
        """Open a store that is there, to read it: nothing is made, brought up to date or written.

        Rights to read are enough. Raises `NoStoreError` when there is none, and otherwise as `open`, also for a store
        that an older version made.
        """
        engine, shown = engine_for(location, lock_seconds=lock_seconds, read_only=True)
        return cls._checked(engine, shown, check_current)

    @classmethod
    def _checked(cls, engine: sa.Engine, shown: str, check: Callable[[sa.Engine, str | None, str], None]) -> Self:
        schema = POSTGRES_SCHEMA if engine.dialect.name == "postgresql" else None
        try:
            with translated(shown):
                check(engine, schema, f"store {shown}")
        except BaseException:
            engine.dispose()
            raise
        return cls(engine, shown)

    def close(self) -> None:
        """Let go of every run and close every connection. The store cannot be used afterwards."""
        with translated(self.location):
            self._holds.close()
        self._engine.dispose()

    def reading(self) -> AbstractContextManager[sa.Connection]:
        """Return a connection for statements that other modules of the store bring along; nothing is written by it."""
        return self._read()

    @contextmanager
    def _read(self) -> Iterator[sa.Connection]:
        with translated(self.location), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _write(self) -> Iterator[sa.Connection]:
        with (
            translated(self.location),
            self._engine.connect().execution_options(write=True) as connection,
            connection.begin(),
        ):
            yield connection

    def _patiently(self, work: Callable[[], T]) -> T:
        """Do what may be done twice; a server that went away is waited for, and what was held there held again."""

        def held() -> T:
            with translated(self.location):
                lost = self._holds.renew()
            if lost:
                raise StoreError(
                    f"store {self.location}: while the server was away, another place went on with {', '.join(lost)}"
                )
            return work()

        try:
            done = patiently(held, self._patience)
        except ServerGoneError:
            self._patience = 0.0  # who has waited in vain does not wait again to say so
            raise
        self._patience = _PATIENCE
        return done

    def _take(self, run: str, taken: str = "") -> None:
        """Hold a run, or say that somebody else does."""
        with translated(self.location):
            if not self._holds.take(run):
                taken = taken or f"run {run} is being scored in another place at this moment"
                raise StoreError(f"store {self.location}: {taken}")

    def _lock(self, connection: sa.Connection, run: str) -> None:
        """Make other writers of this run wait (SQLite has one writer anyway), and check that it exists."""
        if connection.execute(sa.select(RUNS.c.id).where(RUNS.c.id == run).with_for_update()).first() is None:
            raise InputError(f"no run {run!r} in store {self.location}: it was never made, or it was deleted")


def _holds_of(engine: sa.Engine, location: str) -> Holds:
    file = sqlite_file(location)
    return FileHolds(file) if file else ServerHolds(engine)

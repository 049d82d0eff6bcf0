"""A database of a store, opened, read and written; and its runs: begun, resumed, finished, found, deleted."""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from typing import Any, Literal, Self, TypeVar

import sqlalchemy as sa

from everyclaim.core.errors import InputError, StoreError
from everyclaim.core.lifetime import Closing
from everyclaim.core.plaintext import did_you_mean
from everyclaim.core.types import Outcome, Provenance
from everyclaim.store.connect import (
    POSTGRES_SCHEMA,
    FileLocks,
    ServerGoneError,
    ServerLocks,
    engine_for,
    sqlite_file,
    translated,
)
from everyclaim.store.labels import Transaction, delete_queues
from everyclaim.store.records import RowCounts, RunRecord, config_fingerprint, now, run_from
from everyclaim.store.tables import CLAIMS, RUNS, SAMPLES, TAGS, prepare

T = TypeVar("T")
_logger = logging.getLogger(__name__)

_PATIENCE = 30.0  # seconds for which whoever writes a run waits for a server that went away
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0  # seconds between looks at it
_RECENT = 200  # runs whose names are looked through for the one that was meant
_LISTED = 5  # runs that a message names
_PREFIX = 4  # the fewest characters of a run's id that may stand for it
_NEWEST = (RUNS.c.created.desc(), RUNS.c.id)


def _listed(runs: Sequence[RunRecord]) -> str:
    first = [f"{run.id} ({run.created[:16].replace('T', ' ')} UTC)" for run in runs[:_LISTED]]
    return ", ".join([*first, *["…"] * (len(runs) > _LISTED)])


class RunStore(Closing):
    """One SQLite file or PostgreSQL database, and the runs in it.

    `location` is safe to show: it never holds a password. A run is locked by the store that begins or resumes it until
    it finishes or the store is closed: that is how everybody knows whether somebody is still at it.
    """

    def __init__(self, engine: sa.Engine, location: str) -> None:
        self._engine = engine
        file = sqlite_file(location)
        self._locks = FileLocks(file) if file else ServerLocks(engine)
        self.location = location
        self._patience = _PATIENCE

    @classmethod
    def open(cls, location: str | os.PathLike[str], *, only_read: bool = False) -> Self:
        """Open a store, made when it is not there, unless it is `only_read`; see `open_to_read`.

        `location` is a file path or ``postgresql://user@host/database``. A SQLite store that another process is writing
        to is waited for, up to 30 seconds. Raises `StoreError`, and `MissingExtraError` for PostgreSQL without its
        driver.
        """
        engine, shown = engine_for(location, read_only=only_read)
        schema = POSTGRES_SCHEMA if engine.dialect.name == "postgresql" else None
        try:
            with translated(shown):
                prepare(engine, schema, f"store {shown}", only_read=only_read)
        except BaseException:
            engine.dispose()
            raise
        return cls(engine, shown)

    @classmethod
    def open_to_read(cls, location: str | os.PathLike[str]) -> Self:
        """Open a store that is there, to read it: nothing is made or written.

        Rights to read are enough. Raises `NoStoreError` when there is none, and otherwise as `open`.
        """
        return cls.open(location, only_read=True)

    def close(self) -> None:
        """Let go of every run and close every connection. The store cannot be used afterwards."""
        with translated(self.location):
            self._locks.close()
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Give a connection for statements that only read, also for those that other modules bring along."""
        with translated(self.location), self._engine.connect() as connection:
            yield connection

    def _scalars(self, query: sa.Select[Any]) -> list[Any]:
        """Return the first column of what a query finds."""
        with self.reading() as connection:
            return list(connection.scalars(query))

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Give a connection in a transaction that writes: all of it, or nothing."""
        with (
            translated(self.location),
            self._engine.connect().execution_options(write=True) as connection,
            connection.begin(),
        ):
            yield connection

    def _patiently(self, begin: Transaction, work: Callable[[sa.Connection], T]) -> T:
        """Do what may be done twice; a server that went away is waited for, and what was held there held again."""
        until, pause = time.monotonic() + self._patience, _FIRST_PAUSE
        while True:
            try:
                with translated(self.location):
                    lost = self._locks.renew()
                if lost:
                    raise StoreError(
                        f"store {self.location}: while the server was away, another process continued {', '.join(lost)}"
                    )
                with begin() as connection:
                    done = work(connection)
            except ServerGoneError as error:
                if time.monotonic() + pause > until:
                    waited = f"; waited {self._patience:g} seconds for the server" if self._patience else ""
                    self._patience = 0.0  # who has waited in vain does not wait again to say so
                    raise ServerGoneError(
                        f"{error}{waited}; stored results are safe: repeat the command when the server is back"
                    ) from error
                if pause == _FIRST_PAUSE:
                    _logger.warning("%s; waiting for the server", error)
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                self._patience = _PATIENCE
                return done

    def _take(self, run: str, taken: str = "") -> None:
        """Hold a run, or say that somebody else does."""
        with translated(self.location):
            if not self._locks.take(run):
                raise StoreError(taken or f"run {run} of store {self.location} is being scored by another process")

    def _lock(self, connection: sa.Connection, run: str) -> None:
        """Make other writers of this run wait (SQLite has one writer anyway), and check that it exists."""
        if connection.execute(sa.select(RUNS.c.id).where(RUNS.c.id == run).with_for_update()).first() is None:
            raise InputError(f"no run {run!r} in store {self.location}: it never existed, or was deleted")

    # ---- runs

    def create_run(
        self,
        provenance: Provenance,
        *,
        name: str = "",
        dataset: str = "",
        dataset_fingerprint: str = "",
        config: Mapping[str, Any] | None = None,
        total: int | None = None,
    ) -> RunRecord:
        """Begin a run. `config` is any JSON object; with the provenance it makes `config_fingerprint`."""
        settings = dict(config or {})
        row: dict[str, Any] = {
            "id": secrets.token_hex(6),
            "name": name,
            "created": now(),
            "status": "running",
            **{field.name: getattr(provenance, field.name) for field in fields(provenance)},
            "parameters": dict(provenance.parameters),
            "config": settings,
            "config_fingerprint": config_fingerprint(provenance, settings),
            "dataset": dataset,
            "dataset_fingerprint": dataset_fingerprint,
            "total": total,
        }
        with self.writing() as connection:
            self._take(row["id"])  # before anybody can see it
            connection.execute(sa.insert(RUNS), row)
        return self.run(row["id"])

    def find_unfinished(self, dataset: str, config_fingerprint: str) -> RunRecord | None:
        """Return the newest run of this data set and configuration if it did not finish, else None.

        Compare `dataset_fingerprint` before going on with it: `save_all` refuses a sample at a
        position that holds another one.
        """
        alike = sa.select(RUNS).where(RUNS.c.dataset == dataset, RUNS.c.config_fingerprint == config_fingerprint)
        newest = self._records(alike.order_by(*_NEWEST).limit(1))
        return next((record for record in newest if record.status != "finished"), None)

    def resume_run(self, run: str, *, name: str = "") -> RunRecord:
        """Note that a run goes on, by another name where one is given. Raises `StoreError` when it is in use."""
        going_on = {"status": "running", "finished": None, "counts": None, "reading": None}
        going_on |= {"name": name} if name else {}
        with self.writing() as connection:
            self._lock(connection, run)
            self._take(run)
            connection.execute(sa.update(RUNS).where(RUNS.c.id == run).values(going_on))
        return self.run(run)

    def finish_run(
        self, run: str, status: Literal["finished", "stopped", "failed"], reading: RowCounts | None = None
    ) -> None:
        """Note how a run ended, when, how many samples had each outcome, and what became of the rows."""
        ended: dict[str, Any] = {
            "status": status, "finished": now(), "reading": asdict(reading) if reading else None
        }  # fmt: skip

        def end(connection: sa.Connection) -> None:
            self._lock(connection, run)
            ended["counts"] = self._count(connection, [run])[run]
            connection.execute(sa.update(RUNS).where(RUNS.c.id == run).values(ended))

        self._patiently(self.writing, end)
        with translated(self.location):
            self._locks.release(run)

    def runs(self, limit: int | None = None, *, is_finished: bool = False) -> list[RunRecord]:
        """Return the runs, newest first; with `is_finished` only those that finished."""
        query = sa.select(RUNS).where(RUNS.c.status == "finished") if is_finished else sa.select(RUNS)
        return self._records(query.order_by(*_NEWEST).limit(limit))

    def run(self, wanted: str, *, is_unique: bool = False) -> RunRecord:
        """Return the run with this id, else the newest with this name, else the one whose id starts so.

        Raises `InputError` if there is none, if several ids start so, or, if `is_unique`, several have the name.
        """
        if not wanted:
            raise InputError("the run id or name is empty; `everyclaim runs` lists the runs")
        newest = sa.select(RUNS).order_by(*_NEWEST).limit(_RECENT)
        if found := self._records(newest.where(RUNS.c.id == wanted)):
            return found[0]
        if found := self._records(newest.where(RUNS.c.name == wanted)):
            if len(found) > 1:
                if is_unique:
                    raise InputError(f"{len(found)} runs are named {wanted!r}: {_listed(found)}; pass an id")
                _logger.warning(
                    "using the newest of %d runs named %r: %s; pass an id to choose another",
                    len(found), wanted, _listed(found),
                )  # fmt: skip
            return found[0]
        if len(wanted) >= _PREFIX:
            found = self._records(newest.where(RUNS.c.id.startswith(wanted, autoescape=True)))
            if len(found) > 1:
                raise InputError(f"{len(found)} run ids start with {wanted!r}: {_listed(found)}; pass more of the id")
            if found:
                return found[0]
        if os.path.isfile(wanted):  # noqa: PTH113 - of what may be no path
            raise InputError(f"{wanted} is a file, not a run: score it first, then name the run")
        meant = did_you_mean(wanted, [record.name for record in self.runs(_RECENT) if record.name])
        raise InputError(f"no run {wanted!r} in store {self.location}; `everyclaim runs` lists them{meant}")

    def rename_run(self, run: str, name: str) -> None:
        """Give a run another name, also while it is scored. Raises `InputError` when there is none."""
        with self.writing() as connection:
            self._lock(connection, run)
            connection.execute(sa.update(RUNS).where(RUNS.c.id == run).values(name=name))

    def delete_run(self, run: str) -> None:
        """Delete a run with its samples, claims and queues. Human labels stay: they belong to the text and hold none.

        Raises `InputError` when there is none, and `StoreError` when somebody else is at it.
        """
        with self.writing() as connection:
            self._lock(connection, run)
            self._take(run)
            delete_queues(connection, run)
            for table in (CLAIMS, TAGS, SAMPLES):
                connection.execute(sa.delete(table).where(table.c.run_id == run))
            connection.execute(sa.delete(RUNS).where(RUNS.c.id == run))
        with translated(self.location):
            self._locks.release(run)

    def _records(self, query: sa.Select[Any]) -> list[RunRecord]:
        with self.reading() as connection:
            rows = connection.execute(query).mappings().all()
            live = self._count(connection, [row["id"] for row in rows if row["counts"] is None])
            running = {row["id"] for row in rows if row["status"] == "running"}
            left = running - self._locks.locked(connection, running)
        if left:
            still = sa.select(sa.func.count()).where(RUNS.c.id.in_(left), RUNS.c.status == "running")
            with self.reading() as connection:
                if (connection.scalar(still) or 0) < len(left):  # one has ended between the two looks
                    return self._records(query)
        found = []
        for row in rows:
            counts = live.get(row["id"], row["counts"])
            by_outcome = {outcome: counts.get(outcome.value, 0) for outcome in Outcome}
            found.append(run_from(row, by_outcome, "interrupted" if row["id"] in left else row["status"]))
        return found

    def _count(self, connection: sa.Connection, runs: Iterable[str]) -> dict[str, dict[str, int]]:
        counts: dict[str, dict[str, int]] = {run: {} for run in runs}
        if counts:
            query = (
                sa.select(SAMPLES.c.run_id, SAMPLES.c.outcome, sa.func.count())
                .where(SAMPLES.c.run_id.in_(list(counts)))
                .group_by(SAMPLES.c.run_id, SAMPLES.c.outcome)
            )
            for run, outcome, number in connection.execute(query):
                counts[run][outcome] = number
        return counts

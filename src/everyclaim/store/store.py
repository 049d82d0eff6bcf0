"""`Store`: everything that is done to a database of runs.

Every method is one transaction (reading a whole run is many small ones), may be called from any
thread, and raises `StoreError` with one line when the database cannot do it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Literal, Self, TypeVar

import sqlalchemy as sa

from everyclaim.core.closing import Closing
from everyclaim.core.errors import InputError, StoreError
from everyclaim.core.kept_open import opened
from everyclaim.core.protocols import Kept, Tally
from everyclaim.core.types import Label, Outcome, Provenance, Result, Sample
from everyclaim.core.wire import result_from_json
from everyclaim.store import labels
from everyclaim.store.connect import POSTGRES_SCHEMA, ServerGoneError, engine_for, patiently, sqlite_file, translated
from everyclaim.store.figures import ClaimRow, Figures, Notes, read_claims, read_figures
from everyclaim.store.holds import FileHolds, Holds, ServerHolds
from everyclaim.store.labelling import Labelling, delete_queues
from everyclaim.store.migrations import check_current, migrate
from everyclaim.store.records import HumanLabel, Reading, RunRecord, config_fingerprint
from everyclaim.store.rows import kept_from, rows_of, run_from, sample_from
from everyclaim.store.tables import CLAIMS, RUNS, SAMPLES, TAGS

T = TypeVar("T")

_WINDOW = 20_000  # samples whose claims are counted at once
_CHUNK = 64  # samples read at once: bounds memory, and no cursor stays open between chunks
_MANY = 1_000  # samples of a run, from which on it matters how a query is carried out
_PATIENCE = 30.0  # seconds for which whoever writes a run waits for a server that went away
_PREFIX = 4  # the fewest characters of a run's id that may stand for it
_NEWEST = (RUNS.c.created.desc(), RUNS.c.id)
_SAMPLE = [column for column in SAMPLES.c if column.name not in {"result", "outcome", "score", "reason"}]


class Store(Closing):
    """Runs, samples, claims and human labels in one SQLite file or PostgreSQL database.

    Open one with `Store.open`, or with `Store.open_to_read`, and close it or use it in a ``with`` statement.
    `location` is safe to show: it never holds a password. A run is held by the store that begins or resumes it until
    it finishes or the store is closed: that is how everybody knows whether somebody is still at it.
    """

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
    def lent(cls, location: str | os.PathLike[str]) -> AbstractContextManager[Store]:
        """Open a store to read, as `open_to_read`, or take the one that this piece of work has open (`kept_open`)."""
        return opened(os.fspath(location), lambda: cls.open_to_read(location))

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
            "created": _now(),
            "finished": None,
            "status": "running",
            "metric": provenance.metric,
            "decomposer": provenance.decomposer,
            "verifier": provenance.verifier,
            "strategy": provenance.strategy,
            "version": provenance.version,
            "parameters": dict(provenance.parameters),
            "config": settings,
            "config_fingerprint": config_fingerprint(provenance, settings),
            "dataset": dataset,
            "dataset_fingerprint": dataset_fingerprint,
            "total": total,
            "counts": None,
            "reading": None,
        }
        with self._write() as connection:
            self._take(row["id"])  # before anybody can see it
            connection.execute(sa.insert(RUNS), row)
        return self.run(row["id"])

    def find_unfinished(self, dataset: str, config_fingerprint: str) -> RunRecord | None:
        """Return the newest run of this data set and configuration if it did not finish, else None.

        Compare `dataset_fingerprint` before going on with it: `save_all` refuses a sample at a
        position that holds another one.
        """
        query = (
            sa.select(RUNS)
            .where(RUNS.c.dataset == dataset, RUNS.c.config_fingerprint == config_fingerprint)
            .order_by(*_NEWEST)
            .limit(1)
        )
        return next((record for record in self._records(query) if record.status != "finished"), None)

    def resume_run(self, run: str) -> RunRecord:
        """Note that a run goes on. Raises `StoreError` when somebody else is at it."""
        going_on = {"status": "running", "finished": None, "counts": None, "reading": None}
        with self._write() as connection:
            self._lock(connection, run)
            self._take(run)
            connection.execute(sa.update(RUNS).where(RUNS.c.id == run).values(going_on))
        return self.run(run)

    def finish_run(
        self, run: str, status: Literal["finished", "stopped", "failed"], reading: Reading | None = None
    ) -> None:
        """Note how a run ended, when, how many samples had each outcome, and what became of the rows."""
        ended: dict[str, Any] = {
            "status": status, "finished": _now(), "reading": asdict(reading) if reading else None
        }  # fmt: skip

        def end() -> None:
            with self._write() as connection:
                self._lock(connection, run)
                ended["counts"] = self._count(connection, [run])[run]
                connection.execute(sa.update(RUNS).where(RUNS.c.id == run).values(ended))

        self._patiently(end)
        with translated(self.location):
            self._holds.release(run)
        if sum(ended["counts"].values()) >= _MANY and self._engine.dialect.name == "postgresql":
            self._take_stock()

    def runs(self, limit: int | None = None) -> list[RunRecord]:
        """Return the runs, newest first."""
        return self._records(sa.select(RUNS).order_by(*_NEWEST).limit(limit))

    def run(self, wanted: str) -> RunRecord:
        """Return the run with this id, else the newest with this name, else the one whose id begins so.

        Raises `InputError` when there is none, or when several ids begin so.
        """
        if not wanted:
            raise InputError("the id or name given for a run is empty; `everyclaim runs` lists the runs there are")
        for query in (
            sa.select(RUNS).where(RUNS.c.id == wanted),
            sa.select(RUNS).where(RUNS.c.name == wanted, RUNS.c.name != "").order_by(*_NEWEST).limit(1),
            sa.select(RUNS).where(RUNS.c.id.startswith(wanted, autoescape=True)).order_by(*_NEWEST).limit(3),
        ):
            found = self._records(query)
            if len(found) == 1 and wanted and (wanted in {found[0].id, found[0].name} or len(wanted) >= _PREFIX):
                return found[0]
            if len(found) > 1 and len(wanted) >= _PREFIX:
                ids = ", ".join(record.id for record in found)
                raise InputError(f"run {wanted!r} could be any of {ids}, …: give more of the id")
        raise InputError(f"no run {wanted!r} in store {self.location}: give the id or the name of a run kept there")

    def delete_run(self, run: str) -> None:
        """Delete a run with its samples, claims and queues. Human labels stay: they belong to the text and hold none.

        Raises `InputError` when there is none, and `StoreError` when somebody else is at it.
        """
        with self._write() as connection:
            self._lock(connection, run)
            self._take(run)
            delete_queues(connection, run)
            for table in (CLAIMS, TAGS, SAMPLES):
                connection.execute(sa.delete(table).where(table.c.run_id == run))
            connection.execute(sa.delete(RUNS).where(RUNS.c.id == run))
        with translated(self.location):
            self._holds.release(run)

    # ---- samples and results

    def kept(self, run: str, start: int, stop: int) -> Mapping[int, str]:
        """Return position → fingerprint of the samples kept at ``start <= position < stop``."""
        query = sa.select(SAMPLES.c.position, SAMPLES.c.fingerprint).where(
            SAMPLES.c.run_id == run, SAMPLES.c.position >= start, SAMPLES.c.position < stop
        )

        def read() -> Mapping[int, str]:
            with self._read() as connection:
                return dict(connection.execute(query).all())

        return self._patiently(read)

    def save(self, run: str, position: int, fingerprint: str, sample: Sample, result: Result) -> None:
        """Keep one result; see `save_all`."""
        self.save_all(run, [Kept(position, fingerprint, sample, result)])

    def save_all(self, run: str, batch: Sequence[Kept]) -> None:
        """Keep these results in one transaction, durably, before returning.

        What is already kept stays as it is. A server that goes away is waited for. Raises `StoreError` when a
        position holds another sample, which means that the data changed since the run began, and `InputError` for
        an unknown run.
        """

        def save() -> None:
            with self._write() as connection:
                self._lock(connection, run)
                new = self._new(connection, run, batch)
                for table, rows in zip((SAMPLES, CLAIMS, TAGS), rows_of(run, new), strict=True):
                    if rows:
                        connection.execute(sa.insert(table), rows)

        self._patiently(save)

    def rescore(self, run: str, results: Iterable[Result]) -> None:
        """Replace the results of a run by these, of all its samples in order, which differ in their numbers alone."""
        pairs = zip(self.records(run), results, strict=True)
        while batch := list(islice(pairs, _CHUNK)):
            changed = [kept._replace(result=new) for kept, new in batch if kept.result != new]
            with self._write() as connection:
                self._lock(connection, run)
                for row in rows_of(run, changed)[0]:
                    at = (SAMPLES.c.run_id == run, SAMPLES.c.position == row["position"])
                    new = {"score": row["score"], "result": row["result"]}
                    connection.execute(sa.update(SAMPLES).where(*at).values(new))

    def forget_failed(self, run: str) -> int:
        """Drop the samples whose judge failed, so that resuming the run scores them again; return how many."""
        failed = sa.select(SAMPLES.c.position).where(SAMPLES.c.run_id == run, SAMPLES.c.outcome == Outcome.FAILED.value)
        with self._write() as connection:
            self._lock(connection, run)
            for table in (CLAIMS, TAGS):
                connection.execute(sa.delete(table).where(table.c.run_id == run, table.c.position.in_(failed)))
            gone = connection.execute(
                sa.delete(SAMPLES).where(SAMPLES.c.run_id == run, SAMPLES.c.outcome == Outcome.FAILED.value)
            )
            connection.execute(sa.update(RUNS).where(RUNS.c.id == run).values(counts=None))
            return gone.rowcount

    def results(self, run: str) -> Iterator[Result]:
        """Yield a run's results in input order, a few in memory at a time."""
        columns = [SAMPLES.c.position, SAMPLES.c.result]
        return self._stream(run, columns, lambda row: result_from_json(row["result"]))

    def tallies(self, run: str) -> Iterator[Tally]:
        """Yield what every result comes to, without reading the results."""
        label, position = CLAIMS.c.label, CLAIMS.c.position
        counted = (
            sa.select(position, label, sa.func.count().label("count"))
            .where(CLAIMS.c.run_id == run)
            .group_by(position, label)
        )
        with self._read() as connection:
            counts: dict[int, dict[Label, int]] = {}
            for row in self._fetch(run, connection, counted):
                counts.setdefault(row["position"], {})[Label(row["label"])] = row["count"]
        columns = [SAMPLES.c.position, SAMPLES.c.outcome, SAMPLES.c.score]
        yield from self._stream(
            run, columns, lambda row: Tally(Outcome(row["outcome"]), row["score"], counts.get(row["position"], {}))
        )

    def figures(self, run: str, notes: Notes | None = None) -> Figures:
        """Return outcomes, scores, labels, failure modes and tags of a run in flat arrays, without its texts.

        With `notes`, what these ask of the texts is noted as they are read.
        """
        with self._read() as connection:
            return read_figures(connection, run, notes)

    def claims_of(self, run: str, positions: Iterable[int]) -> dict[int, list[ClaimRow]]:
        """Return the claims of the samples at these places."""
        with self._read() as connection:
            return {position: read_claims(connection, run, position) for position in positions}

    def samples(self, run: str) -> Iterator[Sample]:
        """Yield a run's samples in input order, a few in memory at a time."""
        return self._stream(run, _SAMPLE, sample_from)

    def records(self, run: str, *, after: int = -1) -> Iterator[Kept]:
        """Yield a run's samples with their results in input order, those behind a place, a few in memory at a time."""
        return self._stream(run, list(SAMPLES.c), kept_from, after)

    def find(self, run: str, sample_id: str) -> list[Kept]:
        """Return what is kept under a sample's id: one, none, or several when ids repeat."""
        query = sa.select(SAMPLES).where(labels.is_sample(run, sample_id)).order_by(SAMPLES.c.position)
        with self._read() as connection:
            rows = connection.execute(query).mappings().all()
        return [self._decoded(run, row, kept_from) for row in rows]

    # ---- human labels

    def add_label(
        self, run: str, sample_id: str, claim_id: str, label: Label, *, annotator: str, note: str = ""
    ) -> HumanLabel:
        """Keep a person's label of one claim; labelling it again replaces that person's earlier label.

        Raises `InputError` when the run has no such sample or claim.
        """
        with self._write() as connection:
            self._lock(connection, run)
            place, about = labels.claim_of(connection, run, sample_id, claim_id)
            new, now = replace(about, label=Label(label), annotator=annotator, note=note), _now()
            labels.replace_all(connection, run, [new], now)
        return HumanLabel(
            place, sample_id, claim_id, new.label, annotator, note, now, new.key, new.answer_key, new.span
        )

    def add_labels(self, run: str, new: Sequence[labels.NewLabel]) -> None:
        """Keep labels of texts in one transaction, each in place of the annotator's earlier one of the same text."""
        with self._write() as connection:
            self._lock(connection, run)
            labels.replace_all(connection, run, new, _now())

    def labels(self, run: str) -> list[HumanLabel]:
        """Return the labels of a run's texts, for whichever run they were given, in the order of its samples."""
        with self._read() as connection:
            return labels.gather(connection, run)

    def has_labels(self, run: str) -> bool:
        """Whether people labelled a claim or an answer of this run's texts."""
        with self._read() as connection:
            return labels.has_any(connection, run)

    @property
    def labelling(self) -> Labelling:
        """Queues of what people label, their marks of how claims were cut, and what they did, in order."""
        return Labelling(self._read, self._write, self._lock)

    def verdicts(self, run: str) -> Iterator[Sequence[tuple[int, int, str, float | None]]]:
        """Yield, some thousands at a time, of every claim of a scored sample: place, ordinal, label, p(supported)."""
        with self._read() as connection:
            last = connection.execute(
                sa.select(sa.func.max(SAMPLES.c.position)).where(SAMPLES.c.run_id == run)
            ).scalar()
        # Two queries, not a join: a server that has no statistics of a new run yet would join row by row.
        scored = sa.select(SAMPLES.c.position).where(SAMPLES.c.run_id == run, SAMPLES.c.outcome == Outcome.SCORED.value)
        claims = (
            sa.select(CLAIMS.c.position, CLAIMS.c.ordinal, CLAIMS.c.label, CLAIMS.c.supported)
            .where(CLAIMS.c.run_id == run)
            .order_by(CLAIMS.c.position, CLAIMS.c.ordinal)
        )
        for first in range(0, (-1 if last is None else last) + 1, _WINDOW):
            with self._read() as connection:
                good = set(connection.scalars(scored.where(SAMPLES.c.position.between(first, first + _WINDOW - 1))))
                rows = connection.execute(claims.where(CLAIMS.c.position.between(first, first + _WINDOW - 1))).all()
            yield [tuple(row) for row in rows if row.position in good]

    def records_at(self, run: str, positions: Iterable[int]) -> Iterator[Kept]:
        """Yield the samples at these places with their results, in the order of the input."""
        wanted = sorted(set(positions))
        for first in range(0, len(wanted), _CHUNK):
            at = (SAMPLES.c.run_id == run, SAMPLES.c.position.in_(wanted[first : first + _CHUNK]))
            with self._read() as connection:
                rows = self._fetch(run, connection, sa.select(SAMPLES).where(*at).order_by(SAMPLES.c.position))
            for row in rows:
                yield self._decoded(run, row, kept_from)

    # ---- how

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

    def _take_stock(self) -> None:
        """Let the server count what was added: before, it takes a new run for a few rows and looks each one up."""
        tables = ", ".join(f"{POSTGRES_SCHEMA}.{table.name}" for table in (SAMPLES, CLAIMS, TAGS))
        with suppress(StoreError), self._write() as connection:  # the run is kept; only pages would be slower
            connection.exec_driver_sql(f"ANALYZE (SKIP_LOCKED) {tables}")

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

    def _new(self, connection: sa.Connection, run: str, batch: Sequence[Kept]) -> list[Kept]:
        there: dict[int, str] = {}
        for first in range(0, len(batch), _CHUNK):
            positions = [kept.position for kept in batch[first : first + _CHUNK]]
            query = sa.select(SAMPLES.c.position, SAMPLES.c.fingerprint).where(
                SAMPLES.c.run_id == run, SAMPLES.c.position.in_(positions)
            )
            there.update(connection.execute(query).all())
        new = []
        for kept in batch:
            if kept.position not in there:
                there[kept.position] = kept.fingerprint
                new.append(kept)
            elif there[kept.position] != kept.fingerprint:
                raise StoreError(
                    f"store {self.location}: run {run} holds another sample at place {kept.position}: the data"
                    " changed since the run began; score it as a new run"
                )
        return new

    def _records(self, query: sa.Select[Any]) -> list[RunRecord]:
        with self._read() as connection:
            rows = connection.execute(query).mappings().all()
            live = self._count(connection, [row["id"] for row in rows if row["counts"] is None])
            running = {row["id"] for row in rows if row["status"] == "running"}
            left = running - self._holds.held(connection, running)
        return [
            run_from(
                row, _counts(live.get(row["id"], row["counts"])), "interrupted" if row["id"] in left else row["status"]
            )
            for row in rows
        ]

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

    def _stream(
        self, run: str, columns: Sequence[sa.Column[Any]], read: Callable[[sa.RowMapping], T], after: int = -1
    ) -> Iterator[T]:
        while True:
            query = (
                sa.select(*columns)
                .where(SAMPLES.c.run_id == run, SAMPLES.c.position > after)
                .order_by(SAMPLES.c.position)
                .limit(_CHUNK)
            )
            with self._read() as connection:
                rows = self._fetch(run, connection, query)
            for row in rows:
                yield self._decoded(run, row, read)
            if len(rows) < _CHUNK:
                return
            after = rows[-1]["position"]

    def _fetch(self, run: str, connection: sa.Connection, query: sa.Select[Any]) -> Sequence[sa.RowMapping]:
        try:
            return connection.execute(query).mappings().all()
        except ValueError as error:  # a JSON column that is no JSON
            raise StoreError(f"store {self.location}: run {run} holds a damaged row: {error}") from error

    def _decoded(self, run: str, row: sa.RowMapping, read: Callable[[sa.RowMapping], T]) -> T:
        try:
            return read(row)
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(
                f"store {self.location}: sample {row['position']} of run {run} cannot be read: {error!r}"
            ) from error


def _holds_of(engine: sa.Engine, location: str) -> Holds:
    file = sqlite_file(location)
    return FileHolds(file) if file else ServerHolds(engine)


def _counts(stored: Mapping[str, int]) -> dict[Outcome, int]:
    return {outcome: stored.get(outcome.value, 0) for outcome in Outcome}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")

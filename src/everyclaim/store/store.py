"""`Store`: everything that is done to a database of runs.

Every method is one transaction (reading a whole run is many small ones), may be called from any
thread, and raises `StoreError` with one line when the database cannot do it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any, TypeVar

import sqlalchemy as sa

from everyclaim.core.errors import StoreError
from everyclaim.core.lifetime import opened
from everyclaim.core.protocols import Kept
from everyclaim.core.types import Label, Outcome, Result, Sample
from everyclaim.core.wire import result_from_json
from everyclaim.store import labels
from everyclaim.store.figures import Figures, StoredClaim, read_figures
from everyclaim.store.labels import Labelling
from everyclaim.store.records import Annotation, kept_from, now, rows_of, sample_from
from everyclaim.store.run_store import RunStore
from everyclaim.store.tables import CLAIMS, LABELS, RUNS, SAMPLES, TAGS

T = TypeVar("T")

_WINDOW = 5_000  # samples whose claims are read at once
_CHUNK = 64  # samples read at once: bounds memory, and no cursor stays open between chunks
_SAMPLE = [column for column in SAMPLES.c if column.name not in {"result", "outcome", "score", "reason"}]


class Store(RunStore):
    """Runs, samples, claims and human labels in one SQLite file or PostgreSQL database.

    Open one with `Store.open`, or with `Store.open_to_read`, and close it or use it in a ``with`` statement.
    """

    @classmethod
    def lent(cls, location: str | os.PathLike[str]) -> AbstractContextManager[Store]:
        """Open a store to read, as `open_to_read`, or take the one that this work has open (`keeping_open`)."""
        return opened(os.fspath(location), lambda: cls.open_to_read(location))

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
                put_results(connection, run, self._new(connection, run, batch))

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

    def scores(self, run: str) -> list[float | None]:
        """Return the scores of a run's samples in input order, without reading the results."""
        query = sa.select(SAMPLES.c.score).where(SAMPLES.c.run_id == run).order_by(SAMPLES.c.position)
        with self._read() as connection:
            return list(connection.scalars(query))

    def figures(self, run: str) -> Figures:
        """Return outcomes, scores, labels, failure modes and tags of a run in flat arrays, without its texts."""
        with self._read() as connection:
            return read_figures(connection, run)

    def texts(self, run: str) -> Iterator[tuple[str, list[tuple[str, list[str]]]]]:
        """Yield of every sample, in input order, its question and its claims: text, and passages of the evidence."""
        columns = (CLAIMS.c.position, CLAIMS.c.text, CLAIMS.c.evidence)
        for samples, claims in self._windows(run, (SAMPLES.c.position, SAMPLES.c.question), columns):
            found: dict[int, list[tuple[str, list[str]]]] = {}
            for position, text, evidence in claims:
                found.setdefault(position, []).append((text, [one["passage_id"] for one in evidence]))
            for position, question in samples:
                yield question, found.get(position, [])

    def claims_of(self, run: str, positions: Iterable[int]) -> dict[int, list[StoredClaim]]:
        """Return the claims of the samples at these places, in their order."""
        found: dict[int, list[StoredClaim]] = {position: [] for position in positions}
        columns = CLAIMS.c
        query = sa.select(columns.position, columns.text, columns.label, columns.failure_mode)
        query = query.where(columns.run_id == run, columns.position.in_(found))
        with self._read() as connection:
            for position, text, label, mode in connection.execute(query.order_by(columns.position, columns.ordinal)):
                found[position].append(StoredClaim(position, text, Label(label), mode))
        return found

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

    def add_labels(self, run: str, new: Sequence[labels.AnyAnnotation]) -> None:
        """Keep labels, or marks, in one transaction, each in place of the annotator's earlier one of the same text."""
        with self._write() as connection:
            self._lock(connection, run)
            for annotation in new:
                labels.put(connection, labels.Act(secrets.token_hex(16), run), annotation, now())

    def labels(self, run: str) -> list[Annotation[Label]]:
        """Return the labels of a run's texts, for whichever run they were given, in the order of its samples."""
        with self._read() as connection:
            return labels.of_run(connection, run, Label)

    def has_labels(self, run: str) -> bool:
        """Whether people labelled a claim or an answer of this run's texts."""
        labelled = sa.select(SAMPLES.c.position).join(LABELS, LABELS.c.answer_key == SAMPLES.c.answer_key)
        with self._read() as connection:
            return connection.execute(labelled.where(SAMPLES.c.run_id == run).limit(1)).first() is not None

    @property
    def labelling(self) -> Labelling:
        """Queues of what people label, their marks of how claims were cut, and what they did, in order."""
        return Labelling(self._read, self._write, self._lock)

    def verdicts(self, run: str) -> Iterator[Sequence[tuple[int, int, str, float | None]]]:
        """Yield, some thousands at a time, of every claim of a scored sample: place, ordinal, label, p(supported)."""
        columns = (CLAIMS.c.position, CLAIMS.c.ordinal, CLAIMS.c.label, CLAIMS.c.supported)
        for samples, claims in self._windows(run, (SAMPLES.c.position, SAMPLES.c.outcome), columns):
            good = {position for position, outcome in samples if outcome == Outcome.SCORED.value}
            yield [tuple(claim) for claim in claims if claim[0] in good]

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
                    f"store {self.location}: run {run} has another sample at row {kept.position}: the "
                    "data changed since the run started; start a new run"
                )
        return new

    def _windows(
        self, run: str, of_samples: Sequence[sa.Column[Any]], of_claims: Sequence[sa.Column[Any]]
    ) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
        """Yield these columns of some samples and of their claims, both in order, and so on to the end of the run."""
        # Two queries, not a join: a server that has no statistics of a new run yet would join row by row.
        samples = sa.select(*of_samples).where(SAMPLES.c.run_id == run).order_by(SAMPLES.c.position)
        claims = sa.select(*of_claims).where(CLAIMS.c.run_id == run).order_by(CLAIMS.c.position, CLAIMS.c.ordinal)
        with self._read() as connection:
            last = connection.scalar(sa.select(sa.func.max(SAMPLES.c.position)).where(SAMPLES.c.run_id == run))
        for first in range(0, (-1 if last is None else last) + 1, _WINDOW):
            inside = first, first + _WINDOW - 1
            with self._read() as connection:
                answers = connection.execute(samples.where(SAMPLES.c.position.between(*inside))).all()
                yield answers, connection.execute(claims.where(CLAIMS.c.position.between(*inside))).all()

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
            raise StoreError(f"store {self.location}: run {run} has a damaged row: {error}") from error

    def _decoded(self, run: str, row: sa.RowMapping, read: Callable[[sa.RowMapping], T]) -> T:
        try:
            return read(row)
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(
                f"store {self.location}: sample {row['position']} of run {run} cannot be read: {error!r}"
            ) from error


def put_results(connection: sa.Connection, run: str, batch: Sequence[Kept]) -> None:
    """Put results in that are not there yet."""
    for table, rows in zip((SAMPLES, CLAIMS, TAGS), rows_of(run, batch), strict=True):
        if rows:
            connection.execute(sa.insert(table), rows)

"""`Store`: everything that is done to a database of runs, and the numbers of a run in flat arrays.

Every method is one transaction (reading a whole run is many small ones), may be called from any thread, and raises
`StoreError` with one line when the database cannot do it. `Figures` are read from their columns: no result, passage or
sentence is kept in memory.
"""

from __future__ import annotations

import secrets
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, islice
from typing import Any, TypeVar

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from everyclaim.core.errors import StoreError
from everyclaim.core.protocols import Kept
from everyclaim.core.types import Label, Outcome, Result
from everyclaim.core.wire import result_from_json
from everyclaim.store import labels
from everyclaim.store.labels import Labelling
from everyclaim.store.records import Annotation, kept_from, now, rows_of, utc_of
from everyclaim.store.run_store import RunStore
from everyclaim.store.tables import ANNOTATIONS, CLAIMS, RUNS, SAMPLES, TAGS

_LABELS = {label.value: place for place, label in enumerate(Label)}
_OUTCOMES = {outcome.value: place for place, outcome in enumerate(Outcome)}
_AT_ONCE = 2_000  # rows
_MASK = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run came to: one row per sample, one per claim; texts are digests of 64 bits.

    `sample` is the row of each claim's sample. `mode` counts from 0 in `modes`; −1 is none. `tags` holds, by name and
    value, the rows of the samples that have them.
    """

    ids: tuple[str, ...]
    positions: NDArray[np.int64]
    outcome: NDArray[np.int8]  # place in Outcome
    score: NDArray[np.float64]  # NaN: no number
    text: NDArray[np.uint64]  # of the answer with the texts of its passages
    release: tuple[str, ...]  # those that occur, sorted
    sample: NDArray[np.int32]
    label: NDArray[np.int8]  # place in Label
    mode: NDArray[np.int16]
    modes: tuple[str, ...]
    claim: NDArray[np.uint64]  # of the claim's text
    tags: Mapping[str, Mapping[str, NDArray[np.int32]]]
    released: NDArray[np.int16]  # place in `release` of each sample's; −1: it names none
    time: NDArray[np.float64]  # seconds since 1970 in UTC; NaN: not said

    def of(self, rows: NDArray[np.bool_]) -> Figures:
        """Return the figures of some of the samples."""
        new = np.cumsum(rows, dtype=np.int32) - 1
        claims = rows[self.sample]
        inside = {
            name: {value: new[having[rows[having]]] for value, having in values.items() if rows[having].any()}
            for name, values in self.tags.items()
        }
        names = sorted({self.release[place] for place in self.released[rows].tolist() if place >= 0})
        places = {self.release.index(name): place for place, name in enumerate(names)} | {-1: -1}
        return Figures(
            ids=tuple(compress(self.ids, rows.tolist())),
            release=tuple(names),
            sample=new[self.sample[claims]],
            modes=self.modes,
            tags=inside,
            released=np.array([places[place] for place in self.released[rows].tolist()], dtype=np.int16),
            **{name: getattr(self, name)[rows] for name in ("positions", "outcome", "score", "text", "time")},
            **{name: getattr(self, name)[claims] for name in ("label", "mode", "claim")},
        )

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Which samples have the outcome `scored`."""
        return np.equal(self.outcome, _OUTCOMES[Outcome.SCORED.value])


def read_figures(connection: sa.Connection, run: str) -> Figures:
    """Read the figures of a run, samples in the order of the input."""
    ids: list[str] = []
    releases: dict[str, int] = {}
    position, outcome, score, text = array("q"), array("b"), array("d"), array("Q")
    released, time = array("h"), array("d")
    columns = SAMPLES.c
    wanted = sa.select(
        columns.position, columns.sample_id, columns.release, _plain(columns.outcome), columns.score,
        _plain(columns.answer_key), columns.timestamp,
    )  # fmt: skip
    query = wanted.where(columns.run_id == run).order_by(columns.position)
    for part in _parts(connection, query):
        for place, sample_id, release, came_to, number, answer, timestamp in part:
            ids.append(sample_id)
            released.append(releases.setdefault(release, len(releases)) if release else -1)
            time.append(_seconds(timestamp))
            position.append(place)
            outcome.append(_OUTCOMES[came_to])
            score.append(np.nan if number is None else number)
            text.append(hash(answer) & _MASK)
    places = np.array(position, dtype=np.int64)
    order = {releases[name]: rank for rank, name in enumerate(sorted(releases))} | {-1: -1}
    return Figures(
        ids=tuple(ids),
        positions=places,
        outcome=np.array(outcome, dtype=np.int8),
        score=np.array(score, dtype=np.float64),
        text=np.array(text, dtype=np.uint64),
        release=tuple(sorted(releases)),
        **_claims(connection, run, places),
        tags=_tags(connection, run, places),
        released=np.array([order[place] for place in released], dtype=np.int16),
        time=np.array(time, dtype=np.float64),
    )


def _claims(connection: sa.Connection, run: str, places: NDArray[np.int64]) -> dict[str, Any]:
    position, label, mode, claim = array("q"), array("b"), array("h"), array("Q")
    modes: dict[str, int] = {}
    columns = CLAIMS.c
    query = sa.select(
        columns.position, _plain(columns.label), _plain(columns.failure_mode), _plain(columns.text)
    ).where(columns.run_id == run)
    for part in _parts(connection, query.order_by(columns.position, columns.ordinal)):
        positions, labels, whys, texts = zip(*part, strict=True)
        position.extend(positions)
        label.extend(map(_LABELS.__getitem__, labels))
        mode.extend(-1 if why is None else modes.setdefault(why, len(modes)) for why in whys)
        claim.extend(hash(text) & _MASK for text in texts)
    sample = np.searchsorted(places, np.array(position, dtype=np.int64)).astype(np.int32)
    numbers = {"label": np.array(label, np.int8), "mode": np.array(mode, np.int16), "claim": np.array(claim, np.uint64)}
    return numbers | {"sample": sample, "modes": tuple(modes)}


def _tags(connection: sa.Connection, run: str, places: NDArray[np.int64]) -> dict[str, dict[str, NDArray[np.int32]]]:
    found: dict[str, dict[str, array[int]]] = {}
    query = sa.select(TAGS.c.position, TAGS.c.name, TAGS.c.value).where(TAGS.c.run_id == run)
    for part in _parts(connection, query.order_by(TAGS.c.position, TAGS.c.ordinal)):
        for place, name, value in part:
            found.setdefault(name, {}).setdefault(value, array("q")).append(place)
    return {
        name: {
            value: np.unique(np.searchsorted(places, np.array(having, np.int64)).astype(np.int32))
            for value, having in sorted(values.items())
        }
        for name, values in sorted(found.items())
    }


def _seconds(timestamp: str | None) -> float:
    """Read a time as given; one without a zone is taken as UTC, one that is none as not said."""
    try:
        return utc_of((timestamp or "").strip()).timestamp()
    except (ValueError, OverflowError):
        return np.nan


def _plain(column: sa.Column[Any]) -> sa.ColumnElement[Any]:
    """Read a column as it is stored: for what is compared and not shown."""
    return sa.type_coerce(column, sa.Text)


def _parts(connection: sa.Connection, query: sa.Select[Any]) -> Iterator[Sequence[Any]]:
    """Yield rows, some thousand at once, so that no more texts than these are in memory."""
    streamed = connection.execution_options(stream_results=True, max_row_buffer=_AT_ONCE).execute(query)
    yield from streamed.partitions(_AT_ONCE)


T = TypeVar("T")

_CHUNK = 64  # samples read at once: bounds memory, and no cursor stays open between chunks


class Store(RunStore):
    """Runs, samples, claims and human labels in one SQLite file or PostgreSQL database.

    Open one with `Store.open`, or with `Store.open_to_read`, and close it or use it in a ``with`` statement.
    """

    # ---- samples and results

    def kept(self, run: str, start: int, stop: int) -> Mapping[int, str]:
        """Return position → fingerprint of the samples kept at ``start <= position < stop``."""
        return self._patiently(self.reading, lambda connection: _kept(connection, run, start, stop))

    def save_all(self, run: str, batch: Sequence[Kept]) -> None:
        """Keep these results in one transaction, durably, before returning.

        What is already kept stays as it is. A server that goes away is waited for. Raises `StoreError` when a
        position holds another sample, which means that the data changed since the run began, and `InputError` for
        an unknown run.
        """

        def save(connection: sa.Connection) -> None:
            self._lock(connection, run)
            put_results(connection, run, self._new(connection, run, batch))

        self._patiently(self.writing, save)

    def rescore(self, run: str, results: Iterable[Result]) -> None:
        """Replace the results of a run by these, of all its samples in order, which differ in their numbers alone."""
        pairs = zip(self.records(run), results, strict=True)
        while batch := list(islice(pairs, _CHUNK)):
            changed = [kept._replace(result=new) for kept, new in batch if kept.result != new]
            with self.writing() as connection:
                self._lock(connection, run)
                for row in rows_of(run, changed)[0]:
                    at = (SAMPLES.c.run_id == run, SAMPLES.c.position == row["position"])
                    new = {"score": row["score"], "result": row["result"]}
                    connection.execute(sa.update(SAMPLES).where(*at).values(new))

    def forget_failed(self, run: str) -> int:
        """Drop the samples whose judge failed, so that resuming the run scores them again; return how many."""
        failed = sa.select(SAMPLES.c.position).where(SAMPLES.c.run_id == run, SAMPLES.c.outcome == Outcome.FAILED.value)
        with self.writing() as connection:
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
        return self._scalars(sa.select(SAMPLES.c.score).where(SAMPLES.c.run_id == run).order_by(SAMPLES.c.position))

    def figures(self, run: str) -> Figures:
        """Return outcomes, scores, labels, failure modes and tags of a run in flat arrays, without its texts."""
        with self.reading() as connection:
            return read_figures(connection, run)

    def probabilities(self, run: str) -> NDArray[np.float64]:
        """Return P(supported) of every claim of a run, in the order of its figures; NaN: none."""
        columns = CLAIMS.c
        query = sa.select(columns.supported).where(columns.run_id == run).order_by(columns.position, columns.ordinal)
        return np.array(self._scalars(query), np.float64)

    def texts(self, run: str) -> Iterator[tuple[str, list[tuple[str, list[str]]]]]:
        """Yield of every sample, in input order, its question and its claims: text, and passages of the evidence."""
        samples = sa.select(SAMPLES.c.position, SAMPLES.c.question).where(SAMPLES.c.run_id == run)
        claims = sa.select(CLAIMS.c.position, CLAIMS.c.text, CLAIMS.c.evidence).where(CLAIMS.c.run_id == run)
        # Two queries, not a join: a server that has no statistics of a new run yet would join row by row.
        with self.reading() as connection:
            for part in _parts(connection, samples.order_by(SAMPLES.c.position)):
                found: dict[int, list[tuple[str, list[str]]]] = {position: [] for position, _ in part}
                inside = claims.where(CLAIMS.c.position.between(part[0].position, part[-1].position))
                for position, text, evidence in connection.execute(
                    inside.order_by(CLAIMS.c.position, CLAIMS.c.ordinal)
                ):
                    found[position].append((text, [one["passage_id"] for one in evidence]))
                yield from ((question, found[position]) for position, question in part)

    def records(self, run: str, *, after: int = -1) -> Iterator[Kept]:
        """Yield a run's samples with their results in input order, those behind a place, a few in memory at a time."""
        return self._stream(run, list(SAMPLES.c), kept_from, after)

    def find(self, run: str, sample_id: str) -> list[Kept]:
        """Return what is kept under a sample's id: one, none, or several when ids repeat."""
        query = sa.select(SAMPLES).where(labels.is_sample(run, sample_id)).order_by(SAMPLES.c.position)
        with self.reading() as connection:
            rows = connection.execute(query).mappings().all()
        return [self._decoded(run, row, kept_from) for row in rows]

    # ---- human labels

    def add_labels(self, run: str, new: Sequence[labels.AnyAnnotation]) -> None:
        """Keep labels, or marks, in one transaction, each in place of the annotator's earlier one of the same text."""
        with self.writing() as connection:
            self._lock(connection, run)
            for annotation in new:
                labels.put(connection, labels.Act(secrets.token_hex(16), run), annotation, now())

    def labels(self, run: str) -> list[Annotation[Label]]:
        """Return the labels of a run's texts, for whichever run they were given, in the order of its samples."""
        with self.reading() as connection:
            return labels.of_run(connection, run, Label)

    def has_labels(self, run: str) -> bool:
        """Whether people labelled a claim or an answer of this run's texts."""
        labelled = sa.select(SAMPLES.c.position).join(ANNOTATIONS, ANNOTATIONS.c.answer_key == SAMPLES.c.answer_key)
        return bool(self._scalars(labelled.where(SAMPLES.c.run_id == run, ANNOTATIONS.c.kind == "label").limit(1)))

    @property
    def labelling(self) -> Labelling:
        """Queues of what people label, their marks of how claims were cut, and what they did, in order."""
        return Labelling(self.reading, self.writing, self._lock)

    def shared_places(self, run: str, others: Collection[str]) -> frozenset[int]:
        """Return the places of the scored samples whose response and passages one of the other runs scored, too."""
        own, other = SAMPLES.c, SAMPLES.alias().c
        scored = Outcome.SCORED.value
        theirs = sa.select(other.answer_key).where(other.run_id.in_(others), other.outcome == scored)
        query = sa.select(own.position).where(own.run_id == run, own.outcome == scored, own.answer_key.in_(theirs))
        return frozenset(self._scalars(query))

    def records_at(self, run: str, positions: Iterable[int]) -> Iterator[Kept]:
        """Yield the samples at these places with their results, in the order of the input."""
        wanted = sorted(set(positions))
        for first in range(0, len(wanted), _CHUNK):
            at = (SAMPLES.c.run_id == run, SAMPLES.c.position.in_(wanted[first : first + _CHUNK]))
            with self.reading() as connection:
                rows = self._fetch(run, connection, sa.select(SAMPLES).where(*at).order_by(SAMPLES.c.position))
            for row in rows:
                yield self._decoded(run, row, kept_from)

    # ---- how

    def _new(self, connection: sa.Connection, run: str, batch: Sequence[Kept]) -> list[Kept]:
        positions = [kept.position for kept in batch]
        there = _kept(connection, run, min(positions, default=0), max(positions, default=-1) + 1)
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
            with self.reading() as connection:
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


def _kept(connection: sa.Connection, run: str, start: int, stop: int) -> dict[int, str]:
    query = sa.select(SAMPLES.c.position, SAMPLES.c.fingerprint).where(
        SAMPLES.c.run_id == run, SAMPLES.c.position >= start, SAMPLES.c.position < stop
    )
    return dict(connection.execute(query).all())


def put_results(connection: sa.Connection, run: str, batch: Sequence[Kept]) -> None:
    """Put results in that are not there yet."""
    for table, rows in zip((SAMPLES, CLAIMS, TAGS), rows_of(run, batch), strict=True):
        if rows:
            connection.execute(sa.insert(table), rows)

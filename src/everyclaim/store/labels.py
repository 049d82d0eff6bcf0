"""What people say about claims and answers: labels, and marks of how claims were split, with the history of both.

What is said belongs to the text: to what a claim says, in an answer, beside its passages; the label of a whole answer
to the answer beside its passages. So it serves every run over the same text. No text is kept with it, only digests.

An action has an id, given by whoever acts: the same id again is the same action, and changes nothing. The history loses
nothing: an action that was undone stays, with the id of the action that undid it.

A queue of what to label has an order of its own for every annotator, so nobody waits for anybody. What is done in it is
not kept in it: an item is done when its annotator has labelled or marked its text, wherever.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

import sqlalchemy as sa

from everyclaim.core.errors import InputError
from everyclaim.core.types import Label, Outcome, Span, SplitMark
from everyclaim.store.records import Annotation, Kind, LabelQueue, Picked, Progress, QueueItem, claim_key, now
from everyclaim.store.tables import (
    ANNOTATIONS,
    CLAIMS,
    ID_START,
    LABEL_HISTORY,
    QUEUE_ITEMS,
    QUEUES,
    RUNS,
    SAMPLES,
    Text,
)

Action = Literal["label", "mark", "skip", "withdraw", "undo"]
AnyAnnotation = Annotation[Label | SplitMark]
V = TypeVar("V", Label, SplitMark)

_SAID, _LABELS, _MARKS = ANNOTATIONS.c, ANNOTATIONS.alias("labels"), ANNOTATIONS.alias("marks")
_NAMES = ("claim_key", "annotator", "answer_key")  # columns that say whose word about which text a row is
_SAME = ("annotator", "answer_key", "note", "failure_mode", "chosen")  # columns that `Annotation` calls so, too
_MANY = 500  # values in one statement


@dataclass(frozen=True, slots=True)
class Act:
    """One action of a person: its id, and where it is done."""

    id: str
    run: str
    queue: str = ""  # empty: in none
    actor: str = ""  # who was logged in; empty: not known


@dataclass(frozen=True, slots=True)
class About:
    """Whose word about which text is meant."""

    key: str  # of the claim, or of the answer
    annotator: str
    answer_key: str


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One action as it is kept. `before` and `after` hold the rows of `label` and `mark`, and `skipped`."""

    id: str
    about: About
    run: str
    queue: str
    action: Action
    before: Mapping[str, Any]
    after: Mapping[str, Any]


# ---- reading


def of_run(connection: sa.Connection, run: str, said: type[V]) -> list[Annotation[V]]:
    """Return the labels or the marks of a run's texts in the order of its samples, oldest first within one.

    Of an answer that occurs several times they are at its first place, of scored ones if there are: each counts once.
    """
    kind: Kind = "label" if said is Label else "mark"
    query = (
        sa.select(SAMPLES.c.position, SAMPLES.c.sample_id, SAMPLES.c.outcome, ANNOTATIONS)
        .select_from(sa.join(ANNOTATIONS, SAMPLES, _SAID.answer_key == SAMPLES.c.answer_key))
        .where(SAMPLES.c.run_id == run, _SAID.kind == kind)
        .order_by(SAMPLES.c.position, _SAID.created, _SAID.claim_key, _SAID.annotator)
    )
    rows = connection.execute(query).mappings().all()
    places: dict[str, int] = {}
    for row in sorted(rows, key=lambda row: row["outcome"] != Outcome.SCORED.value):
        places.setdefault(row["answer_key"], row["position"])
    rows = [row for row in rows if row["position"] == places[row["answer_key"]]]
    ids = _claim_ids(connection, run, {row["position"]: row["answer_key"] for row in rows})
    chosen_from = {row["chosen"].partition(":")[2] for row in rows}
    stored = set(connection.execute(sa.select(RUNS.c.id).where(RUNS.c.id.in_(chosen_from))).scalars())
    return [
        Annotation(
            **{name: row[name] for name in (*_SAME, "position", "sample_id", "created")},
            value=said(row["value"]),
            key=row["claim_key"],
            span=None if row["span_start"] is None else Span(row["span_start"], row["span_end"]),
            evidence=tuple(Picked(*place) for place in row["evidence"]),
            claim_id=ids.get((row["position"], row["claim_key"]), ""),
            origin=origin if (origin := row["chosen"].partition(":")[2]) in stored else row["run_id"],
        )
        for row in rows
    ]


def is_sample(run: str, sample_id: str) -> sa.ColumnElement[bool]:
    """Match a sample's id through the index, which holds only its beginning."""
    start = sa.func.substr(sa.literal(sample_id, Text), 1, 64)
    return sa.and_(SAMPLES.c.run_id == run, start == ID_START, SAMPLES.c.sample_id == sample_id)


def _claim_ids(connection: sa.Connection, run: str, answers: Mapping[int, str]) -> dict[tuple[int, str], str]:
    """Return which claim of the run has the text that something is said of."""
    ids: dict[tuple[int, str], str] = {}
    columns = (CLAIMS.c.position, CLAIMS.c.claim_id, CLAIMS.c.text)
    places = sorted(answers)
    for first in range(0, len(places), _MANY):
        at = (CLAIMS.c.run_id == run, CLAIMS.c.position.in_(places[first : first + _MANY]))
        for place, claim_id, text in connection.execute(sa.select(*columns).where(*at).order_by(CLAIMS.c.ordinal)):
            ids.setdefault((place, claim_key(answers[place], text)), claim_id)
    return ids


# ---- writing


def put(connection: sa.Connection, act: Act, annotation: AnyAnnotation, created: str) -> None:
    """Keep a label or a mark in place of the annotator's earlier one of the same text, and note that."""
    about = About(annotation.key, annotation.annotator, annotation.answer_key)
    start, end = annotation.span or (None, None)
    row = {name: getattr(annotation, name) for name in _SAME} | {
        "claim_key": annotation.key, "kind": annotation.kind, "value": annotation.value.value, "span_start": start,
        "span_end": end, "evidence": [list(place) for place in annotation.evidence], "run_id": act.run,
        "created": created,
    }  # fmt: skip
    with recorded(connection, act, about, annotation.kind, created):
        connection.execute(sa.delete(ANNOTATIONS).where(*_of(about), _SAID.kind == annotation.kind))
        connection.execute(sa.insert(ANNOTATIONS), row)
        set_skipped(connection, act, about, None)


def restore(connection: sa.Connection, act: Act, about: About, then: Mapping[str, Any]) -> None:
    """Let the annotator say of the text what they said then."""
    connection.execute(sa.delete(ANNOTATIONS).where(*_of(about)))
    known = {"claim_key": about.key, "annotator": about.annotator, "answer_key": about.answer_key}
    for row in filter(None, (then["label"], then["mark"])):
        connection.execute(sa.insert(ANNOTATIONS), {**row, **known})
    set_skipped(connection, act, about, then["skipped"])


def set_skipped(connection: sa.Connection, act: Act, about: About, number: int | None) -> None:
    """Note that the annotator skipped the text in this queue, or has come back to it."""
    if act.queue:
        connection.execute(sa.update(QUEUE_ITEMS).where(*_in_queue(act, about)).values(skipped=number))


# ---- history


def newest(connection: sa.Connection, *wanted: sa.ColumnElement[bool]) -> HistoryEntry | None:
    """Return the last of these actions, None where there is none."""
    query = sa.select(LABEL_HISTORY).where(*wanted).order_by(LABEL_HISTORY.c.number.desc()).limit(1)
    if (row := connection.execute(query).first()) is None:
        return None
    about = About(row.claim_key, row.annotator, row.answer_key)
    return HistoryEntry(row.id, about, row.run_id, row.queue_id, row.action, row.before, row.after)


@contextmanager
def recorded(connection: sa.Connection, act: Act, about: About, action: Action, created: str) -> Iterator[int]:
    """Record what the statements inside change; gives the number of the action."""
    numbers = sa.select(sa.func.max(LABEL_HISTORY.c.number)).where(LABEL_HISTORY.c.annotator == about.annotator)
    number = (connection.execute(numbers).scalar() or 0) + 1
    before = state_of(connection, act, about)
    yield number
    row = {
        "id": act.id, "number": number, "annotator": about.annotator, "actor": act.actor, "run_id": act.run,
        "queue_id": act.queue, "claim_key": about.key, "answer_key": about.answer_key, "action": action,
        "before": before, "after": state_of(connection, act, about), "undone": None, "created": created,
    }  # fmt: skip
    connection.execute(sa.insert(LABEL_HISTORY), row)


def state_of(connection: sa.Connection, act: Act, about: About) -> dict[str, Any]:
    """Return all that the annotator says of the text at this moment, as plain JSON."""
    skipped = sa.select(QUEUE_ITEMS.c.skipped).where(*_in_queue(act, about)).limit(1)
    found: dict[str, Any] = {"skipped": connection.execute(skipped).scalar(), "label": None, "mark": None}
    for row in connection.execute(sa.select(ANNOTATIONS).where(*_of(about))).mappings():
        found[row["kind"]] = {key: value for key, value in row.items() if key not in _NAMES}
    return found


def _in_queue(act: Act, about: About) -> tuple[sa.ColumnElement[bool], ...]:
    columns = QUEUE_ITEMS.c
    return columns.queue_id == act.queue, columns.annotator == about.annotator, columns.claim_key == about.key


def _of(about: About) -> tuple[sa.ColumnElement[bool], ...]:
    return _SAID.claim_key == about.key, _SAID.annotator == about.annotator


Transaction = Callable[[], AbstractContextManager[sa.Connection]]


@dataclass(frozen=True, slots=True)
class Labelling:
    """Queues, marks and the history of labels of a store; see `Store.labelling`."""

    _read: Transaction
    _write: Transaction
    _lock: Callable[[sa.Connection, str], None]

    def marks(self, run: str) -> list[Annotation[SplitMark]]:
        """Return the marks of a run's texts, for whichever run they were given, in the order of its samples."""
        with self._read() as connection:
            return of_run(connection, run, SplitMark)

    # ---- queues

    def make_queue(
        self,
        run: str,
        items: Mapping[str, Sequence[QueueItem]],
        *,
        name: str,
        chosen: str,
        answers: bool,
        overlap: float,
    ) -> LabelQueue:
        """Keep a new queue: for each annotator the items in the order in which they are shown."""
        made = secrets.token_hex(6)
        head = {
            "id": made, "run_id": run, "name": name, "chosen": chosen, "answers": answers, "annotators": list(items),
            "overlap": overlap, "created": now(),
        }  # fmt: skip
        rows = [
            {
                "queue_id": made, "annotator": annotator, "place": place, "position": item.position,
                "ordinal": item.ordinal, "claim_key": item.key, "skipped": None,
            }
            for annotator, own in items.items()
            for place, item in enumerate(own)
        ]  # fmt: skip
        with self._write() as connection:
            self._lock(connection, run)
            connection.execute(sa.insert(QUEUES), head)
            if rows:
                connection.execute(sa.insert(QUEUE_ITEMS), rows)
        return self.queue(made)

    def queues(self, run: str | None = None) -> list[LabelQueue]:
        """Return the queues, of a run or all of them, the newest first."""
        query = sa.select(QUEUES).order_by(QUEUES.c.created.desc(), QUEUES.c.id)
        return self._queues(query if run is None else query.where(QUEUES.c.run_id == run))

    def queue(self, wanted: str) -> LabelQueue:
        """Return the queue with this id. Raises `InputError` when there is none."""
        if not (found := self._queues(sa.select(QUEUES).where(QUEUES.c.id == wanted))):
            raise InputError(f"no queue {wanted!r}: it never existed, or was deleted with its run")
        return found[0]

    def delete_queue(self, wanted: str) -> None:
        """Delete a queue; what was labelled in it stays."""
        with self._write() as connection:
            connection.execute(sa.delete(QUEUE_ITEMS).where(QUEUE_ITEMS.c.queue_id == wanted))
            connection.execute(sa.delete(QUEUES).where(QUEUES.c.id == wanted))

    def items(self, queue: str, annotator: str) -> list[QueueItem]:
        """Return what an annotator has in a queue, in their order, and what they said of it."""
        columns = QUEUE_ITEMS.c
        query = (
            sa.select(
                columns.position, columns.ordinal, columns.claim_key, _LABELS.c.value, _MARKS.c.value, columns.skipped
            )
            .select_from(_with_what_is_said())
            .where(columns.queue_id == queue, columns.annotator == annotator)
            .order_by(columns.place)
        )
        with self._read() as connection:
            return [
                QueueItem(place, number, key, label and Label(label), mark and SplitMark(mark), skipped)
                for place, number, key, label, mark, skipped in connection.execute(query)
            ]

    # ---- actions

    def annotate(self, act: Act, annotation: AnyAnnotation) -> HistoryEntry:
        """Keep a label or a mark in place of the person's earlier one of the text. Sent twice, it is kept once."""
        return cast("HistoryEntry", self._find_or_do(act, lambda connection: put(connection, act, annotation, now())))

    def skip(self, act: Act, about: About) -> HistoryEntry:
        """Put a text behind all the others of the annotator's queue."""
        return self._record(act, about, "skip", lambda connection, number: set_skipped(connection, act, about, number))

    def withdraw(self, act: Act, about: About) -> HistoryEntry:
        """Take back a person's label of a text, and that they call it a bad claim; that it is split well stays."""
        taken_back = sa.delete(ANNOTATIONS).where(*_of(about), _SAID.value != SplitMark.GOOD.value)
        return self._record(act, about, "withdraw", lambda connection, _: connection.execute(taken_back))

    def undo(self, act: Act, annotator: str) -> HistoryEntry | None:
        """Undo what a person did last in this queue of the run; None when there is nothing to undo.

        Raises `InputError` where the text was labelled elsewhere since: that word is newer.
        """

        def change(connection: sa.Connection) -> None:
            columns = LABEL_HISTORY.c
            not_undone = (columns.action != "undo", columns.undone.is_(None))
            here = (columns.annotator == annotator, columns.run_id == act.run, columns.queue_id == act.queue)
            if (last := newest(connection, *here, *not_undone)) is None:
                return
            if state_of(connection, act, last.about) != last.after:
                raise InputError("this claim was labelled again elsewhere since: nothing to undo")
            with recorded(connection, act, last.about, "undo", now()):
                restore(connection, act, last.about, last.before)
            connection.execute(sa.update(LABEL_HISTORY).where(columns.id == last.id).values(undone=act.id))

        return self._find_or_do(act, change)

    def said(self, about: About) -> Mapping[str, Any]:
        """Return all that a person says of a text now: the rows `label` and `mark`, None where there is none."""
        with self._read() as connection:
            return state_of(connection, Act("", ""), about)

    # ---- how

    def _record(
        self, act: Act, about: About, action: Action, change: Callable[[sa.Connection, int], object]
    ) -> HistoryEntry:
        def recording(connection: sa.Connection) -> None:
            with recorded(connection, act, about, action, now()) as number:
                change(connection, number)

        return cast("HistoryEntry", self._find_or_do(act, recording))

    def _find_or_do(self, act: Act, change: Callable[[sa.Connection], None]) -> HistoryEntry | None:
        with self._write() as connection:
            self._lock(connection, act.run)
            is_this = LABEL_HISTORY.c.id == act.id
            if (done := newest(connection, is_this)) is None:
                change(connection)
                done = newest(connection, is_this)
            return done

    def _queues(self, query: sa.Select[Any]) -> list[LabelQueue]:
        with self._read() as connection:
            rows = connection.execute(query).mappings().all()
            found = _progress(connection, [row["id"] for row in rows])
        plain = ("id", "name", "chosen", "answers", "overlap", "created")
        return [
            LabelQueue(
                **{name: row[name] for name in plain},
                run=row["run_id"],
                annotators=tuple(row["annotators"]),
                progress={who: found.get((row["id"], who), Progress(0, 0, 0, 0)) for who in row["annotators"]},
            )
            for row in rows
        ]


def delete_queues(connection: sa.Connection, run: str) -> None:
    """Delete the queues of a run."""
    of_run = sa.select(QUEUES.c.id).where(QUEUES.c.run_id == run)
    connection.execute(sa.delete(QUEUE_ITEMS).where(QUEUE_ITEMS.c.queue_id.in_(of_run)))
    connection.execute(sa.delete(QUEUES).where(QUEUES.c.run_id == run))


def _progress(connection: sa.Connection, queues: Sequence[str]) -> dict[tuple[str, str], Progress]:
    unlabelled = _LABELS.c.value.is_(None)
    marked = sa.and_(unlabelled, _MARKS.c.value.is_not(None))
    skipped = sa.and_(unlabelled, _MARKS.c.value.is_(None), QUEUE_ITEMS.c.skipped.is_not(None))
    query = (
        sa.select(
            QUEUE_ITEMS.c.queue_id,
            QUEUE_ITEMS.c.annotator,
            sa.func.count(),
            sa.func.count(_LABELS.c.value),
            sa.func.sum(sa.case((marked, 1), else_=0)),
            sa.func.sum(sa.case((skipped, 1), else_=0)),
        )
        .select_from(_with_what_is_said())
        .where(QUEUE_ITEMS.c.queue_id.in_(queues))
        .group_by(QUEUE_ITEMS.c.queue_id, QUEUE_ITEMS.c.annotator)
    )
    return {(queue, annotator): Progress(*map(int, counts)) for queue, annotator, *counts in connection.execute(query)}


def _with_what_is_said() -> sa.FromClause:
    def of(table: sa.FromClause, kind: Kind) -> sa.ColumnElement[bool]:
        here = table.c.claim_key == QUEUE_ITEMS.c.claim_key, table.c.annotator == QUEUE_ITEMS.c.annotator
        return sa.and_(*here, table.c.kind == kind)

    # a claim that is cut well still waits for its label
    marked = sa.and_(of(_MARKS, "mark"), _MARKS.c.value != SplitMark.GOOD.value)
    return QUEUE_ITEMS.outerjoin(_LABELS, of(_LABELS, "label")).outerjoin(_MARKS, marked)

"""Labelling as it goes on: queues of what to label, what people do in them, and their marks of how claims were cut.

A queue has an order of its own for every annotator, so nobody waits for anybody. What is done in it is not kept in it:
labels and marks belong to the text, and an item is done when its annotator has labelled or marked its text, wherever.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import sqlalchemy as sa

from everyclaim.core.errors import InputError
from everyclaim.core.types import Label, SplitMark
from everyclaim.store import labels
from everyclaim.store.labels import About, Act, AnyAnnotation, HistoryEntry
from everyclaim.store.records import Annotation, LabelQueue, Progress, QueueItem, now
from everyclaim.store.tables import LABEL_HISTORY, LABELS, MARKS, QUEUE_ITEMS, QUEUES

Transaction = Callable[[], AbstractContextManager[sa.Connection]]


class Labelling:
    """Queues, marks and the history of labels of a store; see `Store.labelling`."""

    def __init__(self, read: Transaction, write: Transaction, lock: Callable[[sa.Connection, str], None]) -> None:
        self._read, self._write, self._lock = read, write, lock

    def marks(self, run: str) -> list[Annotation[SplitMark]]:
        """Return the marks of a run's texts, for whichever run they were given, in the order of its samples."""
        with self._read() as connection:
            return labels.of_run(connection, run, "mark")

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
                columns.position, columns.ordinal, columns.claim_key, LABELS.c.label, MARKS.c.mark, columns.skipped
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
        return self._once(act, lambda connection: labels.put(connection, act, annotation, now()))

    def skip(self, act: Act, about: About) -> HistoryEntry:
        """Put a text behind all the others of the annotator's queue."""

        def change(connection: sa.Connection) -> None:
            with labels.recorded(connection, act, about, "skip", now()) as number:
                labels.set_skipped(connection, act, about, number)

        return self._once(act, change)

    def withdraw(self, act: Act, about: About) -> HistoryEntry:
        """Take back a person's label of a text, and that they call it a bad claim."""

        def change(connection: sa.Connection) -> None:
            with labels.recorded(connection, act, about, "withdraw", now()):
                labels.clear(connection, about, keep_good=True)

        return self._once(act, change)

    def undo(self, act: Act, annotator: str) -> HistoryEntry | None:
        """Undo what a person did last in this queue of the run; None when there is nothing to undo.

        Raises `InputError` where the text was labelled elsewhere since: that word is newer.
        """

        def change(connection: sa.Connection) -> None:
            columns = LABEL_HISTORY.c
            not_undone = (columns.action != "undo", columns.undone.is_(None))
            here = (columns.annotator == annotator, columns.run_id == act.run, columns.queue_id == act.queue)
            last = next(iter(labels.entries(connection, *here, *not_undone, newest_first=True, most=1)), None)
            if last is None:
                return
            if labels.state_of(connection, act, last.about) != last.after:
                raise InputError("this claim was labelled again elsewhere since: nothing to undo")
            with labels.recorded(connection, act, last.about, "undo", now()):
                labels.restore(connection, act, last.about, last.before)
            connection.execute(sa.update(LABEL_HISTORY).where(columns.id == last.id).values(undone=act.id))

        return self._find_or_do(act, change)

    def said(self, about: About) -> Mapping[str, Any]:
        """Return all that a person says of a text now: the rows `label` and `mark`, None where there is none."""
        with self._read() as connection:
            return labels.state_of(connection, Act("", ""), about)

    def history(self, run: str, *, key: str | None = None) -> list[HistoryEntry]:
        """Return what people did in a run, or about one of its texts, the oldest first."""
        with self._read() as connection:
            about = [] if key is None else [LABEL_HISTORY.c.claim_key == key]
            return labels.entries(connection, LABEL_HISTORY.c.run_id == run, *about)

    # ---- how

    def _once(self, act: Act, change: Callable[[sa.Connection], None]) -> HistoryEntry:
        done = self._find_or_do(act, change)
        if done is None:
            raise AssertionError("an action notes itself")
        return done

    def _find_or_do(self, act: Act, change: Callable[[sa.Connection], None]) -> HistoryEntry | None:
        with self._write() as connection:
            self._lock(connection, act.run)
            if (done := labels.entry(connection, act.id)) is None:
                change(connection)
                done = labels.entry(connection, act.id)
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
    unlabelled = LABELS.c.label.is_(None)
    marked = sa.and_(unlabelled, MARKS.c.mark.is_not(None))
    skipped = sa.and_(unlabelled, MARKS.c.mark.is_(None), QUEUE_ITEMS.c.skipped.is_not(None))
    query = (
        sa.select(
            QUEUE_ITEMS.c.queue_id,
            QUEUE_ITEMS.c.annotator,
            sa.func.count(),
            sa.func.count(LABELS.c.label),
            sa.func.sum(sa.case((marked, 1), else_=0)),
            sa.func.sum(sa.case((skipped, 1), else_=0)),
        )
        .select_from(_with_what_is_said())
        .where(QUEUE_ITEMS.c.queue_id.in_(queues))
        .group_by(QUEUE_ITEMS.c.queue_id, QUEUE_ITEMS.c.annotator)
    )
    return {(queue, annotator): Progress(*map(int, counts)) for queue, annotator, *counts in connection.execute(query)}


def _with_what_is_said() -> sa.FromClause:
    labelled = sa.and_(LABELS.c.claim_key == QUEUE_ITEMS.c.claim_key, LABELS.c.annotator == QUEUE_ITEMS.c.annotator)
    marked = sa.and_(
        MARKS.c.claim_key == QUEUE_ITEMS.c.claim_key,
        MARKS.c.annotator == QUEUE_ITEMS.c.annotator,
        MARKS.c.mark != SplitMark.GOOD.value,  # a claim that is cut well still waits for its label
    )
    return QUEUE_ITEMS.outerjoin(LABELS, labelled).outerjoin(MARKS, marked)

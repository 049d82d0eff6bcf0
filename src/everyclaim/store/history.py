"""What people did in labelling, in order: every change with what was said before it and after it.

An action has an id, given by whoever acts. The same id again is the same action, sent twice, and changes nothing.
Nothing is ever deleted here: an action that was undone stays, with the id of the action that undid it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from everyclaim.core.types import SplitMark
from everyclaim.store.tables import LABEL_HISTORY, LABELS, MARKS, QUEUE_ITEMS

Action = Literal["label", "mark", "skip", "withdraw", "undo"]
_TABLES = {"label": LABELS, "mark": MARKS}
_ABOUT = ("claim_key", "annotator", "answer_key")


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
class Entry:
    """One action as it is kept. `before` and `after` hold the rows of `label` and `mark`, and `skipped`."""

    id: str
    number: int  # of the annotator's actions, from 1
    about: About
    run: str
    queue: str
    actor: str
    action: Action
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    undone: str | None  # the id of the action that undid it
    created: str  # ISO 8601 in UTC


def find(connection: sa.Connection, action_id: str) -> Entry | None:
    """Return the action with this id, when it was done already."""
    row = connection.execute(sa.select(LABEL_HISTORY).where(LABEL_HISTORY.c.id == action_id)).mappings().first()
    return None if row is None else _entry(row)


def entries(connection: sa.Connection, run: str, *, key: str | None = None) -> list[Entry]:
    """Return what was done in a run, or about one of its texts, the oldest first."""
    query = sa.select(LABEL_HISTORY).where(LABEL_HISTORY.c.run_id == run)
    if key is not None:
        query = query.where(LABEL_HISTORY.c.claim_key == key)
    ordered = query.order_by(LABEL_HISTORY.c.created, LABEL_HISTORY.c.annotator, LABEL_HISTORY.c.number)
    return [_entry(row) for row in connection.execute(ordered).mappings()]


def last_to_undo(connection: sa.Connection, act: Act, annotator: str) -> Entry | None:
    """Return what this annotator did last in this queue of the run, and has not undone."""
    table = LABEL_HISTORY
    query = (
        sa.select(table)
        .where(
            table.c.annotator == annotator,
            table.c.run_id == act.run,
            table.c.queue_id == act.queue,
            table.c.action != "undo",
            table.c.undone.is_(None),
        )
        .order_by(table.c.number.desc())
        .limit(1)
    )
    row = connection.execute(query).mappings().first()
    return None if row is None else _entry(row)


@contextmanager
def noted(connection: sa.Connection, act: Act, about: About, action: Action, created: str) -> Iterator[int]:
    """Keep what the statements inside change; gives the number of the action."""
    numbers = sa.select(sa.func.max(LABEL_HISTORY.c.number)).where(LABEL_HISTORY.c.annotator == about.annotator)
    number = (connection.execute(numbers).scalar() or 0) + 1
    before = said(connection, act, about)
    yield number
    row = {
        "id": act.id,
        "number": number,
        "annotator": about.annotator,
        "actor": act.actor,
        "run_id": act.run,
        "queue_id": act.queue,
        "claim_key": about.key,
        "answer_key": about.answer_key,
        "action": action,
        "before": before,
        "after": said(connection, act, about),
        "undone": None,
        "created": created,
    }
    connection.execute(sa.insert(LABEL_HISTORY), row)


def said(connection: sa.Connection, act: Act, about: About) -> dict[str, Any]:
    """Return all that the annotator says of the text at this moment, as plain JSON."""
    found: dict[str, Any] = {"skipped": connection.execute(_skip(act, about)).scalar()}
    for name, table in _TABLES.items():
        row = connection.execute(sa.select(table).where(*of(table, about))).mappings().first()
        found[name] = None if row is None else {key: value for key, value in row.items() if key not in _ABOUT}
    return found


def restore(connection: sa.Connection, act: Act, about: About, then: Mapping[str, Any]) -> None:
    """Let the annotator say of the text what they said then."""
    clear(connection, about)
    for name, table in _TABLES.items():
        if (row := then[name]) is not None:
            known = {"claim_key": about.key, "annotator": about.annotator, "answer_key": about.answer_key}
            connection.execute(sa.insert(table), {**row, **known})
    set_skipped(connection, act, about, then["skipped"])


def clear(connection: sa.Connection, about: About, *, keep_good: bool = False) -> None:
    """Drop all that the annotator says of the text; with `keep_good` not that the claim is cut well."""
    bad = [MARKS.c.mark != SplitMark.GOOD.value] if keep_good else []
    connection.execute(sa.delete(LABELS).where(*of(LABELS, about)))
    connection.execute(sa.delete(MARKS).where(*of(MARKS, about), *bad))


def set_skipped(connection: sa.Connection, act: Act, about: About, number: int | None) -> None:
    """Note that the annotator skipped the text in this queue, or has come back to it."""
    if act.queue:
        at = (
            QUEUE_ITEMS.c.queue_id == act.queue,
            QUEUE_ITEMS.c.annotator == about.annotator,
            QUEUE_ITEMS.c.claim_key == about.key,
        )
        connection.execute(sa.update(QUEUE_ITEMS).where(*at).values(skipped=number))


def mark_undone(connection: sa.Connection, entry: Entry, by: str) -> None:
    """Note that an action was undone by another."""
    connection.execute(sa.update(LABEL_HISTORY).where(LABEL_HISTORY.c.id == entry.id).values(undone=by))


def _skip(act: Act, about: About) -> sa.Select[Any]:
    return (
        sa.select(QUEUE_ITEMS.c.skipped)
        .where(
            QUEUE_ITEMS.c.queue_id == act.queue,
            QUEUE_ITEMS.c.annotator == about.annotator,
            QUEUE_ITEMS.c.claim_key == about.key,
        )
        .limit(1)
    )


def of(table: sa.Table, about: About) -> tuple[sa.ColumnElement[bool], ...]:
    """Match what the annotator says of the text in a table of labels or marks."""
    return (table.c.claim_key == about.key, table.c.annotator == about.annotator)


def _entry(row: sa.RowMapping) -> Entry:
    return Entry(
        id=row["id"],
        number=row["number"],
        about=About(row["claim_key"], row["annotator"], row["answer_key"]),
        run=row["run_id"],
        queue=row["queue_id"],
        actor=row["actor"],
        action=row["action"],
        before=row["before"],
        after=row["after"],
        undone=row["undone"],
        created=row["created"],
    )

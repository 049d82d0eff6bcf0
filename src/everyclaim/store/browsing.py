"""Pages of answers: filtered, ordered and cut by the database, so that a run of any size is looked at alike.

Only what a list shows is read: the beginning of an answer, and its claims by label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from everyclaim.core.types import Label, Outcome
from everyclaim.store.store import Store
from everyclaim.store.tables import CLAIMS, SAMPLES, TAGS

Order = Literal["input", "worst"]
SHOWN = 240  # characters of a question or an answer in a list
_FIELDS = {"model": SAMPLES.c.model, "release": SAMPLES.c.release}  # sliced by without being tags


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which answers of a run are asked for, and in which order; what is not set asks for nothing.

    `label`, `mode` and `conflict` hold for one and the same claim, of an answer that was scored. `value` is one of the
    tag `tag`; empty: the answer has no such tag.
    """

    label: Label | None = None
    mode: str = ""
    conflict: bool = False
    outcome: Outcome | None = None
    tag: str = ""
    value: str = ""
    text: str = ""  # somewhere in the id, the question, the answer or a claim
    order: Order = "input"


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One answer in a list; `question` and `response` are their beginnings."""

    position: int
    id: str
    question: str
    response: str
    outcome: Outcome
    score: float | None
    reason: str
    labels: Mapping[Label, int]

    @property
    def claims(self) -> int:
        """How many claims it has."""
        return sum(self.labels.values())


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The places of the answers before and after one, among those that are wanted."""

    before: int | None
    after: int | None


def answers(store: Store, run: str, wanted: Wanted, first: int, most: int) -> list[AnswerRow]:
    """Return up to `most` of the answers wanted, from the one numbered `first` (from 0) on."""
    columns = SAMPLES.c
    query = (
        sa.select(
            columns.position,
            columns.sample_id,
            _beginning(columns.question),
            _beginning(columns.response),
            columns.outcome,
            columns.score,
            _beginning(columns.reason),
        )
        .where(*_conditions(run, wanted))
        .order_by(*_order(wanted))
    )
    with store.reading() as connection:
        rows = connection.execute(query.limit(most).offset(first)).all()
        labels = _labels_of(connection, run, [row[0] for row in rows])
    return [
        AnswerRow(place, name, question, response, Outcome(outcome), score, reason, labels[place])
        for place, name, question, response, outcome, score, reason in rows
    ]


def count(store: Store, run: str, wanted: Wanted) -> int:
    """Return how many answers are wanted."""
    query = sa.select(sa.func.count()).select_from(SAMPLES).where(*_conditions(run, wanted))
    with store.reading() as connection:
        return int(connection.execute(query).scalar_one())


def neighbours(store: Store, run: str, wanted: Wanted, position: int) -> Neighbours:
    """Return the places next to an answer's among those wanted, in their order."""
    before, after = _beside(run, wanted, position)
    with store.reading() as connection:
        return Neighbours(connection.execute(before).scalar(), connection.execute(after).scalar())


def label_counts(store: Store, run: str) -> dict[Label, int]:
    """Count the claims of a run's scored answers by label."""
    query = (
        sa.select(CLAIMS.c.label, sa.func.count())
        .select_from(CLAIMS.join(SAMPLES, _same_sample()))
        .where(CLAIMS.c.run_id == run, SAMPLES.c.outcome == Outcome.SCORED.value)
        .group_by(CLAIMS.c.label)
    )
    with store.reading() as connection:
        found: dict[str, int] = dict(connection.execute(query).tuples().all())
    return {label: found.get(label.value, 0) for label in Label}


def tag_values_of(store: Store, run: str) -> dict[str, list[str]]:
    """Return the tags of a run's answers with their values, sorted."""
    query = (
        sa.select(TAGS.c.name, TAGS.c.value).where(TAGS.c.run_id == run).distinct().order_by(TAGS.c.name, TAGS.c.value)
    )
    found: dict[str, list[str]] = {}
    with store.reading() as connection:
        for tag, one in connection.execute(query):
            found.setdefault(tag, []).append(one)
    return found


def _conditions(run: str, wanted: Wanted) -> list[sa.ColumnElement[bool]]:
    found: list[sa.ColumnElement[bool]] = [SAMPLES.c.run_id == run]
    if wanted.outcome is not None:
        found.append(SAMPLES.c.outcome == wanted.outcome.value)
    if wanted.tag:
        found.append(_in_slice(wanted.tag, wanted.value))
    if wanted.label or wanted.mode or wanted.conflict:
        found += [SAMPLES.c.outcome == Outcome.SCORED.value, _has_claim(wanted)]
    if wanted.text:
        found.append(_holds(wanted.text))
    return found


def _has_claim(wanted: Wanted) -> sa.ColumnElement[bool]:
    claim = sa.select(CLAIMS.c.position).where(_same_sample())
    if wanted.label:
        claim = claim.where(CLAIMS.c.label == wanted.label.value)
    if wanted.mode:
        claim = claim.where(CLAIMS.c.failure_mode == wanted.mode)
    if wanted.conflict:
        claim = claim.where(CLAIMS.c.conflict)
    return claim.exists()


def _in_slice(tag: str, value: str) -> sa.ColumnElement[bool]:
    named = sa.select(TAGS.c.position).where(
        TAGS.c.run_id == SAMPLES.c.run_id, TAGS.c.position == SAMPLES.c.position, TAGS.c.name == tag
    )
    has = named.where(TAGS.c.value == value).exists() if value else ~named.exists()
    if tag not in _FIELDS:
        return has
    field = sa.func.coalesce(_FIELDS[tag], "") == value
    return sa.or_(has, sa.and_(~named.exists(), field)) if value else sa.and_(has, field)


def _holds(text: str) -> sa.ColumnElement[bool]:
    columns = SAMPLES.c
    claim = sa.select(CLAIMS.c.position).where(_same_sample(), CLAIMS.c.text.icontains(text, autoescape=True)).exists()
    places = (columns.sample_id, columns.question, columns.response)
    return sa.or_(*(place.icontains(text, autoescape=True) for place in places), claim)


def _order(wanted: Wanted) -> list[sa.ColumnElement[Any]]:
    if wanted.order == "input":
        return [SAMPLES.c.position.asc()]
    return [column.asc() for column in _badness()]


def _badness() -> tuple[sa.ColumnElement[Any], ...]:
    """What orders answers by how bad they are: the score, contradicted claims, the place in the input."""
    contradicted = (
        sa.select(sa.func.count())
        .where(_same_sample(), CLAIMS.c.label == Label.CONTRADICTED.value)
        .correlate(SAMPLES)
        .scalar_subquery()
    )
    unscored = sa.case((SAMPLES.c.outcome == Outcome.SCORED.value, 0), else_=1)
    return unscored, sa.func.coalesce(SAMPLES.c.score, 2.0), -contradicted, SAMPLES.c.position


def _beside(run: str, wanted: Wanted, position: int) -> tuple[sa.Select[Any], sa.Select[Any]]:
    conditions = _conditions(run, wanted)
    if wanted.order == "input":
        place = SAMPLES.c.position
        return (
            sa.select(place).where(*conditions, place < position).order_by(place.desc()).limit(1),
            sa.select(place).where(*conditions, place > position).order_by(place).limit(1),
        )
    keys = [key.label(f"key_{number}") for number, key in enumerate(_badness())]
    all_of_them = sa.select(*keys).where(SAMPLES.c.run_id == run).subquery()
    here = sa.select(all_of_them).where(all_of_them.c.key_3 == position).subquery()
    ours = sa.select(*keys).where(*conditions).subquery()
    this, that = sa.tuple_(*ours.c), sa.tuple_(*here.c)
    base = sa.select(ours.c.key_3).select_from(ours.join(here, sa.true()))
    return (
        base.where(this < that).order_by(*(key.desc() for key in ours.c)).limit(1),
        base.where(this > that).order_by(*(key.asc() for key in ours.c)).limit(1),
    )


def _labels_of(connection: sa.Connection, run: str, places: Sequence[int]) -> dict[int, dict[Label, int]]:
    found = {place: dict.fromkeys(Label, 0) for place in places}
    if not places:
        return found
    query = (
        sa.select(CLAIMS.c.position, CLAIMS.c.label, sa.func.count())
        .where(CLAIMS.c.run_id == run, CLAIMS.c.position.in_(places))
        .group_by(CLAIMS.c.position, CLAIMS.c.label)
    )
    for place, label, number in connection.execute(query):
        found[place][Label(label)] = number
    return found


def _same_sample() -> sa.ColumnElement[bool]:
    return sa.and_(CLAIMS.c.run_id == SAMPLES.c.run_id, CLAIMS.c.position == SAMPLES.c.position)


def _beginning(column: sa.Column[Any]) -> sa.ColumnElement[Any]:
    return sa.type_coerce(sa.func.substr(column, 1, SHOWN + 1), column.type)

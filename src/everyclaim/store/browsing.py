"""Pages of answers: filtered, ordered and cut by the database, so that a run of any size is looked at alike.

Only what a list shows is read: the beginning of an answer, and its claims by label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote

import sqlalchemy as sa

from everyclaim.core.types import BETTER, FailureMode, Label, Outcome
from everyclaim.store.store import Store
from everyclaim.store.tables import ANNOTATIONS, CLAIMS, RUNS, SAMPLES, TAGS

_LONGEST = 500  # characters that are searched for
_COMPARED = 1000  # samples of a run by which its data are known
SHOWN = 240  # characters of a question or an answer in a list
_FIELDS = {"model": SAMPLES.c.model, "release": SAMPLES.c.release}  # sliced by without being tags


@dataclass(frozen=True, slots=True)
class AnswerFilter:
    """Which answers of a run are asked for, and in which order; what is not set asks for nothing.

    `label`, `mode` and `conflict` hold for one and the same claim, of an answer that was scored. `value` is one of the
    tag `tag`; empty: the answer has no such tag.
    """

    label: Label | Literal[""] = ""
    mode: FailureMode | Literal[""] = ""
    outcome: Outcome | Literal[""] = ""
    slice: str = ""  # tag and value, each quoted as in an address, with ``=`` between
    conflict: bool = False
    q: str = ""  # somewhere in the id, the question, the answer or a claim
    order: Literal["", "worst"] = ""  # empty: as in the input

    @property
    def tag(self) -> str:
        """The tag of the slice; empty: none is asked for."""
        return unquote(self.slice.partition("=")[0])

    @property
    def value(self) -> str:
        """The value of the slice."""
        return unquote(self.slice.partition("=")[2])


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
    probability: float | None = None  # that the whole answer is faithful: what the worst are ordered by

    @property
    def claims(self) -> int:
        """How many claims it has."""
        return sum(self.labels.values())


def positions(store: Store, run: str, wanted: AnswerFilter, most: int | None = None) -> list[int]:
    """Return the places of the answers wanted, all or the first of them."""
    with store.reading() as connection:
        return list(connection.execute(_places(connection, run, wanted).limit(most)).scalars())


def label_counts(store: Store, run: str) -> dict[Label, int]:
    """Count the claims of a run's scored answers by label."""
    # Not a join: of a run that is new, PostgreSQL knows nothing yet, and would look up every claim's answer in turn.
    unscored = sa.select(SAMPLES.c.position).where(SAMPLES.c.run_id == run, SAMPLES.c.outcome != Outcome.SCORED.value)
    query = (
        sa.select(CLAIMS.c.label, sa.func.count())
        .where(CLAIMS.c.run_id == run, CLAIMS.c.position.not_in(unscored))
        .group_by(CLAIMS.c.label)
    )
    with store.reading() as connection:
        found = {label: number for label, number in connection.execute(query)}  # noqa: C416 - rows are no pairs to mypy
    return {label: found.get(label.value, 0) for label in Label}


def labels_stamp(store: Store) -> str:
    """Return what changes whenever people label something anew, otherwise, or take a label back."""
    with store.reading() as connection:
        number, newest = connection.execute(sa.select(sa.func.count(), sa.func.max(ANNOTATIONS.c.created))).one()
    return f"{number} {newest or ''}"


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


def _conditions(run: str, wanted: AnswerFilter) -> list[sa.ColumnElement[bool]]:
    """Say what is wanted. Claims and tags are found once for all answers, not for each: indexes are used that way."""
    place = SAMPLES.c.position
    found: list[sa.ColumnElement[bool]] = [SAMPLES.c.run_id == run]
    if wanted.outcome:
        found.append(SAMPLES.c.outcome == wanted.outcome.value)
    if wanted.tag:
        found.append(_in_slice(run, wanted.tag, wanted.value))
    if wanted.label or wanted.mode or wanted.conflict:
        claims = _claims(run)
        for column, value in ((CLAIMS.c.label, wanted.label), (CLAIMS.c.failure_mode, wanted.mode)):
            claims = claims.where(column == value) if value else claims
        claims = claims.where(CLAIMS.c.conflict) if wanted.conflict else claims
        found += [SAMPLES.c.outcome == Outcome.SCORED.value, place.in_(claims)]
    if text := wanted.q[:_LONGEST].strip():
        columns = SAMPLES.c
        claims = _claims(run).where(CLAIMS.c.text.icontains(text, autoescape=True))
        parts = (columns.sample_id, columns.question, columns.response)
        found.append(sa.or_(*(part.icontains(text, autoescape=True) for part in parts), place.in_(claims)))
    return found


def _claims(run: str) -> sa.Select[Any]:
    return sa.select(CLAIMS.c.position).where(CLAIMS.c.run_id == run)


def _in_slice(run: str, tag: str, value: str) -> sa.ColumnElement[bool]:
    place = SAMPLES.c.position
    tagged = sa.select(TAGS.c.position).where(TAGS.c.run_id == run, TAGS.c.name == tag)
    has = place.in_(tagged.where(TAGS.c.value == value)) if value else place.not_in(tagged)
    if tag not in _FIELDS:
        return has
    field = sa.func.coalesce(_FIELDS[tag], "") == value
    return sa.or_(has, sa.and_(place.not_in(tagged), field)) if value else sa.and_(has, field)


def _ranked(connection: sa.Connection, run: str, wanted: AnswerFilter) -> sa.Subquery:
    """Return the places of what is wanted with what orders them, the worst lowest: see `analysis.gate.badness`.

    Answers without a score come last, those that failed first among them.
    """
    parameters = connection.execute(sa.select(RUNS.c.parameters).where(RUNS.c.id == run)).scalar() or {}
    columns = SAMPLES.c
    quality = 1.0 - columns.score if parameters.get(BETTER) == "lower" else columns.score
    last = {Outcome.SCORED.value: 0, Outcome.FAILED.value: 1}
    bad = (
        sa.select(CLAIMS.c.position, sa.func.count().label("contradicted"))
        .where(CLAIMS.c.run_id == run, CLAIMS.c.label == Label.CONTRADICTED.value)
        .group_by(CLAIMS.c.position)
        .subquery()
    )
    return (
        sa.select(
            sa.case(last, value=columns.outcome, else_=2).label("rank"),
            sa.func.coalesce(quality, 1.0).label("quality"),
            sa.func.coalesce(columns.probability, 1.0).label("probability"),
            (-sa.func.coalesce(bad.c.contradicted, 0)).label("contradicted"),
            columns.position,
        )
        .select_from(SAMPLES.outerjoin(bad, bad.c.position == SAMPLES.c.position))
        .where(*_conditions(run, wanted))
        .subquery()
    )


def asked(store: Store, run: str) -> frozenset[tuple[str, str]]:
    """Return the ids of a run's first 1,000 samples, each with its question."""
    query = sa.select(SAMPLES.c.sample_id, SAMPLES.c.question).where(SAMPLES.c.run_id == run)
    with store.reading() as connection:
        return frozenset(
            (row[0], row[1]) for row in connection.execute(query.order_by(SAMPLES.c.position).limit(_COMPARED))
        )


def _places(connection: sa.Connection, run: str, wanted: AnswerFilter) -> sa.Select[Any]:
    if not wanted.order:
        return sa.select(SAMPLES.c.position).where(*_conditions(run, wanted)).order_by(SAMPLES.c.position)
    ranked = _ranked(connection, run, wanted)
    return sa.select(ranked.c.position).order_by(*ranked.c)


def answers_at(store: Store, run: str, places: Sequence[int]) -> list[AnswerRow]:
    """Return the answers at these places, in this order."""
    columns = SAMPLES.c
    shown = sa.select(
        columns.position,
        columns.sample_id,
        _beginning(columns.question),
        _beginning(columns.response),
        columns.outcome,
        columns.score,
        _beginning(columns.reason),
        columns.probability,
    )
    with store.reading() as connection:
        rows = connection.execute(shown.where(columns.run_id == run, columns.position.in_(places))).all()
        labels = _labels_of(connection, run, places)
    found = {
        place: AnswerRow(place, name, question, response, Outcome(outcome), score, reason, labels[place], faithful)
        for place, name, question, response, outcome, score, reason, faithful in rows
    }
    return [found[place] for place in places if place in found]


def _labels_of(connection: sa.Connection, run: str, places: Sequence[int]) -> dict[int, dict[Label, int]]:
    found = {place: dict.fromkeys(Label, 0) for place in places}
    query = (
        sa.select(CLAIMS.c.position, CLAIMS.c.label, sa.func.count())
        .where(CLAIMS.c.run_id == run, CLAIMS.c.position.in_(places))
        .group_by(CLAIMS.c.position, CLAIMS.c.label)
    )
    for place, label, number in connection.execute(query):
        found[place][Label(label)] = number
    return found


def _beginning(column: sa.Column[Any]) -> sa.ColumnElement[Any]:
    return sa.type_coerce(sa.func.substr(column, 1, SHOWN + 1), column.type)

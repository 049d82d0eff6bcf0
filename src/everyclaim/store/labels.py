"""What people say about claims and answers: the statements behind the labels of `Store`.

A label belongs to the text: to what a claim says, in an answer, beside its passages; the label of a whole answer to
the answer beside its passages. So it serves every run over the same text. No text is kept with it, only digests.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from everyclaim.core.errors import InputError
from everyclaim.core.types import Label, Span
from everyclaim.store.history import About, Act, noted, of, set_skipped
from everyclaim.store.records import HumanLabel, Picked
from everyclaim.store.tables import CLAIMS, LABELS, SAMPLES, Text

_MANY = 500  # values in one statement


@dataclass(frozen=True, slots=True)
class NewLabel:
    """A label on its way into the store. `claim` is None for the label of a whole answer."""

    answer_key: str
    claim: str | None
    span: Span | None  # of the claim in the response
    label: Label
    annotator: str
    note: str = ""
    failure_mode: str | None = None
    chosen: str = ""  # how the claim was chosen for labelling; empty: not known
    evidence: tuple[Picked, ...] = ()

    @property
    def key(self) -> str:
        """What the label is about."""
        return self.answer_key if self.claim is None else claim_key(self.answer_key, self.claim)


def answer_key(response: str, passages: Iterable[str]) -> str:
    """Name an answer beside the texts of its passages: 32 hexadecimal digits."""
    return _digest([response, list(passages)])


def claim_key(answer: str, claim: str) -> str:
    """Name a claim of an answer by what it says: 32 hexadecimal digits."""
    return _digest([answer, claim])


def is_sample(run: str, sample_id: str) -> sa.ColumnElement[bool]:
    """Match a sample's id through the index, which holds only its beginning."""
    # Written out as in the index, not as parameters, or the index is not used.
    one: sa.ColumnClause[int] = sa.literal_column("1")
    length: sa.ColumnClause[int] = sa.literal_column("64")
    start = sa.func.substr(SAMPLES.c.sample_id, one, length)
    wanted = sa.func.substr(sa.literal(sample_id, Text), one, length)
    return sa.and_(SAMPLES.c.run_id == run, start == wanted, SAMPLES.c.sample_id == sample_id)


def claim_of(connection: sa.Connection, run: str, sample_id: str, claim_id: str) -> tuple[int, NewLabel]:
    """Return the place of the sample that has this claim, and the beginnings of a label of it.

    Raises `InputError` when there is none.
    """
    samples = sa.select(SAMPLES.c.position, SAMPLES.c.answer_key).where(is_sample(run, sample_id))
    places = connection.execute(samples.order_by(SAMPLES.c.position)).all()
    for place, answer in places:
        query = sa.select(CLAIMS.c.text, CLAIMS.c.span_start, CLAIMS.c.span_end)
        at = (CLAIMS.c.run_id == run, CLAIMS.c.position == place, CLAIMS.c.claim_id == claim_id)
        if claim := connection.execute(query.where(*at)).first():
            text, start, end = claim
            return place, NewLabel(answer, text, Span(start, end), Label.SUPPORTED, "")
    what = f"claim {claim_id!r} in sample {sample_id!r}" if places else f"sample {sample_id!r}"
    raise InputError(f"no {what} in run {run}: a label needs a claim that the run judged")


def replace_all(connection: sa.Connection, run: str, labels: Sequence[NewLabel], created: str) -> None:
    """Keep labels, each in place of the annotator's earlier one of the same claim or answer."""
    for label in labels:
        put(connection, Act(secrets.token_hex(16), run), label, created)


def put(connection: sa.Connection, act: Act, label: NewLabel, created: str) -> None:
    """Keep a label in place of the annotator's earlier one of the same claim or answer, and note that."""
    about = About(label.key, label.annotator, label.answer_key)
    with noted(connection, act, about, "label", created):
        connection.execute(sa.delete(LABELS).where(*of(LABELS, about)))
        connection.execute(sa.insert(LABELS), _row(act.run, label, created))
        set_skipped(connection, act, about, None)


def gather(connection: sa.Connection, run: str) -> list[HumanLabel]:
    """Return the labels of a run's texts in the order of its samples, oldest first within one."""
    return [_label_from(row, claim_id) for row, claim_id in said_of(connection, run, LABELS)]


def said_of(connection: sa.Connection, run: str, table: sa.Table) -> list[tuple[sa.RowMapping, str]]:
    """Return what a table of labels or marks has on a run's texts, with the id of the claim that has the text."""
    joined = sa.join(table, SAMPLES, table.c.answer_key == SAMPLES.c.answer_key)
    query = (
        sa.select(SAMPLES.c.position, SAMPLES.c.sample_id, table)
        .select_from(joined)
        .where(SAMPLES.c.run_id == run)
        .order_by(SAMPLES.c.position, table.c.created, table.c.claim_key, table.c.annotator)
    )
    rows = connection.execute(query).mappings().all()
    ids = _ids(connection, run, {row["position"]: row["answer_key"] for row in rows})
    return [(row, ids.get((row["position"], row["claim_key"]), "")) for row in rows]


def has_any(connection: sa.Connection, run: str) -> bool:
    """Whether a text of the run is labelled."""
    joined = sa.join(LABELS, SAMPLES, LABELS.c.answer_key == SAMPLES.c.answer_key)
    query = sa.select(SAMPLES.c.position).select_from(joined).where(SAMPLES.c.run_id == run).limit(1)
    return connection.execute(query).first() is not None


def _ids(connection: sa.Connection, run: str, answers: dict[int, str]) -> dict[tuple[int, str], str]:
    """Return which claim of the run has the text that a label is about."""
    ids: dict[tuple[int, str], str] = {}
    columns = (CLAIMS.c.position, CLAIMS.c.claim_id, CLAIMS.c.text)
    places = sorted(answers)
    for first in range(0, len(places), _MANY):
        at = (CLAIMS.c.run_id == run, CLAIMS.c.position.in_(places[first : first + _MANY]))
        for place, claim_id, text in connection.execute(sa.select(*columns).where(*at).order_by(CLAIMS.c.ordinal)):
            ids.setdefault((place, claim_key(answers[place], text)), claim_id)
    return ids


def _row(run: str, label: NewLabel, created: str) -> dict[str, Any]:
    return {
        "claim_key": label.key,
        "annotator": label.annotator,
        "answer_key": label.answer_key,
        "span_start": label.span.start if label.span else None,
        "span_end": label.span.end if label.span else None,
        "label": label.label.value,
        "failure_mode": label.failure_mode,
        "note": label.note,
        "chosen": label.chosen,
        "run_id": run,
        "created": created,
        "evidence": [list(one) for one in label.evidence],
    }


def _label_from(row: sa.RowMapping, claim_id: str) -> HumanLabel:
    spanned = row["span_start"] is not None
    return HumanLabel(
        position=row["position"],
        sample_id=row["sample_id"],
        claim_id=claim_id,
        label=Label(row["label"]),
        annotator=row["annotator"],
        note=row["note"],
        created=row["created"],
        key=row["claim_key"],
        answer_key=row["answer_key"],
        span=Span(row["span_start"], row["span_end"]) if spanned else None,
        failure_mode=row["failure_mode"],
        chosen=row["chosen"],
        evidence=tuple(Picked(*one) for one in row["evidence"] or ()),
    )


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True).encode("ascii")).hexdigest()[:32]

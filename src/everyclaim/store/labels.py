"""What people say about claims: the statements behind `Store.add_label` and `Store.labels`."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import sqlalchemy as sa

from everyclaim.core.errors import InputError
from everyclaim.store.records import HumanLabel
from everyclaim.store.rows import label_from
from everyclaim.store.tables import CLAIMS, LABELS, SAMPLES, Text


def is_sample(run: str, sample_id: str) -> sa.ColumnElement[bool]:
    """Match a sample's id through the index, which holds only its beginning."""
    # Written out as in the index, not as parameters, or the index is not used.
    one: sa.ColumnClause[int] = sa.literal_column("1")
    length: sa.ColumnClause[int] = sa.literal_column("64")
    start = sa.func.substr(SAMPLES.c.sample_id, one, length)
    wanted = sa.func.substr(sa.literal(sample_id, Text), one, length)
    return sa.and_(SAMPLES.c.run_id == run, start == wanted, SAMPLES.c.sample_id == sample_id)


def place_of(connection: sa.Connection, run: str, sample_id: str, claim_id: str) -> int:
    """Return the place of the sample that has this claim. Raises `InputError` when there is none."""
    samples = sa.select(SAMPLES.c.position).where(is_sample(run, sample_id)).order_by(SAMPLES.c.position)
    places: Sequence[int] = connection.execute(samples).scalars().all()
    for place in places:
        claim = sa.select(CLAIMS.c.ordinal).where(
            CLAIMS.c.run_id == run, CLAIMS.c.position == place, CLAIMS.c.claim_id == claim_id
        )
        if connection.execute(claim).first():
            return place
    what = f"claim {claim_id!r} in sample {sample_id!r}" if places else f"sample {sample_id!r}"
    raise InputError(f"no {what} in run {run}: a label needs a claim that the run judged")


def replace(connection: sa.Connection, run: str, label: HumanLabel) -> None:
    """Keep a label in place of the annotator's earlier one of the same claim."""
    connection.execute(
        sa.delete(LABELS).where(
            LABELS.c.run_id == run,
            LABELS.c.position == label.position,
            LABELS.c.claim_id == label.claim_id,
            LABELS.c.annotator == label.annotator,
        )
    )
    connection.execute(
        sa.insert(LABELS),
        {
            "id": secrets.token_hex(8),
            "run_id": run,
            "position": label.position,
            "sample_id": label.sample_id,
            "claim_id": label.claim_id,
            "label": label.label.value,
            "annotator": label.annotator,
            "note": label.note,
            "created": label.created,
        },
    )


def gather(connection: sa.Connection, run: str) -> list[HumanLabel]:
    """Return the labels of a run in the order of its samples, oldest first within one."""
    query = sa.select(LABELS).where(LABELS.c.run_id == run)
    rows = connection.execute(query.order_by(LABELS.c.position, LABELS.c.created, LABELS.c.id)).mappings()
    return [label_from(row) for row in rows]

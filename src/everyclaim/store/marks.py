"""What people say of how claims were cut: the statements behind the marks of `Labelling`. They belong to the text."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from everyclaim.core.types import Span, SplitMark
from everyclaim.store.history import About, Act, noted, of, set_skipped
from everyclaim.store.labels import claim_key, said_of
from everyclaim.store.records import HumanMark
from everyclaim.store.tables import MARKS


@dataclass(frozen=True, slots=True)
class NewMark:
    """A mark on its way into the store."""

    answer_key: str
    claim: str
    span: Span | None  # of the claim in the response
    mark: SplitMark
    annotator: str
    note: str = ""
    chosen: str = ""  # how the claim was chosen; empty: not known

    @property
    def key(self) -> str:
        """What the mark is about."""
        return claim_key(self.answer_key, self.claim)


def put(connection: sa.Connection, act: Act, new: NewMark, created: str) -> None:
    """Keep a mark in place of the annotator's earlier one of the same claim, and note that."""
    about = About(new.key, new.annotator, new.answer_key)
    row = {
        "claim_key": new.key,
        "annotator": new.annotator,
        "answer_key": new.answer_key,
        "span_start": new.span.start if new.span else None,
        "span_end": new.span.end if new.span else None,
        "mark": new.mark.value,
        "note": new.note,
        "chosen": new.chosen,
        "run_id": act.run,
        "created": created,
    }
    with noted(connection, act, about, "mark", created):
        connection.execute(sa.delete(MARKS).where(*of(MARKS, about)))
        connection.execute(sa.insert(MARKS), row)
        set_skipped(connection, act, about, None)


def gather(connection: sa.Connection, run: str) -> list[HumanMark]:
    """Return the marks of a run's texts in the order of its samples, oldest first within one."""
    return [
        HumanMark(
            position=row["position"],
            sample_id=row["sample_id"],
            claim_id=claim_id,
            mark=SplitMark(row["mark"]),
            annotator=row["annotator"],
            note=row["note"],
            created=row["created"],
            key=row["claim_key"],
            answer_key=row["answer_key"],
            span=None if row["span_start"] is None else Span(row["span_start"], row["span_end"]),
            chosen=row["chosen"],
        )
        for row, claim_id in said_of(connection, run, MARKS)
    ]

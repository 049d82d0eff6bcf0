"""What the store hands out beside samples and results, as data; and the way to the rows of the tables and back."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import sqlalchemy as sa

from everyclaim.core.plaintext import digest
from everyclaim.core.protocols import Kept
from everyclaim.core.types import Label, Outcome, Provenance, Sample, Span, SplitMark, tag_values
from everyclaim.core.wire import (
    conversation_to_json,
    result_from_json,
    result_to_json,
    sample_from_json,
    sample_to_json,
    tags_to_json,
    to_json,
)

Kind = Literal["label", "mark"]  # of what people say: a label, or how a claim was split
V_co = TypeVar("V_co", bound=Label | SplitMark, covariant=True)
Status = Literal["running", "interrupted", "finished", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class RowCounts:
    """What became of the rows of a data set: those that were read, and those that are in no count of samples."""

    good: int
    bad: int  # could not be read as samples
    first: Sequence[str] = ()  # of the bad ones: the place and the reason of a few
    incomplete: str = ""  # why the source could not be read to its end


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One scoring of one data set with one configuration.

    `running` means that a process is at it now; `interrupted`, that it ended without a word (it was killed, the machine
    went down). `counts` holds every outcome, zeros included. Times are ISO 8601 in UTC.
    """

    id: str  # 12 hexadecimal digits
    name: str
    created: str
    finished: str | None
    status: Status
    provenance: Provenance
    config: Mapping[str, Any]
    config_fingerprint: str
    dataset: str
    dataset_fingerprint: str
    total: int | None  # samples in the data set, when known beforehand
    counts: Mapping[Outcome, int]
    reading: RowCounts | None = None  # not known before a run ends

    @property
    def title(self) -> str:
        """Its name, else its id."""
        return self.name or self.id

    @property
    def kept(self) -> int:
        """How many samples the store holds for this run, whatever became of them."""
        return sum(self.counts.values())

    @property
    def bad_rows(self) -> int:
        """How many rows of the data set are known to be in no count, because they could not be read as samples."""
        return self.reading.bad if self.reading else 0

    def to_json(self) -> dict[str, Any]:
        """Write what is known of it beside its results."""
        names = ("id", "name", "created", "finished", "status", "dataset", "total")
        return {name: getattr(self, name) for name in names} | {
            "counts": {outcome.value: count for outcome, count in self.counts.items()},
            "rows": asdict(self.reading) if self.reading else None,
            "provenance": to_json(self.provenance),
        }


class Picked(NamedTuple):
    """Evidence that a person picked: a span in a passage, which is named by its place among those of the answer."""

    passage: int  # from 0
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Annotation(Generic[V_co]):
    """What a person says of a claim: a label, or a mark of how it was split; or the label of a whole answer.

    It belongs to the text, which digests name, and serves every run over it. Where a run has the text is known once it
    was read for that run; `claim_id` is empty where the run has no claim with this very text, and for an answer.
    """

    value: V_co
    annotator: str
    answer_key: str  # digest of passages and response
    key: str  # digest of passages, response and claim; of a whole answer its `answer_key`
    span: Span | None = None  # of the claim in the response; None for a whole answer
    note: str = ""
    failure_mode: str | None = None
    chosen: str = ""  # how the text was chosen for labelling; empty: not known
    evidence: tuple[Picked, ...] = ()
    position: int = -1  # the sample's place in the input
    sample_id: str = ""
    claim_id: str = ""
    created: str = ""  # ISO 8601 in UTC
    origin: str = ""  # the stored run that it was chosen from, else that it was given for

    @property
    def kind(self) -> Kind:
        """Whether it is a label or a mark."""
        return "label" if isinstance(self.value, Label) else "mark"

    @property
    def is_of_answer(self) -> bool:
        """Whether the whole answer is meant."""
        return self.key == self.answer_key


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one annotator is in a queue."""

    total: int
    labelled: int
    marked: int  # called bad claims, without a label
    skipped: int  # and neither labelled nor marked since

    @property
    def done(self) -> int:
        """How many items need nothing more."""
        return self.labelled + self.marked

    @property
    def left(self) -> int:
        """How many items wait, those skipped among them."""
        return self.total - self.done


@dataclass(frozen=True, slots=True)
class LabelQueue:
    """Claims, or answers, of a run that some people label, each in an order of their own."""

    id: str  # 12 hexadecimal digits
    run: str
    name: str
    chosen: str  # how, as kept with every label
    answers: bool  # whole answers instead of claims
    annotators: tuple[str, ...]
    overlap: float  # share that every annotator labels
    created: str  # ISO 8601 in UTC
    progress: Mapping[str, Progress]  # by annotator


@dataclass(frozen=True, slots=True)
class QueueItem:
    """One text in an annotator's queue, and whether they have dealt with it."""

    position: int  # of the sample in the run
    ordinal: int  # of the claim in its result, from 0; -1: the whole answer
    key: str  # digest of passages, response and claim, or of passages and response
    label: Label | None = None
    mark: SplitMark | None = None
    skipped: int | None = None  # in the order of skipping; None: not skipped

    @property
    def is_done(self) -> bool:
        """Whether it needs nothing more."""
        return self.label is not None or self.mark is not None


def now() -> str:
    """Return the time as it is kept: UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def utc_of(text: str) -> datetime:
    """Read a time; one without a zone is in UTC. Raises `ValueError`."""
    when = datetime.fromisoformat(text)
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)


def config_fingerprint(provenance: Provenance, config: Mapping[str, Any]) -> str:
    """Return 32 hexadecimal digits that change with anything in the configuration of a run."""
    whole = {"provenance": to_json(provenance), "config": dict(config)}
    body = json.dumps(whole, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return digest(body, 32)


# ---- keys of texts


def answer_key(response: str, passages: Iterable[str]) -> str:
    """Name an answer beside the texts of its passages: 32 hexadecimal digits."""
    return digest(json.dumps([response, list(passages)]), 32)


def answer_key_of(sample: Sample) -> str:
    """Name the answer of a sample, as `answer_key` does."""
    return answer_key(sample.response, [passage.text for passage in sample.passages])


def claim_key(answer: str, claim: str) -> str:
    """Name a claim of an answer by what it says: 32 hexadecimal digits."""
    return digest(json.dumps([answer, claim]), 32)


# ---- rows

Row = dict[str, Any]
_SAME = ("question", "response", "reference", "model", "release", "timestamp")  # of a sample


def rows_of(run: str, batch: Sequence[Kept]) -> tuple[list[Row], list[Row], list[Row]]:
    """Return the rows of `samples`, `claims` and `tags` that keep this batch."""
    samples: list[Row] = []
    claims: list[Row] = []
    tags: list[Row] = []
    for kept in batch:
        place = {"run_id": run, "position": kept.position}
        written = result_to_json(kept.result)
        samples.append(place | _sample_row(kept, written))
        for ordinal, claim in enumerate(written["claims"]):
            claims.append(place | {"ordinal": ordinal} | _claim_row(claim))
        named = [(name, value) for name, tag in kept.sample.tags.items() for value in tag_values(tag)]
        for ordinal, (name, value) in enumerate(named):
            tags.append(place | {"ordinal": ordinal, "name": name, "value": value})
    return samples, claims, tags


def kept_from(row: sa.RowMapping) -> Kept:
    """Read a row of `samples`."""
    sample = sample_from_json({"id": row["sample_id"], **row, **(row["conversation"] or {})})
    return Kept(row["position"], row["fingerprint"], sample, result_from_json(row["result"]))


def run_from(row: sa.RowMapping, counts: dict[Outcome, int], status: Status) -> RunRecord:
    """Read a row of `runs`; `status` is what has become of it."""
    same = {part.name: row[part.name] for part in fields(RunRecord) if part.name in row}
    read = {
        "status": status,
        "provenance": Provenance(**{part.name: row[part.name] for part in fields(Provenance)}),
        "counts": counts,
        "reading": RowCounts(**row["reading"]) if row["reading"] else None,
    }
    return RunRecord(**same | read)


def _sample_row(kept: Kept, written: Row) -> Row:
    sample = kept.sample
    score = kept.result.score
    return {
        "fingerprint": kept.fingerprint,
        "sample_id": sample.id,
        **{name: getattr(sample, name) for name in _SAME},
        "contexts": sample_to_json(sample)["contexts"],
        "conversation": conversation_to_json(sample) or None,
        "tags": tags_to_json(sample.tags),
        "outcome": kept.result.outcome.value,
        # SQLite would make NULL of NaN and PostgreSQL would keep it: NULL on both.
        "score": score if score is not None and math.isfinite(score) else None,
        "reason": kept.result.reason,
        "result": written,
        "answer_key": answer_key_of(sample),
        "probability": kept.result.probability,
    }


def _claim_row(claim: Row) -> Row:
    verdict = claim["verdict"]
    probabilities = verdict["probabilities"] or {"supported": None, "unsupported": None, "contradicted": None}
    return {
        "claim_id": claim["id"],
        "text": claim["text"],
        "span_start": claim["span"][0],
        "span_end": claim["span"][1],
        "sentence": claim["sentence"],
        **probabilities,
        **{name: verdict[name] for name in ("label", "conflict", "failure_mode", "judge", "evidence")},
    }

"""What the store hands out beside samples and results: runs and human labels, as data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from everyclaim.core.types import Label, Outcome, Provenance, Span, SplitMark
from everyclaim.core.wire import provenance_to_json

Kind = Literal["label", "mark"]  # of what people say: a label, or how a claim was split
V_co = TypeVar("V_co", bound=Label | SplitMark, covariant=True)
Status = Literal["running", "interrupted", "finished", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Reading:
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
    reading: Reading | None = None  # not known before a run ends, nor of runs of older versions

    @property
    def kept(self) -> int:
        """How many samples the store holds for this run, whatever became of them."""
        return sum(self.counts.values())

    @property
    def bad_rows(self) -> int:
        """How many rows of the data set are known to be in no count, because they could not be read as samples."""
        return self.reading.bad if self.reading else 0


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


def config_fingerprint(provenance: Provenance, config: Mapping[str, Any]) -> str:
    """Return 32 hexadecimal digits that change with anything in the configuration of a run."""
    whole = {"provenance": provenance_to_json(provenance), "config": dict(config)}
    body = json.dumps(whole, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(body.encode("ascii")).hexdigest()[:32]

"""Where people label: a desk for one person, and files to fill in.

A desk shows their part of a queue, or what they settle where others differ. It reads what to show and keeps what is
said. Every action has an id that whoever acts chose, so that one that is sent again is not done again. Files are
written for people, never over what they have begun, and read back into the store.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from everyclaim.analysis.labels import ADJUDICATED, Dispute, Opinion, disputes
from everyclaim.api.options import ReadOptions
from everyclaim.api.runs import Run
from everyclaim.core.errors import ConfigError, InputError, UserError
from everyclaim.core.plaintext import counted, did_you_mean, one_line
from everyclaim.core.protocols import Kept
from everyclaim.core.types import Evidence, FailureMode, JudgedClaim, Label, Passage, Result, Span, SplitMark
from everyclaim.io import LABELS, MARKS, BadRow, LabelRow, ReadReport, check_apart, open_rows, read_rows
from everyclaim.io.samples import RowType
from everyclaim.store.labels import About, Act, AnyAnnotation, HistoryEntry
from everyclaim.store.records import Annotation, Kind, LabelQueue, Picked, QueueItem, answer_key_of, claim_key
from everyclaim.store.store import Store

LONGEST_NOTE = 10_000  # characters
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


@dataclass(frozen=True, slots=True)
class LabelTask:
    """One text to label, with all that is shown of it. `claim` is None for a whole answer."""

    number: int  # in this desk's order, from 1
    item: QueueItem
    kept: Kept
    claim: JudgedClaim | None
    said: Opinion  # by whoever sits here; nothing so far without label and mark
    others: tuple[Opinion, ...] = ()  # where these are to be settled

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The passages of the answer."""
        return self.kept.sample.passages

    @property
    def judged(self) -> Label:
        """What the judge says: of a whole answer, the worst of its claims."""
        if self.claim is not None:
            return self.claim.verdict.label
        failing = self.kept.result.failing
        return failing[0].verdict.label if failing else Label.SUPPORTED

    def quoted(self, evidence: Sequence[Picked]) -> tuple[Evidence, ...]:
        """Return picked evidence with the ids and texts of its passages; what lies outside them is left out."""
        there = [(self.passages[place.passage], place) for place in evidence if place.passage < len(self.passages)]
        return tuple(Evidence(one.id, at.start, at.end, one.text[at.start : at.end]) for one, at in there)


class LabelingSession:
    """A person at work on a run's texts. Make one with `of_queue` or `of_disputes`, for one request or for many."""

    def __init__(self, store: Store, run: str, annotator: str, queue: LabelQueue | None = None) -> None:
        self._store = store
        self.run = run
        self.annotator = annotator
        self.queue = queue
        self.actor = ""  # who is logged in, where that is known

    @classmethod
    def of_queue(cls, store: Store, queue: str, annotator: str) -> LabelingSession:
        """Return the desk of an annotator of a queue. Raises `InputError` where there is no such queue or person."""
        found = store.labelling.queue(queue)
        if annotator not in found.annotators:
            hint = did_you_mean(annotator, found.annotators)
            raise InputError(f"{one_line(annotator, 60)!r} is not an annotator of this queue{hint}")
        return cls(store, found.run, annotator, found)

    @classmethod
    def of_disputes(cls, store: Store, run: str) -> LabelingSession:
        """Return the desk where the differences of a run's annotators are settled."""
        return cls(store, store.run(run).id, ADJUDICATED)

    @property
    def settles(self) -> bool:
        """Whether what others said is settled here."""
        return self.queue is None

    @cached_property
    def items(self) -> tuple[QueueItem, ...]:
        """What there is to label, in order; as it was read, until something is said."""
        if self.queue is not None:
            return tuple(self._store.labelling.items(self.queue.id, self.annotator))
        return tuple(
            QueueItem(one.position, ordinal, one.key, settled.label, settled.mark)
            for one, ordinal in self._disputed
            for settled in [one.settled or Opinion(ADJUDICATED)]
        )

    @cached_property
    def labels(self) -> Sequence[Annotation[Label]]:
        """What everybody labelled of the run."""
        return self._store.labels(self.run)

    @cached_property
    def marks(self) -> Sequence[Annotation[SplitMark]]:
        """What everybody says of how the run's claims were cut."""
        return self._store.labelling.marks(self.run)

    @cached_property
    def _disputed(self) -> tuple[tuple[Dispute, int], ...]:
        """Where annotators of the run differ about a claim that it has, or about a whole answer."""
        found = disputes(self.labels, self.marks)
        ordinals = self._ordinals_of({dispute.position for dispute in found})
        return tuple(
            (dispute, ordinal)
            for dispute in found
            for ordinal in [-1 if dispute.key == dispute.answer_key else ordinals[dispute.position].get(dispute.key)]
            if ordinal is not None
        )

    def left(self) -> list[str]:
        """Return the keys of what waits, in order, what was skipped behind the rest."""
        waiting = [item for item in self.items if not item.is_done]
        waiting.sort(key=lambda item: (item.skipped is not None, item.skipped or 0))
        return list(dict.fromkeys(item.key for item in waiting))

    def task(self, key: str) -> LabelTask:
        """Return one text with what there is to see of it. Raises `InputError` for one that is not on this desk."""
        number, item = self._find(key)
        kept = self._kept(item)
        claim = None if item.ordinal < 0 else kept.result.claims[item.ordinal]
        disputes = self._disputed if self.settles else ()
        others = next((dispute.opinions for dispute, _ in disputes if dispute.key == key), ())
        return LabelTask(number, item, kept, claim, self._said(key, answer_key_of(kept.sample)), others)

    # ---- what is said

    def say(
        self,
        action: str,
        key: str,
        value: Label | SplitMark,
        *,
        note: str = "",
        failure_mode: FailureMode | None = None,
        evidence: Sequence[Picked] = (),
    ) -> HistoryEntry:
        """Keep a label, or a mark of how the claim was split. Raises `InputError` for evidence that is not there."""
        task, note = self.task(key), note.strip()
        if len(note) > LONGEST_NOTE:
            raise InputError(f"a comment can have at most {LONGEST_NOTE:,} characters, got {len(note):,}")
        act, answer = self._act(action), answer_key_of(task.kept.sample)
        span = task.claim.span if task.claim else None
        chosen = (
            self.queue.chosen if self.queue else next((opinion.chosen for opinion in task.others if opinion.chosen), "")
        )
        said: AnyAnnotation
        if isinstance(value, Label):
            _check_evidence(evidence, task.passages)
            mode = failure_mode.value if failure_mode and value is not Label.SUPPORTED else None
            picked = tuple(dict.fromkeys(evidence))
            said = Annotation(value, self.annotator, answer, key, span, note, mode, chosen, picked)
        elif task.claim is None:
            raise InputError("whole answers are not split: use a label")
        else:
            said = Annotation(value, self.annotator, answer, key, span, note, chosen=chosen)
        return self._checked(self._store.labelling.annotate(act, said), key)

    def skip(self, action: str, key: str) -> HistoryEntry:
        """Put a text behind all others."""
        return self._checked(self._store.labelling.skip(self._act(action), self._about(key)), key)

    def withdraw(self, action: str, key: str) -> HistoryEntry:
        """Take back all that was said of a text here."""
        return self._checked(self._store.labelling.withdraw(self._act(action), self._about(key)), key)

    def undo(self, action: str) -> HistoryEntry | None:
        """Undo what was done last at this desk; None when nothing is left to undo."""
        found = self._store.labelling.undo(self._act(action), self.annotator)
        return None if found is None else self._checked(found, None)

    # ---- how

    def _act(self, action: str) -> Act:
        if not _ID.fullmatch(action):
            raise ConfigError("an action needs a unique id of 8 to 64 letters and digits")
        return Act(action, self.run, self.queue.id if self.queue else "", self.actor)

    def _checked(self, entry: HistoryEntry, key: str | None) -> HistoryEntry:
        """Refuse an id that stood for another action before; what this one says is then not kept."""
        for name in ("items", "labels", "marks", "_disputed"):  # what was read is of an earlier moment
            self.__dict__.pop(name, None)
        queue = self.queue.id if self.queue else ""
        same = (entry.about.annotator, entry.run, entry.queue) == (self.annotator, self.run, queue)
        if not same or (key is not None and entry.about.key != key) or (key is None) != (entry.action == "undo"):
            raise InputError(f"the action id {entry.id!r} is already used: use a unique id for each action")
        return entry

    def _find(self, key: str) -> tuple[int, QueueItem]:
        found = next(((number, item) for number, item in enumerate(self.items, 1) if item.key == key), None)
        if found is None:
            raise InputError("this claim is not, or no longer, in the queue")
        return found

    def _about(self, key: str) -> About:
        return About(key, self.annotator, answer_key_of(self._kept(self._find(key)[1]).sample))

    def _kept(self, item: QueueItem) -> Kept:
        kept = next(iter(self._store.records_at(self.run, [item.position])), None)
        if kept is None:
            raise InputError(f"run {self.run} no longer has the answer of this label")
        return kept

    def _said(self, key: str, answer: str) -> Opinion:
        said = self._store.labelling.said(About(key, self.annotator, answer))
        label, mark = said["label"] or {}, said["mark"] or {}
        bad = SplitMark(mark["value"]) if mark else None
        return Opinion(
            self.annotator,
            Label(label["value"]) if label else None,
            None if bad is SplitMark.GOOD else bad,
            (label or mark).get("note", ""),
            label.get("failure_mode"),
            tuple(Picked(*place) for place in label.get("evidence") or ()),
            label.get("chosen", ""),
        )

    def _ordinals_of(self, positions: set[int]) -> Mapping[int, Mapping[str, int]]:
        found: dict[int, dict[str, int]] = {}
        for record in self._store.records_at(self.run, positions):
            answer = answer_key_of(record.sample)
            own = found.setdefault(record.position, {})
            for ordinal, claim in enumerate(record.result.claims):
                own.setdefault(claim_key(answer, claim.text), ordinal)
        return found


def _check_evidence(evidence: Sequence[Picked], passages: Sequence[Passage]) -> None:
    for place in evidence:
        if not 0 <= place.passage < len(passages):
            raise InputError(f"evidence in passage {place.passage + 1}: the answer has {len(passages)} passages")
        size = len(passages[place.passage].text)
        if not 0 <= place.start < place.end <= size:
            raise InputError(
                f"evidence at {place.start}–{place.end} is outside passage {place.passage + 1} ({size:,} characters)"
            )


NOBODY = "annotator"  # who labelled, where a file does not say
_STANDARD = "-"
_ROWS: Mapping[Kind, RowType[LabelRow]] = {"label": LABELS, "mark": MARKS}

Row = Mapping[str, Any]
Better = dict[tuple[str, str], tuple[str, ...]]  # answer and claim → what the claims of its sentence should be


@dataclass(frozen=True, slots=True)
class LabelSheet:
    """Texts that people fill in: one row per text and annotator. A `print` tells what is to be labelled."""

    kind: Kind
    run: str
    rows: tuple[Row, ...]
    told: str = ""

    def __str__(self) -> str:
        return self.told

    def write(self, destination: str | os.PathLike[str]) -> None:
        """Write the rows: JSONL, JSON, or CSV that spreadsheets open (UTF-8 with its mark, no formulas).

        Raises `ConfigError` where the file is such a sheet already, and somebody has begun to fill it in.
        """
        _keep_filled(destination, self.kind)
        is_flat = os.fspath(destination).lower().endswith((".csv", ".tsv"))
        with open_rows(destination, columns={name: str for row in self.rows[:1] for name in row}, marked=True) as write:
            for row in self.rows:
                write({name: _flat(value) for name, value in row.items()} if is_flat else row)


def _flat(value: Any) -> Any:
    """Lay out as text, for people who read a table: passages, evidence, a span, claims."""
    if not isinstance(value, list) or not value:
        return "" if value is None or value == [] else value
    if isinstance(value[0], int):
        return f"[{value[0]}, {value[1]}]"
    if isinstance(value[0], str):
        return "\n".join(value)
    if "quote" in value[0]:
        return "\n".join(f"[{one['passage_id']}] {one['quote']}" for one in value)
    return "\n\n".join(f"[{one['id']}] {one['title']}\n{one['text']}".strip() for one in value)


def _keep_filled(destination: str | os.PathLike[str], kind: Kind) -> None:
    name = os.fspath(destination)
    if name == _STANDARD or not Path(name).is_file() or not Path(name).stat().st_size:
        return
    report = ReadReport()
    try:
        filled = sum(row.value is not None for row in read_rows(_ROWS[kind], name, report=report)) + report.bad
    except UserError:
        raise ConfigError(f"{name} exists and is not a label file: choose another name, or move it away") from None
    if filled:
        raise ConfigError(
            f"{name} already has {counted(filled, 'filled-in row')}: choose another name, or move it away"
        )


def share_out(number: int, people: int, overlap: float) -> tuple[int, list[list[int]]]:
    """Give the first ones, a share of `overlap`, to all of several people and the rest to one each.

    Returns how many are shared, and who has which.
    """
    shared = round(number * overlap) if people > 1 else 0
    own = [[place for place in range(number) if place < shared or place % people == one] for one in range(people)]
    return shared, own


def read_into(run: Run, source: Any, kind: Kind, options: ReadOptions) -> Better:
    """Read labels or marks into the store of a run; what cannot be used goes to the report, one line each.

    Returns what the claims of sentences should be, where marks say that. Raises `ConfigError` where the source is the
    store itself, and `InputError` where nothing can be used.
    """
    check_apart({f"the {kind}s": source}, {"the store": run.store_location})
    report = options.get("report") or ReadReport()
    read = read_rows(_ROWS[kind], source, mapping=options.get("mapping"), format=options.get("format"), report=report)
    with Store.open(run.store_location) as store:
        reading = _LabelReader(store, run.id, report, kind)
        for row in read:
            reading.take(row)
        if reading.empty:
            report.warn(f"{counted(reading.empty, 'row')} without a {kind}")
        if not reading.found:
            raise InputError(f"the file has no usable {kind}{report.first_fault or f': fill in the column {kind!r}'}")
        store.add_labels(run.id, [annotation for annotation, _ in reading.found.values()])
    return reading.better


LabelledText = tuple[str, str, Span | None]  # an answer, a claim of it (empty: all of it), and where that stands


class _LabelReader:
    """Finds the text of every row in the run, and keeps the first of several rows of one person about one text."""

    def __init__(self, store: Store, run: str, report: ReadReport, kind: Kind) -> None:
        self._store, self._run, self._report, self._kind = store, run, report, kind
        self._answers: dict[str, list[tuple[str, Result, str]]] = {}
        self.found: dict[tuple[str, str], tuple[AnyAnnotation, int]] = {}
        self.better: Better = {}
        self.empty = 0

    def take(self, row: LabelRow) -> None:
        """Take a row, or report what is wrong with it."""
        self.empty += row.value is None
        text = self._text(row) if row.better or row.value is not None else None
        if text and row.better:
            self.better.setdefault(text[:2], row.better)
        if row.value is None:
            return
        if text is None:
            answer = one_line(row.sample_id, 60)
            what = f"claim {one_line(row.claim or '', 60)!r} is not in the answer {answer!r}"
            self._refuse(row, what if self._answers[row.sample_id] else f"sample {answer!r} is not in run {self._run}")
            return
        answer, claim, span = text
        annotator, key = row.annotator or NOBODY, claim_key(answer, claim) if claim else answer
        if (key, annotator) in self.found:
            first, number = self.found[key, annotator]
            what = "is the same" if first.value is row.value else f"is {first.value}, which counts"
            self._refuse(row, f"{annotator!r} {self._kind}s this claim twice; row {number} {what}")
            return
        said = Annotation(row.value, annotator, answer, key, span, row.note, row.failure_mode, row.chosen)
        self.found[key, annotator] = said, row.number

    def _refuse(self, row: LabelRow, why: str) -> None:
        self._report.good -= 1
        self._report.add_bad(BadRow(row.number, why, "row"))

    def _text(self, row: LabelRow) -> LabelledText | None:
        if row.sample_id not in self._answers:
            self._answers[row.sample_id] = [
                (answer_key_of(kept.sample), kept.result, kept.sample.response)
                for kept in self._store.find(self._run, row.sample_id)
            ]
        found = (self._text_in(row, *answer) for answer in self._answers[row.sample_id])
        return next((text for text in found if text is not None), None)

    def _text_in(self, row: LabelRow, answer: str, result: Result, response: str) -> LabelledText | None:
        if row.claim is None:
            return answer, "", None
        text = row.claim
        spans = {claim.text: claim.span for claim in result.claims}
        if text in spans:
            return answer, text, spans[text]
        if self._kind == "label":  # a mark is of a claim of the run, a label of any stretch of the answer
            if row.span is not None and response[slice(*row.span)] == text:
                return answer, text, Span(*row.span)
            if (start := response.find(text)) >= 0:
                return answer, text, Span(start, start + len(text))
        # Spreadsheets and editors change line ends and runs of blanks.
        loosely = {" ".join(known.split()): known for known in spans}
        known = loosely.get(" ".join(text.split()))
        return None if known is None else (answer, known, spans[known])

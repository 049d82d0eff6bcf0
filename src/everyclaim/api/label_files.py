"""Files that people fill in: written for them, never over what they have begun, and read back into the store."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from everyclaim.api.options import ReadOptions
from everyclaim.api.runs import Run
from everyclaim.core.errors import ConfigError, InputError, UserError
from everyclaim.core.plaintext import counted, one_line
from everyclaim.core.types import Result, Span
from everyclaim.io import LABELS, MARKS, BadRow, LabelRow, ReadReport, check_apart, open_rows, read_rows
from everyclaim.io.samples import RowType
from everyclaim.store.labels import AnyAnnotation
from everyclaim.store.records import Annotation, Kind, answer_key_of, claim_key
from everyclaim.store.store import Store

NOBODY = "annotator"  # who labelled, where a file does not say
_STANDARD = "-"
_ROWS: Mapping[Kind, RowType[LabelRow]] = {"label": LABELS, "mark": MARKS}

Row = Mapping[str, Any]
Better = dict[tuple[str, str], tuple[str, ...]]  # answer and claim → what the claims of its sentence should be


@dataclass(frozen=True, slots=True)
class LabelTable:
    """Texts that people fill in: one row per text and annotator."""

    kind: ClassVar[Kind]
    run: str
    rows: tuple[Row, ...]

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
            why = f"; {report.bad_rows[0]}" if report.bad_rows else ": the column is empty"
            raise InputError(f"the file has no usable {kind}{why}")
        store.add_labels(run.id, [annotation for annotation, _ in reading.found.values()])
    return reading.better


@dataclass(frozen=True, slots=True)
class _LabelledText:
    """A claim, or a whole answer, that a row is about."""

    answer: str
    claim: str | None
    span: Span | None

    @property
    def key(self) -> str:
        return self.answer if self.claim is None else claim_key(self.answer, self.claim)


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
        if row.value is None:
            self.empty += 1
            if row.better and (text := self._text(row)):
                self.better.setdefault((text.answer, text.claim or ""), row.better)
            return
        text = self._text(row)
        if text is None:
            answer = one_line(row.sample_id, 60)
            what = f"claim {one_line(row.claim or '', 60)!r} is not in the answer {answer!r}"
            self._refuse(row, what if self._answers[row.sample_id] else f"sample {answer!r} is not in run {self._run}")
            return
        if row.better:
            self.better.setdefault((text.answer, text.claim or ""), row.better)
        annotator = row.annotator or NOBODY
        if (text.key, annotator) in self.found:
            first, number = self.found[text.key, annotator]
            what = "is the same" if first.value is row.value else f"is {first.value}, which counts"
            self._refuse(row, f"{annotator!r} {self._kind}s this claim twice; row {number} {what}")
            return
        annotation = Annotation(
            row.value, annotator, text.answer, text.key, text.span, row.note, row.failure_mode, row.chosen
        )
        self.found[text.key, annotator] = annotation, row.number

    def _refuse(self, row: LabelRow, why: str) -> None:
        self._report.good -= 1
        self._report.add_bad(BadRow(row.number, why, "row"))

    def _text(self, row: LabelRow) -> _LabelledText | None:
        if row.sample_id not in self._answers:
            self._answers[row.sample_id] = [
                (answer_key_of(kept.sample), kept.result, kept.sample.response)
                for kept in self._store.find(self._run, row.sample_id)
            ]
        found = (self._text_in(row, *answer) for answer in self._answers[row.sample_id])
        return next((text for text in found if text is not None), None)

    def _text_in(self, row: LabelRow, answer: str, result: Result, response: str) -> _LabelledText | None:
        if row.claim is None:
            return _LabelledText(answer, None, None)
        text = row.claim
        spans = {claim.text: claim.span for claim in result.claims}
        if text in spans:
            return _LabelledText(answer, text, spans[text])
        if self._kind == "label":  # a mark is of a claim of the run, a label of any stretch of the answer
            if row.span is not None and response[slice(*row.span)] == text:
                return _LabelledText(answer, text, Span(*row.span))
            if (start := response.find(text)) >= 0:
                return _LabelledText(answer, text, Span(start, start + len(text)))
        # Spreadsheets and editors change line ends and runs of blanks.
        loosely = {" ".join(known.split()): known for known in spans}
        known = loosely.get(" ".join(text.split()))
        return None if known is None else _LabelledText(answer, known, spans[known])

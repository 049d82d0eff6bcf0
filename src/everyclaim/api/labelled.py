"""Claims with people's labels; their passages stand beside them, or in the file of the answers they are claims of."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from everyclaim.core.errors import InputError
from everyclaim.core.plaintext import counted
from everyclaim.core.types import Label, Sample, tag_values
from everyclaim.io import ClaimRow, ReadReport, read_claims, read_samples
from everyclaim.text.segment import sentences

LABEL = "label"
ANSWER = "sample_id"  # which answer a claim is of
MEANS = {Label.SUPPORTED.value: True, Label.UNSUPPORTED.value: False, Label.CONTRADICTED.value: False}
_NOT_THERE = "labels of answers that are not there were left out"
MEANS |= {"NOT_SUPPORTED": False}


def read_labelled(
    source: Any,
    answers: Any,
    report: ReadReport,
    *,
    mapping: Mapping[str, str] | None = None,
    format: str | None = None,  # noqa: A002 - as for reading samples
    limit: int | None = None,
) -> list[ClaimRow]:
    """Read labelled claims, each with its label in the one way it is written here, in its tags.

    With `answers` (any source of samples) the rows name theirs by `sample_id`, and question and passages are that
    answer's; a claim that several people labelled is one claim. Rows without a label are passed over. Raises
    `InputError` for a label that is none and where no claim is left.
    """
    renamed = dict(mapping or {})
    fields = {ours: _theirs(renamed, ours) for ours in ((LABEL,) if answers is None else (LABEL, ANSWER))}
    slices = list(fields.values())
    read = read_claims(source, mapping=renamed, format=format, slices=slices, report=report, contexts=False)
    rows = _with_labels(read, fields, report)
    if answers is not None:
        rows = iter(_of_answers(list(rows), answers, report))
    found = list(islice(rows, limit))
    name = os.fspath(source) if isinstance(source, str | os.PathLike) else "the source"
    if not found:
        why = f"; {report.bad_rows[0]}" if report.bad_rows else ""
        if missing := [warning for warning in report.warnings if warning.startswith(_NOT_THERE)]:
            why = f"; {missing[0]}"
        raise InputError(f"{name} holds no labelled claim{why}")
    if not any(row.passages for row in found):
        raise InputError(
            f"{name} holds labels, but no contexts to judge the claims against; where these are in the file of the "
            "answers, name it: --answers FILE, in Python answers=…"
            if answers is None
            else f"the answers that {name} names have no contexts to judge the claims against"
        )
    return found


def label_of(row: ClaimRow) -> str:
    """Return the label of a claim that `read_labelled` gave."""
    return ", ".join(tag_values(row.tags[LABEL]))


def _theirs(mapping: dict[str, str], ours: str) -> str:
    """Take a field that is no field of claims out of a mapping."""
    theirs = next((theirs for theirs, name in mapping.items() if name == ours), ours)
    mapping.pop(theirs, None)
    return theirs


def _with_labels(rows: Iterable[ClaimRow], fields: Mapping[str, str], report: ReadReport) -> Iterator[ClaimRow]:
    empty = 0
    for row in rows:
        given = ", ".join(tag_values(row.tags.get(fields[LABEL], "")))  # several are no label
        if not given.strip():
            empty += 1
            continue
        label = given.strip().upper().replace(" ", "_").replace("-", "_")
        if label not in MEANS:
            raise InputError(f"claim {row.id!r} has the label {given!r}: it must be one of {', '.join(MEANS)}")
        tags = {ours: row.tags[theirs] for ours, theirs in fields.items() if theirs in row.tags}
        yield replace(row, tags=tags | {LABEL: label})
    if empty:
        report.warn(f"{counted(empty, 'row')} without a label so far")


def _of_answers(rows: list[ClaimRow], answers: Any, report: ReadReport) -> list[ClaimRow]:
    wanted = {row.tags.get(ANSWER) for row in rows}
    reading = ReadReport()
    known = {sample.id: sample for sample in read_samples(answers, report=reading) if sample.id in wanted}
    if reading.bad:
        report.warn(f"{reading.bad} rows of the answers could not be read", str(reading.bad_rows[0]))
    labels: dict[tuple[str, str], Counter[str]] = {}
    first: dict[tuple[str, str], ClaimRow] = {}
    for row in rows:
        answer = row.tags.get(ANSWER)
        if answer is None or answer not in known:
            which = f"claim {row.id!r} names {answer!r}" if answer else f"claim {row.id!r} names none"
            report.warn(_NOT_THERE, which)
            continue
        key = (answer, row.claim)
        first.setdefault(key, _beside(row, known[answer]))
        labels.setdefault(key, Counter())[label_of(row)] += 1
    several = {key: found for key, found in labels.items() if found.total() > 1}
    if several:
        differ = sum(len(found) > 1 for found in several.values())
        report.warn(
            f"{len(several)} claims have several labels, of which {differ} differ; the most frequent counts, "
            "of equally frequent ones the first"
        )
    # `most_common` keeps the order of the rows among equals.
    return [replace(row, tags={LABEL: labels[key].most_common(1)[0][0]}) for key, row in first.items()]


def _beside(row: ClaimRow, sample: Sample) -> ClaimRow:
    """Put a claim beside its answer's passages, question and the sentence that it stands in."""
    response = sample.response
    start = response.find(row.claim)
    around = next((s for s in sentences(response) if s.start <= start < s.end), None) if start >= 0 else None
    return replace(
        row,
        passages=row.passages or sample.passages,
        question=row.question or sample.question,
        sentence=row.sentence or (response[around.start : around.end] if around else ""),
    )

"""Reading people's labels into the store: each finds its text in the run, or a line says why it does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from everyclaim.core.errors import InputError
from everyclaim.core.plaintext import counted, one_line
from everyclaim.core.protocols import Kept
from everyclaim.core.types import Label, Span
from everyclaim.io import BadRow, LabelRow, ReadReport, read_label_rows
from everyclaim.store import NewLabel, Store, answer_key

NOBODY = "annotator"  # who labelled, where a file does not say


class _Place(NamedTuple):
    """An answer of the run that a row of labels may mean."""

    key: str
    response: str
    claims: Mapping[str, Span]


def read_labels_into(
    kept: Store,
    run: str,
    source: Any,
    report: ReadReport,
    *,
    mapping: Mapping[str, str] | None,
    format: str | None,  # noqa: A002 - as `score_file`
) -> None:
    """Read labels into the store; what cannot be used goes to the report, one line each."""
    answers: dict[str, list[_Place]] = {}
    new: dict[tuple[str, str], NewLabel] = {}
    rows: dict[tuple[str, str], int] = {}
    empty = 0

    def bad(row: LabelRow, why: str) -> None:
        report.good -= 1
        report.add_bad(BadRow(row.number, why, "row"))

    for row in read_label_rows(source, mapping=mapping, format=format, report=report):
        if row.label is None:
            empty += 1
            continue
        if row.sample_id not in answers:
            answers[row.sample_id] = [_place(one) for one in kept.find(run, row.sample_id)]
        places = answers[row.sample_id]
        if not places:
            bad(row, f"sample {one_line(row.sample_id, 60)!r} is not in run {run}")
            continue
        made = next((one for place in places if (one := _new_label(row, place)) is not None), None)
        if made is None:
            bad(row, f"claim {one_line(row.claim or '', 60)!r} is not in the answer {one_line(row.sample_id, 60)!r}")
            continue
        about = (made.key, made.annotator)
        if about in new:
            same = new[about].label is made.label
            what = "says the same" if same else f"says {new[about].label}, which counts"
            bad(row, f"{made.annotator!r} labels this claim twice, and row {rows[about]} {what}")
            continue
        new[about], rows[about] = made, row.number
    if empty:
        report.warn(f"{counted(empty, 'row')} without a label so far")
    if not new:
        why = f"; {report.bad_rows[0]}" if report.bad_rows else ""
        raise InputError(f"the labels hold no label that can be used{why or ': the column is empty'}")
    kept.add_labels(run, list(new.values()))


def _place(kept: Kept) -> _Place:
    key = answer_key(kept.sample.response, [passage.text for passage in kept.sample.passages])
    return _Place(key, kept.sample.response, {claim.text: claim.span for claim in kept.result.claims})


def _new_label(row: LabelRow, place: _Place) -> NewLabel | None:
    if row.label is None:
        return None
    said = (Label(row.label), row.annotator or NOBODY, row.note, row.failure_mode, row.chosen)
    if row.claim is None:
        return NewLabel(place.key, None, None, *said)
    text = row.claim
    if text in place.claims:
        return NewLabel(place.key, text, place.claims[text], *said)
    if row.span is not None and place.response[slice(*row.span)] == text:
        return NewLabel(place.key, text, Span(*row.span), *said)
    start = place.response.find(text)
    if start >= 0:
        return NewLabel(place.key, text, Span(start, start + len(text)), *said)
    # Spreadsheets and editors change line ends and runs of blanks.
    loosely = {" ".join(known.split()): known for known in place.claims}
    known = loosely.get(" ".join(text.split()))
    return None if known is None else NewLabel(place.key, known, place.claims[known], *said)

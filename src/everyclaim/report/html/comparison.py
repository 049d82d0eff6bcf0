"""The reports of a comparison and of a release: the sentence, the deltas it rests on, answers before and after."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from markupsafe import Markup

from everyclaim.analysis.comparison import AnswerChange, Comparison, pairing
from everyclaim.analysis.deltas import Delta, DeltaFinding
from everyclaim.analysis.trend import ModeTable, ReleaseReport
from everyclaim.core.protocols import Kept
from everyclaim.core.types import Label
from everyclaim.report.comparison import (
    change_of,
    changed_claims,
    cuts,
    label_lines,
    levels,
    method_note,
    side_line,
    untested,
)
from everyclaim.report.html.answers import AnswerView, answer_view
from everyclaim.report.html.charts import ChartPoint, difference_plot
from everyclaim.report.html.environment import notebook_page, whole_page

_CONTEXT = 400  # characters of a long passage around the evidence
_LISTED = 60  # rows of a table
KIND = {
    DeltaFinding.IMPROVED: "improved",
    DeltaFinding.REGRESSED: "regressed",
    DeltaFinding.NO_DIFFERENCE: "none",
    DeltaFinding.TOO_FEW: "few",
}
_COLOUR = {DeltaFinding.IMPROVED: "supported", DeltaFinding.REGRESSED: "contradicted"}


def comparison_report(comparison: Comparison, before: Mapping[int, Kept], after: Mapping[int, Kept]) -> bytes:
    """Write the report of a comparison, UTF-8; the mappings hold the answers that moved, by their places."""
    return whole_page(
        "everyclaim/comparison.html",
        styles=("theme.css", "report.css"),
        scripts=("answer.js",),
        **comparison_view(comparison, before, after),
    )


def comparison_html(comparison: Comparison) -> str:
    """Write a comparison: the sentence, and the looks at the whole."""
    rows = [delta_row(delta.measure.title, delta) for delta in comparison.numbers.whole]
    return notebook_page("comparison", comparison=comparison, rows=rows)


def comparison_view(
    comparison: Comparison, before: Mapping[int, Kept], after: Mapping[int, Kept], leave_out: Collection[str] = ()
) -> dict[str, Any]:
    """Return what the page of a comparison shows, without the cuts that are shown otherwise."""
    return numbers_view(comparison, leave_out) | {
        "comparison": comparison,
        "sides": [side_line(side).plain for side in (comparison.before, comparison.after)],
        "changed": changed_claims(comparison).plain if comparison.changes is not None else "",
        "moved": list(_moved(comparison.moved, before, after)),
    }


def numbers_view(comparison: Comparison, leave_out: Collection[str] = ()) -> dict[str, Any]:
    """Return the tables and charts of a comparison, and what is said of how they were made."""
    numbers = comparison.numbers
    return {
        "pairing": pairing(comparison.matching),
        "whole": _table("", [(delta.measure.title, delta) for delta in numbers.whole]),
        "same_text": _table("", [(delta.measure.title, delta) for delta in numbers.same_text]),
        "parts_": [_table(heading, rows) for heading, rows in cuts(numbers.parts) if heading not in leave_out],
        "note": method_note(comparison),
    }


class DeltaRow(NamedTuple):
    """One delta, written: what of, the levels, the difference, the word for it and its class."""

    name: str
    levels: str
    change: str
    word: str
    kind: str


def delta_row(name: str, delta: Delta) -> DeltaRow:
    """Write a delta."""
    return DeltaRow(name, levels(delta), change_of(delta), delta.told, KIND[delta.finding])


@dataclass(frozen=True, slots=True)
class DeltaTable:
    """Looks of one cut: those that were tested, with their chart, and how many have too little to test."""

    heading: str
    rows: tuple[DeltaRow, ...]
    chart: Markup | None
    few: str
    left_out: int


def _table(heading: str, deltas: Sequence[tuple[str, Delta]]) -> DeltaTable:
    tested = [row for row in deltas if row[1].p_value is not None or not heading]
    rows = [delta_row(name, delta) for name, delta in tested[:_LISTED]]
    drawn = [
        ChartPoint(name, one.difference, one.low, one.high, one.told, _COLOUR.get(one.finding, "plain"))
        for name, one in tested[:14]
    ]
    chart = None
    if any(one.value is not None for one in drawn):
        title = f"Differences{' by ' + heading if heading else ''}"
        chart = difference_plot(drawn, title=title, axis="after − before, in points, with 95 % intervals")
    few = untested(len(deltas) - len(tested)) if len(deltas) > len(tested) else ""
    return DeltaTable(heading, tuple(rows), chart, few, max(0, len(tested) - _LISTED))


@dataclass(frozen=True, slots=True)
class MovedView:
    """An answer that moved, with its claims that changed, as it was and as it is."""

    moved: AnswerChange
    before: AnswerView
    after: AnswerView

    @property
    def claims(self) -> list[tuple[tuple[str, Label, str] | None, ...]]:
        """The claims that changed: text, label and failure mode on either side, None where it is not there."""
        return [
            tuple(None if row is None else (row.text, row.label, row.mode or "") for row in (one.before, one.after))
            for one in self.moved.claims
        ]


def _moved(moved: Iterable[AnswerChange], before: Mapping[int, Kept], after: Mapping[int, Kept]) -> Iterable[MovedView]:
    for one in moved:
        places = one.mover.places
        yield MovedView(
            one,
            answer_view(before[places[0]], context=_CONTEXT, key="b"),
            answer_view(after[places[1]], context=_CONTEXT, key="n"),
        )


def release_page(report: ReleaseReport, before: Mapping[int, Kept], after: Mapping[int, Kept]) -> bytes:
    """Write the report of a release, UTF-8; the mappings hold the answers that moved, by their places."""
    shown = {f"{table.slice} + failure mode" for table in report.mode_tables}
    return whole_page(
        "everyclaim/release.html",
        styles=("theme.css", "report.css"),
        scripts=("answer.js",),
        **comparison_view(report.comparison, before, after, leave_out=shown),
        rule=report.rule,
        notes=report.notes,
        tables=[(table.slice, table.values, list(_mode_rows(table))) for table in report.mode_tables],
        people=label_lines(report.comparison.calibration),
        trend=report.trend.sentences if report.trend else (),
    )


def _mode_rows(table: ModeTable) -> Iterable[tuple[str, list[DeltaRow | None]]]:
    for mode, deltas in table.deltas.items():
        found = [deltas.get(value) for value in table.values]
        yield mode, [delta_row(mode, delta) if delta else None for delta in found]

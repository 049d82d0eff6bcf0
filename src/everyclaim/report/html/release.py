"""The report of a release as a page: that of the comparison, with the rule, modes by slice, and people's labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from everyclaim.analysis.trend import ModeTable, ReleaseReport
from everyclaim.core.protocols import Kept
from everyclaim.report.comparison import levels
from everyclaim.report.html.comparison import KIND, comparison_view
from everyclaim.report.html.file import whole_page
from everyclaim.report.release import label_lines, trend_lines


@dataclass(frozen=True, slots=True)
class Cell:
    """The share of claims that fail in one way, before and after, with the class of the word for it."""

    text: str
    word: str
    kind: str


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
        tables=[(table.slice, table.values, _rows(table)) for table in report.mode_tables],
        people=label_lines(report.comparison.calibration),
        trend=trend_lines(report.trend),
    )


def _rows(table: ModeTable) -> list[tuple[str, list[Cell | None]]]:
    return [
        (
            mode,
            [
                Cell(levels(delta), delta.finding.value if delta.is_shown else "", KIND[delta.finding])
                if delta
                else None
                for delta in (deltas.get(value) for value in table.values)
            ],
        )
        for mode, deltas in table.deltas.items()
    ]

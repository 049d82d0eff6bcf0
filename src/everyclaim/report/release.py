"""The report of a release as Markdown, and in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from everyclaim.analysis.calibration import Calibration, ends, method
from everyclaim.analysis.comparison import ClaimChange, pairing
from everyclaim.analysis.deltas import Delta
from everyclaim.analysis.estimates import interval, percent
from everyclaim.analysis.trend import ModeTable, ReleaseReport, Trend
from everyclaim.core.plaintext import counted, number, one_line, words
from everyclaim.report.ci import md
from everyclaim.report.comparison import change_of, changed_claims, cuts, levels, method_note, side_line, some_of
from everyclaim.report.style import Page, data, hanging, house_table, indented, whole
from everyclaim.store.figures import ClaimRow

_MOVED, _CLAIMS = 10, 5  # answers, and claims of each, in Markdown
_STYLE = {"roll back": "bold red", "watch": "yellow", "keep": "green", "too few samples": "dim"}


def release_markdown(report: ReleaseReport) -> str:
    """Write the report as Markdown."""
    return "\n".join(_markdown(report)) + "\n"


def release_terminal(report: ReleaseReport) -> Page:
    """Show the sentence, what the rule says, and its evidence."""
    rule = report.rule
    made = house_table("part of the release", "claims", "against the release before", numbers_from=9)
    for step in rule.steps:
        made.add_row(
            data(step.title, limit=40), step.delta.measure.name, Text(str(step), "bold red" if step.has_risen else "")
        )
    parts: list[RenderableType] = [
        Text.assemble(side_line(report.comparison.before), " → ", side_line(report.comparison.after)),
        Text(pairing(report.comparison.matching), style="dim"),
        Text(),
        Text(whole(report.sentence), style="bold"),
        Text(),
        made,
        Text(),
        Text(rule.sentence, _STYLE[rule.verdict]),
        Text(),
        *(hanging(Text("!", "yellow"), Text(note)) for note in report.notes),
        *(hanging(Text("·", "dim"), Text(line)) for line in label_lines(report.comparison.calibration)),
    ]
    return Page(indented(Stack(*parts), 2))


def label_lines(found: Calibration | None) -> list[str]:
    """Say what people labelled, and what the labels say of the judge and of the rate."""
    if found is None:
        return ["Nobody has labelled an answer of either release: how far the judge is to be trusted is not known."]
    people = counted(len(found.annotators), "annotator")
    rates = found.rates
    lines = [
        f"{counted(found.labelled, 'claim')} of run {found.run} labelled by {people}; {found.disputed:,} disputed.",
        f"Supported claims called so: {percent(rates.tpr.value)}, {interval(rates.tpr)} ({rates.supported:,} labels).",
        f"Failing claims called so: {percent(rates.tnr.value)}, {interval(rates.tnr)} ({rates.failing:,} labels).",
    ]
    if best := found.corrected.shown:
        lines.append(
            f"Claims supported, by the judge {percent(found.corrected.raw.value)}; corrected for its error"
            f" {percent(best.value)} ({ends(best)}, {method(best)})."
        )
    return lines


def trend_lines(trend: Trend | None) -> list[str]:
    """Say where the level of a measure changed over all parts."""
    return list(trend.sentences) if trend else []


def _markdown(report: ReleaseReport) -> Iterator[str]:
    comparison = report.comparison
    yield "<!-- everyclaim release report -->"
    yield f"# {md(comparison.after.title)} against {md(comparison.before.title)}"
    yield ""
    yield f"**{md(report.sentence)}**"
    yield ""
    yield f"{md(pairing(comparison.matching))}. Before: {md(side_line(comparison.before).plain)}. After:"
    yield f"{md(side_line(comparison.after).plain)}."
    if comparison.differs:
        yield f"\nJudged differently, so that a difference may be the judge's: {md('; '.join(comparison.differs))}."
    for note in report.notes:
        yield f"\n{md(note)}."
    yield from ("", "## Take it back?", "", md(report.rule.sentence), "")
    yield from _table(
        ["part of the release", "claims", "against the release before", ""],
        [
            (md(step.title), step.delta.measure.name, md(str(step)), "**risen**" if step.has_risen else "")
            for step in report.rule.steps
        ],
    )
    for line in trend_lines(report.trend):
        yield f"- {md(line)}"
    yield from ("", "## As a whole", "")
    yield from _looks([(delta.measure.title, delta) for delta in comparison.numbers.whole])
    shown = {f"{table.slice} + failure mode" for table in report.mode_tables}
    for heading, rows in cuts(comparison.numbers.parts):
        if heading not in shown:
            yield from ("", f"## By {md(heading)}", "")
            yield from _looks(rows)
    for table in report.mode_tables:
        yield from _modes(table)
    yield from ("", md(method_note(comparison)), "", "## Claims that changed", "")
    if comparison.changes is not None:
        yield md(changed_claims(comparison).plain)
    yield from _moved(report)
    yield from ("", "## What people labelled", "")
    for line in label_lines(comparison.calibration):
        yield f"- {md(line)}"


def _looks(rows: Sequence[tuple[str, Delta]]) -> Iterator[str]:
    tested = [row for row in rows if row[1].p_value is not None]
    if tested:
        yield from _table(
            ["", "before → after", "points (95 %)", "finding"],
            [
                (
                    md(name),
                    levels(delta),
                    change_of(delta),
                    f"**{delta.finding.value}**" if delta.is_shown else delta.finding.value,
                )
                for name, delta in tested
            ],
        )
    if few := [name for name, delta in rows if delta.p_value is None]:
        yield from ("", f"Too few samples to test: {md(some_of(few))}")


def _modes(table: ModeTable) -> Iterator[str]:
    yield from ("", f"## Failure modes by {md(table.slice)}", "", "Share of claims, before → after.", "")
    rows = []
    for mode, deltas in table.deltas.items():
        cells = [deltas.get(value) for value in table.values]
        rows.append((md(words(mode)), *(_bold(levels(one), one.is_shown) if one else "–" for one in cells)))
    yield from _table(["", *(md(value or "(not given)") for value in table.values)], rows)


def _moved(report: ReleaseReport) -> Iterator[str]:
    moved = report.comparison.moved
    if not moved:
        yield "\nNo answer moved."
    for one in moved[:_MOVED]:
        scores = " → ".join(number(score) for score in one.mover.scores)
        yield f"\n**{md(one_line(one.mover.id, 80))}** {scores}\n"
        for change in one.claims[:_CLAIMS]:
            yield f"- {_change(change)}"
        if (more := len(one.claims) - _CLAIMS) > 0:
            yield f"- … and {counted(more, 'more claim')}"
    if (rest := len(moved) - _MOVED) > 0:
        yield f"\n… and {counted(rest, 'more answer')} in the page."


def _change(change: ClaimChange) -> str:
    before, after = (_said(row) for row in (change.before, change.after))
    if change.before and change.after and change.by == "text":
        return f"{change.before.label.value} → {change.after.label.value}: {md(one_line(change.after.text, 240))}"
    return f"{before} → {after}"


def _said(row: ClaimRow | None) -> str:
    return "not there" if row is None else f"{row.label.value}: {md(one_line(row.text, 240))}"


def _bold(text: str, is_shown: bool) -> str:
    return f"**{text}**" if is_shown else text


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join('---' if place == 0 else '--:' for place in range(len(heads)))} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"

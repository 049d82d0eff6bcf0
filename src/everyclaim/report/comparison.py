"""A comparison, a trend and a release in the terminal, and the release as Markdown: what is said, then the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from everyclaim.analysis import percent
from everyclaim.analysis.calibration import Calibration, inference_cells
from everyclaim.analysis.comparison import Comparison, ReleaseReport
from everyclaim.analysis.deltas import FEWEST, FEWEST_EVENTS, Delta, DeltaFinding, MeasuredPart
from everyclaim.analysis.run_differences import AnswerChange, Changes, ClaimChange, Side
from everyclaim.analysis.slices import FEW, shown_name
from everyclaim.analysis.trend import Series, Trend
from everyclaim.core.plaintext import counted, words
from everyclaim.core.types import Outcome
from everyclaim.report.style import (
    LABEL_SIGN,
    LABEL_STYLE,
    Page,
    data,
    hanging,
    headline,
    house_table,
    indented,
    joined,
    left_out,
    markdown,
    page,
    whole,
)

T = TypeVar("T", Delta, Series)
_ROWS_SHOWN = 12  # of a table of parts
_RUNS_SHOWN = 5  # of a trend, beside each other
_CLAIMS_SHOWN = 3  # of an answer that moved
_STYLE: Mapping[str, str] = {
    DeltaFinding.IMPROVED: "green",
    DeltaFinding.REGRESSED: "bold red",
    DeltaFinding.TOO_FEW: "dim",
}
_SHORT = {"score": "score", "unsupported": "unsupp.", "contradicted": "contrad."}
_RANK = {DeltaFinding.REGRESSED: 0, DeltaFinding.IMPROVED: 1, DeltaFinding.NO_DIFFERENCE: 2, DeltaFinding.TOO_FEW: 3}


def comparison_page(comparison: Comparison, *, movers: int) -> Page:
    """Show what changed in words, the numbers, by failure mode and slice, and the answers that moved."""
    return page(
        _head(comparison),
        Text(whole(comparison.sentence), "bold"),
        Text(whole(comparison.advice), "bold red") if comparison.advice else None,
        _differing("scored with different settings", comparison.differs),
        Stack(*_evidence(comparison, _ROWS_SHOWN, movers)),
    )


def _differing(what: str, differs: Sequence[str]) -> Text | None:
    return Text.assemble((f"{what}: ", "yellow"), data("; ".join(differs), limit=400)) if differs else None


def _evidence(comparison: Comparison, most: int | None, movers: int) -> Iterator[RenderableType]:
    """Show the numbers, by failure mode and slice `most` rows of each, and the answers that moved."""
    numbers = comparison.numbers
    yield _table("", [(delta.measure.title, delta) for delta in numbers.whole])
    if numbers.same_text:
        heading = "same answer, different settings"
        yield from (Text(), _table(heading, [(delta.measure.title, delta) for delta in numbers.same_text]))
    for heading, rows in cuts(numbers.parts):
        tested = [row for row in rows if row[1].p_value is not None]
        yield from (Text(), _table(heading, tested[:most])) if tested else (Text(),)
        yield from left_out(len(tested) - most if most else 0, "row", "; --json has them all")
        if few := len(rows) - len(tested):
            yield Text(untested(few) if tested else f"{heading}: too few samples", style="dim")
    if numbers.changes is not None:
        yield from (Text(), changed_claims(numbers.changes))
    if comparison.moved[:movers]:
        yield from (Text(), Text("most changed answers", style="dim"))
        for moved in comparison.moved[:movers]:
            yield from _moved(moved)
    yield from (Text(), Text(whole(method_note(comparison)), style="dim"))


def trend_page(trend: Trend) -> Page:
    """Show the runs in their order, and where a measure changed its level."""
    made = house_table("run", "answers", "score", "supported", "unsupp.", "contrad.")
    for place, side in enumerate(trend.sides):
        cells = [series.part.measure.level(series.rates[place].value) for series in trend.whole]
        made.add_row(data(side.title, limit=40), f"{side.outcomes[Outcome.SCORED]:,}", *cells)
    return page(
        Text("trend", "bold"),
        made,
        *(_runs_table(heading, rows, trend) for heading, rows in _by_cut(trend.parts)),
        Stack(*(hanging(Text("-"), data(line)) for line in trend.sentences)),
        Text(trend.advice, "bold red") if trend.advice else None,
        _differing("scored with different settings", trend.differs),
        _differing("runs over different data, which may cause changes", trend.data),
    )


def _runs_table(heading: str, parts: Sequence[Series], trend: Trend) -> RenderableType:
    """Show the rates of parts, the newest runs beside each other; those that changed first."""
    first = max(0, len(trend.sides) - _RUNS_SHOWN)
    made = house_table(data(heading, limit=60), *(data(side.title, limit=12) for side in trend.sides[first:]))
    ordered = sorted(parts, key=lambda part: not part.changes)
    for part in ordered[:_ROWS_SHOWN]:
        cells = [
            Text(
                part.part.measure.level(part.rates[place].value),
                style="bold" if any(change.at == place for change in part.changes) else "",
            )
            for place in range(first, len(trend.sides))
        ]
        made.add_row(data(row_name(part.part), limit=60), *cells)
    return Stack(made, *left_out(len(parts) - _ROWS_SHOWN, "row", "; --json has them all"))


def _head(comparison: Comparison) -> RenderableType:
    sides = [side_line(side) for side in (comparison.before, comparison.after)]
    return Stack(Text.assemble(sides[0], " → ", sides[1]), Text(str(comparison.numbers.matching), style="dim"))


def side_line(side: Side) -> Text:
    """Say which run a side is, and what its answers came to."""
    rest = [
        f"{number:,} {outcome.display_name}"
        for outcome, number in side.outcomes.items()
        if number or outcome is Outcome.SCORED
    ]
    status = [] if side.status == "finished" else [side.status]
    name = data(side.name if side.name != side.title else "", limit=40)
    where = joined([name, Text(side.id), *rest, *status], ", ")
    return Text.assemble(data(side.title, "bold", limit=60), " (", where, ")")


def cuts(deltas: Sequence[Delta]) -> Iterator[tuple[str, list[tuple[str, Delta]]]]:
    """Yield the parts by cut: failure modes of the whole, then slices; what shows a difference first."""
    for heading, found in _by_cut(deltas):
        found.sort(key=lambda delta: (_RANK[delta.finding], 2 if delta.p_value is None else delta.p_value))
        yield heading, [(row_name(delta.part), delta) for delta in found]


def _by_cut(rows: Sequence[T]) -> Iterator[tuple[str, list[T]]]:
    cuts: dict[str, list[T]] = {}
    for row in rows:
        tags = " + ".join(shown_name(tag) for tag, _ in row.part.where)
        heading = " + ".join(name for name in (tags, "failure mode" if row.part.mode is not None else "") if name)
        cuts.setdefault(heading, []).append(row)
    yield from cuts.items()


def untested(rows: int) -> str:
    """Say how many rows of a table have too little to test."""
    few = f"below {FEWEST} answers, or below {FEWEST_EVENTS} failing or passing ones"
    return f"{counted(rows, 'row')} hidden: {few}"


def row_name(part: MeasuredPart) -> str:
    """Name a part within its cut."""
    values = " + ".join(value or "(empty)" for _, value in part.where)
    what = part.measure.title if part.mode else _SHORT[part.measure.name]
    return " · ".join(name for name in (values, what) if name)


def _table(heading: str, rows: Sequence[tuple[str, Delta]]) -> RenderableType:
    if not rows:
        return Text(heading, style="dim")
    made = house_table(data(heading or "measure", limit=60), "before → after", "points (95 %)", "finding")
    made.columns[0].no_wrap = False
    made.columns[3].justify = "left"
    for label, delta in rows:
        finding = Text(delta.word, _STYLE.get(delta.word, ""))
        made.add_row(data(label, limit=60), delta.levels, delta.change, finding)
    return made


def changed_claims(changes: Changes) -> Text:
    """Say what became of the claims that stand in both runs word for word."""
    moved = {pair: number for pair, number in changes.labels.items() if pair[0] is not pair[1]}
    told = ", ".join(
        f"{number:,} {one.value.lower()} → {other.value.lower()}"
        for (one, other), number in sorted(moved.items(), key=lambda item: -item[1])
    )
    shared = sum(changes.labels.values())
    same = f"{shared - sum(moved.values()):,} with the same label; {told}" if told else "all with the same label"
    return Text(
        f"{counted(shared, 'claim')} word for word in both runs, {same}; {changes.only_before:,} only in the older, "
        f"{changes.only_after:,} only in the newer"
    )


def _moved(moved: AnswerChange) -> Iterator[RenderableType]:
    (before, after), (old, new) = moved.failing, moved.contradicted
    torn = "" if old == new else f"contradicted {old} → {new}"
    told = [f"{moved.scores[0]:.3f} → {moved.scores[1]:.3f}", f"failing claims {before} → {after}", torn]
    yield joined([data(moved.id, "bold", limit=60), *told])
    for change in moved.claims[:_CLAIMS_SHOWN]:
        yield indented(_claim(change), 2)
    yield from (indented(line, 2) for line in left_out(len(moved.claims) - _CLAIMS_SHOWN, "claim"))


def _claim(change: ClaimChange) -> RenderableType:
    rows = [row for row in (change.before, change.after) if row]
    signs = Text("→").join(Text(LABEL_SIGN[row.verdict.label], LABEL_STYLE[row.verdict.label]) for row in rows)
    what = "" if len(rows) > 1 else "new claim: " if change.after else "removed claim: "
    why = rows[-1].verdict.failure_mode
    mode = f"[{words(why)}]" if why else ""
    was = f"(before: {rows[0].text})" if change.by == "likeness" else ""
    told = Text.assemble(what, data(rows[-1].text, limit=240))
    return hanging(signs, joined([told, data(mode, "dim"), data(was, "dim", limit=240)], " "))


def method_note(comparison: Comparison) -> str:
    """Say when a difference is called significant."""
    tested = any(delta.p_value is not None for delta in comparison.deltas)
    said = (
        "The mean score is the primary measure, tested at 5 %. Other differences are significant only after Holm's "
        "correction (2.5 % for all answers, 2.5 % for the slices), and if the interval excludes 0."
    )
    return (
        f"{said if tested else 'Too few samples to test any difference.'} Intervals are 95 %, clustered by answer. "
        f"“Too few samples” means fewer than {FEWEST} answers, fewer than {FEWEST_EVENTS} failing or passing answers "
        f"in both runs together, or no significant difference with fewer than {FEW} answers. All numbers include the "
        "judge's errors."
    )


_MOVED = 10  # answers, in Markdown
_RULE_STYLE = {"roll back": "bold red", "watch": "bold yellow", "keep": "bold green", "too few samples": "bold"}


def release_terminal(report: ReleaseReport) -> Page:
    """Show the sentence, what the rule says, and its evidence."""
    return page(Stack(*_release(report), *_labels(report)))


def release_markdown(report: ReleaseReport) -> str:
    """Write the report as Markdown: with the trend, all numbers, failure modes, and the answers that moved."""
    comparison = report.comparison
    return markdown(
        [
            "<!-- everyclaim release report -->",
            headline(f"{comparison.after.title} against {comparison.before.title}", 1),
            *_release(report),
            *(hanging(Text("-"), Text(line)) for line in (report.trend.sentences if report.trend else ())),
            headline("All answers"),
            *_evidence(comparison, None, _MOVED),
            headline("Human labels"),
            *_labels(report),
        ]
    )


def _release(report: ReleaseReport) -> Iterator[RenderableType]:
    comparison, rule = report.comparison, report.rule
    made = house_table("part", "rate of claims", "before → after", "points (95 %)", "finding", numbers_from=2)
    made.columns[0].no_wrap, made.columns[1].no_wrap, made.columns[4].justify = False, False, "left"
    for step in rule.steps:
        for name, delta, finding in step.rows:
            shown = Text(finding, "bold red" if finding == "risen" else "")
            made.add_row(data(step.title, limit=40), name, delta.levels, delta.change, shown)
    yield from (_head(comparison), Text(), Text(whole(rule.sentence), _RULE_STYLE[rule.verdict]), Text())
    yield from (Text(whole(report.sentence)), Text(), made)
    yield from (hanging(Text("!", "yellow"), Text(doubt)) for doubt in rule.doubts)
    yield Text()
    differs = "scored with different settings, which may cause differences: " + "; ".join(comparison.differs)
    for note in (*([differs] if comparison.differs else ()), *report.notes):
        yield hanging(Text("!", "yellow"), data(note))


def _labels(report: ReleaseReport) -> Iterator[RenderableType]:
    for line in label_lines(report.comparison.calibration):
        yield hanging(Text("·", "dim"), Text(line))


def label_lines(found: Calibration | None) -> list[str]:
    """Say what people labelled, and what the labels say of the judge and of the rate."""
    if found is None:
        return ["No answer of either release is labelled: the judge's accuracy is unknown."]
    people = counted(len(found.annotators), "annotator")
    lines = [
        f"{counted(found.labelled, 'claim')} of run {found.run} labelled by {people}; {found.disputed:,} disputed.",
        *([] if found.sentence else [f"The judge: {found.accuracy}."]),  # else in the comparison's sentence
    ]
    if best := found.corrected.shown:
        value, between, method = inference_cells(best)
        lines.append(
            f"Run {found.run}: the judge calls {percent(found.corrected.raw.value)} of claims supported; corrected for "
            f"its error: {value} ({between}, {method})."
        )
    return [*lines, f"Details: `everyclaim calibrate {found.run}`."]

"""Whole pages: a run, from the headline to the sentence a claim stands on; a comparison; a release.

The answers of a run are packed into its page: rendered, compressed some at a time, with an index to filter and order
them by. Only those on the screen are unpacked, so that a page of ten thousand opens as fast as one of ten.
"""

from __future__ import annotations

import base64
import heapq
import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite
from operator import itemgetter
from typing import Any

from markupsafe import Markup

from everyclaim.analysis import shown_rate
from everyclaim.analysis.calibration import Calibration, inference_cells, standing_text
from everyclaim.analysis.comparison import Comparison, ReleaseReport
from everyclaim.analysis.deltas import Delta, DeltaFinding
from everyclaim.analysis.gate import badness, has_finding
from everyclaim.analysis.slices import FEW, shown_name, values_of
from everyclaim.analysis.summary import Group, Summary
from everyclaim.core.plaintext import metric_title
from everyclaim.core.protocols import Kept
from everyclaim.core.types import FailureMode, Label, Outcome, Result, Sample
from everyclaim.report.comparison import changed_claims, cuts, label_lines, method_note, side_line, untested
from everyclaim.report.html import notebook_page, shared, shown, whole_page
from everyclaim.report.html.answers import AnswerView, answer_view
from everyclaim.report.html.charts import (
    ChartPoint,
    difference_plot,
    interval_plot,
    label_bar,
    reading,
    reliability_chart,
    score_histogram,
)
from everyclaim.report.judge import corrected_rows
from everyclaim.report.terminal import by_size, mode_shares, most_frequent, other_outcomes, plain_remarks
from everyclaim.store.records import RunRecord

TOGETHER = 32  # answers that are compressed as one
CONTEXTS = (None, 400, 80)  # characters around evidence in long passages: as many as fit
BYTES_PER_ANSWER = 1_900  # on the average
FEWEST_BYTES = 400_000
STATIC = 5  # of the worst answers, in the page as they are, for readers without a script
MOST = 10_000  # answers in a page
_MODES = list(FailureMode)
# Yields the answers at these places, or all, in the order of the input; each time the same.
Reader = Callable[[Sequence[int] | None], Iterable[Kept]]
# Base 85 of the standard library, but for the three characters that mean something in HTML.
_PLAIN = str.maketrans("<>&", ",.:")


def pack(read: Reader, tags: Iterable[str], total: int) -> PackedAnswers:
    """Pack answers; of more than ten thousand those to look at first."""
    names, chosen = list(tags), None
    scores: list[float] = []
    if total > MOST:
        keys = []
        for record in read(None):
            scores += _score_of(record)
            keys.append((order_of(record), record.position))
        chosen = sorted(position for _, position in heapq.nsmallest(MOST, keys))
    budget = max(FEWEST_BYTES, BYTES_PER_ANSWER * min(total, MOST))
    for context in CONTEXTS:
        made = PackedAnswers(names, context, max(0, total - MOST))
        if made.take_all(read(chosen), budget if context != CONTEXTS[-1] else None):
            break
    made.scores = scores or made.scores
    return made


def _score_of(record: Kept) -> list[float]:
    score = record.result.score
    return [score] if record.result.outcome is Outcome.SCORED and score is not None and isfinite(score) else []


def order_of(record: Kept) -> tuple[float, ...]:
    """Order answers: those with a score from the worst on, then what failed, then what else has no score."""
    outcome = record.result.outcome
    if outcome is Outcome.SCORED:
        return (0, *badness(record))
    return 1 if outcome is Outcome.FAILED else 2, record.position


@dataclass(slots=True)
class PackedAnswers:
    """Answers of a page: `chunks` and `index` as deflated text in base 85, `first` rendered for those without script.

    `left_out` answers were too many, `context` is how long passages were cut to, None where they are whole.
    """

    tags: list[str]
    context: int | None
    left_out: int
    chunks: list[str] = field(default_factory=list)
    first: list[Markup] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)  # also of those left out
    _orders: list[tuple[Any, ...]] = field(default_factory=list)
    _rows: list[list[Any]] = field(default_factory=list)
    _values: dict[tuple[str, str], int] = field(default_factory=dict)

    def take_all(self, records: Iterable[Kept], budget: int | None) -> bool:
        """Take the records in; False when they do not fit into so many bytes."""
        macros: Any = shared().get_template("everyclaim/entry.html").module
        worst: list[tuple[tuple[Any, ...], Markup]] = []
        size = 0
        stream = iter(records)
        while together := list(islice(stream, TOGETHER)):
            written = []
            for record in together:
                view = answer_view(record, context=self.context)
                written.append(macros.entry(view, self.tags))
                self.scores += _score_of(record)
                self._orders.append(order_of(record))
                self._rows.append(self._row(view))
                if has_finding(record.result) or record.result.outcome is Outcome.FAILED:
                    worst = sorted([*worst, (self._orders[-1], written[-1])], key=itemgetter(0))[:STATIC]
            self.chunks.append(packed("\0".join(written)))  # which stands in no page
            size += len(self.chunks[-1])
            if budget is not None and size > budget:
                return False
        self.first = [html for _, html in worst]
        return True

    @property
    def count(self) -> int:
        """How many answers are in the page."""
        return len(self._rows)

    @property
    def index(self) -> str:
        """What answers are filtered and ordered by."""
        by_order = sorted(range(self.count), key=self._orders.__getitem__)
        ranks = {place: rank for rank, place in enumerate(by_order)}
        index = {
            "together": TOGETHER,
            "modes": [mode.value.replace("_", " ") for mode in _MODES],
            "tags": [[shown(name), shown(value)] for name, value in self._values],  # as the page writes them
            "answers": [[ranks[place], *row] for place, row in enumerate(self._rows)],
        }
        return packed(json.dumps(index, ensure_ascii=True, separators=(",", ":")))

    def _row(self, view: AnswerView) -> list[Any]:
        result = view.result
        modes = {claim.verdict.failure_mode for claim in result.claims}
        tags = sorted(
            self._values.setdefault((name, value), len(self._values))
            for name in self.tags
            for value in values_of(result, name)
        )
        mask = sum(1 << place for place, mode in enumerate(_MODES) if mode in modes)
        # What an answer can be filtered by, as bits: contradicted, unsupported, conflict, no score, not judged.
        facts = (
            result.count(Label.CONTRADICTED) > 0,
            result.count(Label.UNSUPPORTED) > 0,
            view.conflicts > 0,
            result.outcome is not Outcome.SCORED,
            bool(result.unchecked) or result.is_all_skipped,
        )
        return [view.position + 1, sum(1 << place for place, fact in enumerate(facts) if fact), mask, tags]


def packed(text: str) -> str:
    """Deflate a text and write it in base 85, a quarter longer; the script in the page takes it apart again."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    deflated = compressor.compress(text.encode()) + compressor.flush()
    return base64.b85encode(deflated).decode().translate(_PLAIN)


_CLAIMS = 20  # of a result in a notebook
BINS = 10
_CHARTED = 14  # values of a tag
_LISTED = 40
_BESIDE = 8
_TOLD_ELSEWHERE = {"why"}


def run_report(
    record: RunRecord, summary: Summary, read: Reader, *, calibration: Calibration | None = None, known_error: str = ""
) -> bytes:
    """Write the report of a run, UTF-8; `read` yields its answers.

    `calibration` is what labels say of the judge; `known_error` is said where there are none. At most about 2,000
    bytes an answer: where passages are too long for that, they are cut to what stands around the evidence, and of more
    than ten thousand answers the worst are kept; the page says both.
    """
    dataset = re.split(r"[/\\]", record.dataset)[-1]  # where it lay on somebody's machine is nobody else's business
    answers = pack(read, summary.slices, record.kept)
    return whole_page(
        "everyclaim/run.html",
        "report.js",
        record=record,
        name=record.name or dataset or record.id,
        dataset=dataset,
        metric=metric_title(record.provenance.metric),
        group=summary.overall,
        summary=summary,
        few=FEW,
        failing=summary.overall.claims - summary.overall.labels[Label.SUPPORTED],
        rest=other_outcomes(summary.overall),
        bar=label_bar(summary.overall.labels),
        scores=score_chart(answers.scores),
        slices=[slice_view(tag, groups) for tag, groups in summary.slices.items()],
        modes=most_frequent(summary.failure_modes),
        share=lambda count, whole: count / whole if whole else None,
        remarks=plain_remarks(summary, _TOLD_ELSEWHERE),
        judge=judge_view(calibration) if calibration else None,
        known_error=known_error,
        answers=answers,
    )


def score_chart(scores: Iterable[float]) -> Markup:
    """Draw how the scores of answers are spread."""
    counts = [0] * BINS
    for score in scores:
        counts[min(BINS - 1, int(score * BINS + 1e-9))] += 1
    return score_histogram(counts)


def slice_view(tag: str, groups: Mapping[str, Group]) -> dict[str, Any]:
    """Lay the slices of one tag out, the largest first, with a chart of their mean scores.

    `beside` are values whose failure modes stand beside each other, `modes` of each mode its share of their claims.
    """
    ordered = by_size(groups)
    readings = [
        reading(value or "(not given)", group.score, "answers", "supported")
        for value, group in ordered[:_CHARTED]
        if not group.is_tiny
    ]
    title, axis = f"Mean score by {shown_name(tag)}", "mean score, with 95 % intervals"
    chart = interval_plot(readings, title=title, axis=axis, percent=False)
    beside, modes = mode_shares(ordered, _BESIDE)
    rows = ordered[:_LISTED]
    return {
        "tag": tag,
        "rows": rows,
        "left_out": len(ordered) - len(rows),
        "is_rough": any(group.is_rough for _, group in rows),
        "chart": chart,
        "beside": beside,
        "modes": modes,
    }


def judge_view(found: Calibration) -> dict[str, Any]:
    """Return what labels say of a judge: its rates against the target, the corrected share, its probabilities."""
    curve = found.reliability.curve if found.reliability else ()
    bins = [(one.stated, reading("", one.found, "labels", "supported")) for one in curve]
    best = found.corrected.shown
    return {
        "calibration": found,
        "rates": [
            (name, *shown_rate(rate, labels), labels, standing_text(rate)) for name, rate, labels in found.recognised
        ],
        "corrected": corrected_rows(found.corrected),
        "best": inference_cells(best) if best else None,  # to report
        "warnings": found.corrected.warnings,
        "reliability": reliability_chart(bins) if found.reliability else None,
    }


# ---- in a notebook


def result_html(result: Result) -> str:
    """Write a result: its score, and its claims with their verdicts, the failing ones open to be read."""
    view = answer_view(Kept(0, "", Sample(result.id, "", (), result.question), result), key=f"nb{len(result.claims)}-")
    shown = sorted(view.claims, key=lambda one: (not one.is_failing, one.number))
    return notebook_page("result", view=view, shown=shown[:_CLAIMS], more=max(0, len(shown) - _CLAIMS))


def run_html(record: RunRecord, summary: Summary, worst: Sequence[Kept]) -> str:
    """Write a run: the headline, the labels, and the answers to look at first."""
    group = summary.overall
    rest = [(outcome, count) for outcome, count in group.outcomes.items() if count and outcome is not Outcome.SCORED]
    views = [answer_view(kept, context=200, key=f"nb{record.id}-") for kept in worst]
    return notebook_page("run", record=record, group=group, rest=rest, bar=label_bar(group.labels), views=views)


_CONTEXT = 400  # characters of a long passage around the evidence
_ROWS_LISTED = 60  # rows of a table
_COLOUR: dict[str, str] = {DeltaFinding.IMPROVED: "supported", DeltaFinding.REGRESSED: "contradicted"}


def comparison_report(comparison: Comparison, before: Mapping[int, Kept], after: Mapping[int, Kept]) -> bytes:
    """Write the report of a comparison, UTF-8; the mappings hold the answers that moved, by their places."""
    return whole_page("everyclaim/comparison.html", **comparison_view(comparison, before, after))


def comparison_view(comparison: Comparison, before: Mapping[int, Kept], after: Mapping[int, Kept]) -> dict[str, Any]:
    """Return what the page of a comparison shows."""
    changes = comparison.numbers.changes
    return numbers_view(comparison) | {
        "comparison": comparison,
        "sides": [side_line(side).plain for side in (comparison.before, comparison.after)],
        "changed": changed_claims(changes).plain if changes is not None else "",
        "moved": [
            (
                moved,
                answer_view(before[moved.places[0]], context=_CONTEXT, key="b"),
                answer_view(after[moved.places[1]], context=_CONTEXT, key="n"),
            )
            for moved in comparison.moved
        ],
    }


def numbers_view(comparison: Comparison) -> dict[str, Any]:
    """Return the tables and charts of a comparison, and what is said of how they were made."""
    numbers = comparison.numbers
    return {
        "pairing": str(numbers.matching),
        "whole": _table("", [(delta.measure.title, delta) for delta in numbers.whole]),
        "same_text": _table("", [(delta.measure.title, delta) for delta in numbers.same_text]),
        "parts_": [_table(heading, rows) for heading, rows in cuts(numbers.parts)],
        "note": method_note(comparison),
    }


def _table(heading: str, deltas: Sequence[tuple[str, Delta]]) -> dict[str, Any]:
    """Lay the differences of one cut out: those that were tested, with their chart, and how many have too few."""
    tested = [row for row in deltas if row[1].p_value is not None or not heading]
    drawn = [
        ChartPoint(name, one.difference, one.low, one.high, one.word, _COLOUR.get(one.word, "plain"))
        for name, one in tested[:14]
    ]
    chart = None
    if any(one.value is not None for one in drawn):
        title = f"Differences{' by ' + heading if heading else ''}"
        chart = difference_plot(drawn, title=title)
    few = untested(len(deltas) - len(tested)) if len(deltas) > len(tested) else ""
    left_out = max(0, len(tested) - _ROWS_LISTED)
    return {"heading": heading, "rows": tested[:_ROWS_LISTED], "chart": chart, "few": few, "left_out": left_out}


def release_page(report: ReleaseReport, before: Mapping[int, Kept], after: Mapping[int, Kept]) -> bytes:
    """Write the report of a release, UTF-8; the mappings hold the answers that moved, by their places."""
    return whole_page(
        "everyclaim/release.html",
        **comparison_view(report.comparison, before, after),
        rule=report.rule,
        notes=report.notes,
        people=label_lines(report.comparison.calibration),
        trend=report.trend.sentences if report.trend else (),
    )

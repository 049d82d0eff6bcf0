"""The report of a run: one file with the whole story, from the headline to the sentence a claim stands on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from everyclaim.analysis.calibration import Calibration, ends, method, standing_text
from everyclaim.analysis.estimates import percent
from everyclaim.analysis.slices import FEW
from everyclaim.analysis.summary import Group, Summary
from everyclaim.core.plaintext import metric_title
from everyclaim.core.types import Label
from everyclaim.report.html.charts import histogram, interval_plot, label_bar, reading, reliability_chart
from everyclaim.report.html.environment import whole_page
from everyclaim.report.html.packing import Reader, pack
from everyclaim.report.judge import corrected_rows
from everyclaim.report.terminal import by_size, mode_shares, most_frequent, other_outcomes, plain_remarks
from everyclaim.store.records import RunRecord

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
        styles=("theme.css", "report.css"),
        scripts=("answer.js", "report.js"),
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
        share=_share,
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
    return histogram(counts, [place / BINS for place in range(BINS + 1)], title="Answers by score", axis="score")


@dataclass(frozen=True, slots=True)
class SliceView:
    """The values of one tag, the largest first, with a chart of their mean scores."""

    tag: str
    rows: tuple[tuple[str, Group], ...]
    chart: Markup
    left_out: int
    beside: tuple[str, ...]  # values whose failure modes stand beside each other
    modes: tuple[tuple[str, tuple[float, ...]], ...]  # of each mode its share of the claims of these

    @property
    def is_rough(self) -> bool:
        """Whether a slice has so few answers that only its interval says something."""
        return any(group.is_rough for _, group in self.rows)


def slice_view(tag: str, groups: Mapping[str, Group]) -> SliceView:
    """Lay the slices of one tag out."""
    ordered = by_size(groups)
    readings = [
        reading(value or "(not given)", group.score, "answers", "supported")
        for value, group in ordered[:_CHARTED]
        if not group.is_tiny
    ]
    chart = interval_plot(readings, title=f"Mean score by {tag}", axis="mean score, with 95 % intervals")
    left_out = max(0, len(ordered) - _LISTED)
    return SliceView(tag, tuple(ordered[:_LISTED]), chart, left_out, *mode_shares(ordered, _BESIDE))


def judge_view(found: Calibration) -> dict[str, Any]:
    """Return what labels say of a judge: its rates against the target, the corrected share, its probabilities."""
    named = [("supported claims recognised", found.rates.tpr, found.rates.supported)]
    named.append(("failing claims recognised", found.rates.tnr, found.rates.failing))
    curve = found.reliability.curve if found.reliability else ()
    bins = [(one.stated, reading("", one.found, "labels", "supported")) for one in curve]
    best = found.corrected.shown
    return {
        "calibration": found,
        "rates": [(name, rate, labels, standing_text(rate)) for name, rate, labels in named],
        "corrected": corrected_rows(found.corrected),
        "best": (percent(best.value), ends(best), method(best)) if best else None,  # of these the one to report
        "warnings": found.corrected.warnings,
        "reliability": reliability_chart(bins) if found.reliability else None,
    }


def _share(count: int, whole: int) -> float | None:
    return count / whole if whole else None

"""Runs in their order: labels, rates and scores over time, and where a level changed."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import Response

from everyclaim.analysis.deltas import CONTRADICTED, SCORE, SUPPORTED, UNSUPPORTED, AnswerMeasure
from everyclaim.analysis.trend import Trend
from everyclaim.api.compare import FEWEST_RUNS, check_alike, trend_over
from everyclaim.core.errors import InputError
from everyclaim.report.html.charts import line_chart, reading
from everyclaim.store.records import RunRecord
from everyclaim.web.app.pages.runs import matches
from everyclaim.web.app.run_view import RunView
from everyclaim.web.app.site import Site, download, render, site_of

router = APIRouter()
MOST = 30  # runs of a series
ANY = "any"


@router.get("/trend")
def trend(request: Request, q: str = "", judge: str = "") -> Response:
    """Show a series of runs; without a judge's name those of the newest run's judge."""
    site = site_of(request)
    records, judges, chosen, left_out = _series(site, q, judge)
    found = _trend(site, records) if records else None
    return render(
        request,
        "trend.html",
        q=q,
        judges=judges,
        judge=chosen,
        any_judge=ANY,
        trend=found,
        records=records,
        left_out=left_out,
        fewest=FEWEST_RUNS,
        rates=_chart(found, (UNSUPPORTED, CONTRADICTED), "Failing claims by run") if found else "",
        supported=_chart(found, (SUPPORTED,), "Supported claims by run") if found else "",
        scores=_chart(found, (SCORE,), "Mean score by run") if found else "",
        measures=(SUPPORTED, UNSUPPORTED, CONTRADICTED),
        labels_of={record.id: RunView(site, record).label_counts for record in records},
    )


@router.get("/trend.json")
def as_json(request: Request, q: str = "", judge: str = "") -> Response:
    """Return the series in the public schema."""
    site = site_of(request)
    records, _, _, _ = _series(site, q, judge)
    if not records:
        raise InputError("no matching finished run")
    return download(_trend(site, records).to_json(), "trend.json")


def _series(site: Site, q: str, judge: str) -> tuple[list[RunRecord], list[str], str, int]:
    """Return the runs of the series, oldest first; the judges there are; the chosen one; how many runs are left out."""
    wanted = [record for record in site.runs() if record.status == "finished" and record.kept and matches(record, q)]
    judges = sorted({record.provenance.verifier for record in wanted})
    chosen = judge or (wanted[0].provenance.verifier if wanted else ANY)
    found = [record for record in wanted if chosen in {ANY, record.provenance.verifier}]
    return found[:MOST][::-1], judges, chosen, max(0, len(found) - MOST)


def _trend(site: Site, records: Sequence[RunRecord]) -> Trend:
    def make() -> Trend:
        differs = check_alike(records, anyway=True)
        return trend_over([RunView(site, record).run for record in records], differs=differs)

    stamps = ((record.id, record.name, record.finished, record.kept) for record in records)
    return site.memo.get(("trend", *stamps), make)


def _chart(found: Trend, measures: Sequence[AnswerMeasure], title: str) -> Markup:
    series = {
        measure.title: [
            reading(point.side.title, point.rates[measure], "", "" if measure.is_score else measure.name)
            for point in found.points
        ]
        for measure in measures
    }
    marked = {
        change.at: f"{measure.title} changed from {found.points[change.at].side.title} on"
        for measure in measures
        for change in found.changes.get(measure, ())
    }
    return line_chart(
        series, title=title, axis="runs in order, 95 % intervals as bands", marked=marked, percent=measures != (SCORE,)
    )

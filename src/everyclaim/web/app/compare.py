"""Two runs, what changed and how sure that is, answer beside answer; and runs over time, where a level changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from markupsafe import Markup
from starlette.responses import Response

from everyclaim.analysis.comparison import Comparison, provenance_differences
from everyclaim.analysis.deltas import CONTRADICTED, SCORE, SUPPORTED, UNSUPPORTED, AnswerMeasure
from everyclaim.analysis.slices import AUTO
from everyclaim.analysis.trend import Trend
from everyclaim.api.compare import FEWEST_RUNS, check_alike, compare, trend_over
from everyclaim.core.errors import InputError
from everyclaim.report.html.answers import answer_view
from everyclaim.report.html.charts import line_chart, reading
from everyclaim.report.html.pages import numbers_view
from everyclaim.store import browsing
from everyclaim.store.records import RunRecord
from everyclaim.web.app.answers import CONTEXT, kept_at
from everyclaim.web.app.runs import matches
from everyclaim.web.app.site import RunView, Site, download, render, site_of, view_run

router = APIRouter()
_LISTED = 200  # runs to choose from
_MOST = 30  # runs of a series


def _two_runs(request: Request, before: str, after: str) -> tuple[RunView, RunView]:
    site = site_of(request)
    return view_run(site, before), view_run(site, after)


Sides = Annotated[tuple[RunView, RunView], Depends(_two_runs)]
By = Annotated[Sequence[str], Query()]


@router.get("/compare")
def page(request: Request, before: str = "", after: str = "", by: By = ()) -> Response:
    """Show a comparison, or what to compare."""
    records = [record for record in site_of(request).runs() if record.kept]
    shown = {"records": records[:_LISTED], "before": before, "after": after, "by": list(by), "found": None, "tags": []}
    if not (before and after):
        pair = _comparable(records)
        return render(request, "compare.html", **shown | {"before": before or pair[0], "after": after or pair[1]})
    sides = _two_runs(request, before, after)
    found, tags, chosen = _compared(sides, by)
    shown |= {"before": sides[0].record.id, "after": sides[1].record.id, "by": chosen, "tags": tags}
    return render(request, "compare.html", **shown | {"found": found, "sides": sides} | numbers_view(found))


@router.get("/compare.json")
def compare_json(sides: Sides, by: By = ()) -> Response:
    """Return a comparison in the public schema."""
    return download(_compared(sides, by)[0].to_json(), f"compare-{sides[0].record.id}-{sides[1].record.id}.json")


@router.get("/compare/answer")
def answer(request: Request, sides: Sides, first: int, second: int) -> Response:
    """Show an answer of each run beside the other."""
    views = [
        answer_view(kept_at(side, place), context=CONTEXT, key=key)
        for side, place, key in zip(sides, (first, second), ("before", "after"), strict=True)
    ]
    return render(request, "compare_answer.html", sides=sides, views=views)


def _compared(sides: tuple[RunView, RunView], by: Sequence[str]) -> tuple[Comparison, list[str], list[str]]:
    """Compare two runs as they stand, and keep it; return with it the tags that there are, and those compared by.

    What judged them differently is told on the page.
    """
    before, after = sides
    if before.record.id == after.record.id:
        raise InputError("both are the same run: choose two different ones")
    tags = [*sorted(set(before.tags) & set(after.tags)), AUTO]
    chosen = [tag for tag in tags if tag in by]
    site = before.site
    found = site.once(
        ("compare", before.stamp, after.stamp, *chosen, browsing.labels_stamp(site.read_store)),
        lambda: compare(before.run, after.run, by=chosen, anyway=True, store=site.location),
    )
    return found, tags, chosen


def _comparable(records: Sequence[RunRecord]) -> tuple[str, str]:
    """Return the newest run that an older one was judged like, behind that one; nothing where there are no such two."""
    for after, before in combinations(records, 2):
        if not provenance_differences(before.provenance, after.provenance):
            return before.id, after.id
    return "", ""


# ---- runs over time


@router.get("/trend")
def trend(request: Request, q: str = "", judged: str = "") -> Response:
    """Show a series of runs with one metric and judge, where none are named the longest series."""
    views, ways, chosen, left_out = _series(site_of(request), q, judged)
    found = _trend(views) if views else None
    return render(
        request,
        "trend.html",
        q=q,
        ways=ways,
        judged=chosen,
        trend=found,
        records=[view.record for view in views],
        left_out=left_out,
        fewest=FEWEST_RUNS,
        rates=_chart(found, (UNSUPPORTED, CONTRADICTED), "Failing claims by run") if found else "",
        supported=_chart(found, (SUPPORTED,), "Supported claims by run") if found else "",
        scores=_chart(found, (SCORE,), "Mean score by run") if found else "",
        measures=(SUPPORTED, UNSUPPORTED, CONTRADICTED),
        labels_of={view.record.id: view.label_counts for view in views},
    )


@router.get("/trend.json")
def trend_json(request: Request, q: str = "", judged: str = "") -> Response:
    """Return the series in the public schema."""
    views, _, _, _ = _series(site_of(request), q, judged)
    if not views:
        raise InputError("no matching finished run")
    return download(_trend(views).to_json(), "trend.json")


def _way(record: RunRecord) -> str:
    return f"{record.provenance.metric} · {record.provenance.verifier}"


def _series(site: Site, q: str, judged: str) -> tuple[list[RunView], list[str], str, int]:
    """Return the runs of the series, oldest first; metrics with judges; the chosen one; how many runs are left out."""
    wanted = [record for record in site.runs() if record.status == "finished" and record.kept and matches(record, q)]
    chosen = judged or next((way for way, _ in Counter(map(_way, wanted)).most_common(1)), "")
    found = [RunView(site, record) for record in wanted if _way(record) == chosen]
    return found[:_MOST][::-1], sorted(set(map(_way, wanted))), chosen, max(0, len(found) - _MOST)


def _trend(views: Sequence[RunView]) -> Trend:
    def make() -> Trend:
        differs = check_alike([view.record for view in views], anyway=True)
        return trend_over([view.run for view in views], differs=differs)

    return views[0].site.once(("trend", *(view.stamp for view in views)), make)


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
        series, title=title, axis="runs in order, with 95 % intervals", marked=marked, percent=measures != (SCORE,)
    )

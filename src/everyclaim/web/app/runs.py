"""Runs: their list; one with its numbers, slices and judge; two of them compared; a series, where a level changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil
from pathlib import PurePath
from typing import Annotated, NamedTuple

import numpy as np
from fastapi import APIRouter, Depends, Form, HTTPException, Query, Request
from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from everyclaim.analysis import is_too_few, shown_rate
from everyclaim.analysis.calibration import Calibration
from everyclaim.analysis.comparison import Comparison
from everyclaim.analysis.deltas import CONTRADICTED, SCORE, SUPPORTED, UNSUPPORTED, AnswerMeasure
from everyclaim.analysis.slices import AUTO, AUTOMATIC, FEW, matrix_of
from everyclaim.analysis.trend import Trend, share_half
from everyclaim.api.compare import FEWEST_RUNS, check_alike, comparable_runs, compare, trend_over
from everyclaim.core.errors import ConfigError, InputError, NoStoreError
from everyclaim.core.plaintext import counted, file_name
from everyclaim.core.types import Outcome
from everyclaim.report.html.answers import answer_view
from everyclaim.report.html.charts import ChartPoint, interval_plot, label_bar, line_chart, reading
from everyclaim.report.html.pages import judge_view, numbers_view, score_chart
from everyclaim.report.terminal import most_frequent, plain_remarks
from everyclaim.store import browsing
from everyclaim.store.records import RunRecord
from everyclaim.web.app.answers import CONTEXT, kept_at
from everyclaim.web.app.auth import visitor_of
from everyclaim.web.app.site import (
    AskedRun,
    Paging,
    RunView,
    Site,
    download,
    render,
    site_of,
    slice_address,
    view_run,
)

router = APIRouter()
_STATES = ("running", "interrupted", "finished", "stopped", "failed")
_WORST = 5
_SHOWN = 12  # values of a tag, in the overview
_LONGEST = 200  # characters of a name
_SHADES = 5
_ROWS = 200
_GROUPS = 40
_TOLD_ELSEWHERE = {"why", "scores", "length"}


@router.get("/")
@router.get("/fragments/runs")  # the list alone, for the page that looks again while something is under way
def runs(request: Request, q: str = "", status: str = "", tag: str = "", page: int = 1) -> Response:
    """List the runs, newest first."""
    site, missing = site_of(request), ""
    try:
        everything = site.read_store.runs()
    except NoStoreError as error:
        everything, missing = [], str(error)
    wanted = [record for record in everything if matches(record, q, status, tag)]
    paging = Paging(len(wanted), page, {"q": q, "status": status, "tag": tag})
    views = [RunView(site, record) for record in wanted[paging.first : paging.last]]
    rows = [(view.record, view.score, view.label_counts) for view in views]
    return render(
        request,
        "runs.html" if request.url.path == "/" else "runs_list.html",
        rows=rows,
        paging=paging,
        all_runs=len(everything),
        missing=missing,
        q=q,
        status=status,
        states=[state for state in _STATES if any(record.status == state for record in everything)],
        tag=tag,
        tags=sorted({tag for record in everything for tag in _tags_of(record)}),
        is_live=any(record.status == "running" for record, *_ in rows),
        outcomes=Outcome,
    )


def _tags_of(record: RunRecord) -> list[str]:
    """Return what runs are sorted by: the release that was given for a run, and its data set."""
    return [text for text in (str(record.config.get("release") or ""), file_name(record.dataset)) if text]


def matches(record: RunRecord, q: str, status: str = "", tag: str = "") -> bool:
    """Whether a run holds all the words that are searched for, and is as wanted."""
    made, tags = record.provenance, _tags_of(record)
    texts = (record.id, record.name, made.metric, made.verifier, *tags)
    found = all(any(word in text.casefold() for text in texts) for word in q.casefold().split())
    return found and status in {"", record.status} and (not tag or tag in tags)


# ---- one run


@router.get("/runs/{name}")
def overview(request: Request, run_view: AskedRun, name: str) -> Response:
    """Show what a run comes to; of one under way how far it is."""
    if run_view.record.id != name:  # an address is to hold for good
        return RedirectResponse(f"/runs/{run_view.record.id}", 303)
    store, run = run_view.site.read_store, run_view.record.id
    worst = browsing.answers_at(store, run, run_view.places(browsing.AnswerFilter(order="worst"), _WORST))
    best = run_view.record.provenance.quality(1.0)
    shown = {"run_view": run_view, "worst": [row for row in worst if row.score not in (None, best)]}
    if run_view.is_live:
        return render(request, "run_live.html", **shown, labels=run_view.label_counts)
    summary, figures, trust = run_view.summary, run_view.figures, run_view.trust
    rates = [reading(label.value.lower(), one, "", label.value.lower()) for label, one in summary.overall.rates.items()]
    return render(
        request,
        "run.html",
        **shown,
        summary=summary,
        calibration=trust.calibration,
        known_error=trust.line,
        modes=most_frequent(summary.failure_modes),
        bar=label_bar(summary.overall.labels),
        rates=interval_plot(rates, title="Claims by label", axis="share of all claims, with 95 % intervals"),
        scores=score_chart(figures.score[figures.scored & np.isfinite(figures.score)]),
        slice_address=slice_address,
        most_values=_SHOWN,
        few=FEW,
    )


@router.post("/runs/{name}/rename")
def rename(request: Request, name: str, to: Annotated[str, Form()] = "") -> Response:
    """Give a run another name; without one it goes by its id."""
    run = _to_change(request, name)
    if len(to.strip()) > _LONGEST or not to.isprintable():
        raise ConfigError(f"a name is one line of at most {_LONGEST} characters")
    site_of(request).write_store.rename_run(run, to.strip())
    return RedirectResponse(f"/runs/{run}", 303)


@router.post("/runs/{name}/delete")
def delete(request: Request, name: str, confirmed: Annotated[str, Form()] = "") -> Response:
    """Delete a run whose id was typed in to confirm it; what people labelled stays."""
    run = _to_change(request, name)
    if confirmed.strip() != run:
        raise ConfigError(f"nothing was deleted: type the run id {run} to confirm")
    site_of(request).write_store.delete_run(run)
    return RedirectResponse("/", 303)


def _to_change(request: Request, name: str) -> str:
    if not visitor_of(request).may("admin"):
        raise HTTPException(403, "this token cannot change runs: it needs the scope “admin”")
    return view_run(request, name).record.id


@router.get("/runs/{name}/progress")
def progress(request: Request, run_view: AskedRun) -> Response:
    """Return how far a run is, for its page; once it has ended the whole page comes anew."""
    answer = render(request, "run_progress.html", run_view=run_view, labels=run_view.label_counts)
    if not run_view.is_live:
        answer.headers["hx-refresh"] = "true"
    return answer


@router.get("/runs/{name}/slices")
def slices(request: Request, run_view: AskedRun, tag: str = "") -> Response:
    """Show a tag's values by the failure modes of their claims; `shade` is how dark a cell is, from 0 to 5."""
    figures = run_view.figures
    tags = sorted(figures.tags, key=lambda one: (one not in run_view.run.slices, one in AUTOMATIC, one))
    chosen = tag if tag in figures.tags else next(iter(tags), "")
    whole, rows = run_view.once("matrix", lambda: matrix_of(figures, chosen), chosen)
    highest = max((count / row.claims for row in rows for count in row.modes.values()), default=0.0)
    return render(
        request,
        "slices.html",
        run_view=run_view,
        tags=tags,
        chosen=chosen,
        whole=whole,
        rows=rows[:_ROWS],
        values=len(rows),
        shade=lambda share: min(_SHADES, ceil(_SHADES * share / highest)) if share and highest else 0,
        slice_address=slice_address,
    )


@router.get("/runs/{name}/judge")
def judge(request: Request, run_view: AskedRun) -> Response:
    """Show what is known of the judge."""
    trust = run_view.trust
    found = trust.calibration
    groups = found.groups if found else {}
    return render(
        request,
        "judge.html",
        run_view=run_view,
        known_error=trust.line,
        view=judge_view(found) if found else None,
        rates=_rates(found) if found else "",
        groups=[(tag, list(rates.items())[:_GROUPS]) for tag, rates in groups.items() if len(rates) > 1],
        shown_rate=shown_rate,
        remarks=plain_remarks(run_view.summary, _TOLD_ELSEWHERE),
    )


@router.get("/runs/{name}/judge.json")
def judge_as_json(run_view: AskedRun) -> Response:
    """Return what labels say of the judge, in the public schema."""
    found = run_view.trust.calibration
    if found is None:
        raise InputError("no claims of this run are labelled yet")
    return download(found.to_json(), f"judge-{found.run}.json")


def _rates(found: Calibration) -> str:
    points = [
        ChartPoint(name.partition(" recognised")[0], rate.value, rate.low, rate.high, counted(labels, "label"))
        for name, rate, labels in found.recognised
        if not is_too_few(rate, labels)
    ]
    axis = "correct verdicts, with 95 % intervals"
    return interval_plot(points, title="Judge vs. people", axis=axis) if points else ""


# ---- two runs

_LISTED = 200  # runs to choose from
_MOST = 30  # runs of a series


def _two_runs(request: Request, before: str, after: str) -> tuple[RunView, RunView]:
    return view_run(request, before), view_run(request, after)


Sides = Annotated[tuple[RunView, RunView], Depends(_two_runs)]
By = Annotated[Sequence[str], Query()]


@router.get("/compare")
def page(request: Request, before: str = "", after: str = "", by: By = ()) -> Response:
    """Show a comparison, or what to compare."""
    records = [record for record in site_of(request).runs() if record.kept][:_LISTED]
    shown = {"records": records, "before": before, "after": after, "by": list(by), "found": None, "tags": []}
    if not (before and after):
        site = site_of(request)
        if pair := comparable_runs(records, lambda record: RunView(site, record).asked, before or after):
            shown["before"], shown["after"] = pair
        return render(request, "compare.html", **shown)
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


# ---- runs over time


@router.get("/trend")
def trend(request: Request, q: str = "", judged: str = "", data: str = "") -> Response:
    """Show a series of runs with one metric, one judge and the same data; where none are named, the longest one."""
    series = _series(site_of(request), q, judged, data)
    views = series.views
    found = _trend(views) if views else None
    return render(
        request,
        "trend.html",
        q=q,
        series=series,
        trend=found,
        records=[view.record for view in views],
        fewest=FEWEST_RUNS,
        rates=_chart(found, (UNSUPPORTED, CONTRADICTED), "Failing claims by run") if found else "",
        supported=_chart(found, (SUPPORTED,), "Supported claims by run") if found else "",
        scores=_chart(found, (SCORE,), "Mean score by run") if found else "",
        labels_of={view.record.id: view.label_counts for view in views},
    )


@router.get("/trend.json")
def trend_json(request: Request, q: str = "", judged: str = "", data: str = "") -> Response:
    """Return the series in the public schema."""
    views = _series(site_of(request), q, judged, data).views
    if not views:
        raise InputError("no matching finished run")
    return download(_trend(views).to_json(), "trend.json")


def _way(record: RunRecord) -> str:
    return f"{record.provenance.metric} · {record.provenance.verifier}"


class _RunSeries(NamedTuple):
    """Runs, oldest first, with one metric, one judge (together a way) and the same data; and the others to choose."""

    views: list[RunView]
    ways: list[str]
    way: str
    all_data: list[str]
    data: str
    left_out: int


def _series(site: Site, q: str, judged: str, data: str) -> _RunSeries:
    wanted = [record for record in site.runs() if record.status == "finished" and record.kept and matches(record, q)]
    way = judged or next((way for way, _ in Counter(map(_way, wanted)).most_common(1)), "")
    groups = _by_data(site, [record for record in wanted if _way(record) == way])
    chosen = data if data in groups else max(groups, key=lambda name: len(groups[name]), default="")
    found = [RunView(site, record) for record in groups.get(chosen, ())]
    ways = sorted(set(map(_way, wanted)))
    return _RunSeries(found[:_MOST][::-1], ways, way, list(groups), chosen, max(0, len(found) - _MOST))


def _by_data(site: Site, records: Sequence[RunRecord]) -> dict[str, list[RunRecord]]:
    """Group runs, newest first, by their data, under the names of its files; names that recur tell a folder, too.

    Data are the same that have one place, or of whose questions, with their ids, at least half are in both.
    """
    by_place: dict[str, list[RunRecord]] = {}
    for record in records:
        by_place.setdefault(record.id if record.dataset.startswith("<") else record.dataset, []).append(record)
    groups: list[tuple[frozenset[tuple[str, str]], list[RunRecord]]] = []
    for of_place in by_place.values():
        asked = RunView(site, of_place[0]).asked
        alike = (one for known, one in groups if asked & known and share_half(asked, known))
        if (members := next(alike, None)) is None:
            groups.append((asked, of_place))
        else:
            members += of_place
    named, seen = dict[str, list[RunRecord]](), Counter[str]()
    names = [", ".join(sorted({file_name(one.dataset) for one in members})) for _, members in groups]
    for name, (_, members) in zip(names, groups, strict=True):
        folder = PurePath(members[0].dataset).parent.name
        told = f"{name} in {folder}" if names.count(name) > 1 and folder else name
        told = told.encode("utf-8", "replace").decode()
        seen[told] += 1
        named[f"{told} #{seen[told]}" if seen[told] > 1 else told] = sorted(members, key=records.index)
    return named


def _trend(views: Sequence[RunView]) -> Trend:
    def make() -> Trend:
        differs = check_alike([view.record for view in views], anyway=True)
        return trend_over([view.run for view in views], differs=differs)

    return views[0].site.once(("trend", *(view.stamp for view in views)), make)


def _chart(found: Trend, measures: Sequence[AnswerMeasure], title: str) -> Markup:
    series = {
        measure.title: [
            reading(side.title, rate, "", "" if measure.is_score else measure.name)
            for side, rate in zip(found.sides, found.of(measure).rates, strict=True)
        ]
        for measure in measures
    }
    marked = {
        change.at: f"{measure.title} changed from {found.sides[change.at].title} on"
        for measure in measures
        for change in found.of(measure).changes
    }
    return line_chart(series, title=title, marked=marked, percent=measures != (SCORE,))

"""A run's judge: how often it is right, by people's labels, and what its probabilities mean."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from everyclaim.analysis.calibration import Calibration
from everyclaim.analysis.slices import SHOWN_FROM
from everyclaim.core.errors import InputError
from everyclaim.report.html.charts import ChartPoint, interval_plot
from everyclaim.report.html.run import judge_view
from everyclaim.report.terminal import plain_remarks
from everyclaim.stats.intervals import Estimate
from everyclaim.web.app.run_view import view_run
from everyclaim.web.app.site import render, site_of

router = APIRouter()
_GROUPS = 40
_TOLD_ELSEWHERE = {"why", "scores", "length"}


@router.get("/runs/{name}/judge")
def judge(request: Request, name: str) -> Response:
    """Show what is known of the judge."""
    run_view = view_run(site_of(request), name)
    trust = run_view.trust
    found = trust.calibration
    summary = run_view.summary
    return render(
        request,
        "judge.html",
        run_view=run_view,
        known_error=trust.line,
        known=trust.known,
        view=judge_view(found) if found else None,
        rates=_rates(found) if found else "",
        groups=[(tag, list(groups.items())[:_GROUPS]) for tag, groups in found.groups.items() if len(groups) > 1]
        if found
        else [],
        fewest=SHOWN_FROM,
        remarks=plain_remarks(summary, _TOLD_ELSEWHERE),
    )


@router.get("/runs/{name}/judge.json")
def as_json(request: Request, name: str) -> Response:
    """Return what labels say of the judge, in the public schema."""
    found = view_run(site_of(request), name).trust.calibration
    if found is None:
        raise InputError("no claims of this run are labelled yet")
    return JSONResponse(
        found.to_json(), headers={"content-disposition": f'attachment; filename="judge-{found.run}.json"'}
    )


def _rates(found: Calibration) -> str:
    named = [("supported claims", found.rates.tpr), ("failing claims", found.rates.tnr)]
    if found.answers:
        named += [("faithful answers", found.answers.tpr), ("failing answers", found.answers.tnr)]
    return interval_plot(
        [_reading(*rate) for rate in named],
        title="Judge vs. people",
        axis="correct verdicts, with 95 % intervals",
    )


def _reading(name: str, rate: Estimate) -> ChartPoint:
    return ChartPoint(name, rate.value, rate.low, rate.high, f"{rate.n:,} labels")

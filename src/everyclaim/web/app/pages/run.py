"""A run: what it comes to, and its answers, filtered and a page at a time."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from fastapi import APIRouter, Depends, Form, HTTPException, Request
from starlette.responses import RedirectResponse, Response

from everyclaim.core.errors import ConfigError
from everyclaim.core.types import FailureMode
from everyclaim.report.html.charts import Reading, interval_plot, label_bar
from everyclaim.report.html.run import modes_by_count, score_chart
from everyclaim.store import browsing
from everyclaim.web.app.entrance import visitor_of
from everyclaim.web.app.filtering import Filter, asked, slice_field
from everyclaim.web.app.looking import is_computed, look_at, slice_address
from everyclaim.web.app.paging import Paging
from everyclaim.web.app.site import render, site_of

router = APIRouter()
PER_PAGE = 25
WORST = 5
_MOST_VALUES = 200  # of a tag, in a list to choose from
_SHOWN = 12  # values of a tag, in the overview
_LONGEST = 200  # characters of a name


@router.get("/runs/{name}")
def overview(request: Request, name: str) -> Response:
    """Show what a run comes to; of one under way how far it is."""
    looking = look_at(site_of(request), name)
    if looking.record.id != name:  # an address is to hold for good
        return RedirectResponse(f"/runs/{looking.record.id}", 303)
    store, run = looking.site.shelf.store, looking.record.id
    worst = browsing.answers(store, run, browsing.Wanted(order="worst"), 0, WORST)
    best = looking.record.provenance.quality(1.0)
    shown = {"looking": looking, "worst": [row for row in worst if row.score not in (None, best)]}
    if looking.is_live:
        return render(request, "run_live.html", **shown, labels=browsing.label_counts(store, run))
    summary, figures = looking.summary, looking.figures
    trust = looking.trust
    rates = [
        Reading(label.value.lower(), one.value, one.low, one.high, kind=label.value.lower())
        for label, one in summary.overall.rates.items()
    ]
    return render(
        request,
        "run.html",
        **shown,
        summary=summary,
        calibration=trust.calibration,
        known_error=trust.line,
        modes=modes_by_count(summary),
        bar=label_bar(summary.overall.labels),
        rates=interval_plot(rates, title="Claims by label", axis="share of all claims, with 95 % intervals"),
        scores=score_chart(figures.score[figures.scored & np.isfinite(figures.score)]),
        slice_address=slice_address,
        most_values=_SHOWN,
    )


@router.post("/runs/{name}/rename")
def rename(request: Request, name: str, to: Annotated[str, Form()] = "") -> Response:
    """Give a run another name; without one it goes by its id."""
    run = _to_change(request, name)
    if len(to.strip()) > _LONGEST or not to.isprintable():
        raise ConfigError(f"a name is one line of at most {_LONGEST} characters")
    site_of(request).pen.store.rename_run(run, to.strip())
    return RedirectResponse(f"/runs/{run}", 303)


@router.post("/runs/{name}/delete")
def delete(request: Request, name: str, confirmed: Annotated[str, Form()] = "") -> Response:
    """Delete a run whose id was typed in to confirm it; what people labelled stays."""
    run = _to_change(request, name)
    if confirmed.strip() != run:
        raise ConfigError(f"nothing was deleted: type the id of the run, {run}, to confirm")
    site_of(request).pen.store.delete_run(run)
    return RedirectResponse("/", 303)


def _to_change(request: Request, name: str) -> str:
    if not visitor_of(request).may("admin"):
        raise HTTPException(403, "this token may look at runs, and not change them: that takes the scope “admin”")
    return look_at(site_of(request), name).record.id


@router.get("/runs/{name}/progress")
def progress(request: Request, name: str) -> Response:
    """Return how far a run is, for its page; once it has ended the whole page comes anew."""
    looking = look_at(site_of(request), name)
    labels = browsing.label_counts(looking.site.shelf.store, looking.record.id)
    answer = render(request, "run_progress.html", looking=looking, labels=labels)
    if not looking.is_live:
        answer.headers["hx-refresh"] = "true"
    return answer


@router.get("/runs/{name}/answers")
def answers(request: Request, name: str, asks: Annotated[Filter, Depends(asked)], page: int = 1) -> Response:
    """List answers."""
    looking = look_at(site_of(request), name)
    store, run, wanted = looking.site.shelf.store, looking.record.id, asks.wanted
    if wanted.text or is_computed(wanted):  # what takes long to find is found once
        places = looking.places(wanted)
        paging = Paging(len(places), page, PER_PAGE, asks.query)
        rows = browsing.answers_at(store, run, places[paging.first : paging.last])
    else:
        total = looking.once("count", lambda: browsing.count(store, run, wanted), repr(wanted))
        paging = Paging(total, page, PER_PAGE, asks.query)
        rows = browsing.answers(store, run, wanted, paging.first, PER_PAGE)
    slices = [
        (slice_field(tag, value), f"{tag}: {value}")
        for tag, values in looking.tags.items()
        for value in values[:_MOST_VALUES]
    ]
    if is_computed(wanted):
        slices.append((asks.slice, f"{wanted.tag}: {wanted.value or '(not given)'}"))
    return render(
        request,
        "answers.html",
        looking=looking,
        filter=asks,
        paging=paging,
        rows=rows,
        modes=[mode.value for mode in FailureMode],
        outcomes=[outcome.value for outcome, number in looking.record.counts.items() if number],
        slices=slices,
    )

"""Answers: those of a run listed, shown with their evidence and exported; a pasted one, judged and not stored."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from threading import BoundedSemaphore
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from everyclaim.analysis.slices import AUTOMATIC, shown_name
from everyclaim.api.scoring import read_sample
from everyclaim.core.errors import EveryclaimError, InputError
from everyclaim.core.protocols import Kept
from everyclaim.core.types import FailureMode
from everyclaim.io import write_results
from everyclaim.report.html.answers import AnswerView, answer_view
from everyclaim.report.html.charts import label_bar
from everyclaim.store import browsing
from everyclaim.web.app.site import (
    Asked,
    AskedRun,
    Paging,
    RunView,
    Site,
    download_file,
    render,
    site_of,
    slice_field,
)

router = APIRouter()
CONTEXT = 4_000  # characters around a mark in a long passage
_FARTHEST = 2**62
_MOST_VALUES = 200  # of a tag, in a list to choose from


@router.get("/runs/{name}/answers")
def answers(request: Request, run_view: AskedRun, asks: Asked, page: int = 1) -> Response:
    """List answers."""
    places = run_view.places(asks)
    paging = Paging(len(places), page, asks.query)
    shown = places[paging.first : paging.last]
    slices = [
        (slice_field(tag, value), f"{shown_name(tag)}: {value}")
        for tag, values in run_view.tags.items()
        for value in values[:_MOST_VALUES]
    ]
    if asks.tag in AUTOMATIC:
        slices.append((asks.slice, f"{shown_name(asks.tag)}: {asks.value or '(not given)'}"))
    return render(
        request,
        "answers.html",
        run_view=run_view,
        filter=asks,
        paging=paging,
        rows=browsing.answers_at(run_view.site.read_store, run_view.record.id, shown),
        modes=[mode.value for mode in FailureMode],
        outcomes=[outcome for outcome, number in run_view.record.counts.items() if number],
        slices=slices,
    )


@router.get("/runs/{name}/answers/{position}")
def answer(request: Request, run_view: AskedRun, position: int, asks: Asked, whole: str = "") -> Response:
    """Show an answer, and the way to the ones beside it among those that the filter asks for."""
    kept, places = kept_at(run_view, position), [None, *run_view.places(asks), None]
    here = places.index(position) if position in places else None
    return render(
        request,
        "answer.html",
        run_view=run_view,
        filter=asks,
        beside=(places[here - 1], places[here + 1]) if here else (None, None),
        view=answer_view(kept, context=None if whole else CONTEXT),
        is_whole=bool(whole),
    )


def kept_at(run_view: RunView, position: int) -> Kept:
    """Return the answer at a place. Raises `InputError` when there is none."""
    found = run_view.site.read_store.records_at(run_view.record.id, [position] if 0 <= position < _FARTHEST else [])
    kept = next(iter(found), None)
    if kept is None:
        raise InputError(f"run {run_view.record.id} has no answer at row {position}")
    return kept


_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


@router.get("/runs/{name}/export.{kind}")
def export(
    run_view: AskedRun, kind: Literal["jsonl", "csv", "parquet"], asks: Asked, position: int | None = None
) -> Response:
    """Hand out the results that a filter asks for, in the public schema; a table has one row per claim.

    Text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    store, run = run_view.site.read_store, run_view.record.id
    if position is not None:
        places, part = [kept_at(run_view, position).position], f"-{position}"
    elif asks.is_empty:
        places, part = None, ""
    else:
        places, part = run_view.places(asks), "-part"
    records = store.records(run) if places is None else store.records_at(run, places)
    results = (record.result for record in records)
    return download_file(f"everyclaim-{run}{part}.{kind}", _TYPES[kind], lambda path: write_results(results, path))


# ---- try it

MOST = 200_000  # characters of an answer and its sources together
_AT_ONCE = BoundedSemaphore(2)
_RULE = re.compile(r"(?m)^[ \t]*(?:-{3,}|\*{3,}|={3,})[ \t]*$")
EXAMPLE = {
    "question": "How long does the sourdough starter rest?",
    "response": "The starter rests for 12 hours at room temperature. It is fed with equal weights of flour and water.",
    "sources": (
        "Feed the starter with equal weights of flour and water, then let it rest for 8 hours at room temperature."
        "\n---\n"
        '{"step": 2, "action": "knead", "minutes": 10, "rest": "1 hour"}'
    ),
}


@router.get("/try")
def form(request: Request, example: str = "") -> Response:
    """Show the form."""
    _evaluator(site_of(request))
    given = EXAMPLE if example else dict.fromkeys(EXAMPLE, "")
    return render(request, "try.html", **given, view=None, said="", bar="")


@router.post("/try")
def judged(
    request: Request,
    question: Annotated[str, Form()] = "",
    response: Annotated[str, Form()] = "",
    sources: Annotated[str, Form()] = "",
) -> Response:
    """Judge what was pasted by the dashboard's one evaluator, and show it as an answer of a run is shown."""
    site = site_of(request)
    given = {
        name: text.replace("\r\n", "\n") for name, text in zip(EXAMPLE, (question, response, sources), strict=True)
    }
    view, said = None, ""
    if not response.strip():
        said = "Paste an answer first."
    elif sum(map(len, given.values())) > MOST:
        said = f"The text exceeds {MOST:,} characters: score it from a file."
    else:
        try:
            view = _judged(site, **given)
        except EveryclaimError as error:
            said = str(error)
    bar = label_bar(view.result.counts) if view and view.claims else ""
    return render(request, "try.html", 400 if said else 200, **given, view=view, said=said, bar=bar)


def _judged(site: Site, question: str, response: str, sources: str) -> AnswerView:
    sample = read_sample(response, _passages_of(sources), question)
    with _AT_ONCE:
        result = _evaluator(site).score(sample)
    return answer_view(Kept(0, "", sample, result))


def _passages_of(sources: str) -> Sequence[Any]:
    """Take pasted sources apart: a JSON list is one passage per element; else a ruling (``---``) parts them."""
    text = sources.strip()
    try:
        found = json.loads(text) if text.startswith("[") else None
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, list):
        return [_passage(one) for one in found]
    return [part.strip() for part in _RULE.split(sources) if part.strip()]


def _passage(one: Any) -> Any:
    """Take text, and objects that hold it, as passages; any other record is one as it stands."""
    is_passage = isinstance(one, str) or (isinstance(one, dict) and isinstance(one.get("text"), str))
    return one if is_passage else json.dumps(one, ensure_ascii=False, indent=1)


def _evaluator(site: Site) -> Any:
    if site.evaluator is None:
        raise HTTPException(404)
    return site.evaluator

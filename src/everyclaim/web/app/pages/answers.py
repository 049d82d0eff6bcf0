"""The answers of a run: listed, one with its claims in place and what each found in the passages, exported."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from everyclaim.core.errors import InputError
from everyclaim.core.protocols import Kept
from everyclaim.core.types import FailureMode
from everyclaim.io import write_results
from everyclaim.report.html.answers import answer_view
from everyclaim.store import browsing
from everyclaim.web.app.run_view import Filter, RunView, is_computed, slice_field, view_run
from everyclaim.web.app.site import Paging, render, site_of

router = APIRouter()
CONTEXT = 4_000  # characters around a mark in a long passage
_FARTHEST = 2**62
PER_PAGE = 25
_MOST_VALUES = 200  # of a tag, in a list to choose from


@router.get("/runs/{name}/answers")
def answers(request: Request, name: str, asks: Annotated[Filter, Depends()], page: int = 1) -> Response:
    """List answers."""
    run_view = view_run(site_of(request), name)
    store, run, wanted = run_view.site.read_store, run_view.record.id, asks.wanted
    if wanted.text or is_computed(wanted):  # what takes long to find is found once
        places = run_view.places(wanted)
        paging = Paging(len(places), page, PER_PAGE, asks.query)
        rows = browsing.answers_at(store, run, places[paging.first : paging.last])
    else:
        total = run_view.once("count", lambda: browsing.count(store, run, wanted), repr(wanted))
        paging = Paging(total, page, PER_PAGE, asks.query)
        rows = browsing.answers(store, run, wanted, paging.first, PER_PAGE)
    slices = [
        (slice_field(tag, value), f"{tag}: {value}")
        for tag, values in run_view.tags.items()
        for value in values[:_MOST_VALUES]
    ]
    if is_computed(wanted):
        slices.append((asks.slice, f"{wanted.tag}: {wanted.value or '(not given)'}"))
    return render(
        request,
        "answers.html",
        run_view=run_view,
        filter=asks,
        paging=paging,
        rows=rows,
        modes=[mode.value for mode in FailureMode],
        outcomes=[outcome.value for outcome, number in run_view.record.counts.items() if number],
        slices=slices,
    )


@router.get("/runs/{name}/answers/{position}")
def answer(request: Request, name: str, position: int, asks: Annotated[Filter, Depends()], whole: str = "") -> Response:
    """Show an answer, and the way to the ones beside it among those that the filter asks for."""
    run_view = view_run(site_of(request), name)
    kept = kept_at(run_view, position)
    beside = run_view.beside(asks.wanted, position)
    return render(
        request,
        "answer.html",
        run_view=run_view,
        filter=asks,
        beside=beside,
        view=answer_view(kept, context=None if whole else CONTEXT),
        fingerprint=kept.fingerprint,
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
    request: Request,
    name: str,
    kind: Literal["jsonl", "csv", "parquet"],
    asks: Annotated[Filter, Depends()],
    position: int | None = None,
) -> Response:
    """Hand out the results that a filter asks for, in the public schema; a table has one row per claim.

    Text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    run_view = view_run(site_of(request), name)
    store, run = run_view.site.read_store, run_view.record.id
    if position is not None:
        places, part = [kept_at(run_view, position).position], f"-{position}"
    elif asks.is_empty:
        places, part = None, ""
    else:
        places, part = run_view.places(asks.wanted), "-part"
    records = store.records(run) if places is None else store.records_at(run, places)
    handle, path = tempfile.mkstemp(suffix=f".{kind}", prefix="everyclaim-")
    os.close(handle)
    try:
        write_results((record.result for record in records), path)
        stream = Path(path).open("rb")  # noqa: SIM115 - closed by the response
    finally:
        with suppress(PermissionError):  # where an open file cannot be removed
            Path(path).unlink()  # at once, so that nothing stays behind when whoever asked has gone
    headers = {
        "content-disposition": f'attachment; filename="everyclaim-{run}{part}.{kind}"',
        "content-length": str(os.fstat(stream.fileno()).st_size),
    }
    return _OpenFile(stream, media_type=_TYPES[kind], headers=headers)


class _OpenFile(StreamingResponse):
    """Hands out an open file, and closes it also when whoever asked has gone."""

    def __init__(self, stream: BinaryIO, *, media_type: str, headers: Mapping[str, str]) -> None:
        super().__init__(iter(lambda: stream.read(2**18), b""), media_type=media_type, headers=headers)
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        with self._stream:
            await super().__call__(scope, receive, send)

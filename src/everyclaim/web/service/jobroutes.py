"""Whole data sets: send one, look at how far it is, take the results, cancel it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from everyclaim.core.protocols import Kept
from everyclaim.core.wire import result_to_json
from everyclaim.io.fields import shown
from everyclaim.io.files import STREAM_ERRORS, open_unpacked
from everyclaim.web.service.gate import RequestContext
from everyclaim.web.service.job_store import Job, Upload
from everyclaim.web.service.jobs import Jobs
from everyclaim.web.service.openapi import documented, parameter, takes_data
from everyclaim.web.service.problems import Problem
from everyclaim.web.service.requests import MB, NDJSON, json_answer, line, media_type, options_of, pieces, whole_number
from everyclaim.web.service.schemas import JobOut, JobsOut, PageOut
from everyclaim.web.service.settings import ServiceSettings

SUFFIXES = {
    "application/json": ".json",
    NDJSON: ".jsonl",
    "application/jsonl": ".jsonl",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
}
_PAGE, _LARGEST_PAGE, _FARTHEST = 100, 1000, 10**15
_LIMIT = parameter("limit", "At most so many", {"type": "integer", "minimum": 1, "maximum": _LARGEST_PAGE})
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LONGEST = 200  # characters of a name, a release, a key


@dataclass(frozen=True, slots=True)
class Batches:
    """What the routes for data sets stand on."""

    jobs: Jobs
    settings: ServiceSettings

    def find(self, request: Request, wanted: str) -> Job:
        """Return the job that a request is about. Raises `Problem` where there is none that its sender may see."""
        asked: RequestContext = request.state.asked
        job = self.jobs.job_store.find(wanted)
        if job is None or (job.owner != asked.owner and not asked.sees_all):
            raise Problem("not-found", f"there is no job {shown(wanted)}")
        return job

    def check_room(self, owner: str) -> None:
        """Raise `Problem` where a sender has as many jobs as may wait."""
        waiting = sum(job.owner == owner for job in self.jobs.job_store.waiting())
        if waiting >= self.settings.open_jobs:
            raise Problem("overloaded", f"{waiting} jobs of yours wait: wait for one to end", retry_after=60)

    def page(self, job: Job, after: int, limit: int) -> dict[str, Any]:
        """Return results behind a place, without a gap: what is not there yet comes on a later page."""
        found: list[Kept] = []
        for kept in self.results(job, after):
            if kept.position != after + 1 + len(found):
                break
            found.append(kept)
            if len(found) > limit:
                break
        is_whole = job.state != "open" and len(found) <= limit
        page = found[:limit]
        return {
            "results": [result_to_json(kept.result) for kept in page],
            "next": None if is_whole else after + len(page),
        }

    def results(self, job: Job, after: int) -> Iterator[Kept]:
        """Yield what is kept of a job behind a place."""
        return iter(()) if job.run is None else self.jobs.store.records(job.run, after=after)


def routes(batches: Batches) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/v1/jobs")
    jobs, job_store = batches.jobs, batches.jobs.job_store

    @router.post("", response_model=JobOut, status_code=202, **documented("submit", **takes_data()))
    async def submit(request: Request) -> Response:
        """Send a data set to be scored: rows as in a file, as JSON Lines, JSON, CSV or TSV.

        Once it is accepted it is safe from whatever happens to the service. With an `Idempotency-Key` the same request
        sent again is the same job.
        """
        asked: RequestContext = request.state.asked
        suffix = SUFFIXES.get(media_type(request))
        if suffix is None:
            kinds = ", ".join(SUFFIXES)
            raise Problem("wrong-type", f"send a data set as one of {kinds}", headers={"Accept": kinds})
        options = _options(request)
        key = _key(request)
        await run_in_threadpool(batches.check_room, asked.owner)
        most = int(batches.settings.job_mb * MB)
        upload = await job_store.receive(pieces(request, most, batches.settings.upload_seconds), options, suffix)
        await run_in_threadpool(_check_unpacked, upload, most)
        job = await run_in_threadpool(job_store.accept, upload, asked.owner, options, suffix, key)
        jobs.wake()
        asked.said["job"] = job.id
        described = await run_in_threadpool(jobs.described, job)
        return json_answer(described, 202, {"Location": f"/v1/jobs/{job.id}"})

    @router.get("", response_model=JobsOut, **documented("list_jobs", parameters=[_LIMIT]))
    def list_jobs(request: Request) -> Response:
        """List your jobs, the newest first."""
        asked: RequestContext = request.state.asked
        given = options_of(request.query_params.multi_items(), ("limit",))
        limit = whole_number("limit", given.get("limit"), 20, 1, _LARGEST_PAGE)
        mine = (job for job in job_store.newest() if job.owner == asked.owner or asked.sees_all)
        return json_answer({"jobs": [jobs.described(one) for one, _ in zip(mine, range(limit), strict=False)]})

    @router.get("/{job}", response_model=JobOut, **documented("show_job"))
    def show_job(request: Request, job: str) -> Response:
        """Say how far a job is."""
        options_of(request.query_params.multi_items(), ())
        return json_answer(jobs.described(batches.find(request, job)))

    @router.post("/{job}/cancel", response_model=JobOut, status_code=202, **documented("cancel"))
    async def cancel(request: Request, job: str) -> Response:
        """Cancel a job. What is scored already stays in the store; a job that ended stays as it is."""
        options_of(request.query_params.multi_items(), ())
        found = await run_in_threadpool(batches.find, request, job)
        cancelled = await run_in_threadpool(jobs.cancel, found)
        return json_answer(await run_in_threadpool(jobs.described, cancelled), 202)

    @router.get("/{job}/results", response_model=PageOut, **documented("results", parameters=_of_results()))
    def results(request: Request, job: str) -> Response:
        """Return results in the order of the rows: a page, or with `Accept: application/x-ndjson` all as lines.

        Also while the job goes on: what is scored already without a gap. Then `next` is never null.
        """
        given = options_of(request.query_params.multi_items(), ("after", "limit"))
        after = whole_number("after", given.get("after"), -1, -1, _FARTHEST)
        limit = whole_number("limit", given.get("limit"), _PAGE, 1, _LARGEST_PAGE)
        found = batches.find(request, job)
        if not _wants_lines(request):
            return json_answer(batches.page(found, after, limit))
        if found.state == "open":
            raise Problem("not-yet", "the job has not ended: take pages, or come again", retry_after=5)
        lines = (line(result_to_json(kept.result)) + b"\n" for kept in batches.results(found, after))
        return StreamingResponse(_blocks(lines), media_type=NDJSON)

    return router


def _check_unpacked(upload: Upload, most: int) -> None:
    """Remove data that unpacks to more than a job may have, and raise `Problem`; a damaged archive fails later."""
    size = 0
    with suppress(*STREAM_ERRORS), open_unpacked(upload.path) as data:
        while size <= most and (piece := data.read(1 << 20)):
            size += len(piece)
    if size > most:
        upload.path.unlink(missing_ok=True)
        raise Problem("too-large", f"a job may have {most / MB:g} MB, unpacked")


async def _blocks(lines: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield lines some at a time: every step goes to a thread and back."""

    def block() -> bytes:
        return b"".join(one for one, _ in zip(lines, range(64), strict=False))

    while found := await asyncio.to_thread(block):
        yield found


def _options(request: Request) -> dict[str, Any]:
    """Return what is to be done with the data, as `score_file` takes it."""
    given = options_of(request.query_params.multi_items(), ("name", "release"), ("slice", "map"))
    mapping = {}
    for text in given["map"]:
        theirs, equals, ours = text.partition("=")
        if not (theirs and equals and ours):
            raise Problem("bad-input", f"map is theirs=ours, as in map=answer_text=response, got {shown(text)}")
        mapping[theirs] = ours
    for name in ("name", "release"):
        if len(given.get(name, "")) > _LONGEST:
            raise Problem("bad-input", f"{name} may have {_LONGEST} characters")
    if _CONTROL.search("".join(value for _, value in request.query_params.multi_items())):
        raise Problem("bad-input", "a parameter holds a control character")
    texts = {name: given[name] for name in ("name", "release") if given.get(name)}
    return {**texts, "slices": given["slice"], "mapping": mapping}


def _key(request: Request) -> str:
    keys = request.headers.getlist("idempotency-key")
    if len(keys) > 1 or any(not key.strip() or len(key) > _LONGEST for key in keys):
        raise Problem("bad-input", f"Idempotency-Key is given once, and has from 1 to {_LONGEST} characters")
    return keys[0].strip() if keys else ""


def _wants_lines(request: Request) -> bool:
    kinds = [one.partition(";")[0].strip().lower() for one in request.headers.get("accept", "").split(",")]
    return NDJSON in kinds and "application/json" not in kinds


def _of_results() -> list[dict[str, Any]]:
    number = {"type": "integer", "minimum": -1, "maximum": _FARTHEST}
    return [
        parameter("after", "Only behind this place, counted from 0: the `next` of the page before", number),
        _LIMIT,
    ]

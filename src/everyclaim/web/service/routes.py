"""The routes: one answer at a time, whole data sets as jobs, and how the service is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from pydantic import StringConstraints
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from everyclaim._version import __version__
from everyclaim.core.errors import EveryclaimError
from everyclaim.core.protocols import Kept
from everyclaim.core.types import Result
from everyclaim.core.wire import SCHEMA, result_to_json, to_json
from everyclaim.io.fields import shown
from everyclaim.io.files import STREAM_ERRORS, open_unpacked
from everyclaim.store.store import Store
from everyclaim.web.client import guarded_to_json
from everyclaim.web.service import schemas
from everyclaim.web.service.gate import Problem, RequestContext
from everyclaim.web.service.jobs import JobRecord, Jobs
from everyclaim.web.service.requests import (
    MB,
    Work,
    check_query,
    fields_of,
    json_answer,
    line,
    media_type,
    pieces,
    read_object,
)
from everyclaim.web.service.schemas import NDJSON, documented
from everyclaim.web.settings import ServiceSettings

_SUFFIXES = {
    "application/json": ".json",
    NDJSON: ".jsonl",
    "application/jsonl": ".jsonl",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
}
_PAGE, _LARGEST_PAGE, _FARTHEST = 100, 1000, 10**15
_LONGEST = 200  # characters of a name, a release, a key
_PLAIN = r"^[^\x00-\x1f\x7f]*$"
_MAPPED = r"^[^=\x00-\x1f\x7f]+=[^\x00-\x1f\x7f]+$"

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=_LONGEST,
        pattern=r"^[!-~]([ -~]*[!-~])?$",
        description="Repeating a request with the same key returns the same job, for seven days",
    ),
]
Limit = Annotated[int, Query(ge=1, le=_LARGEST_PAGE, description="Maximum number of results")]
After = Annotated[
    int,
    Query(
        ge=-1,
        le=_FARTHEST,
        description="Only results after this position, counted from 0: the `next` of the previous page",
    ),
]


@dataclass(frozen=True, slots=True)
class Service:
    """What the routes stand on."""

    work: Work
    jobs: Jobs
    store: Store
    settings: ServiceSettings

    async def row(self, request: Request, kind: str) -> dict[str, Any]:
        """Return a request's fields by our names."""
        row = await read_object(request, int(self.settings.body_mb * MB), self.settings.body_seconds)
        if self.settings.log_texts:
            _context(request).logged["row"] = row
        return fields_of(kind, row)

    def check_room(self, owner: str) -> None:
        """Raise `Problem` where a sender has as many jobs as may wait."""
        waiting = sum(job.owner == owner for job in self.jobs.job_store.waiting())
        if waiting >= self.settings.open_jobs:
            raise Problem("overloaded", f"{waiting} of your jobs are waiting: wait until one ends", retry_after=60)

    def results(self, job: JobRecord, after: int) -> Iterator[Kept]:
        """Yield what is kept of a job behind a place."""
        return iter(()) if job.run is None else self.store.records(job.run, after=after)

    def page(self, job: JobRecord, after: int, limit: int) -> dict[str, Any]:
        """Return results behind a place, without a gap: what is not there yet comes on a later page."""
        found: list[Kept] = []
        for kept in self.results(job, after):
            if kept.position != after + 1 + len(found) or len(found) > limit:
                break
            found.append(kept)
        is_last = job.state != "open" and len(found) <= limit
        page = [result_to_json(kept.result) for kept in found[:limit]]
        return {"results": page, "next": None if is_last else after + len(page)}


async def _service_of(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


Ours = Annotated[Service, Depends(_service_of)]


def _job_of(request: Request, service: Ours, job: str) -> JobRecord:
    """Return the job that a request is about. Raises `Problem` where there is none that its sender may see."""
    context, found = _context(request), service.jobs.job_store.find(job)
    if found is None or (found.owner != context.owner and not context.sees_all):
        raise Problem("not-found", f"no job {shown(job)}")
    return found


@dataclass(frozen=True, slots=True)
class JobQuery:
    """What is asked for of a data set."""

    name: Annotated[str, Query(max_length=_LONGEST, pattern=_PLAIN, description="Name of the run")] = ""
    release: Annotated[str, Query(max_length=_LONGEST, pattern=_PLAIN, description="Release of rows without one")] = ""
    slices: Annotated[
        Sequence[Annotated[str, StringConstraints(pattern=_PLAIN, min_length=1)]],
        Query(alias="slice", description="Field to slice the run by"),
    ] = ()
    mapped: Annotated[
        Sequence[Annotated[str, StringConstraints(pattern=_MAPPED)]],
        Query(alias="map", description="Field of the data = field of everyclaim"),
    ] = ()
    turns: Annotated[Literal["last", "all"], Query(description="Answers of a conversation to score")] = "last"

    @property
    def options(self) -> dict[str, Any]:
        """The options of `score_file`."""
        texts = {"name": self.name, "release": self.release, "turns": "" if self.turns == "last" else self.turns}
        mapping = {theirs: ours for theirs, _, ours in (text.partition("=") for text in self.mapped)}
        return {name: text for name, text in texts.items() if text} | {"slices": [*self.slices], "mapping": mapping}


Job = Annotated[JobRecord, Depends(_job_of)]
router = APIRouter(dependencies=[Depends(check_query)])


@router.post("/v1/score", response_model=schemas.ResultOut, **documented("score"))
async def score(request: Request, service: Ours) -> Response:
    """Score one answer against its passages, claim by claim.

    The fields are those of a row of a file, by any of their names. A judge's failure is an answer as well: its
    `outcome` is `failed`, with the `reason` and without a score.
    """
    row = await service.row(request, "score")
    result = await service.work.done(request, lambda evaluator: evaluator.ascore(row))
    _note(request, result)
    return json_answer(result_to_json(result))


@router.post("/v1/verify", response_model=schemas.VerdictsOut, **documented("verify"))
async def verify(request: Request, service: Ours) -> Response:
    """Judge given claims against passages, one verdict per claim, in order; nothing is decomposed."""
    row = await service.row(request, "verify")
    claims, passages = row.pop("claims"), row.pop("contexts", ())
    found = await service.work.done(request, lambda evaluator: evaluator.averify(claims, passages, **row))
    return json_answer({"claims": [to_json(claim) for claim in found]})


@router.post("/v1/claims", response_model=schemas.DecompositionOut, **documented("claims"))
async def claims(request: Request, service: Ours) -> Response:
    """Split a response into claims, and say what was skipped and why."""
    row = await service.row(request, "claims")
    found = await service.work.done(request, lambda evaluator: evaluator.aclaims(**row))
    return json_answer(to_json(found))


@router.post("/v1/guard", response_model=schemas.GuardedOut, **documented("guard"))
async def guard(request: Request, service: Ours) -> Response:
    """Check an answer and return what may be shown of it: as it is, without the claims that failed, or a refusal.

    `rules` are those of `everyclaim.Guard` that need no generator.
    """
    row = await service.row(request, "guard")
    checking = service.work.evaluator.guard(None, **row.pop("rules", {}))
    question, passages = row.pop("question", ""), row.pop("contexts", ())
    answer = await service.work.done(request, lambda _: checking.aanswer(question, passages, **row))
    _note(request, answer.result)
    return json_answer(guarded_to_json(answer))


@router.post("/v1/jobs", response_model=schemas.JobOut, status_code=202, **documented("submit"))
async def submit(request: Request, service: Ours, asks: Annotated[JobQuery, Depends()], key: Key = None) -> Response:
    """Send a data set to be scored: rows as in a file, as JSON Lines, JSON, CSV or TSV.

    Once it is accepted it is safe from whatever happens to the service. With an `Idempotency-Key` the same request
    sent again is the same job.
    """
    context, jobs, job_store = _context(request), service.jobs, service.jobs.job_store
    suffix = _SUFFIXES.get(media_type(request))
    if suffix is None:
        kinds = ", ".join(_SUFFIXES)
        raise Problem("wrong-type", f"send a data set as one of {kinds}", headers={"Accept": kinds})
    await run_in_threadpool(service.check_room, context.owner)
    most = int(service.settings.job_mb * MB)
    job = JobRecord(context.owner, suffix, asks.options)
    digest = await job_store.receive(job, pieces(request, most, service.settings.upload_seconds))
    await run_in_threadpool(_check_unpacked, job_store.data(job), most)
    job = await run_in_threadpool(job_store.accept, job, digest, key)
    jobs.wake.set()
    context.logged["job"] = job.id
    return json_answer(asdict(await run_in_threadpool(jobs.status, job)), 202, {"Location": f"/v1/jobs/{job.id}"})


@router.get("/v1/jobs", response_model=schemas.JobsOut, **documented("list_jobs"))
def list_jobs(request: Request, service: Ours, limit: Limit = 20) -> Response:
    """List your jobs, the newest first."""
    context, jobs = _context(request), service.jobs
    found = jobs.job_store.newest(limit, None if context.sees_all else context.owner)
    return json_answer({"jobs": [asdict(jobs.status(job)) for job in found]})


@router.get("/v1/jobs/{job}", response_model=schemas.JobOut, **documented("show_job"))
def show_job(service: Ours, found: Job) -> Response:
    """Say how far a job is."""
    return json_answer(asdict(service.jobs.status(found)))


@router.post("/v1/jobs/{job}/cancel", response_model=schemas.JobOut, status_code=202, **documented("cancel"))
def cancel(service: Ours, found: Job) -> Response:
    """Cancel a job. What is scored already stays in the store; a job that ended stays as it is."""
    return json_answer(asdict(service.jobs.status(service.jobs.cancel(found))), 202)


@router.get("/v1/jobs/{job}/results", response_model=schemas.PageOut, **documented("results"))
def results(request: Request, service: Ours, found: Job, after: After = -1, limit: Limit = _PAGE) -> Response:
    """Return results in the order of the rows: a page, or with `Accept: application/x-ndjson` all as lines.

    Also while the job goes on: what is scored already without a gap. Then `next` is never null.
    """
    kinds = [kind.partition(";")[0].strip().lower() for kind in request.headers.get("accept", "").split(",")]
    if NDJSON not in kinds or "application/json" in kinds:
        return json_answer(service.page(found, after, limit))
    if found.state == "open":
        raise Problem("not-yet", "the job has not ended: page through results, or retry later", retry_after=5)
    lines = (line(result_to_json(kept.result)) + b"\n" for kept in service.results(found, after))
    return StreamingResponse(_blocks(lines), media_type=NDJSON)


@router.get("/health", response_model=schemas.HealthOut, **documented("health"))
async def health() -> Response:
    """Say that the process answers. Needs no token."""
    return json_answer({"status": "ok"})


@router.get("/ready", response_model=schemas.ReadyOut, **documented("ready"))
def ready(service: Ours) -> Response:
    """Say whether requests are taken: the store answers and there is room. Needs no token."""
    try:
        service.store.runs(limit=1)
    except EveryclaimError:
        raise Problem("unavailable", "the store does not respond", retry_after=5) from None
    work = service.work
    if work.waiting >= max(work.queue, 1):
        raise Problem("unavailable", f"{work.waiting} requests are waiting", retry_after=1)
    load = {name: getattr(work, name) for name in ("working", "waiting", "places", "queue")}
    return json_answer({"status": "ready", **load, "jobs_waiting": len(service.jobs.job_store.waiting())})


@router.get("/version", response_model=schemas.VersionOut, **documented("version"))
async def version(service: Ours) -> Response:
    """Say which version answers, and which judge, decomposer and metric it has. Needs no token."""
    made = to_json(service.work.evaluator.provenance)
    return json_answer({"version": __version__, "schema": SCHEMA, "provenance": made})


def _context(request: Request) -> RequestContext:
    context: RequestContext = request.state.context
    return context


def _note(request: Request, result: Result) -> None:
    """Put what came of it into the log, without a word of the text."""
    _context(request).logged.update(outcome=result.outcome.value, claims=len(result.claims))


def _check_unpacked(path: Path, most: int) -> None:
    """Remove data that unpacks to more than a job may have, and raise `Problem`; a damaged archive fails later."""
    size = 0
    with suppress(*STREAM_ERRORS), open_unpacked(path) as data:
        while size <= most and (piece := data.read(1 << 20)):
            size += len(piece)
    if size > most:
        path.unlink(missing_ok=True)
        raise Problem("too-large", f"a job can have at most {most / MB:g} MB, decompressed")


async def _blocks(lines: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield lines some at a time: every step goes to a thread and back."""
    while block := await asyncio.to_thread(lambda: b"".join(islice(lines, 64))):
        yield block

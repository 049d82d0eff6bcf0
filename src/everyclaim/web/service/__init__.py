"""The HTTP service: score, verify, split and guard one answer at a time, and whole data sets as jobs.

server ──► gate (who, how often) ──► body (how large, how slow, what) ──► queue ──► one Evaluator
                                                                jobs ──► job store ──► the store
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from everyclaim._version import __version__
from everyclaim.api.evaluator import Evaluator
from everyclaim.api.session import share_of
from everyclaim.api.specs import talks
from everyclaim.core.errors import BudgetExceeded, EveryclaimError, JudgeError, OperatorError, UserError
from everyclaim.core.events import Observer
from everyclaim.core.spec import Spec
from everyclaim.engine import BackgroundLoop
from everyclaim.io.fields import shown
from everyclaim.monitor.telemetry import Metrics
from everyclaim.store.store import Store
from everyclaim.web.service.gate import Problem, RequestContext, RequestGate, path_template, response_to
from everyclaim.web.service.jobs import Jobs, JobStore
from everyclaim.web.service.requests import Work
from everyclaim.web.service.routes import Service, router
from everyclaim.web.service.schemas import described
from everyclaim.web.serving import log_to_stderr, with_parent
from everyclaim.web.settings import AccessTokens, ServiceSettings

_logger = logging.getLogger("everyclaim.web")
_TRIAL = "The bridge is 120 metres long."


def serve_app(settings: ServiceSettings) -> Any:
    """Make the application in a process that does nothing else: with its log, and no longer than its parent."""
    log_to_stderr()
    with_parent()
    return make_app(settings)


def make_app(settings: ServiceSettings) -> Any:
    """Make the application, as ASGI. Nothing is opened before it starts; what can be wrong with settings is told here.

    Raises `ConfigError`.
    """
    tokens = AccessTokens.find(settings.tokens)
    metrics = Metrics() if settings.metrics else None
    options = share_of(settings.options, settings.workers)  # limits are for the service as a whole
    if metrics:
        options["observe"] = [*(options.get("observe") or ()), metrics]
    evaluator = Evaluator(**options)
    _ = evaluator.provenance, settings.folder  # whatever is wrong with them is said now
    observers = [metrics] if metrics else []
    app = FastAPI(
        title="everyclaim",
        version=__version__,
        summary="Which claims of a RAG answer are not supported by the sources?",
        docs_url=None,  # pages that load scripts from elsewhere
        redoc_url=None,
        lifespan=partial(_lifespan, settings=settings, evaluator=evaluator, observers=observers),
        exception_handlers=dict.fromkeys(
            (Problem, EveryclaimError, RequestValidationError, HTTPException, Exception), _refuse
        ),
        redirect_slashes=False,
    )
    app.include_router(router)
    if metrics:
        app.router.routes.append(Route("/metrics", partial(_rendered, metrics)))
    described_app = cache(lambda: described(FastAPI.openapi(app)))
    app.openapi = described_app  # type: ignore[method-assign]  # FastAPI's own way of putting more into it
    return RequestGate(
        app,
        tokens,
        rate=settings.per_minute,
        workers=settings.workers,
        has_to_ask=settings.asks or len(tokens) > 0,
        observers=observers,
    )


@asynccontextmanager
async def _lifespan(
    app: FastAPI, *, settings: ServiceSettings, evaluator: Evaluator, observers: Sequence[Observer]
) -> AsyncIterator[None]:
    """Open everything, answer requests, and close it in the order in which nothing is lost."""
    total = settings.concurrency or evaluator.concurrency
    queue = settings.share(settings.queue) if settings.queue else 0
    places, loop = settings.share(total), BackgroundLoop("everyclaim-work")
    work = Work(evaluator, loop, places, queue, settings.seconds, observers)
    store = await asyncio.to_thread(Store.open, settings.store)
    job_store = JobStore(settings.folder)
    jobs = Jobs(job_store, store, settings.store, work, max(1, places // 2))
    app.state.service = Service(work, jobs, store, settings)
    await asyncio.to_thread(job_store.clear)
    await _warm_up(work, settings)
    carrying_out = asyncio.create_task(jobs.carry_out_until_cancelled())
    try:
        yield
    finally:
        carrying_out.cancel()
        with suppress(asyncio.CancelledError):
            await carrying_out
        await work.close()
        await evaluator.aclose()
        await asyncio.to_thread(store.close)


async def _warm_up(work: Work, settings: ServiceSettings) -> None:
    """Load what scoring needs before the first request does; nobody is asked that costs, or is not ours."""
    components = [settings.options.get(name) for name in ("judge", "decomposer", "metric")]
    is_ours = not any(isinstance(component, str) and Spec.parse(component).name == "python" for component in components)
    if is_ours and not talks(*components):
        await work.loop.join(work.evaluator.aclaims(_TRIAL))
        await work.loop.join(work.evaluator.averify(_TRIAL, _TRIAL))


async def _rendered(metrics: Metrics, request: Request) -> Response:  # noqa: ARG001 - as routes are called
    return Response(await asyncio.to_thread(metrics.render), media_type=metrics.content_type)


async def _refuse(request: Request, error: Exception) -> Response:
    """Say in one way what is wrong, whoever found it: a route, the library, the framework, nobody."""
    context: RequestContext = request.state.context
    if isinstance(error, OperatorError):
        _logger.error("request failed: %s", error, extra={"request": context.id})
    return response_to(_problem(request, error), context)


def _problem(request: Request, error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, BudgetExceeded):
        return Problem("budget-spent", str(error))
    if isinstance(error, JudgeError):
        return Problem("judge-failed", str(error), retry_after=error.retry_after)
    if isinstance(error, UserError):
        return Problem("bad-input", re.sub(r" of [\w.]+\(\)", "", str(error)))  # not which function of ours says it
    if isinstance(error, OperatorError):  # its words are for whoever runs the service, and stand in the log
        return Problem("unavailable", "the service is unavailable; see its log", retry_after=5)
    if isinstance(error, RequestValidationError):
        found = error.errors()[0]
        return Problem("bad-input", f"{found['loc'][1]}: {found['msg']}, got {shown(found['input'])}")
    if not isinstance(error, HTTPException):
        return Problem("bug", "internal error; see the log of the service")
    if error.status_code == 404:
        return Problem("not-found", f"not found: {request.url.path[:100]!r}; see /openapi.json")
    if error.status_code == 405:  # the framework names the methods of one route, and an address may have several
        described = request.app.openapi()["paths"].get(path_template(request.url.path), {})
        methods = ", ".join(sorted(map(str.upper, described))) or (error.headers or {}).get("Allow", "GET")
        detail = f"{request.method[:20]} is not supported here: use {methods}"
        return Problem("wrong-method", detail, headers={"Allow": methods})
    return Problem("malformed", "the request is invalid")

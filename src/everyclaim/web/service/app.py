"""The service put together: one evaluator, one store, one store of jobs, and the routes over them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from everyclaim._version import __version__
from everyclaim.api.evaluator import Evaluator
from everyclaim.api.talking import talks
from everyclaim.core.errors import EveryclaimError, OperatorError
from everyclaim.core.events import Observer
from everyclaim.core.spec import Spec
from everyclaim.engine import BackgroundLoop
from everyclaim.monitor.prometheus import Metrics
from everyclaim.store import Store
from everyclaim.web.service import jobroutes, routes
from everyclaim.web.service.gate import Gate, RequestContext, say, template
from everyclaim.web.service.job_store import JobStore
from everyclaim.web.service.jobroutes import Batches
from everyclaim.web.service.jobs import Jobs
from everyclaim.web.service.openapi import described
from everyclaim.web.service.problems import Problem, problem_of
from everyclaim.web.service.routes import Single
from everyclaim.web.service.settings import ServiceSettings
from everyclaim.web.service.work import Admission, Work
from everyclaim.web.serving import log_to_stderr, with_parent
from everyclaim.web.tokens import Tokens

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
    tokens = Tokens.find(settings.tokens)
    metrics = Metrics() if settings.metrics else None
    options = settings.options_of_a_worker
    if metrics:
        options["observe"] = [*(options.get("observe") or ()), metrics]
    evaluator = Evaluator(**options)
    _ = evaluator.provenance, settings.folder  # whatever is wrong with them is said now
    service = _Service(settings, evaluator, metrics)
    app = FastAPI(
        title="everyclaim",
        version=__version__,
        summary="Which claims of a RAG answer do the sources not support?",
        docs_url=None,  # pages that load scripts from elsewhere
        redoc_url=None,
        lifespan=service.lifespan,
        exception_handlers=dict.fromkeys((Problem, EveryclaimError, HTTPException, Exception), _refuse),
        redirect_slashes=False,
    )
    app.openapi = lambda: _document(app)  # type: ignore[method-assign]  # FastAPI's own way of putting more into it
    return Gate(
        app,
        tokens,
        rate=settings.per_minute,
        workers=settings.workers,
        has_to_ask=settings.asks or len(tokens) > 0,
        observers=service.observers,
    )


@dataclass(slots=True)
class _Service:
    settings: ServiceSettings
    evaluator: Evaluator
    metrics: Metrics | None

    @property
    def observers(self) -> Sequence[Observer]:
        """Who is told of requests; of scoring the evaluator tells."""
        return [self.metrics] if self.metrics else []

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        """Open everything, answer requests, and close it in the order in which nothing is lost."""
        settings = self.settings
        total = settings.concurrency or self.evaluator.concurrency
        queue = settings.share(settings.queue) if settings.queue else 0
        admission = Admission(settings.share(total), queue, settings.seconds / 2, self.observers)
        loop = BackgroundLoop("everyclaim-work")
        work = Work(self.evaluator, loop, admission, settings.seconds)
        store = await asyncio.to_thread(Store.open, settings.store)
        job_store = JobStore(settings.folder)
        jobs = Jobs(job_store, store, settings.store, work, max(1, admission.places // 2))

        app.include_router(routes.routes(Single(work, settings), job_store, store))
        app.include_router(jobroutes.routes(Batches(jobs, settings)))
        if self.metrics:
            app.router.routes.append(Route("/metrics", partial(_rendered, self.metrics)))
        await asyncio.to_thread(job_store.clear)
        await self._warm_up(loop)
        carrying_out = asyncio.create_task(jobs.carry_out_until_cancelled())
        try:
            yield
        finally:
            carrying_out.cancel()
            with suppress(asyncio.CancelledError):
                await carrying_out
            await work.close()
            await self.evaluator.aclose()
            await asyncio.to_thread(store.close)

    async def _warm_up(self, loop: BackgroundLoop) -> None:
        """Load what scoring needs before the first request does; nobody is asked that costs, or is not ours."""
        options = self.settings.options
        components = [options.get(name) for name in ("judge", "decomposer", "metric")]
        is_ours = not any(isinstance(one, str) and Spec.parse(one).name == "python" for one in components)
        if is_ours and not talks(*components):
            await loop.join(self.evaluator.aclaims(_TRIAL))
            await loop.join(self.evaluator.averify(_TRIAL, _TRIAL))


async def _rendered(metrics: Metrics, request: Request) -> Response:  # noqa: ARG001 - as routes are called
    return Response(await asyncio.to_thread(metrics.render), media_type=metrics.content_type)


async def _refuse(request: Request, error: Exception) -> Response:
    """Say in one way what is wrong, whoever found it: a route, the library, the framework, nobody."""
    asked: RequestContext = request.state.asked
    if isinstance(error, OperatorError):
        _logger.error("request failed: %s", error, extra={"request": asked.id})
    return say(_problem(request, error), asked)


def _problem(request: Request, error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, EveryclaimError):
        return problem_of(error)
    if not isinstance(error, HTTPException):
        return Problem("bug", "a fault of the service; its log says more")
    if error.status_code == 404:
        return Problem("not-found", f"there is nothing at {request.url.path[:100]!r}; /openapi.json says what there is")
    if error.status_code == 405:
        methods = _methods(request, error)
        detail = f"{request.method[:20]} is not for this address: use {methods}"
        return Problem("wrong-method", detail, headers={"Allow": methods})
    return Problem("malformed", "the request cannot be read")


def _methods(request: Request, error: HTTPException) -> str:
    """Return the methods of an address: the framework names those of one route, and an address may have several."""
    described: dict[str, Any] = request.app.openapi()["paths"].get(template(request.url.path), {})
    return ", ".join(sorted(map(str.upper, described))) or (error.headers or {}).get("Allow", "GET")


def _document(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        app.openapi_schema = described(
            get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
        )
    return app.openapi_schema

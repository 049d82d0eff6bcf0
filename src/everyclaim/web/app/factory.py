"""The dashboard put together."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from everyclaim.api.evaluator import Evaluator
from everyclaim.core.errors import EveryclaimError, InputError, UserError
from everyclaim.web.app import assets
from everyclaim.web.app.auth import Access, Authenticator, Sessions, check_form
from everyclaim.web.app.pages import (
    answers,
    compare,
    desk,
    judge,
    labelling,
    login,
    run,
    runs,
    trend,
    tryout,
)
from everyclaim.web.app.site import NotReadyError, Site, render
from everyclaim.web.security import App, Shield

PAGES = (login, runs, run, answers, judge, trend, compare, tryout, labelling, desk)
ROUTERS = (assets.router, *(page.router for page in PAGES))


def create_app(
    store: str | os.PathLike[str], *, access: Access | None = None, evaluator: Evaluator | None = None
) -> App:
    """Return the dashboard over a store, as an ASGI application.

    `evaluator` judges what is pasted into "try it"; without one that page is not there. It is closed by whoever made
    it. The store need not be there yet. Everything is refused that does not come by the rules of `access`.
    """
    access = access or Access()
    sessions = Sessions()
    site = Site(os.fspath(store), access, sessions, evaluator)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        site.close()

    app = FastAPI(
        title="everyclaim",
        openapi_url=None,  # and with it the pages of documentation, whose scripts come from elsewhere
        lifespan=lifespan,
        dependencies=[Depends(check_form)],
        default_response_class=Response,
    )
    app.state.site = site
    for router in ROUTERS:
        app.include_router(router)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _incomplete)
    app.add_exception_handler(EveryclaimError, _failed)
    app.add_exception_handler(NotReadyError, _wait)
    app.add_exception_handler(Exception, _broken)
    return Shield(Authenticator(app, access, sessions), access.names)


_SAID = {404: "There is no such page.", 405: "That cannot be done with this page.", 422: "The address is incomplete."}


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = error.status_code
    return render(request, "fault.html", http_status=code, code=code, said=_SAID.get(code, error.detail))


async def _incomplete(request: Request, error: Exception) -> Response:  # noqa: ARG001 - what was sent is not repeated
    return render(request, "fault.html", http_status=404, code=404, said=_SAID[404])


async def _wait(request: Request, error: Exception) -> Response:  # noqa: ARG001 - it says nothing more
    """Let the browser ask again by itself, with or without scripts."""
    answer = render(request, "wait.html", http_status=202)
    answer.headers["refresh"] = "1"
    return answer


async def _failed(request: Request, error: Exception) -> Response:
    """Say what the library says: it names what is wrong and what to do, and never a secret."""
    code = 404 if isinstance(error, InputError) else 400 if isinstance(error, UserError) else 503
    return render(request, "fault.html", http_status=code, code=code, said=str(error))


async def _broken(request: Request, error: Exception) -> Response:
    return render(
        request, "fault.html", http_status=500, code=500, said=f"A bug in everyclaim, sorry: {type(error).__name__}."
    )

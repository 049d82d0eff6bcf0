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
from everyclaim.web.app.auth import Access, Authenticator, Sessions, check_form
from everyclaim.web.app.pages import answers, compare, desk, labelling, login, run, runs, trend, tryout
from everyclaim.web.app.site import NotReadyError, Site, render
from everyclaim.web.app.site import router as files
from everyclaim.web.security import App, Shield

PAGES = (login, runs, run, answers, trend, compare, tryout, labelling, desk)
ROUTERS = (files, *(page.router for page in PAGES))


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
        exception_handlers=dict.fromkeys(
            (HTTPException, RequestValidationError, EveryclaimError, NotReadyError, Exception), _refuse
        ),
    )
    app.state.site = site
    for router in ROUTERS:
        app.include_router(router)
    return Shield(Authenticator(app, access, sessions), access.names)


_SAID = {
    404: "This page does not exist.",
    405: "This page does not support that request.",
    422: "The address is incomplete.",
}


async def _refuse(request: Request, error: Exception) -> Response:
    """Say what is wrong. The library's errors name it and what to do, and no secret; what was sent is not repeated."""
    if isinstance(error, NotReadyError):  # the browser asks again by itself, with or without scripts
        answer = render(request, "wait.html", http_status=202)
        answer.headers["refresh"] = "1"
        return answer
    code, said = 500, f"Bug in everyclaim: {type(error).__name__}."
    if isinstance(error, RequestValidationError):
        code, said = 404, _SAID[404]
    elif isinstance(error, HTTPException):
        code, said = error.status_code, _SAID.get(error.status_code, error.detail)
    elif isinstance(error, EveryclaimError):
        code = 404 if isinstance(error, InputError) else 400 if isinstance(error, UserError) else 503
        said = str(error)
    return render(request, "fault.html", http_status=code, code=code, said=said)

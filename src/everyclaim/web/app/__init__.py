"""The dashboard: runs, answers, comparisons and judges of a store, in a browser.

`create_app` puts it together: `web.security.Shield` (names, headers, sizes, foreign pages) around `auth.Authenticator`
(who is asking) around the pages. A page reads through `site`, computes what takes long once, and is
written by a template; nothing here knows how a number comes about.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Form, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from everyclaim.api.evaluator import Evaluator
from everyclaim.core.errors import EveryclaimError, InputError, UserError
from everyclaim.web.app import answers, labelling, runs
from everyclaim.web.app.auth import (
    Access,
    Authenticator,
    Sessions,
    check_form,
    cookie_line,
    cookie_name,
    local_path,
    visitor_of,
)
from everyclaim.web.app.site import Site, render, site_of
from everyclaim.web.app.site import router as files
from everyclaim.web.security import App, Shield

__all__ = ["Access", "create_app"]
_WRONG = "This token cannot open the dashboard. A token starts with ecl_ and needs the scope “ui”."
_SAID = {
    404: "This page does not exist.",
    405: "This page does not support that request.",
    422: "The address is incomplete.",
}
_router = APIRouter()


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
        exception_handlers=dict.fromkeys((HTTPException, RequestValidationError, EveryclaimError, Exception), _refuse),
    )
    app.state.site = site
    for router in (files, _router, runs.router, answers.router, labelling.router):
        app.include_router(router)
    return Shield(Authenticator(app, access, sessions), access.names)


async def _refuse(request: Request, error: Exception) -> Response:
    """Say what is wrong. The library's errors name it and what to do, and no secret; what was sent is not repeated."""
    code, said = 500, f"Bug in everyclaim: {type(error).__name__}."
    if isinstance(error, RequestValidationError):
        code, said = 404, _SAID[404]
    elif isinstance(error, HTTPException):
        code, said = error.status_code, _SAID.get(error.status_code, error.detail)
    elif isinstance(error, EveryclaimError):
        code = 404 if isinstance(error, InputError) else 400 if isinstance(error, UserError) else 503
        said = str(error)
    return render(request, "fault.html", code, code=code, said=said)


@_router.get("/login")
def ask(request: Request, next: str = "/") -> Response:  # noqa: A002 - as it stands in the address
    """Show the form."""
    return _login_page(request, next, "", 200)


@_router.post("/login")
def enter(request: Request, token: Annotated[str, Form()] = "", next: Annotated[str, Form()] = "/") -> Response:  # noqa: A002
    """Let somebody in, under a new cookie. Nobody guesses a token, so that there may be any number of tries."""
    site = site_of(request)
    tokens = site.access.tokens
    found = tokens.holder(token.strip()) if tokens is not None else None
    if found is None or not found.may("ui"):
        return _login_page(request, next, _WRONG, 403)
    answer = RedirectResponse(local_path(next), 303)
    answer.headers["set-cookie"] = cookie_line(request.scope, site.sessions.begin(found))
    return answer


@_router.post("/logout")
def leave(request: Request) -> Response:
    """End a log-in, here and in the browser."""
    if visitor_of(request).has_session:
        site_of(request).sessions.end(request.cookies.get(cookie_name(request.scope), ""))
    answer = RedirectResponse("/login", 303)
    answer.headers["set-cookie"] = cookie_line(request.scope, "", over=True)
    return answer


def _login_page(request: Request, wanted: str, said: str, status: int) -> Response:
    return render(request, "login.html", status, wanted=local_path(wanted), said=said)

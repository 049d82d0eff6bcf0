"""Logging in with a token, and out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from everyclaim.web.app.auth import cookie_line, cookie_name, local_path, visitor_of
from everyclaim.web.app.site import render, site_of

router = APIRouter()
_WRONG = "This token cannot open the dashboard. A token starts with ecl_ and needs the scope “ui”."


@router.get("/login")
def ask(request: Request, next: str = "/") -> Response:  # noqa: A002 - as it stands in the address
    """Show the form."""
    return render(request, "login.html", wanted=local_path(next), said="")


@router.post("/login")
def enter(request: Request, token: Annotated[str, Form()] = "", next: Annotated[str, Form()] = "/") -> Response:  # noqa: A002
    """Let somebody in, under a new cookie; whoever tries too often has to wait."""
    site = site_of(request)
    address = request.client.host if request.client else ""
    wait = site.login_rates.take(address) or site.all_logins.take("")
    if wait:
        said = f"Too many attempts: wait {wait:.0f} seconds." if wait >= 1.5 else "Too many attempts: wait a second."
        refusal = render(request, "login.html", http_status=429, wanted=local_path(next), said=said)
        refusal.headers["retry-after"] = f"{max(1, round(wait))}"
        return refusal
    tokens = site.access.tokens
    found = tokens.holder(token.strip()) if tokens is not None else None
    if found is None or not found.may("ui"):
        return render(request, "login.html", http_status=403, wanted=local_path(next), said=_WRONG)
    answer = RedirectResponse(local_path(next), 303)
    answer.headers["set-cookie"] = cookie_line(request.scope, site.sessions.begin(found))
    return answer


@router.post("/logout")
def leave(request: Request) -> Response:
    """End a log-in, here and in the browser."""
    if visitor_of(request).has_session:
        site_of(request).sessions.end(request.cookies.get(cookie_name(request.scope), ""))
    answer = RedirectResponse("/login", 303)
    answer.headers["set-cookie"] = cookie_line(request.scope, "", over=True)
    return answer

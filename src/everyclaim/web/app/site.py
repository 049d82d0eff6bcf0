"""What all pages share: the store they read, what was computed before, and how a page is written."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request
from jinja2 import Environment, PackageLoader
from starlette.responses import HTMLResponse

from everyclaim._version import __version__
from everyclaim.api.evaluator import Evaluator
from everyclaim.core.types import Outcome
from everyclaim.report.html.environment import environment
from everyclaim.web.app.assets import VERSION
from everyclaim.web.app.entrance import Access, LoginRates, Sessions, visitor_of
from everyclaim.web.app.memo import Memo
from everyclaim.web.app.shelf import Shelf
from everyclaim.web.tokens import Rates


def file_name(place: str) -> str:
    """Return the name of a data set without its folders, which are nobody's business but this machine's."""
    return re.split(r"[/\\]", place.rstrip("/\\"))[-1]


def _templates() -> Environment:
    made = environment(PackageLoader("everyclaim.web.app"))
    made.filters.update(scored=lambda counts: counts[Outcome.SCORED], file=file_name)
    made.globals.update(library=__version__, static=VERSION)
    return made


@dataclass(slots=True)
class Site:
    """One dashboard."""

    location: str  # of the store; a URL may hold a password
    access: Access
    sessions: Sessions
    evaluator: Evaluator | None = None
    shelf: Shelf = field(init=False)
    pen: Shelf = field(init=False)  # what people say is kept through it
    memo: Memo = field(default_factory=Memo)
    login_rates: LoginRates = field(default_factory=LoginRates)
    try_rates: Rates = field(default_factory=lambda: Rates(30))
    templates: Environment = field(default_factory=_templates)

    def __post_init__(self) -> None:
        self.shelf = Shelf(self.location)
        self.pen = Shelf(self.location, writes=True)

    def close(self) -> None:
        """Let go of the store and of what is being computed."""
        self.memo.close()
        self.shelf.close()
        self.pen.close()


def site_of(request: Request) -> Site:
    """Return the dashboard that a request is for."""
    found: Site = request.app.state.site
    return found


def render(request: Request, template: str, **context: Any) -> HTMLResponse:
    """Write a page; `http_status` among what it is made of is the answer's."""
    http_status = context.pop("http_status", 200)
    site = site_of(request)
    page = site.templates.get_template(template).render(
        visitor=visitor_of(request),
        path=request.url.path,
        can_try=site.evaluator is not None,
        has_login=site.access.tokens is not None,
        **context,
    )
    return HTMLResponse(page, http_status)

"""What all pages share: files, the store, what was computed before, lists a page at a time, how a page is written."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from jinja2 import Environment, PackageLoader
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response

from everyclaim._version import __version__
from everyclaim.api.evaluator import Evaluator
from everyclaim.core.errors import NoStoreError
from everyclaim.core.types import Outcome
from everyclaim.report.html.environment import asset, environment
from everyclaim.store.records import RunRecord
from everyclaim.store.store import Store
from everyclaim.web.app.auth import Access, Sessions, visitor_of
from everyclaim.web.tokens import RateLimiter

T = TypeVar("T")

PATIENCE = 1.0  # seconds that a page waits before it says that it is still at it
_MOST = 400  # values kept
_AT_ONCE = 2


_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
_SHARED = ("theme.css", "report.css", "answer.js")  # with the report file
_OWN = ("site.css", "site.js", "desk.css", "desk.js", "reading.js", "htmx.min.js", "icon.svg")

router = APIRouter()


@cache
def _content(name: str) -> bytes:
    if name in _SHARED:
        return asset(name).encode()
    return files("everyclaim.web.app").joinpath("static", name).read_bytes()


VERSION = hashlib.sha256(b"".join(_content(name) for name in (*_SHARED, *_OWN))).hexdigest()[:12]


@router.get("/static/{version}/{name}")
def static(version: str, name: str) -> Response:
    """Hand out one of our files. Only names of the list are, so no path leads anywhere else."""
    if name not in (*_SHARED, *_OWN):
        raise HTTPException(404)
    kept = "public, max-age=31536000, immutable" if version == VERSION else "no-cache"
    return Response(_content(name), media_type=_TYPES[name.rpartition(".")[2]], headers={"cache-control": kept})


class NotReadyError(Exception):
    """What was asked for is being computed: ask again in a moment."""


class Memo:
    """Values by key, each made once whoever asks for it how often; the one not used for longest goes first.

    A key holds everything that the value depends on, such as a run and how many of its answers are kept.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._guard = Lock()
        self._workers = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="everyclaim-page")

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return a value, made now if need be. Raises `NotReadyError` when that takes longer than `PATIENCE`."""
        found = self._future(key, make)
        try:
            return found.result(PATIENCE)
        except NotYet:
            if found.done():
                raise
            raise NotReadyError from None

    def peek(self, key: Hashable, make: Callable[[], T]) -> T | None:
        """Return a value if it is there, else None; then it is on its way."""
        found = self._future(key, make)
        return found.result() if found.done() else None

    def close(self) -> None:
        """Begin nothing more; what is under way is not waited for."""
        self._workers.shutdown(wait=False, cancel_futures=True)

    def _future(self, key: Hashable, make: Callable[[], T]) -> Future[T]:
        with self._guard:
            found = self._kept.pop(key, None)
            if found is None or (found.done() and found.exception() is not None):  # a failure is tried again
                found = self._workers.submit(make)
            self._kept[key] = found
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
            return found


@dataclass(frozen=True, slots=True)
class Paging:
    """One page of a list of `total`, and the addresses of the others; a page that there is not becomes the nearest."""

    total: int
    asked: int
    size: int
    query: Mapping[str, str]

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return max(1, -(-self.total // self.size))

    @property
    def page(self) -> int:
        """The page shown, from 1."""
        return min(max(1, self.asked), self.pages)

    @property
    def first(self) -> int:
        """The number of the first one shown, from 0."""
        return (self.page - 1) * self.size

    @property
    def last(self) -> int:
        """The number of the last one shown, from 1."""
        return min(self.total, self.first + self.size)

    def address(self, page: int) -> str:
        """Return the query of another page."""
        return "?" + with_query(self.query, page=str(page) if page > 1 else "")


def with_query(query: Mapping[str, str], **changed: str) -> str:
    """Return a query with some of its fields changed; empty ones are left out."""
    return urlencode([(name, value) for name, value in (dict(query) | changed).items() if value], errors="replace")


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
    memo: Memo = field(default_factory=Memo)
    login_rates: RateLimiter = field(default_factory=lambda: RateLimiter(6))  # of one address
    all_logins: RateLimiter = field(default_factory=lambda: RateLimiter(240))
    try_rates: RateLimiter = field(default_factory=lambda: RateLimiter(30))
    templates: Environment = field(default_factory=_templates)
    _stores: dict[str, Store] = field(default_factory=dict)
    _guard: Lock = field(default_factory=Lock)

    @property
    def read_store(self) -> Store:
        """The store, only to read from. Raises `NoStoreError` as long as there is none."""
        return self._store("read", Store.open_to_read)

    @property
    def write_store(self) -> Store:
        """The store, for labels, names and deletions. None is made: raises `NoStoreError` where there is none."""
        _ = self.read_store
        return self._store("write", Store.open)

    def runs(self) -> list[RunRecord]:
        """Return all runs, the newest first; none as long as there is no store."""
        try:
            return self.read_store.runs()
        except NoStoreError:
            return []

    def close(self) -> None:
        """Close the store and let go of what is being computed."""
        self.memo.close()
        with self._guard:
            while self._stores:
                self._stores.popitem()[1].close()

    def _store(self, use: str, make: Callable[[str], Store]) -> Store:
        with self._guard:
            if use not in self._stores:
                self._stores[use] = make(self.location)
            return self._stores[use]


def site_of(request: Request) -> Site:
    """Return the dashboard that a request is for."""
    found: Site = request.app.state.site
    return found


def download(value: Any, name: str) -> Response:
    """Hand out JSON as a file."""
    return JSONResponse(value, headers={"content-disposition": f'attachment; filename="{name}"'})


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

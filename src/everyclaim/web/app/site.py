"""What all pages share: files, the store, what was computed before, a run as pages read it, how a page is written."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Hashable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, TypeVar
from urllib.parse import quote, urlencode

import numpy as np
from fastapi import APIRouter, Depends, Request
from jinja2 import Environment, PackageLoader
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response

from everyclaim._version import __version__
from everyclaim.analysis.slices import AUTO, AUTOMATIC, JOINT
from everyclaim.analysis.summary import Summary
from everyclaim.api.compare import figures_of
from everyclaim.api.evaluator import Evaluator
from everyclaim.api.runs import Run, Trust, trust_of
from everyclaim.core.errors import NoStoreError
from everyclaim.core.lifetime import Memory
from everyclaim.core.plaintext import file_name
from everyclaim.core.types import Label, Outcome
from everyclaim.report.html import asset, environment
from everyclaim.report.terminal import by_size
from everyclaim.stats.intervals import Estimate
from everyclaim.store import browsing
from everyclaim.store.browsing import AnswerFilter
from everyclaim.store.records import RunRecord
from everyclaim.store.store import Figures, Store
from everyclaim.text.marks import blanked
from everyclaim.web.app.auth import Access, Sessions, visitor_of

T = TypeVar("T")

PER_PAGE = 25
_ROOM = 160_000  # of values that were computed: each counts 400, whatever it is
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
_SHARED = ("theme.css", "report.css", "answer.js")  # with the report file
_OWN = ("site.css", "site.js", "desk.css", "desk.js", "reading.js", "htmx.min.js", "icon.svg")

router = APIRouter()


@cache
def _content(name: str) -> bytes:
    if name in _SHARED:
        return asset(name).encode()
    return files("everyclaim.web.app").joinpath("static", name).read_bytes()


VERSION = hashlib.sha256(b"".join(map(_content, (*_SHARED, *_OWN)))).hexdigest()[:12]


@router.get("/static/{version}/{name}")
def static(version: str, name: str) -> Response:
    """Hand out one of our files. Only names of the list are, so no path leads anywhere else."""
    if name not in (*_SHARED, *_OWN):
        raise HTTPException(404)
    kept = "public, max-age=31536000, immutable" if version == VERSION else "no-cache"
    return Response(_content(name), media_type=_TYPES[name.rpartition(".")[2]], headers={"cache-control": kept})


class Paging:
    """A page of a list of `total`: from `first` (counted from 0) to `last` (from 1); one beyond it is the nearest."""

    def __init__(self, total: int, asked: int, query: Mapping[str, str]) -> None:
        self.total, self._query = total, query
        self.pages = max(1, -(-total // PER_PAGE))
        self.page = min(max(1, asked), self.pages)
        self.first = (self.page - 1) * PER_PAGE
        self.last = min(total, self.first + PER_PAGE)

    def address(self, page: int) -> str:
        """Return the query of another page."""
        return "?" + _query(dict(self._query) | {"page": str(page) if page > 1 else ""})


def _query(fields: Mapping[str, str]) -> str:
    return urlencode([(name, value) for name, value in fields.items() if value], errors="replace")


def _templates() -> Environment:
    made = environment(PackageLoader("everyclaim.web.app"))
    made.filters.update(scored=lambda counts: counts[Outcome.SCORED], file=file_name, unmarked=blanked, by_size=by_size)
    made.globals.update(library=__version__, static=VERSION)
    return made


@dataclass(slots=True)
class Site:
    """One dashboard."""

    location: str  # of the store; a URL may hold a password
    access: Access
    sessions: Sessions
    evaluator: Evaluator | None = None
    memory: Memory = field(default_factory=lambda: Memory(_ROOM))
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

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return a value by its key, made now where it is not there any more."""
        if (found := self.memory.get(key)) is None:
            found = (make(),)
            self.memory.put(key, found[0], 0)
        made: T = found[0]
        return made

    def close(self) -> None:
        """Close the store."""
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


def download_file(name: str, media_type: str, write: Callable[[Path], object]) -> Response:
    """Hand out what is written into a file; it goes with the answer, or with whoever has gone."""
    folder = tempfile.TemporaryDirectory(prefix="everyclaim-")
    path = Path(folder.name, name)
    write(path)
    return FileResponse(path, media_type=media_type, filename=name, background=BackgroundTask(folder.cleanup))


def render(request: Request, template: str, http_status: int = 200, /, **context: Any) -> HTMLResponse:
    """Write a page."""
    site = site_of(request)
    page = site.templates.get_template(template).render(
        visitor=visitor_of(request),
        path=request.url.path,
        can_try=site.evaluator is not None,
        has_login=site.access.tokens is not None,
        **context,
    )
    return HTMLResponse(page, http_status)


# ---- a run, and which of its answers a page is about


class Filter(AnswerFilter):
    """What an address asks for."""

    @property
    def query(self) -> dict[str, str]:
        """The fields, for other addresses."""
        return {name: "1" if value is True else value for name, value in asdict(self).items() if value}

    @property
    def address(self) -> str:
        """The query of an address with this filter, with its question mark; empty where anything is wanted."""
        written = _query(self.query)
        return f"?{written}" if written else ""

    @property
    def is_empty(self) -> bool:
        """Whether anything is wanted; the order filters nothing."""
        return not self.query.keys() - {"order"}


def slice_field(tag: str, value: str) -> str:
    """Write a slice as it stands in an address."""
    return f"{quote(tag, safe='', errors='replace')}={quote(value, safe='', errors='replace')}"


def slice_address(tag: str, value: str) -> str:
    """Return the field of an address that asks for a slice; empty for a cut of several, which no address names."""
    return "" if JOINT in tag else slice_field(tag, value)


@dataclass(frozen=True, slots=True)
class RunView:
    """One run, looked at by one request."""

    site: Site
    record: RunRecord

    @property
    def run(self) -> Run:
        """The run for Python users."""
        return Run(self.record.id, self.site.location, tuple(self.record.config.get("slices", ())))

    @property
    def is_live(self) -> bool:
        """Whether somebody is scoring it now."""
        return self.record.status == "running"

    @property
    def stamp(self) -> tuple[object, ...]:
        """What changes with anything that is made of it."""
        return self.record.id, self.record.name, self.record.finished, self.record.kept

    def once(self, what: str, make: Callable[[], T], *more: str) -> T:
        """Return what is made of the run as it stands."""
        return self.site.once((what, *self.stamp, *more), make)

    @property
    def summary(self) -> Summary:
        """What the run adds up to."""
        return self.once("summary", lambda: self.run.summary)

    @property
    def score(self) -> Estimate:
        """Its mean score."""
        return self.once("score", lambda: self.run.score)

    @property
    def label_counts(self) -> dict[Label, int]:
        """How many claims of scored answers have each label."""
        return self.once("labels", lambda: browsing.label_counts(self.site.read_store, self.record.id))

    @property
    def asked(self) -> frozenset[tuple[str, str]]:
        """The ids of its first samples, each with its question."""
        return self.once("asked", lambda: browsing.asked(self.site.read_store, self.record.id))

    @property
    def figures(self) -> Figures:
        """The numbers of its answers and claims, with every automatic slice."""
        return self.once("figures", lambda: figures_of(self.run, [AUTO]))

    @property
    def trust(self) -> Trust:
        """What is known of its judge's error, by the labels there are now."""
        return self.once("trust", lambda: trust_of(self.run), browsing.labels_stamp(self.site.read_store))

    @property
    def tags(self) -> dict[str, list[str]]:
        """The tags of its answers, with their values."""
        return self.once("tags", lambda: browsing.tag_values_of(self.site.read_store, self.record.id))

    def places(self, wanted: AnswerFilter, most: int | None = None) -> list[int]:
        """Return the places of answers wanted; automatic slices, which the database does not know, too."""
        store, run = self.site.read_store, self.record.id
        if wanted.tag not in AUTOMATIC:
            return browsing.positions(store, run, wanted, most)
        figures = self.figures
        values = figures.tags.get(wanted.tag, {})
        nowhere = np.array([], dtype=np.int32)
        if wanted.value:
            inside = values.get(wanted.value, nowhere)
        else:
            inside = np.setdiff1d(np.arange(len(figures.ids)), np.concatenate([nowhere, *values.values()]))
        among = set(figures.positions[inside].tolist())
        return [place for place in browsing.positions(store, run, replace(wanted, slice="")) if place in among]


def view_run(request: Request, name: str) -> RunView:
    """Find a run by its id or name. Raises `InputError` when there is none."""
    site = site_of(request)
    return RunView(site, site.read_store.run(name))


AskedRun = Annotated[RunView, Depends(view_run)]  # of an address with a run's `name`
Asked = Annotated[Filter, Depends()]

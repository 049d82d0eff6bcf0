"""The first page: all runs, searched, with their scores and labels; those under way with how far they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from everyclaim.api.runs import Run
from everyclaim.core.errors import NoStoreError
from everyclaim.core.types import Label, Outcome
from everyclaim.stats.intervals import Estimate
from everyclaim.store import browsing
from everyclaim.store.records import RunRecord
from everyclaim.web.app.site import Paging, Site, file_name, render, site_of

router = APIRouter()
PER_PAGE = 25
_STATES = ("running", "interrupted", "finished", "stopped", "failed")


@dataclass(frozen=True, slots=True)
class Digest:
    """What a run comes to, in a line."""

    score: Estimate
    labels: Mapping[Label, int]


@dataclass(frozen=True, slots=True)
class Row:
    """A run in the list; `digest` is None while it is being added up."""

    record: RunRecord
    digest: Digest | None

    @property
    def percent_done(self) -> int | None:
        """How far it is, where the number of its samples is known."""
        return round(100 * self.record.kept / self.record.total) if self.record.total else None

    @property
    def scored(self) -> int:
        """How many of its answers the mean score is taken over."""
        return self.record.counts[Outcome.SCORED]

    @property
    def failed(self) -> int:
        """How many of its answers have no verdict."""
        return self.record.counts[Outcome.FAILED]


@router.get("/")
def runs(request: Request, q: str = "", status: str = "", tag: str = "", page: int = 1) -> Response:
    """List the runs, newest first."""
    return render(request, "runs.html", **_listing(site_of(request), q, status, tag, page))


@router.get("/fragments/runs")
def listing(request: Request, q: str = "", status: str = "", tag: str = "", page: int = 1) -> Response:
    """Return the list alone, for the page that looks again while something is under way."""
    return render(request, "runs_list.html", **_listing(site_of(request), q, status, tag, page))


def _listing(site: Site, q: str, status: str, tag: str, page: int) -> dict[str, Any]:
    try:
        everything: Sequence[RunRecord] = site.read_store.runs()
    except NoStoreError as error:
        everything, missing = (), str(error)
    else:
        missing = ""
    wanted = [record for record in everything if matches(record, q, status, tag)]
    paging = Paging(len(wanted), page, PER_PAGE, {"q": q, "status": status, "tag": tag})
    rows = [Row(record, _digest(site, record)) for record in wanted[paging.first : paging.first + PER_PAGE]]
    return {
        "rows": rows,
        "paging": paging,
        "all_runs": len(everything),
        "missing": missing,
        "q": q,
        "status": status,
        "states": [state for state in _STATES if any(record.status == state for record in everything)],
        "tag": tag,
        "tags": sorted({tag for record in everything for tag in tags_of(record)}),
        "is_live": any(row.digest is None or row.record.status == "running" for row in rows),
    }


def tags_of(record: RunRecord) -> tuple[str, ...]:
    """Return what runs are sorted by: the release that was given for a run, and its data set."""
    named = (str(record.config.get("release") or ""), file_name(record.dataset))
    return tuple(text for text in named if text)


def matches(record: RunRecord, q: str, status: str = "", tag: str = "") -> bool:
    """Whether a run holds all the words that are searched for, and is as wanted."""
    made = record.provenance
    texts = (record.id, record.name, made.metric, made.verifier, *tags_of(record))
    found = all(any(word in text.casefold() for text in texts) for word in q.casefold().split())
    return found and status in {"", record.status} and (not tag or tag in tags_of(record))


def _digest(site: Site, record: RunRecord) -> Digest | None:
    run = Run(record.id, site.location)
    key = ("digest", record.id, record.finished, record.kept)
    return site.memo.peek(key, lambda: Digest(run.score, browsing.label_counts(site.read_store, record.id)))

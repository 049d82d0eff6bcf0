"""Two runs: what changed, how sure that is, and which answers moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from everyclaim.analysis.comparison import Comparison, provenance_differences
from everyclaim.analysis.deltas import FEWEST
from everyclaim.analysis.slices import AUTO
from everyclaim.api.compare import compare
from everyclaim.core.errors import InputError
from everyclaim.core.types import Outcome
from everyclaim.report.html.answers import answer_view
from everyclaim.report.html.comparison import numbers_view
from everyclaim.store import browsing
from everyclaim.store.records import RunRecord
from everyclaim.web.app.pages.answers import CONTEXT, kept_at
from everyclaim.web.app.run_view import RunView, view_run
from everyclaim.web.app.site import download, render, site_of

router = APIRouter()
_LISTED = 200  # runs to choose from


@router.get("/compare")
def page(request: Request, before: str = "", after: str = "", by: Annotated[Sequence[str], Query()] = ()) -> Response:
    """Show a comparison, or what to compare."""
    site = site_of(request)
    records = [record for record in site.runs() if record.kept]
    shown = {"records": records[:_LISTED], "before": before, "after": after, "by": list(by), "found": None, "tags": []}
    if not (before and after):
        pair = _comparable(records)
        return render(request, "compare.html", **shown | {"before": before or pair[0], "after": after or pair[1]})
    sides = view_run(site, before), view_run(site, after)
    _check(sides)
    tags = _tags(sides)
    chosen = tuple(tag for tag in tags if tag in by)
    found = compared(sides, chosen)
    shown |= {"before": sides[0].record.id, "after": sides[1].record.id, "by": list(chosen), "tags": tags}
    return render(request, "compare.html", **shown | {"found": found, "sides": sides} | numbers_view(found))


@router.get("/compare.json")
def as_json(request: Request, before: str, after: str, by: Annotated[Sequence[str], Query()] = ()) -> Response:
    """Return a comparison in the public schema."""
    site = site_of(request)
    sides = view_run(site, before), view_run(site, after)
    _check(sides)
    name = f"compare-{sides[0].record.id}-{sides[1].record.id}.json"
    return download(compared(sides, tuple(tag for tag in _tags(sides) if tag in by)).to_json(), name)


@router.get("/compare/answer")
def answer(request: Request, before: str, after: str, first: int, second: int) -> Response:
    """Show an answer of each run beside the other."""
    site = site_of(request)
    sides = view_run(site, before), view_run(site, after)
    views = [
        answer_view(kept_at(side, place), context=CONTEXT, key=key)
        for side, place, key in zip(sides, (first, second), ("before", "after"), strict=True)
    ]
    return render(request, "compare_answer.html", sides=sides, views=views)


def compared(sides: tuple[RunView, RunView], by: tuple[str, ...]) -> Comparison:
    """Compare two runs as they stand, and keep it. What judged them differently is told on the page."""
    site = sides[0].site
    stamps = [(side.record.id, side.record.name, side.record.finished, side.record.kept) for side in sides]
    return site.memo.get(
        ("compare", *stamps, by, browsing.labels_stamp(site.read_store)),
        lambda: compare(sides[0].run, sides[1].run, by=by, anyway=True, store=site.location),
    )


def _comparable(records: Sequence[RunRecord]) -> tuple[str, str]:
    """Return the newest run that an older one was judged like, behind that one; nothing where there are no such two.

    Runs with too few answers to test a difference are taken where there are no others.
    """
    large = [record for record in records if record.counts[Outcome.SCORED] >= FEWEST]
    for among in (large, records):
        for before, after in ((one, other) for n, other in enumerate(among) for one in among[n + 1 :]):
            if not provenance_differences(before.provenance, after.provenance):
                return before.id, after.id
    return "", ""


def _tags(sides: tuple[RunView, RunView]) -> list[str]:
    """Return what two runs can be compared by."""
    return [*sorted(set(sides[0].tags) & set(sides[1].tags)), AUTO]


def _check(sides: tuple[RunView, RunView]) -> None:
    if sides[0].record.id == sides[1].record.id:
        raise InputError("both are the same run: choose two different ones")

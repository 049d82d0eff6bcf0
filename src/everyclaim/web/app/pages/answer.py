"""An answer: its claims in place, and what each found in the passages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from everyclaim.core.errors import InputError
from everyclaim.core.protocols import Kept
from everyclaim.report.html.answers import answer_view
from everyclaim.web.app.filtering import Filter, asked
from everyclaim.web.app.looking import Looking, look_at
from everyclaim.web.app.site import render, site_of

router = APIRouter()
CONTEXT = 4_000  # characters around a mark in a long passage
_FARTHEST = 2**62


@router.get("/runs/{name}/answers/{position}")
def answer(
    request: Request, name: str, position: int, asks: Annotated[Filter, Depends(asked)], whole: str = ""
) -> Response:
    """Show an answer, and the way to the ones beside it among those that the filter asks for."""
    looking = look_at(site_of(request), name)
    kept = kept_at(looking, position)
    beside = looking.beside(asks.wanted, position)
    return render(
        request,
        "answer.html",
        looking=looking,
        filter=asks,
        beside=beside,
        view=answer_view(kept, context=None if whole else CONTEXT),
        fingerprint=kept.fingerprint,
        is_whole=bool(whole),
    )


def kept_at(looking: Looking, position: int) -> Kept:
    """Return the answer at a place. Raises `InputError` when there is none."""
    found = looking.site.shelf.store.records_at(looking.record.id, [position] if 0 <= position < _FARTHEST else [])
    kept = next(iter(found), None)
    if kept is None:
        raise InputError(f"run {looking.record.id} has no answer at place {position}")
    return kept

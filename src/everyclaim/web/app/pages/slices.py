"""Slices by failure modes: where a run fails, and how."""

from __future__ import annotations

from math import ceil

from fastapi import APIRouter, Request
from starlette.responses import Response

from everyclaim.analysis.matrix import Matrix, matrix_of
from everyclaim.analysis.slices import AUTOMATIC
from everyclaim.web.app.looking import look_at, slice_address
from everyclaim.web.app.site import render, site_of

router = APIRouter()
_SHADES = 5
_ROWS = 200


@router.get("/runs/{name}/slices")
def slices(request: Request, name: str, tag: str = "") -> Response:
    """Show a tag's values by the failure modes of their claims."""
    looking = look_at(site_of(request), name)
    figures = looking.figures
    tags = sorted(figures.tags, key=lambda one: (one not in looking.run.slices, one in AUTOMATIC, one))
    chosen = tag if tag in figures.tags else next(iter(tags), "")
    matrix = looking.once("matrix", lambda: matrix_of(figures, chosen), chosen)
    return render(
        request,
        "slices.html",
        looking=looking,
        tags=tags,
        chosen=chosen,
        matrix=matrix,
        rows=matrix.rows[:_ROWS],
        shade=lambda share: _shade(matrix, share),
        slice_address=slice_address,
    )


def _shade(matrix: Matrix, share: float | None) -> int:
    """Return how dark a cell is, from 0 to 5: its share of the highest there is."""
    return min(_SHADES, ceil(_SHADES * share / matrix.highest)) if share and matrix.highest else 0

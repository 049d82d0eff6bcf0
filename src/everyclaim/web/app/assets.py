"""The files that pages are made with: styles and scripts, read once, under names that change with what is in them."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from everyclaim.report.html.environment import asset

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

"""What a page shows, to take along: results as JSONL, CSV or Parquet."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from everyclaim.io import write_results
from everyclaim.web.app.filtering import Filter, asked
from everyclaim.web.app.looking import look_at
from everyclaim.web.app.pages.answer import kept_at
from everyclaim.web.app.site import site_of

router = APIRouter()
_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


@router.get("/runs/{name}/export.{kind}")
def export(
    request: Request,
    name: str,
    kind: Literal["jsonl", "csv", "parquet"],
    asks: Annotated[Filter, Depends(asked)],
    position: int | None = None,
) -> Response:
    """Hand out the results that a filter asks for, in the public schema; a table has one row per claim.

    Text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    looking = look_at(site_of(request), name)
    store, run = looking.site.shelf.store, looking.record.id
    if position is not None:
        places, part = [kept_at(looking, position).position], f"-{position}"
    elif asks.is_empty:
        places, part = None, ""
    else:
        places, part = looking.places(asks.wanted), "-part"
    records = store.records(run) if places is None else store.records_at(run, places)
    handle, path = tempfile.mkstemp(suffix=f".{kind}", prefix="everyclaim-")
    os.close(handle)
    try:
        write_results((record.result for record in records), path)
        stream = Path(path).open("rb")  # noqa: SIM115 - closed by the response
    finally:
        with suppress(PermissionError):  # where an open file cannot be removed
            Path(path).unlink()  # at once, so that nothing stays behind when whoever asked has gone
    headers = {
        "content-disposition": f'attachment; filename="everyclaim-{run}{part}.{kind}"',
        "content-length": str(os.fstat(stream.fileno()).st_size),
    }
    return _Closing(stream, media_type=_TYPES[kind], headers=headers)


class _Closing(StreamingResponse):
    """Hands out an open file, and closes it also when whoever asked has gone."""

    def __init__(self, stream: BinaryIO, *, media_type: str, headers: Mapping[str, str]) -> None:
        super().__init__(iter(lambda: stream.read(2**18), b""), media_type=media_type, headers=headers)
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        with self._stream:
            await super().__call__(scope, receive, send)

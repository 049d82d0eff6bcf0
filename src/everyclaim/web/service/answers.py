"""What is sent back: JSON that any reader takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

NDJSON = "application/x-ndjson"


def line(value: Any) -> bytes:
    """Return a value as JSON on one line. Half characters of a text are written as escapes, which UTF-8 has not."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


def json_answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer."""
    return Response(line(value), status, headers, media_type="application/json")

"""The description of the API, by which clients are made and tests are run."""

from __future__ import annotations

from typing import Any

from everyclaim.web.service.problems import MEDIA_TYPE, PROBLEMS
from everyclaim.web.service.requests import NDJSON
from everyclaim.web.service.schemas import ProblemOut, request_schema

_READING = (400, 408, 413, 415, 422)
_EVERYWHERE = (401, 403, 421, 422, 429, 500, 503)
_OF: dict[str, tuple[int, ...]] = {
    "score": (*_READING, 504),
    "verify": (*_READING, 502, 504),
    "claims": (*_READING, 502, 504),
    "guard": (*_READING, 502, 504),
    "submit": (*_READING, 404),
    "show_job": (404,),
    "cancel": (404,),
    "results": (404, 409),
}
_PLAIN = {"type": "string", "maxLength": 200, "pattern": r"^[^\x00-\x1f\x7f]*$"}
_HEADERS = {"Retry-After": {"description": "Seconds after which to come again", "schema": {"type": "integer"}}}


def documented(name: str, *, parameters: list[dict[str, Any]] | None = None, **extra: Any) -> dict[str, Any]:
    """Return what a route says of itself beside its answer: its name, its parameters, the problems it may have."""
    about = dict(extra)
    if parameters:
        about["parameters"] = parameters
    codes = sorted({*_EVERYWHERE, *_OF.get(name, ())})
    return {
        "operation_id": name,
        "openapi_extra": about,
        "responses": {code: _problem(code) for code in codes},
    }


def parameter(name: str, told: str, schema: dict[str, Any], *, place: str = "query") -> dict[str, Any]:
    """Describe a parameter that may be left out."""
    return {"name": name, "in": place, "required": False, "description": told, "schema": schema}


def takes(kind: str) -> dict[str, Any]:
    """Describe the body of a request for a single answer."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": request_schema(kind)}}}}


def takes_data() -> dict[str, Any]:
    """Describe the body and the parameters of a job."""
    row = request_schema("score") | {"additionalProperties": True}
    text = {"schema": {"type": "string"}}
    return {
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"type": "array", "items": row, "minItems": 1}},
                NDJSON: text,
                "text/csv": text,
                "text/tab-separated-values": text,
            },
        },
        "parameters": [
            parameter("name", "What you call the run", _PLAIN),
            parameter("release", "Of rows that do not name one", _PLAIN),
            parameter("slice", "A field by whose values the run is broken down", _many(r"^[^\x00-\x1f\x7f]+$")),
            parameter("map", "Their field = our field", _many(r"^[^=\x00-\x1f\x7f]+=[^\x00-\x1f\x7f]+$")),
            parameter(
                "Idempotency-Key",
                "The same key with the same request is the same job, for seven days",
                {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
                place="header",
            ),
        ],
    }


def _many(pattern: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string", "pattern": pattern}}


def described(document: dict[str, Any]) -> dict[str, Any]:
    """Put into a description what all routes share."""
    parts = document.setdefault("components", {})
    parts.setdefault("schemas", {})["Problem"] = ProblemOut.model_json_schema()
    parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for path, methods in document["paths"].items():
        for operation in methods.values():
            operation["security"] = [{"token": []}, {}] if path.startswith("/v1/") else [{}]
    return document


def _problem(code: int) -> dict[str, Any]:
    titles = [title for status, title in PROBLEMS.values() if status == code]
    return {
        "description": " · ".join(titles),
        "headers": _HEADERS if code in {429, 503, 504} else {},
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }

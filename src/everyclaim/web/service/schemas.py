"""The shapes of what goes over the wire, for OpenAPI.

What comes in is read by the readers of files, and what goes out is written by `core.wire`. So the models of answers are
made of the types that are written, and requests have the fields of files; the tests hold every answer against them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from inspect import getdoc
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from everyclaim.api.options import Share
from everyclaim.core import types
from everyclaim.core.types import Label
from everyclaim.core.wire import SHAPES
from everyclaim.guard.answers import Attempt, GuardedAnswer, Removed
from everyclaim.io.fields import CLAIM_FIELDS, SAMPLE_FIELDS
from everyclaim.web.client import GuardRules, JobStatus
from everyclaim.web.service.gate import MEDIA_TYPE, PROBLEMS

NDJSON = "application/x-ndjson"


class Out(BaseModel):
    """Something that is answered; nothing else is in it."""

    model_config = ConfigDict(extra="forbid")


_WRITTEN: dict[Any, Any] = {types.Span: tuple[int, int]}


def _model(kind: type, *, name: str = "", **more: Any) -> type[BaseModel]:
    hints = get_type_hints(kind)
    shape = SHAPES.get(kind) or [(part.name, False) for part in fields(kind)]
    parts: dict[str, Any] = {
        part: (_shape(hints[part]) | None, None) if is_optional else (_shape(hints[part]), ...)
        for part, is_optional in shape
        if part not in more
    }
    about = (getdoc(kind) or "").partition("\n\n")[0]
    model: type[BaseModel] = create_model(name or f"{kind.__name__}Out", __base__=Out, __doc__=about, **parts, **more)
    _WRITTEN[kind] = model
    return model


def _shape(hint: Any) -> Any:
    """Return how a value of this type is written."""
    if hint in _WRITTEN:
        return _WRITTEN[hint]
    if hint in SHAPES:
        return _model(hint)
    origin, parts = get_origin(hint), tuple(map(_shape, get_args(hint)))
    if origin is tuple:
        return list[parts[0]]  # type: ignore[valid-type]
    if origin is Mapping:
        return dict[parts]  # type: ignore[valid-type,misc]
    return Union[parts] if origin in {Union, UnionType} else hint  # noqa: UP007 - of parts that are known now


def _out(name: str, about: str, **parts: Any) -> Any:
    """Return the model of an answer; a part is a type, or a type with its default."""
    fields_: dict[str, Any] = {key: part if isinstance(part, tuple) else (part, ...) for key, part in parts.items()}
    return create_model(name, __base__=Out, __doc__=about, **fields_)


_SCHEMA = (int, Field(alias="schema"))
JudgedClaimOut: Any = _model(types.JudgedClaim)
_model(types.Usage)
ProvenanceOut = _model(types.Provenance)
CountsOut = _out("CountsOut", "Number of claims by label.", **{label.value.lower(): int for label in Label})
ResultOut: Any = _model(types.Result, schema_=_SCHEMA, counts=(CountsOut, ...))
DecompositionOut = _model(types.Decomposition)
_model(Removed)
_model(Attempt)
GuardedOut = _model(
    GuardedAnswer,
    name="GuardedOut",
    best=(int, Field(description="Number of the attempt whose text it is, unless it is blocked")),
    annotated=(str, ...),
    score=(float | None, ...),
    noted=(list[Label], ...),
)
JobOut: Any = _model(JobStatus, name="JobOut")
VerdictsOut = _out("VerdictsOut", "Given claims, judged, in their order.", claims=list[JudgedClaimOut])
JobsOut = _out("JobsOut", "Jobs, newest first.", jobs=list[JobOut])
PageOut = _out(
    "PageOut",
    "Results in the order of the rows. `next`: what to give as `after` for more; null when there are no more.",
    results=list[ResultOut],
    next=int | None,
)
HealthOut = _out("HealthOut", "The process answers.", status=Literal["ok"])
_LOAD = dict.fromkeys(("working", "waiting", "places", "queue", "jobs_waiting"), int)
ReadyOut = _out("ReadyOut", "The service takes requests, and what it has to do.", status=Literal["ready"], **_LOAD)
VersionOut = _out("VersionOut", "What answers here.", version=str, schema_=_SCHEMA, provenance=ProvenanceOut)
ProblemOut = _out(
    "ProblemOut",
    "Problem details (RFC 9457). `code` stays; `detail` is for people.",
    type=str,
    title=str,
    status=int,
    detail=str,
    code=str,
    instance=(str | None, None),
)


# ---- requests


def _list_of(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_TEXT = {"type": "string"}
_OPTIONAL = {"type": ["string", "null"]}
_CLAIM = {"type": "string", "pattern": r"\S"}
_SCALAR = {"type": ["string", "number", "boolean", "null"]}
_OBJECTS = {"type": ["array", "null"], "items": {"type": "object"}}
_ROLE = {"enum": ["system", "user", "assistant", "tool"]}
_MESSAGE = {"type": "object", "required": ["role", "content"], "properties": {"role": _ROLE, "content": _TEXT}}
_ANSWER = {"properties": {"role": {"const": "assistant"}, "content": {"type": "string", "pattern": "[A-Za-z]"}}}
_CONVERSATION = {"type": "array", "items": _MESSAGE, "contains": _ANSWER}  # providers' other shapes are read as well
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_PARTS = {"text": _TEXT, **dict.fromkeys(("id", "title", "kind"), _SCALAR)}
_PASSAGE = {"type": "object", "properties": _PARTS, "required": ["text"], "additionalProperties": False}
_PLAIN: dict[Any, dict[str, Any]] = {Share: _SHARE, str: _TEXT}
RULES: dict[str, dict[str, Any]] = {
    name: {"enum": list(get_args(hint))} if get_origin(hint) is Literal else _PLAIN[hint]
    for name, hint in get_type_hints(GuardRules, include_extras=True).items()
}
_SHAPES: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("id", "model", "release", "timestamp"), _SCALAR),
    **dict.fromkeys(("question", "reference"), _OPTIONAL),
    **dict.fromkeys(("messages", "history", "citations"), _OBJECTS),
    "response": _TEXT,
    "contexts": {"anyOf": [_TEXT, _list_of({"anyOf": [_TEXT, _PASSAGE]}), {"type": "null"}]},
    "tags": {"type": ["object", "null"], "additionalProperties": {"anyOf": [_SCALAR, _list_of(_SCALAR)]}},
    "claims": {"anyOf": [_CLAIM, _list_of(_CLAIM)]},
    "rules": {"type": ["object", "null"], "additionalProperties": False, "properties": RULES},
}
REQUESTS = {
    "score": (*SAMPLE_FIELDS,),
    "verify": ("claims", "contexts", "question"),
    "claims": ("response", "question"),
    "guard": ("response", "contexts", "question", "rules"),
}
NAMES = {**SAMPLE_FIELDS, "claims": ("claims", *CLAIM_FIELDS["claim"]), "rules": ("rules",)}


def _request_schema(kind: str) -> dict[str, Any]:
    """Return the JSON schema of a request; by which other names a field is known, its description says."""
    properties: dict[str, Any] = {}
    for ours in REQUESTS[kind]:
        others = ", ".join(f"`{name}`" for name in NAMES[ours] if name != ours)
        properties[ours] = _SHAPES[ours] | ({"description": f"Also known as {others}"} if others else {})
    needed = REQUESTS[kind][0]
    required: dict[str, Any] = {"required": [needed]}
    if "messages" in properties:
        plain = required | {"properties": {"messages": {"type": "null"}}}
        required = {"anyOf": [plain, {"required": ["messages"], "properties": {"messages": _CONVERSATION}}]}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


def _bodies(name: str) -> dict[str, Any]:
    if name != "submit":
        return {"application/json": {"schema": _request_schema(name)}}
    rows = {"type": "array", "items": _request_schema("score") | {"additionalProperties": True}, "minItems": 1}
    lines = {kind: {"schema": _TEXT} for kind in (NDJSON, "text/csv", "text/tab-separated-values")}
    return {"application/json": {"schema": rows}, **lines}


# ---- routes

_READING = (400, 408, 413, 415, 422)
_EVERYWHERE = (401, 403, 421, 422, 429, 500, 503)
_CODES: dict[str, tuple[int, ...]] = {
    "score": (*_READING, 504),
    **dict.fromkeys(("verify", "claims", "guard"), (*_READING, 502, 504)),
    "submit": (*_READING, 404),
    **dict.fromkeys(("show_job", "cancel"), (404,)),
    "results": (404, 409),
}
_HEADERS = {"Retry-After": {"description": "Seconds after which to retry", "schema": {"type": "integer"}}}


def documented(name: str) -> dict[str, Any]:
    """Return what a route says of itself beside its answer: its name, its body, the problems it may have."""
    body = {"requestBody": {"required": True, "content": _bodies(name)}} if name in {*REQUESTS, "submit"} else {}
    codes = sorted({*_EVERYWHERE, *_CODES.get(name, ())})
    return {"operation_id": name, "openapi_extra": body, "responses": {code: _problem(code) for code in codes}}


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

"""What a request asks for: read within its size and time, taken for JSON only where it is that beyond doubt.

A body is read as a row of a file is, but that a name which means nothing is an error. Answers are JSON that any reader
takes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NoReturn

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from everyclaim.core.nearest import did_you_mean
from everyclaim.io.fields import Fields, shown
from everyclaim.io.jsonlines import DECODER, json_fault, type_name
from everyclaim.web.service.problems import Problem
from everyclaim.web.service.schemas import NAMES, REQUESTS

MB = 1_000_000
_DEEPEST = 32  # levels of objects and lists in a request
CLOSE = {"Connection": "close"}  # the rest of a body that is not read would be taken for the next request


def media_type(request: Request) -> str:
    """Return what the body says it is, without parameters. Raises `Problem` for one that is packed."""
    packed = request.headers.get("content-encoding", "identity").strip().lower()
    if packed not in ("", "identity"):
        raise Problem("wrong-type", f"a body packed with {packed[:40]!r} is not read here: send it as it is")
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower().partition("charset=")[2].strip('"')
    if charset and charset not in {"utf-8", "utf8", "us-ascii"}:
        raise Problem("wrong-type", f"the body is read as UTF-8, and not as {charset[:40]!r}")
    return kind.strip().lower()


async def pieces(request: Request, most: int, seconds: float) -> AsyncIterator[bytes]:
    """Yield a body piece by piece. Raises `Problem` for one that is larger, or slower, than it may be."""
    too_large = Problem("too-large", f"a request of this kind may have {most / MB:g} MB", headers=CLOSE)
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > most:
        raise too_large
    size = 0
    stream = aiter(request.stream())
    try:
        async with asyncio.timeout(seconds):
            while piece := await anext(stream, b""):
                size += len(piece)
                if size > most:
                    raise too_large
                yield piece
    except TimeoutError:
        raise Problem("too-slow", f"the request was not there within {seconds:g} seconds", headers=CLOSE) from None
    except ClientDisconnect:
        raise Problem("gone", "the client has gone") from None


async def read_object(request: Request, most: int, seconds: float) -> dict[str, Any]:
    """Return the JSON object that a body is.

    Raises `Problem` for what is none: another type, broken UTF-8, a key that appears twice, NaN, too many levels.
    """
    kind = media_type(request)
    if kind != "application/json":
        raise Problem("wrong-type", f"send application/json, not {kind[:60]!r}", headers={"Accept": "application/json"})
    body = b"".join([piece async for piece in pieces(request, most, seconds)])
    value = decoded(body)
    if not isinstance(value, dict):
        raise Problem("bad-input", f'expected an object such as {{"response": …}}, found {type_name(value)}')
    return value


def decoded(body: bytes) -> Any:
    """Return the JSON value that some bytes are. Raises `Problem` for what is none."""
    try:
        value = _STRICT.decode(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Problem("malformed", f"the body is not valid UTF-8: byte {error.start + 1}") from None
    except (ValueError, RecursionError) as error:
        told = str(error) if isinstance(error, _NotJsonError) else json_fault(error)
        raise Problem("malformed", f"the body: {told}") from None
    _check(value)
    return value


class _NotJsonError(ValueError):
    pass


def _refuse(name: str) -> NoReturn:
    raise _NotJsonError(f"{name} is no JSON: leave the field out, or write null")


_STRICT = json.JSONDecoder(object_pairs_hook=DECODER.object_pairs_hook, parse_constant=_refuse)


def _check(value: Any) -> None:
    """Raise `Problem` for what no request needs and much could fall over: deep nesting, numbers beyond all bounds."""
    left = [(value, 1)]
    while left:
        one, level = left.pop()
        if level > _DEEPEST:
            raise Problem("bad-input", f"the body is nested more than {_DEEPEST} levels deep")
        if isinstance(one, float) and one in (float("inf"), float("-inf")):
            raise Problem("bad-input", "a number in the body is larger than any that can be read")
        if isinstance(one, dict | list):
            left += [(part, level + 1) for part in (one.values() if isinstance(one, dict) else one)]


_FIELDS = {kind: Fields({name: NAMES[name] for name in names}) for kind, names in REQUESTS.items()}


def fields_of(kind: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request by our names, None where they are not given.

    Raises `Problem` for a name that is none of them, for two names of one field, and where the first is missing.
    """
    fields = _FIELDS[kind]
    known = [name for ours in REQUESTS[kind] for name in NAMES[ours]]
    for name in row:
        if not fields.wanted([name]):
            raise Problem(
                "bad-input",
                f"{kind} has no field {shown(name)}{did_you_mean(name, known)} (it takes {', '.join(REQUESTS[kind])})",
            )
    for used, ignored in fields.rivals(row):
        raise Problem("bad-input", f"{shown(used)} and {shown(ignored)} are names of one field: keep one")
    found = {ours: fields.get(row, ours) for ours in REQUESTS[kind]}
    needed = REQUESTS[kind][0]
    if found[needed] is None:
        raise Problem("bad-input", f"{kind} needs {needed!r} ({', '.join(NAMES[needed])})")
    return found


def text_of(kind: str, name: str, value: Any) -> str:
    """Return a field that is a text, empty where it is not given. Raises `Problem` for what is none."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Problem("bad-input", f"{name} of {kind} must be a text, got {_kind(value)}")
    return value


def texts_of(kind: str, name: str, value: Any) -> Sequence[str]:
    """Return a field that is a list of texts, or one text. Raises `Problem` for what is neither."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
        raise Problem("bad-input", f"{name} of {kind} must be a text or a list of texts, got {_kind(value)}")
    return texts


def options_of(
    given: Sequence[tuple[str, str]], known: Sequence[str], repeatable: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what the query of an address says; of what may be repeated a list.

    Raises `Problem` for a name that means nothing here, and for one that is given twice.
    """
    found: dict[str, Any] = {name: [] for name in repeatable}
    for name, value in given:
        if name in repeatable:
            found[name].append(value)
        elif name not in known:
            meant = did_you_mean(name, [*known, *repeatable])
            takes = ", ".join([*known, *repeatable]) or "none"
            raise Problem("bad-input", f"there is no parameter {shown(name)} here{meant} (it takes {takes})")
        elif name in found:
            raise Problem("bad-input", f"the parameter {name} is given twice")
        else:
            found[name] = value
    return found


def whole_number(name: str, text: str | None, usual: int, least: int, most: int) -> int:
    """Return a parameter that is a whole number. Raises `Problem` for what is none, or out of range."""
    if text is None:
        return usual
    plain = text.removeprefix("-")
    if not plain.isascii() or not plain.isdecimal() or len(plain) > 18 or not least <= int(text) <= most:
        raise Problem("bad-input", f"{name} must be a whole number from {least} to {most}, got {shown(text)}")
    return int(text)


def _kind(value: Any) -> str:
    names = {bool: "true or false", dict: "an object", list: "a list", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else "something else")


NDJSON = "application/x-ndjson"


def line(value: Any) -> bytes:
    """Return a value as JSON on one line. Half characters of a text are written as escapes, which UTF-8 has not."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


def json_answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer."""
    return Response(line(value), status, headers, media_type="application/json")

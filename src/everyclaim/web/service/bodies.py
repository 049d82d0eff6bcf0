"""A request's body: read within its size and time, and taken for JSON only where it is that beyond doubt."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, NoReturn

from starlette.requests import ClientDisconnect, Request

from everyclaim.io.jsonlines import DECODER, json_fault, type_name
from everyclaim.web.service.problems import Problem

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

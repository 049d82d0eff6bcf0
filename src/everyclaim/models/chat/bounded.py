"""Reading replies up to a limit. What counts is their size decompressed: a few bytes of gzip can become any number.

Both HTTP clients decompress in small pieces, so that what is beyond the limit is never made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from everyclaim.core.errors import JudgeError
from everyclaim.core.types import Usage

if TYPE_CHECKING:
    import aiohttp

MAX_REPLY_MB = 16.0  # no reply of a model, search engine or batch API comes near it
EXCERPT = 100_000  # bytes of an error's body that are read
MB = 1_000_000
_OF_TRANSFER = frozenset({"content-encoding", "content-length", "transfer-encoding"})


def too_large(where: str, limit: int) -> JudgeError:
    """Return the error for a reply beyond the limit. It was made and is to be paid; how much, it did not get to say."""
    return JudgeError(
        "reply_too_large",
        f"{where} answered with more than {limit / MB:g} MB, decompressed; max_reply_mb in the spec raises the limit",
        usage=Usage(calls=1, cost=None),
    )


async def read_direct(response: aiohttp.ClientResponse, where: str, limit: int) -> bytes:
    """Read a response of aiohttp; of an error's body, the beginning. Raises `JudgeError` beyond the limit."""
    content = bytearray()
    async for piece in response.content.iter_any():
        content += piece
        if not 200 <= response.status < 300 and len(content) >= EXCERPT:
            break
        if len(content) > limit:
            raise too_large(where, limit)
    return bytes(content)


@contextmanager
def sending_bounded(client: Any, limit: int, error: Exception) -> Iterator[None]:
    """Make a synchronous client of httpx2, not ours, read nothing beyond the limit; raises `error` there.

    A file that is sent as it is may be of any size: it goes to the disk in pieces.
    """
    send = client.send

    def bounded(request: Any, **options: Any) -> Any:
        if request.method == "HEAD":
            return send(request, **options)
        response = send(request, **{**options, "stream": True})
        if options.get("stream") and response.headers.get("content-encoding", "identity") == "identity":
            return response
        content = bytearray()
        try:
            for piece in response.iter_bytes():
                content += piece
                if len(content) > limit:
                    raise error
        finally:
            response.close()
        return whole(response, request, bytes(content))

    client.send = bounded
    try:
        yield
    finally:
        del client.send


def whole(response: Any, request: Any, content: bytes) -> Any:
    """Return a response of httpx2 with its content read and decompressed."""
    headers: Mapping[str, str] = response.headers
    kept = [(name, value) for name, value in headers.items() if name.lower() not in _OF_TRANSFER]
    return type(response)(response.status_code, headers=kept, content=content, request=request)

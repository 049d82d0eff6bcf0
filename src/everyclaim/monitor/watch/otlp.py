"""A receiver of OTLP over HTTP: spans come in, and the evaluation of an answer goes out as an event on its span.

A request is answered when its spans are kept. A trace is put together when nothing of it came for a while.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import time
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from everyclaim.core.errors import ConfigError, SourceError, StoreError, needed_for
from everyclaim.core.limits import limits_here
from everyclaim.core.plaintext import hidden, is_loopback
from everyclaim.engine import BackgroundLoop
from everyclaim.monitor.watch import traces as otel
from everyclaim.monitor.watch.source import AnswerSource, Batch, Found, Rows, Unreadable
from everyclaim.store.watching import JudgedAnswer, WatchStore

DEFAULT_ADDRESS = "127.0.0.1:4318"
TOKEN = "EVERYCLAIM_WATCH_TOKEN"  # noqa: S105 - the name of a variable
_HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"
_TRACES = 100  # in one batch
_BODY = 32_000_000  # bytes of a request, unpacked
_MOST_WAITING = 500_000  # spans, before senders are asked to wait
_LATER = {408, 429, 502, 503, 504}
_RETRY = {"Retry-After": "30"}
_PROTOBUF, _JSON = "application/x-protobuf", "application/json"


class OtlpReceiver(AnswerSource):
    """Spans that are sent here, as a source.

    A trace is taken to be whole `settle` seconds after its last span; events go to `events_to`, a collector's logs.
    """

    title = "otlp"

    def __init__(
        self,
        listen: str,
        rows: Rows,
        store: str | os.PathLike[str],
        watch: str,
        *,
        settle: float = 10.0,
        events_to: str | None = None,
    ) -> None:
        host, _, port = listen.rpartition(":")
        if not port.isdecimal() or int(port) > 65535:
            raise ConfigError(f"otlp:{listen}: name the address to listen on, as in otlp:{DEFAULT_ADDRESS}")
        self._host, self._port = host.strip("[]") or "127.0.0.1", int(port)
        self._token = os.environ.get(TOKEN, "")
        if not (self._token or is_loopback(self._host)):
            raise ConfigError(
                f"otlp:{listen} can be reached from other machines: set {TOKEN} to a secret that senders "
                "pass as 'Authorization: Bearer …', or listen on 127.0.0.1"
            )
        if events_to and urlsplit(events_to).scheme not in {"http", "https"}:
            raise ConfigError(
                f"events need the URL of a collector such as http://127.0.0.1:4320/v1/logs, not {hidden(events_to)!r}"
            )
        with needed_for("Receiving OTLP", "otlp"):
            import aiohttp
            import opentelemetry.proto.trace.v1.trace_pb2  # noqa: F401 - is it there?
        self._events_to, self._settle = events_to or "", settle
        self._place, self._rows = store, rows  # of the store, which is opened with the rest
        self._limit = limits_here().row
        self.name = watch
        self.takes_scores = bool(events_to)
        self._http = aiohttp
        self._session: Any = None
        self._runner: Any = None
        self._loop: BackgroundLoop | None = None  # judging may take the other one for long

    async def open(self) -> None:
        """Listen."""
        self._store = await asyncio.to_thread(WatchStore.open, self._place)
        self._loop = BackgroundLoop("everyclaim-otlp")
        try:
            await self._loop.join(self._listen())
        except OSError as error:
            raise ConfigError(f"cannot listen on {self._host}:{self._port}: {error.strerror or error}") from None
        if self.takes_scores:
            self._session = self._http.ClientSession(timeout=self._http.ClientTimeout(total=30))

    async def close(self) -> None:
        """Finish the requests under way, and listen no more."""
        if self._session is not None:
            await self._session.close()
        if self._loop is not None:
            if self._runner is not None:
                await self._loop.join(self._runner.cleanup())
            await asyncio.to_thread(self._loop.close)
            self._store.close()

    async def batches(self, checkpoint: Any) -> AsyncIterator[Batch]:
        """Yield the traces that are whole. What was decided about is forgotten when the next batch is asked for."""
        while True:
            before = time.time() - self._settle
            traces = await asyncio.to_thread(self._store.settled_traces, self.name, before, _TRACES)
            if not traces:
                return
            yield Batch([await asyncio.to_thread(self._found, trace) for trace in traces], checkpoint)
            for trace in traces:
                await asyncio.to_thread(self._store.drop_spans, self.name, trace, before)

    async def send_back(self, results: Sequence[JudgedAnswer]) -> Mapping[str, bool]:
        """Send the events of results. A collector that takes them for good answers 200; what is busy is asked again."""
        # As OpenTelemetry's own variable has them: ``name=value,name=value``, escaped as in URLs.
        pairs = (part.partition("=") for part in os.environ.get(_HEADERS, "").split(",") if part.strip())
        headers = {"Content-Type": _PROTOBUF} | {name.strip(): unquote(value.strip()) for name, _, value in pairs}
        where = hidden(self._events_to)
        try:
            async with self._session.post(self._events_to, data=otel.events(results), headers=headers) as reply:
                await reply.read()
        except (self._http.ClientError, TimeoutError) as error:
            raise SourceError(f"events could not be sent to {where}: {type(error).__name__}") from None
        if reply.status in _LATER or reply.status >= 500:
            raise SourceError(f"events could not be sent to {where}: HTTP {reply.status}")
        if reply.status >= 300:
            raise ConfigError(
                f"events are rejected by {where}: HTTP {reply.status}; is it the URL of a collector's logs?"
            )
        return {returned.answer: True for returned in results}

    def _found(self, trace: str) -> Found:
        spans = self._store.spans(self.name, trace)
        answer = otel.answer_of(spans)
        if answer is None:
            return Found(trace, Unreadable(f"trace {trace}: {otel.NO_ANSWER}"), about={"trace": trace})
        response = answer["attributes"].get("gen_ai.response.id")
        about = {"trace": trace, "span": answer["span"], "end": answer["end"], "response": response}
        return Found(trace, otel.sample_of(spans, answer, self._rows, trace), about=about)

    # ---- receiving

    async def _listen(self) -> None:
        from aiohttp import web

        app = web.Application(client_max_size=_BODY, handler_args={"auto_decompress": False})
        app.router.add_post("/v1/traces", self._receive)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=10)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, self._port).start()
        self._port = self._runner.addresses[0][1]

    async def _receive(self, request: Any) -> Any:
        from aiohttp import web

        kind = request.content_type
        given = request.headers.get("Authorization", "").encode("utf-8", "replace")
        if self._token and not hmac.compare_digest(given, f"Bearer {self._token}".encode()):
            return web.Response(status=401, text="a token is required: 'Authorization: Bearer …'")
        if kind not in {_PROTOBUF, _JSON}:
            return web.Response(status=415, text=f"send {_PROTOBUF} or {_JSON}, not {kind}")
        try:
            body: bytes = await request.read()
            packed = request.headers.get("Content-Encoding", "identity").lower()
            spans, refused = await asyncio.to_thread(_parsed, body, kind, packed, self._limit)
            if await asyncio.to_thread(self._store.count_spans, self.name) > _MOST_WAITING:
                return web.Response(status=503, text="too many spans are waiting to be judged", headers=_RETRY)
            await asyncio.to_thread(self._store.receive_spans, self.name, spans)
        except ValueError as error:
            return web.Response(status=400, text=str(error))
        except StoreError as error:
            return web.Response(status=503, text=str(error), headers=_RETRY)
        return web.Response(body=otel.accepted(refused, as_json=kind == _JSON), content_type=kind)


def _parsed(body: bytes, kind: str, packed: str, limit: int) -> tuple[dict[tuple[str, str], Any], list[str]]:
    if packed not in {"identity", "gzip"}:
        raise ValueError(f"unknown Content-Encoding {packed[:40]!r}: use gzip or none")
    plain = body if packed == "identity" else _unpacked(body)
    return otel.read_spans(otel.parse_protobuf(plain) if kind == _PROTOBUF else otel.parse_json(plain), limit)


def _unpacked(body: bytes) -> bytes:
    """Unpack a body, but never more of it than a request may have."""
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        whole = unpacker.decompress(body, _BODY)
    except zlib.error as error:
        raise ValueError(f"the body is not gzip: {error}") from None
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise ValueError(f"the body is cut off, or has more than {_BODY:,} bytes")
    return whole

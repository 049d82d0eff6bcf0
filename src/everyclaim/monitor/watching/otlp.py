"""A receiver of OTLP over HTTP: spans come in, and the evaluation of an answer goes out as an event on its span.

A request is answered when its spans are kept. A trace is put together when nothing of it came for a while.
"""

from __future__ import annotations

import asyncio
import hmac
import time
import uuid
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from everyclaim.core.errors import ConfigError, MissingExtraError, SourceError, StoreError
from everyclaim.core.hiding import hidden
from everyclaim.core.limits import limits_here
from everyclaim.engine import BackgroundLoop
from everyclaim.monitor.evaluation import EVENT, attributes_of
from everyclaim.monitor.watching.rows import Rows
from everyclaim.monitor.watching.source import Batch, Found, Loaded, Return, Unreadable
from everyclaim.monitor.watching.spans import NO_ANSWER, answer_of, parse_json, parse_protobuf, read_spans, sample_of
from everyclaim.store import WatchStore

DEFAULT_ADDRESS = "127.0.0.1:4318"
TOKEN = "EVERYCLAIM_WATCH_TOKEN"  # noqa: S105 - the name of a variable
_TRACES = 100  # in one batch
_BODY = 32_000_000  # bytes of a request, unpacked
_AT_ONCE = 4  # requests that are unpacked and parsed at a time
_SLOWEST = 60.0  # seconds that a request may take to come in
_MOST_WAITING = 500_000  # spans, before senders are asked to wait
_OURS = uuid.UUID("0d1f0a4e-6f0e-5a57-8f6c-6f6b8f7d9d10")
_LATER = {408, 429, 502, 503, 504}
_PROTOBUF, _JSON = "application/x-protobuf", "application/json"


@dataclass(frozen=True, slots=True)
class Address:
    """Where spans come in, and where events go; `token` is wanted of senders, `headers` are sent with events."""

    listen: str = DEFAULT_ADDRESS
    events_to: str | None = None  # the URL of a collector's logs
    token: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    settle: float = 10.0  # seconds without a span, after which a trace is taken to be whole


class OtlpReceiver:
    """Spans that are sent here, as a source."""

    title = "otlp"

    def __init__(self, address: Address, store: WatchStore, watch: str, rows: Rows) -> None:
        self._host, self._port = _host_and_port(address.listen)
        if not (address.token or _is_loopback(self._host)):
            raise ConfigError(
                f"otlp:{address.listen} listens to other machines: set {TOKEN} to a secret that senders give as"
                " 'Authorization: Bearer …', or listen on 127.0.0.1"
            )
        if address.events_to and urlsplit(address.events_to).scheme not in {"http", "https"}:
            raise ConfigError(
                "events go to the URL of a collector, such as http://127.0.0.1:4320/v1/logs, not"
                f" {hidden(address.events_to)!r}"
            )
        try:
            import aiohttp
            import opentelemetry.proto.trace.v1.trace_pb2  # noqa: F401 - is it there?
        except ImportError:
            raise MissingExtraError("Receiving OTLP", "otlp") from None
        self._address = address
        self._store = store
        self._rows = rows
        self._limit = limits_here().row
        self.name = watch
        self.takes_scores = address.events_to is not None
        self._http = aiohttp
        self._parsing = asyncio.Semaphore(_AT_ONCE)
        self._session: Any = None
        self._runner: Any = None
        self._loop: BackgroundLoop | None = None  # judging may take the other one for long

    @property
    def port(self) -> int:
        """The port that is listened to."""
        return self._port

    async def open(self) -> None:
        """Listen."""
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

    async def batches(self, checkpoint: Any) -> AsyncIterator[Batch]:
        """Yield the traces that are whole. What was decided about is forgotten when the next batch is asked for."""
        while True:
            before = time.time() - self._address.settle
            traces = await asyncio.to_thread(self._store.settled_traces, self.name, before, _TRACES)
            if not traces:
                return
            found = [await asyncio.to_thread(self._found, trace) for trace in traces]
            yield Batch(found, checkpoint)
            for trace in traces:
                await asyncio.to_thread(self._store.drop_spans, self.name, trace, before)
            if len(traces) < _TRACES:
                return

    async def send_back(self, results: Sequence[Return]) -> Mapping[str, bool]:
        """Send the events of results. A collector that takes them for good answers 200; what is busy is asked again."""
        body = _events(results)
        headers = {"Content-Type": _PROTOBUF, **self._address.headers}
        where = hidden(str(self._address.events_to))
        try:
            async with self._session.post(self._address.events_to, data=body, headers=headers) as reply:
                said = await reply.read()
        except (self._http.ClientError, TimeoutError) as error:
            raise SourceError(f"events could not be sent to {where}: {type(error).__name__}") from None
        if reply.status in _LATER or reply.status >= 500:
            raise SourceError(f"events could not be sent to {where}: HTTP {reply.status}")
        if reply.status >= 300:
            raise ConfigError(
                f"events are not taken by {where}: HTTP {reply.status}; is it the URL of a collector's logs?"
            )
        refused = _refused_events(said)
        # Which of several is not told; one alone is known.
        if refused and len(results) > 1:
            return {name: was for one in results for name, was in (await self.send_back([one])).items()}
        return {one.answer: not refused for one in results}

    def _found(self, trace: str) -> Found:
        spans = self._store.spans(self.name, trace)
        answer = answer_of(spans)
        about: dict[str, Any] = {"trace": trace}
        if answer is not None:
            said = answer["attributes"].get("gen_ai.response.id")
            about |= {"span": answer["span"], "end": answer["end"], "response": said}

        async def load() -> Loaded:
            if answer is None:
                return Unreadable(f"trace {trace}: {NO_ANSWER}")
            made = sample_of(spans, answer, self._rows, trace)
            return Unreadable(f"trace {trace}: {made.reason}") if isinstance(made, Unreadable) else made

        return Found(trace, load, about=about)

    # ---- receiving

    async def _listen(self) -> None:
        from aiohttp import web

        app = web.Application(client_max_size=_BODY, handler_args={"auto_decompress": False})
        app.router.add_post("/v1/traces", self._receive)
        for other in ("/v1/logs", "/v1/metrics"):  # senders that are set to send all
            app.router.add_post(other, self._ignore)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=10)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]

    async def _ignore(self, request: Any) -> Any:
        if (denied := self._denied(request)) is not None:
            return denied
        await request.read()
        return _reply(200, request.content_type, b"")

    async def _receive(self, request: Any) -> Any:
        from aiohttp import web

        kind = request.content_type
        if (denied := self._denied(request)) is not None:
            return denied
        if kind not in {_PROTOBUF, _JSON}:
            return _status(415, _JSON, f"send {_PROTOBUF} or {_JSON}, not {kind}")
        try:
            async with asyncio.timeout(_SLOWEST):
                body: bytes = await request.read()
            packed = request.headers.get("Content-Encoding", "identity").lower()
            async with self._parsing:
                spans, refused = await asyncio.to_thread(_parsed, body, kind, packed, self._limit)
        except TimeoutError:
            return _status(408, kind, f"a request may take {_SLOWEST:g} seconds to come in")
        except web.HTTPRequestEntityTooLarge:
            return _status(413, kind, f"a request may have {_BODY:,} bytes")
        except ValueError as error:
            return _status(400, kind, str(error))
        try:
            if await asyncio.to_thread(self._store.count_spans, self.name) > _MOST_WAITING:
                return _status(503, kind, "too many spans wait to be judged", retry=30)
            await asyncio.to_thread(self._store.receive_spans, self.name, spans)
        except StoreError as error:
            return _status(503, kind, str(error), retry=5)
        return _reply(200, kind, _accepted(kind, refused))

    def _denied(self, request: Any) -> Any:
        token = self._address.token
        if not token:  # a page elsewhere can make its own name point here (DNS rebinding)
            host = request.host.removesuffix(f":{self._port}")
            name = f"this receiver does not go by the name {host[:100]!r}: send to its address, or set {TOKEN}"
            return None if _is_loopback(host.strip("[]")) else _status(421, request.content_type, name)
        given = request.headers.get("Authorization", "")
        if hmac.compare_digest(given.encode("utf-8", "replace"), f"Bearer {token}".encode()):
            return None
        return _status(401, request.content_type, "a token is wanted: 'Authorization: Bearer …'")


def _parsed(body: bytes, kind: str, packed: str, limit: int) -> tuple[dict[tuple[str, str], Any], list[str]]:
    if packed not in {"identity", "gzip", "deflate"}:
        raise ValueError(f"Content-Encoding {packed[:40]!r} is not known: send gzip, or no encoding")
    plain = body if packed == "identity" else _unpacked(body, packed)
    return read_spans(parse_protobuf(plain) if kind == _PROTOBUF else parse_json(plain), limit)


def _unpacked(body: bytes, packed: str) -> bytes:
    """Unpack a body, but never more of it than a request may have."""
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16 if packed == "gzip" else zlib.MAX_WBITS)
    try:
        whole = unpacker.decompress(body, _BODY)
    except zlib.error as error:
        raise ValueError(f"the body is not {packed}: {error}") from None
    if unpacker.unconsumed_tail:
        raise ValueError(f"unpacked, a request may have {_BODY:,} bytes")
    if not unpacker.eof:
        raise ValueError(f"the body is not {packed}: it is cut off")
    return whole


def _reply(status: int, kind: str, body: bytes, retry: int | None = None) -> Any:
    from aiohttp import web

    headers = {"Retry-After": str(retry)} if retry else {}
    return web.Response(status=status, body=body, content_type=kind if kind == _JSON else _PROTOBUF, headers=headers)


def _status(code: int, kind: str, message: str, retry: int | None = None) -> Any:
    """Return an error as the protocol has it: a `google.rpc.Status`."""
    from google.protobuf import json_format
    from google.rpc.status_pb2 import Status

    said = Status(message=message)
    body = json_format.MessageToJson(said).encode() if kind == _JSON else said.SerializeToString()
    return _reply(code, kind, body, retry)


def _accepted(kind: str, refused: Sequence[str]) -> bytes:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    said: Any = ExportTraceServiceResponse()
    if refused:
        said.partial_success.rejected_spans = len(refused)
        said.partial_success.error_message = refused[0]
    body: bytes = json_format.MessageToJson(said).encode() if kind == _JSON else said.SerializeToString()
    return body


# ---- events


def _events(results: Sequence[Return]) -> bytes:
    """Return a request with one event `gen_ai.evaluation.result` per result, on the span that was judged."""
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    request = ExportLogsServiceRequest()
    resource = request.resource_logs.add()
    resource.resource.attributes.add(key="service.name").value.string_value = "everyclaim"
    scope = resource.scope_logs.add()
    scope.scope.name = "everyclaim"
    for one in results:
        record = scope.log_records.add()
        record.event_name = EVENT
        record.time_unix_nano = int(one.about["end"])
        record.observed_time_unix_nano = time.time_ns()
        record.trace_id = bytes.fromhex(one.about["trace"])
        record.span_id = bytes.fromhex(one.about["span"])
        for name, value in _attributes(one).items():
            added = record.attributes.add(key=name)
            if isinstance(value, float):
                added.value.double_value = value
            else:
                added.value.string_value = value
    packed: bytes = request.SerializeToString()
    return packed


def _attributes(one: Return) -> dict[str, str | float]:
    ids = {"everyclaim.result.id": str(uuid.uuid5(_OURS, one.answer)), "everyclaim.run": one.run}
    # The id is the same when it is sent again. Texts go back to where the answer, which holds them, came from.
    return attributes_of(one.result, response_id=str(one.about.get("response") or ""), with_texts=True) | ids


def _refused_events(body: bytes) -> int:
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse

    with suppress(DecodeError):
        return int(ExportLogsServiceResponse.FromString(body).partial_success.rejected_log_records)
    return 0


def _host_and_port(listen: str) -> tuple[str, int]:
    text = listen or DEFAULT_ADDRESS
    host, _, port = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdecimal() or int(port) > 65535:
        raise ConfigError(f"otlp:{listen}: give the address to listen on as otlp:{DEFAULT_ADDRESS}")
    return host, int(port)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

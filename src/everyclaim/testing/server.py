"""A model provider on loopback: real HTTP, the wire formats of OpenAI and Anthropic, faults on demand.

    with JudgeServer(['{"ok": true}', rate_limited()]) as server:
        ...  # point a client at server.base_url (OpenAI) or server.root (Anthropic)
        assert server.calls == 1

It runs on its own event loop in a thread of its own, so it serves synchronous and asynchronous tests
alike. For benchmarks run it in a process of its own: ``python -m everyclaim.testing``.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from everyclaim.core.errors import needed_for
from everyclaim.testing.playing import with_ids
from everyclaim.testing.script import PATHS, Fault, Reply, Request, Rule, Script, Step, rejected, render, render_error

if TYPE_CHECKING:
    from aiohttp import web

SECRET_HEADERS = frozenset({"authorization", "x-api-key", "api-key", "proxy-authorization", "cookie"})
TIMER_LAG = 0.0005  # the loop rounds timers up to the next millisecond


def respond(fault: Fault | int, body: Any, latency: float = 0.0) -> Fault:
    """Make a response with a status, or with something wrong; `body` is the JSON in it unless the fault has its own."""
    found = Fault(fault) if isinstance(fault, int) else fault
    return replace(found, raw=json.dumps(body).encode() if found.raw is None else found.raw, latency=latency)


class JudgeServer:
    """A scripted provider on loopback; a context manager, synchronous and asynchronous.

    `script` is a step, a list of steps (the last one is repeated) or a rule. `latency` is in seconds.
    With `api_key`, any other key is answered with 401. `keep` says whether requests are kept for
    assertions; turn it off where millions are made.
    """

    def __init__(
        self,
        script: Script = "{}",
        *,
        latency: float = 0.0,
        api_key: str | None = None,
        keep: bool = True,
        port: int = 0,
    ) -> None:
        self._rule = _as_rule(script)
        self._latency = latency
        self._api_key = api_key
        self._keep = keep
        self._port = port
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._in_flight = 0
        self.calls = 0
        self.peak = 0  # the most requests that were ever in flight together
        self.requests: list[Request] = []
        self.errors: list[Exception] = []  # what a rule raised; the client saw a 500

    @property
    def root(self) -> str:
        """The address without a path, as Anthropic's SDK wants it."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        """The address with `/v1`, as OpenAI's SDK wants it."""
        return f"{self.root}/v1"

    def start(self) -> Self:
        """Listen. Returns when connections are taken. Raises `MissingExtraError` without aiohttp."""
        with needed_for("JudgeServer", "testing"):
            import aiohttp  # noqa: F401
        ready = threading.Event()
        listener = socket.create_server(("127.0.0.1", self._port), backlog=1024)
        self._port = listener.getsockname()[1]
        serve = partial(self._serve, listener, ready)
        self._thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True, name="judge-server")
        self._thread.start()
        ready.wait()
        return self

    def stop(self) -> None:
        """Stop listening and drop every connection; the counts and requests stay."""
        if self._loop and self._thread:
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join()
        self._loop = self._thread = None

    def script(self, script: Script) -> None:
        """Change what the server does from the next request on."""
        self._rule = _as_rule(script)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.start)

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.stop)

    async def _serve(self, listener: socket.socket, ready: threading.Event) -> None:
        from aiohttp import web

        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        server = web.Server(self._connected, access_log=None, handler_cancellation=True)
        runner = web.ServerRunner(server, shutdown_timeout=0.0)
        await runner.setup()
        await web.SockSite(runner, listener).start()
        ready.set()
        await self._stopped.wait()
        await runner.cleanup()

    async def _connected(self, request: web.BaseRequest) -> web.StreamResponse:
        self._in_flight += 1
        self.peak = max(self.peak, self._in_flight)
        try:
            return await _send(self._handle(request, await request.content.read()), request)
        finally:
            self._in_flight -= 1

    def _handle(self, raw: web.BaseRequest, content: bytes) -> Fault:
        path = raw.raw_path.partition("?")[0]
        api = next((api for end, api in PATHS.items() if path.endswith(end)), None)
        if api is None or raw.method != "POST":
            return respond(404, render_error("chat", {"message": f"no such endpoint: {raw.method} {path}"}))
        try:
            body = json.loads(content)
        except ValueError:
            return respond(400, render_error(api, {"message": "the request's body is not JSON"}))
        self.calls += 1
        headers = {name: value for key, value in raw.headers.items() if (name := key.lower()) not in SECRET_HEADERS}
        authorised = any(raw.headers.get(name) for name in SECRET_HEADERS)
        request = Request(self.calls, api, raw.raw_path, headers, body, authorised)
        if self._keep:
            self.requests.append(request)
        return self._answer(request, raw.headers)

    def _answer(self, request: Request, headers: Mapping[str, str]) -> Fault:
        if not self._admits(headers):
            step: Step = rejected("Incorrect API key provided", status=401, code="invalid_api_key")
        else:
            step = self._step(request)
        if isinstance(step, str):
            step = Reply(step)
        if isinstance(step, Fault):
            body = render_error(request.api, step.error) if step.error is not None else render(request, step.reply)
            return respond(step, body, self._latency)
        latency = self._latency if step.latency is None else step.latency
        if not step.extra:  # which may speak of places in the text
            step = replace(step, content=with_ids(step.content, request.text))
        return respond(200, render(request, step), latency)

    def _admits(self, headers: Mapping[str, str]) -> bool:
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        return self._api_key in (None, bearer, headers.get("x-api-key"), headers.get("api-key"))

    def _step(self, request: Request) -> Step:
        try:
            return self._rule(request)
        except Exception as error:  # noqa: BLE001  (a test's rule may raise anything; the test reads it)
            self.errors.append(error)
            return Fault(500, error={"message": f"the rule raised {error!r}"})


async def _send(response: Fault, request: web.BaseRequest) -> web.StreamResponse:
    """Send a response the way it is to go out."""
    from aiohttp import web

    if response.hang:
        await asyncio.Event().wait()  # until the client leaves
    if response.latency > 0:
        await asyncio.sleep(max(0.0, response.latency - TIMER_LAG))
    headers = {"content-type": response.content_type, **response.headers}
    body = response.raw or b""
    if response.send == 1 and not response.drip:
        return web.Response(status=response.status, body=body, headers=headers)
    answer = web.StreamResponse(status=response.status, headers=headers)
    answer.content_length = len(body)
    if response.send:  # else not even its head
        await answer.prepare(request)
        for byte in body if response.drip else b"":
            await answer.write(bytes([byte]))
            await asyncio.sleep(response.drip)
    if response.send < 1:
        if response.send:
            await answer.write(body[: int(len(body) * response.send)])
        await asyncio.sleep(0.01)
        assert request.transport
        # Lingering for zero seconds turns the close into a reset, as a crashing peer does.
        linger = struct.pack("ii", 1, 0)
        request.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        request.transport.abort()
    return answer


def refused_url() -> str:
    """Return an OpenAI base URL on loopback where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


def _as_rule(script: Script) -> Rule:
    if callable(script):
        return script
    steps = [script] if isinstance(script, str | Reply | Fault) else list(script)
    if not steps:
        raise ValueError("a script needs at least one step")
    position = iter(range(len(steps)))
    return lambda _: steps[next(position, len(steps) - 1)]

"""The server under the service and the dashboard: how it begins and ends, what it writes into its log.

Clients that dawdle are cut off, so that a few of them cannot keep others out. An asked-for end lets requests under way
finish.
"""

from __future__ import annotations

import asyncio
import json
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from multiprocessing.connection import wait
from typing import Any, cast

from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from everyclaim.core.errors import OperatorError
from everyclaim.core.plaintext import hidden
from everyclaim.web.settings import Binding

STARTUP_FAILED = 3  # uvicorn's exit code
_OURS = ("everyclaim", "uvicorn.error")
_BACKLOG = 512  # connections that wait to be accepted
_RECORD = {*logging.LogRecord("", 0, "", 0, "", None, None).__dict__, "message", "color_message", "taskName"}
_CLOSING = 2  # of the grace seconds, kept for closing what is open


def run(app: Callable[[], Any], binding: Binding, *, on_listening: Callable[[str], None]) -> None:
    """Serve what `app` makes until an end is asked for: by Ctrl-C, by SIGTERM.

    `app` is called once in every process; with several `workers` it must be possible to pickle it (a function of a
    module, a `functools.partial` of one). `on_listening` is told the address once connections are taken. Raises
    `OperatorError` where the address cannot be had.
    """
    listener = _listen(binding)
    config = _UvicornConfig(
        app,
        binding,
        factory=True,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        workers=binding.workers,
        timeout_keep_alive=int(binding.idle_seconds),
        timeout_graceful_shutdown=max(1, int(binding.grace_seconds) - _CLOSING),
        timeout_worker_healthcheck=60,  # one that reads long texts may not answer for seconds
    )
    host, port = listener.getsockname()[:2]
    on_listening(f"http://{f'[{host}]' if ':' in host else host}:{port}")
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # what uvicorn passes a signal on to, at its end
    try:
        if binding.workers == 1:
            _EndingServer(config).run(sockets=[listener])
        else:
            supervisor = Multiprocess(config, sockets=[listener])
            supervisor.run()
            if STARTUP_FAILED in [process.exitcode for process in supervisor.processes]:
                sys.exit(STARTUP_FAILED)
    except KeyboardInterrupt:
        pass  # uvicorn has ended in order, and passes the signal on
    except SystemExit:
        raise OperatorError("the server could not start; see its log") from None
    finally:
        signal.signal(signal.SIGTERM, before)
        listener.close()


class _UvicornConfig(Config):
    """uvicorn's settings with our own."""

    def __init__(self, app: Any, binding: Binding, **settings: Any) -> None:
        super().__init__(app, http=_Protocol, **settings)
        self.binding = binding


class _EndingServer(Server):
    """Ends some seconds after it was asked to, whatever a thread of somebody's judge waits for."""

    def handle_exit(self, sig: int, frame: Any) -> None:
        timer = threading.Timer(cast("_UvicornConfig", self.config).binding.grace_seconds, os._exit, [128 + sig])
        timer.daemon = True
        timer.start()
        super().handle_exit(sig, frame)


class _Protocol(H11Protocol):
    """Cuts off who sends no whole head in time, and who takes nothing of an answer for long."""

    _head: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None

    @property
    def _binding(self) -> Binding:
        return cast("_UvicornConfig", self.config).binding

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Stop waiting once the head is there; of a next request on the connection begin anew."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            _end(self._head)
            self._head = None
        elif self._head is None:
            self._await_head()

    def on_response_complete(self) -> None:
        """Wait for the rest of a head that came on the heels of the last request."""
        super().on_response_complete()
        if self.conn.trailing_data[0] and self.cycle.response_complete and self._head is None:
            self._await_head()

    def pause_writing(self) -> None:
        """Begin to watch a client that takes less than it is sent."""
        super().pause_writing()
        if self._stuck is None:
            self._watch()

    def resume_writing(self) -> None:
        super().resume_writing()
        _end(self._stuck)
        self._stuck = None

    def connection_lost(self, exc: Exception | None) -> None:
        _end(self._head)
        _end(self._stuck)
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._head = self.loop.call_later(self._binding.head_seconds, self.transport.abort)

    def _watch(self) -> None:
        left = self.transport.get_write_buffer_size()

        def look() -> None:
            if self.transport.get_write_buffer_size() < left:
                self._watch()
            else:
                self.transport.abort()

        self._stuck = self.loop.call_later(self._binding.write_seconds, look)


def _end(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def _listen(binding: Binding) -> socket.socket:
    try:
        kind, _, _, _, address = socket.getaddrinfo(
            binding.host, binding.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(kind, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
        except OSError:
            listener.close()
            raise
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "no such address"
        raise OperatorError(
            f"cannot listen on {binding.host}:{binding.port}: {reason.lower()}; pass another --host or --port"
        ) from None
    listener.set_inheritable(True)
    return listener


def with_parent() -> None:
    """Ask for this process's end when the one that started it is gone, however that ended. For one among `workers`."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="everyclaim-parent", daemon=True).start()


def log_to_stderr() -> None:
    """Write what happens as one JSON object a line to standard error. Nothing of it is a user's text or a secret."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in _OURS:
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(logging.INFO)
        logger.propagate = False


class JsonLines(logging.Formatter):
    """A record as one line of JSON: time, level, event, and whatever was given as `extra`.

    An error is named with the places it came through; its message may quote a text, and is left out.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Write the line."""
        row: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": hidden(record.getMessage()),
        }
        row |= {name: value for name, value in record.__dict__.items() if name not in _RECORD}
        if record.exc_info and (error := record.exc_info[1]) is not None:
            places, trace = [], error.__traceback__
            while trace is not None:
                code = trace.tb_frame.f_code
                places.append(f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno} {code.co_name}")
                trace = trace.tb_next
            row |= {"error": type(error).__name__, "trace": places[-12:]}
        return json.dumps(row, ensure_ascii=True, default=str)

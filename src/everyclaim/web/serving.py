"""The server under the service and the dashboard: where it may listen, how it ends, what it writes into its log.

Loopback is open to whoever is on the machine; any other address needs tokens. Clients that dawdle are cut off, so that
a few of them cannot keep others out. An asked-for end lets requests under way finish.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from multiprocessing.connection import wait
from typing import Annotated, Any

from everyclaim.core.errors import ConfigError, MissingExtraError, OperatorError
from everyclaim.core.options import Opt
from everyclaim.core.plaintext import hidden

LOOPBACK = "127.0.0.1"
SERVER = "Server"
_OURS = ("everyclaim", "uvicorn.error")
STARTUP_FAILED = 3  # uvicorn's exit code
_BACKLOG = 512  # connections that wait to be accepted
_RECORD = frozenset(logging.LogRecord("", 0, "", 0, "", None, None).__dict__) | {"message", "color_message"}


_CLOSING = 2  # of these, kept for closing what is open


@dataclass(frozen=True, slots=True)
class Binding:
    """Where to listen, with how many processes, and how patient to be with clients."""

    host: Annotated[
        str, Opt("Address to listen on; addresses reachable from other machines need tokens.", "ADDRESS", panel=SERVER)
    ] = LOOPBACK
    port: Annotated[int, Opt("Port to listen on; 0: any free port.", panel=SERVER)] = 8700
    workers: Annotated[int, Opt("Number of processes.", panel=SERVER)] = 1
    head_seconds: float = 10.0  # within which a request's head must be there
    write_seconds: float = 30.0  # for which a client may take nothing of its answer
    idle_seconds: float = 15.0  # between requests of one connection
    grace_seconds: float = 30.0  # that requests under way have, once an end is asked for

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine's own, reached from nowhere else."""
    plain = host.strip().rstrip(".").lower()
    if plain == "localhost":
        return True
    try:
        return ip_address(plain.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


def check_binding(binding: Binding, *, has_tokens: bool, command: str = "serve") -> None:
    """Raise `ConfigError` where anybody on the network could come in."""
    if not binding.is_loopback and not has_tokens:
        raise ConfigError(
            f"{binding.host} can be reached from other machines, but no token is required: create one "
            f"with `everyclaim serve --new-token NAME --tokens FILE` and pass `{command} --tokens FILE`, "
            f"or keep --host {LOOPBACK}"
        )
    if not 0 <= binding.port <= 65_535:
        raise ConfigError(f"--port must be between 0 and 65535, got {binding.port}")
    if not 1 <= binding.workers <= 256:
        raise ConfigError(f"--workers must be between 1 and 256, got {binding.workers}")


def run(app: Callable[[], Any], binding: Binding, *, on_listening: Callable[[str], None] | None = None) -> None:
    """Serve what `app` makes until an end is asked for: by Ctrl-C, by SIGTERM.

    `app` is called once in every process; with several `workers` it must be possible to pickle it (a function of a
    module, a `functools.partial` of one). `on_listening` is told the address once connections are taken. Raises
    `OperatorError` where the address cannot be had, and `MissingExtraError` without uvicorn.
    """
    try:
        from uvicorn import Server
        from uvicorn.supervisors import Multiprocess

        from everyclaim.web.timeouts import TimeoutConfig
    except ImportError:
        raise MissingExtraError("serving over HTTP", "serve") from None
    listener = _listen(binding)
    config = TimeoutConfig(
        app,
        head_seconds=binding.head_seconds,
        write_seconds=binding.write_seconds,
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
    if on_listening is not None:
        on_listening(_address(listener))
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # what uvicorn passes a signal on to, at its end
    try:
        if binding.workers == 1:
            _ending(Server, binding.grace_seconds)(config).run(sockets=[listener])
        else:
            supervisor = Multiprocess(config, sockets=[listener])
            supervisor.run()
            _check_started([process.exitcode for process in supervisor.processes])
    except KeyboardInterrupt:
        pass  # uvicorn has ended in order, and passes the signal on
    except SystemExit:
        raise OperatorError("the server could not start; see its log") from None
    finally:
        signal.signal(signal.SIGTERM, before)
        listener.close()


def _ending(server: type[Any], seconds: float) -> type[Any]:
    """Return a server that ends so long after it was asked to, whatever a thread of somebody's judge waits for."""

    class Ending(server):  # type: ignore[misc]
        def handle_exit(self, sig: int, frame: Any) -> None:
            timer = threading.Timer(seconds, os._exit, [128 + sig])
            timer.daemon = True
            timer.start()
            super().handle_exit(sig, frame)

    return Ending


def with_parent() -> None:
    """Ask for this process's end when the one that started it is gone, however that ended. For one among `workers`."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="everyclaim-parent", daemon=True).start()


def log_to_stderr(level: int = logging.INFO) -> None:
    """Write what happens as one JSON object a line to standard error. Nothing of it is a user's text or a secret."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in _OURS:
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False


class JsonLines(logging.Formatter):
    """A record as one line of JSON: time, level, event, and whatever was given as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        """Write the line."""
        row: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": hidden(record.getMessage()),
        }
        row |= {name: value for name, value in record.__dict__.items() if name not in _RECORD and name != "taskName"}
        if record.exc_info and record.exc_info[1] is not None:
            row |= _trace(record.exc_info[1])
        return json.dumps(row, ensure_ascii=True, default=str)


def _trace(error: BaseException) -> Mapping[str, Any]:
    """Name an error and the places it came through. Its message may quote a text, and is left out."""
    places, trace = [], error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return {"error": type(error).__name__, "trace": places[-12:]}


def _check_started(codes: list[int | None]) -> None:
    if STARTUP_FAILED in codes:
        sys.exit(STARTUP_FAILED)


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


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

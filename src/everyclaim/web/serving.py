"""The server under the service and the dashboard: how it begins and ends, what it writes into its log.

An asked-for end lets requests under way finish.
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
from collections.abc import Callable
from datetime import UTC, datetime
from multiprocessing.connection import wait
from traceback import walk_tb
from typing import Any

from uvicorn import Config, Server
from uvicorn.supervisors import Multiprocess

from everyclaim.core.errors import OperatorError
from everyclaim.core.plaintext import hidden
from everyclaim.web.settings import Binding

STARTUP_FAILED = 3  # uvicorn's exit code
_OURS = ("everyclaim", "uvicorn.error")
_BACKLOG = 512  # connections that wait to be accepted
_RECORD = {*logging.LogRecord("", 0, "", 0, "", None, None).__dict__, "message", "color_message", "taskName"}
_IDLE = 15  # seconds between requests of one connection
_GRACE, _CLOSING = 30, 2  # seconds that an asked-for end may take, and those of them for closing what is open


def run(app: Callable[[], Any], binding: Binding, *, on_listening: Callable[[str], None]) -> None:
    """Serve what `app` makes until an end is asked for: by Ctrl-C, by SIGTERM.

    `app` is called once in every process; with several `workers` it must be possible to pickle it (a function of a
    module, a `functools.partial` of one). `on_listening` is told the address once connections are taken. Raises
    `OperatorError` where the address cannot be had.
    """
    listener = _listen(binding)
    config = Config(
        app,
        factory=True,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        workers=binding.workers,
        timeout_keep_alive=_IDLE,
        timeout_graceful_shutdown=_GRACE - _CLOSING,
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


class _EndingServer(Server):
    """Ends some seconds after it was asked to, whatever a thread of somebody's judge waits for."""

    def handle_exit(self, sig: int, frame: Any) -> None:
        timer = threading.Timer(_GRACE, os._exit, [128 + sig])
        timer.daemon = True
        timer.start()
        super().handle_exit(sig, frame)


def _listen(binding: Binding) -> socket.socket:
    family = socket.AF_INET6 if ":" in binding.host else socket.AF_INET
    try:
        listener = socket.create_server((binding.host, binding.port), family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:
        reason = (getattr(error, "strerror", None) or "no such address").partition(" (")[0]
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
            places = [
                f"{frame.f_globals.get('__name__', '?')}:{line} {frame.f_code.co_name}"
                for frame, line in walk_tb(error.__traceback__)
            ]
            row |= {"error": type(error).__name__, "trace": places[-12:]}
        return json.dumps(row, ensure_ascii=True, default=str)

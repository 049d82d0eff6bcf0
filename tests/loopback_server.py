"""A server on loopback that answers whatever a test says, for what sends over HTTP."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import BinaryIO, NamedTuple


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)


class Received(NamedTuple):
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    method: str = "POST"


class Reply(NamedTuple):
    status: int = 200  # 0: the connection breaks
    body: bytes = b""
    headers: Mapping[str, str] = {}


def chunks(file: BinaryIO) -> Iterator[bytes]:
    while size := int(file.readline(), 16):
        yield file.read(size + 2)[:size]
    file.readline()


@contextmanager
def serving(answer: Callable[[Received], Reply]) -> Iterator[str]:
    """Serve on a free port what `answer` says; yields the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.headers.get("transfer-encoding") == "chunked":
                body = b"".join(chunks(self.rfile))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = answer(Received(self.path, headers, body, self.command))
            if not reply.status:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            with suppress(OSError):  # the sender has given up
                self.send_response(reply.status)
                for name, value in {**reply.headers, "content-length": str(len(reply.body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body)

        do_GET = do_POST  # noqa: N815 - as http.server calls it

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

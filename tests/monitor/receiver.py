"""A receiver of webhooks on loopback that answers as it is told, and keeps what came."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Received:
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Receiver:
    """`replies` are the statuses of the first requests, then 200; with `headers` beside, `stall` seconds late."""

    url: str = ""
    replies: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    stall: float = 0.0
    requests: list[Received] = field(default_factory=list)


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            receiver.requests.append(Received(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            time.sleep(receiver.stall)
            try:
                self.send_response(receiver.replies.pop(0) if receiver.replies else 200)
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"ok")
            except OSError:
                pass  # the sender has given up

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

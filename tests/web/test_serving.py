"""The server: where it may listen, whom it cuts off, what it logs. A real one, in a process of its own."""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import subprocess
import sys

import pytest

from everyclaim import ConfigError
from everyclaim.web.serving import JsonLines
from everyclaim.web.settings import Binding

SERVER = """
from everyclaim.web import serving

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"].endswith("shutdown"):
                return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"xxxxx"})

def make():
    serving.log_to_stderr()
    serving.with_parent()
    return app

if __name__ == "__main__":
    binding = serving.Binding(port=0, head_seconds=0.5, write_seconds=0.5)
    serving.run(make, binding, on_listening=lambda address: print(address, flush=True))
"""


class Served:
    def __init__(self, folder):
        script = folder / "server.py"
        script.write_text(SERVER)
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen([sys.executable, str(script)], text=True, **pipes)
        self.port = int(self.process.stdout.readline().rpartition(":")[2])

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def get(self, path):
        with self.connect() as client:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            return whole(client)


def whole(client):
    found = bytearray()
    with contextlib.suppress(ConnectionError):  # cut off
        while part := client.recv(65_536):
            found += part
    return bytes(found)


@pytest.fixture
def served(tmp_path):
    server = Served(tmp_path)
    yield server
    server.process.kill()
    server.process.communicate()


def test_loopback_needs_no_token_and_any_other_address_needs_one():
    """What other machines can reach is refused without tokens, with the way out, and taken with them."""
    for host in ("127.0.0.1", "127.8.9.1", "localhost", "LOCALHOST.", "::1", "[::1]"):
        Binding(host).check(has_tokens=False)
    for host in ("0.0.0.0", "::", "192.0.2.1", "localhost.example.com", "", "127.0.0.1.example.com"):
        Binding(host).check(has_tokens=True)
        with pytest.raises(ConfigError, match="--new-token"):
            Binding(host).check(has_tokens=False)


@pytest.mark.parametrize("before", [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"])
def test_who_sends_no_whole_head_is_cut_off(served, before):
    """A head that does not come to its end within its time ends the connection; so does that of a second request."""
    with served.connect() as client:
        client.sendall(before + b"GET / HTTP/1.1\r\nHost: local")
        assert whole(client).count(b"xxxxx") == bool(before)
    assert served.get("/").endswith(b"xxxxx")


def test_a_log_line_is_json_without_secrets_or_texts():
    """An error is logged by its kind and places; its message, which may quote a text, is not."""
    fault = ValueError("the patient's name is in here")
    about = ("a fault with %s", ("token=ecl_1234567890",), (ValueError, fault, None))
    record = logging.LogRecord("everyclaim.web", logging.ERROR, __file__, 1, *about)
    record.status = 500
    line = JsonLines().format(record)
    row = json.loads(line)
    assert row["status"] == 500
    assert row["error"] == "ValueError"
    assert "patient" not in line
    assert "1234567890" not in line
    assert "\n" not in line

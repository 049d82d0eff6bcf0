"""A service in a process of its own, asked over loopback."""

from __future__ import annotations

import http.client
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

BRIDGE = {"response": "The bridge is 120 metres long.", "contexts": ["The bridge is 120 m long."]}


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Service:
    headers: dict[str, dict[str, str]]
    token: str

    def __init__(self, folder: Path, *options: str, env: dict[str, str] | None = None) -> None:
        self.folder = folder
        known = {key: value for key, value in os.environ.items() if not key.startswith("EVERYCLAIM_")}
        path = os.pathsep.join([str(folder), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "everyclaim", "serve", "--port", "0", *options],
            cwd=folder,
            env=known | {"PYTHONPATH": path} | (env or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []
        self._told: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.port = int(self.wait_for("listening on").rpartition(":")[2])
        workers = int(options[options.index("--workers") + 1]) if "--workers" in options else 1
        for _ in range(workers):
            self.wait_for("Application startup complete")

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _read(self) -> None:
        for line in self.process.stderr:
            self.lines.append(line)
            self._told.put(line)
        self._told.put("")

    def wait_for(self, text: str) -> str:
        while line := self._told.get(timeout=60):
            if text in line:
                return line.strip()
        raise AssertionError(f"the service ended: {''.join(self.lines)}")

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines if line.startswith("{")]

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        given = dict(headers or {})
        if body is not None and not isinstance(body, bytes | str):
            body = json.dumps(body)
            given.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, given)
            found = connection.getresponse()
            return Answer(found.status, {name.lower(): value for name, value in found.getheaders()}, found.read())
        finally:
            connection.close()

    def ended_job(self, job: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = self.ask("GET", f"/v1/jobs/{job}", headers=headers).json
            if found["ended"]:
                return found
            time.sleep(0.05)
        raise AssertionError(f"the job did not end: {found}")

    def send(self, path: str, head: str, body: bytes, *, waits: bool = True) -> bytes:
        """Send a request as it stands, and return what comes before the connection ends, or a part of it."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as client:
            lines = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{head}\r\n\r\n"
            client.sendall(lines.encode())
            with suppress(ConnectionError):
                client.sendall(body)
            return client.recv(65_536) if waits else time.sleep(0.3) or b""

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join(30)  # workers end behind it, and with them the pipe
        self.process.stdout.close()
        self.process.stderr.close()

"""``everyclaim ui``: a real process, asked over loopback."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import httpx
import pytest


@pytest.fixture
def started(tmp_path):
    running = []

    def start(*options: str) -> tuple[str, subprocess.Popen[str]]:
        command = [sys.executable, "-m", "everyclaim", "ui", "--port", "0", *options]
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        running.append(process)
        said = process.stderr.readline()
        return said, process

    yield start
    for process in running:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.mark.slow
def test_the_dashboard_is_served_and_ends_in_order(started):
    """It tells its address, answers there, keeps what it is asked out of its log, and ends when it is asked to."""
    said, process = started("--store", "somewhere/runs.db")
    address = re.search(r"http://127\.0\.0\.1:\d+", said)[0]
    assert "No run yet" in httpx.get(f"{address}/?q=a-secret-question", timeout=30).text
    process.send_signal(signal.SIGTERM)
    log = process.stderr.read()
    assert process.wait(30) in {0, 143, -signal.SIGTERM}
    assert "a-secret-question" not in log

"""Batched runs that are killed, and files that two processes want."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from batching import answers, ask_batched, echo, numbered, settings, taken
from killed_batches import SAMPLES

from batch_provider import BatchScript, BatchServer
from everyclaim.core.errors import StoreError
from everyclaim.testing import hang

PROGRAM = str(Path(__file__).parent / "killed_batches.py")
WHOLE = [[question, f"then {question}"] for question in numbered(SAMPLES)]
ONCE = dict.fromkeys([text for sample in WHOLE for text in sample], 1)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills with SIGKILL")


def start(server: BatchServer, wire: str, folder: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, PROGRAM, server.base_url, wire, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "begun\n"
    return process


def kill(process: "subprocess.Popen[str]") -> str:
    """Kill it; return what it had said since it began."""
    process.kill()
    return rest(process)


def rest(process: "subprocess.Popen[str]") -> str:
    # Not by `communicate`, which passes over what came in one piece with the first line.
    with process:
        assert process.stdout
        return process.stdout.read()


def finish(process: "subprocess.Popen[str]") -> object:
    return json.loads(rest(process))


@pytest.mark.slow
@pytest.mark.parametrize("wire", ["chat", "messages"])
def test_a_killed_run_pays_for_nothing_twice(wire: str, tmp_path: Path) -> None:
    """Killed at random moments until it gets through: the results of an undisturbed run, each request taken once."""
    dice = random.Random(f"{wire} 20260401")
    kills = 0
    for attempt in range(40):  # how often a run can be killed before it ends depends on the machine
        if kills >= 6:
            break
        with BatchServer(echo, latency=0.01, batches=BatchScript(polls=4)) as server:
            folder = tmp_path / str(attempt)
            while True:
                process = start(server, wire, folder)
                time.sleep(dice.random() * 0.35)
                if kill(process):
                    break
                kills += 1
            assert finish(start(server, wire, folder)) == WHOLE
            assert taken(server) == ONCE
    assert kills >= 6


@pytest.mark.slow
@pytest.mark.parametrize("wire", ["chat"])
def test_a_kill_between_taken_and_noted_is_made_good(wire: str, tmp_path: Path) -> None:
    """The provider has the batch, the process dies before it hears of it: the next one finds it by itself."""
    with BatchServer(echo, batches=BatchScript(submissions=[hang(), hang()], polls=4)) as server:
        for number in (1, 2):
            process = start(server, wire, tmp_path)
            while len(server.batch_desk.batches) < number:
                time.sleep(0.002)
            kill(process)
        assert finish(start(server, wire, tmp_path)) == WHOLE
        assert taken(server) == ONCE


@pytest.mark.slow
@pytest.mark.parametrize("wire", ["messages"])
def test_a_second_process_is_refused(wire: str, tmp_path: Path) -> None:
    """While one run holds the file another stops with what to do; when the first is gone, it goes on."""
    with BatchServer(echo, batches=BatchScript(polls=10**9)) as server:
        process = start(server, wire, tmp_path)
        while not server.batch_desk.looks:
            time.sleep(0.002)
        replies = ask_batched(server, wire, settings(tmp_path, cache=False), numbered(2))
        assert all(isinstance(reply, StoreError) for reply in replies)
        assert "another process" in str(replies[0])
        kill(process)
        server.batch_desk.script = BatchScript()
        assert answers(ask_batched(server, wire, settings(tmp_path), numbered(2))) == numbered(2)
        assert taken(server)["question 0"] == 1

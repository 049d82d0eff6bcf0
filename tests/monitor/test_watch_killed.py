"""A watch that is killed again and again ends up like one that nobody touched."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from real_stores import place, postgres, postgres_server  # noqa: F401 - fixtures
from watching import append, ids, row

from everyclaim.monitor.watch.plan import share
from everyclaim.store.store import Store

PROGRAM = """
import asyncio, os, sys
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/.."]
from watching import ByWords
import everyclaim as ec

class Slow(ByWords):
    async def verify(self, *args, **named):
        await asyncio.sleep(0.003)
        return await super().verify(*args, **named)

def announce(event):
    if type(event).__name__ == "SampleFinished":
        os.write(1, f"{event.result.id}\\n".encode())

options = {"rate": 0.5, "slices": ["tenant"], "min_per_slice": 5, "every": 0.01, "concurrency": 4}
ec.watch(sys.argv[2], store=sys.argv[3], judge=Slow(), hooks=[announce], **options)
"""


def start(folder: Path, store: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent), str(folder), store]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills with SIGKILL")
def test_a_killed_watch_loses_nothing_and_repeats_nothing(place: str, tmp_path: Path) -> None:  # noqa: F811
    """Killed at random moments while files grow and are rotated: every chosen answer has one result."""
    folder, dice = tmp_path / "log", random.Random(20261123)
    folder.mkdir()
    log, written, announced, kills = folder / "answers.jsonl", 0, set[str](), 0
    for _ in range(8):
        rows = [row(number, tenant=f"t{number % 3}") for number in range(written, written + 15)]
        written += len(rows)
        append(log, *rows)
        if dice.random() < 0.3:
            log.rename(folder / f"answers.jsonl.{written}")
        with start(folder, place) as process:
            assert process.stdout
            for _ in range(dice.randint(0, 12)):
                if written * 0.5 - 12 < len(announced):
                    break
                announced.add(process.stdout.readline().strip())
            time.sleep(dice.random() * 0.1)
            process.kill()
            kills += 1
            announced |= {line.strip() for line in process.stdout if line.endswith("\n")}
        with Store.open(place) as store:
            kept = {one.id for run in store.runs() for one in store.results(run.id)}
        assert announced - {""} <= kept, "an announced result was lost"
    wanted = {f"a{number}" for number in range(written) if share(f"id:a{number}") < 0.5}
    with start(folder, place) as process:
        until = time.monotonic() + 60
        while not wanted <= set(ids(place)) and time.monotonic() < until:
            time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
    counts = ids(place)
    assert wanted <= set(counts)
    assert set(counts.values()) == {1}, "an answer has two results"
    assert kills == 8


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="ends by signals")
def test_a_watch_ends_in_order_when_it_is_asked_to(tmp_path: Path) -> None:
    """What is begun is kept, the runs are finished, and the command ends with 0."""
    log = tmp_path / "answers.jsonl"
    append(log, *(row(number) for number in range(3)))
    options = ["--store", str(tmp_path / "r.db"), "--judge", "lexical", "--every", "0.05"]
    command = [sys.executable, "-m", "everyclaim", "watch", str(log), *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        assert process.stderr.readline().startswith("watching answers.jsonl")
        assert "3 new answers · 3 judged" in process.stderr.readline()
        append(log, row(4))
        assert "1 new answer · 1 judged" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        told = process.stderr.read()
    assert process.returncode == 0
    assert "terminated; total: 4 new answers · 4 judged" in told
    with Store.open_to_read(tmp_path / "r.db") as store:
        assert [run.status for run in store.runs()] == ["finished"]

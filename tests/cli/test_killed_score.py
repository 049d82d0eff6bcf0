"""`everyclaim score` killed again and again with a judge that outlives it: nothing is lost, changed, or paid for twice.

What is kept of it is in the cache of replies, or without one in the store, a file or a server.
"""

import hashlib
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from everyclaim.store.store import Store
from everyclaim.testing import JudgeServer, play

KILLS = 8
IN_A_BLINK = 2  # of them at any moment after the start, before the first request among those
ANSWERS = 40
CONCURRENCY = 6
WAIT = 60.0

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="kills with SIGKILL")]


class Provider:
    """A judge whose every reply can be told from every other, so that a stored one can be named."""

    def __init__(self) -> None:
        self.asked: list[str] = []  # the request behind each reply, in the order they came in
        self.replied: dict[str, str] = {}  # reply → request
        self.about: dict[str, str] = {}  # request → the answer that it asks about
        self._more = threading.Condition()

    def __call__(self, request) -> str:
        name = hashlib.sha256(request.text.encode()).hexdigest()
        reply = json.dumps(json.loads(play(request)) | {"request": name})
        with self._more:
            self.asked.append(name)
            self.replied[reply] = name
            self.about[name] = "a" + re.findall(r"Kettle (\d+)", request.text)[-1]
            self._more.notify_all()
        return reply

    def wait_for(self, calls: int, process: "subprocess.Popen[bytes]", blink: float | None = None) -> None:
        """Return when so many requests came in, or the process is gone, or a blink of seconds is over."""
        end = time.monotonic() + (WAIT if blink is None else blink)
        with self._more:
            while len(self.asked) < calls and process.poll() is None:
                if time.monotonic() >= end:
                    assert blink is not None, "the run stands still"
                    return
                self._more.wait(0.01)


def write_answers(path: Path) -> None:
    """Write answers of two sentences, of which the passages hold the first, and the second every third time."""
    rows = (
        {
            "id": f"a{i}",
            "response": f"Kettle {i} is red. It holds {i} litres.",
            "contexts": [f"Kettle {i} is red and new.", f"It holds {i if i % 3 else i + 1} litres of water."],
        }
        for i in range(ANSWERS)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def start(server: JudgeServer, folder: Path, *options: str) -> "subprocess.Popen[bytes]":
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "everyclaim", "score", "../answers.jsonl", "--judge", "openai:some-model"]
    command += ["--base-url", server.base_url, "--concurrency", str(CONCURRENCY), "--out", "results.jsonl", "--quiet"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("EVERYCLAIM_")}
    return subprocess.Popen([*command, *options], cwd=folder, env=clean, stderr=subprocess.PIPE)


def finish(process: "subprocess.Popen[bytes]") -> None:
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said.decode()


def stored(folder: Path, provider: Provider) -> set[str]:
    """Return the requests whose replies are in the run's cache."""
    file = folder / "replies.db"
    if not file.exists():
        return set()
    with closing(sqlite3.connect(file)) as cache:
        try:
            rows = cache.execute("SELECT reply FROM replies_1").fetchall()
        except sqlite3.OperationalError:  # killed between making the file and its table
            return set()
    return {provider.replied[json.loads(reply)["content"]] for (reply,) in rows}


def scored(place: str, provider: Provider) -> set[str]:
    """Return the requests about the answers that the store holds for the run that is not finished."""
    with Store.open(place) as store:
        (run,) = [run.id for run in store.runs() if run.status != "finished"] or [""]
        kept = {one.sample.id for one in store.records(run)}
    return {request for request, answer in provider.about.items() if answer in kept}


def rows(place: str) -> list[list[object]]:
    """Return what the store holds of the claims of each of its runs."""
    table = "everyclaim.claims" if place.startswith("postgresql") else "claims"
    query = sa.text(f"SELECT * FROM {table} WHERE run_id = :run ORDER BY position, ordinal")
    with Store.open(place) as store, store._engine.connect() as connection:
        assert {run.status for run in store.runs()} == {"finished"}
        return [[tuple(row)[1:] for row in connection.execute(query, {"run": run.id})] for run in store.runs()]


def results(folder: Path) -> list[str]:
    """Return the lines of the output without what the command paid: a resumed one was given some replies for nothing."""
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    used = [row.pop("usage") for row in rows]
    assert {usage["calls"] + usage["cache_hits"] for usage in used} == {2}
    return [json.dumps(row) for row in rows]


@pytest.mark.parametrize(
    ("place", "cached"), [("sqlite", True), ("sqlite", False), ("postgres", False)], indirect=["place"]
)
def test_killed_again_and_again_a_run_gives_the_same_bytes_and_pays_for_nothing_twice(
    cached: bool, place: str, tmp_path: Path
) -> None:
    """Between two calls, within one, while writing, while starting: what was stored is never asked for again."""
    dice = random.Random(20261121)
    write_answers(tmp_path / "answers.jsonl")
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    undisturbed, provider = Provider(), Provider()
    options = ("--store", place, *(["--cache", "replies.db"] if cached else ["--no-cache"]))
    under_way = CONCURRENCY if cached else 4 * CONCURRENCY  # requests that a kill may undo
    before_the_end = 2 * ANSWERS - 3 * CONCURRENCY  # however fast the machine is
    by_progress = sorted(dice.sample(range(1, before_the_end), KILLS - IN_A_BLINK))
    moments: list[int | None] = [*by_progress]
    for _ in range(IN_A_BLINK):
        moments.insert(dice.randrange(len(moments)), None)

    def known() -> set[str]:
        return stored(folder, provider) if cached else scored(place, provider)

    with JudgeServer(undisturbed, latency=0.01, keep=False) as server:
        finish(start(server, whole, *options))
        assert len(undisturbed.asked) == len(set(undisturbed.asked)) == 2 * ANSWERS
        server.script(provider)
        repeated = 0
        for moment in moments:
            before, asked = known(), len(provider.asked)
            process = start(server, folder, *options)
            if moment is None:
                provider.wait_for(asked + 1, process, blink=dice.random() * 0.9)
            else:
                # Requests that a kill cut off come again, so progress is counted without them.
                provider.wait_for(moment + repeated, process)
                time.sleep(dice.random() * 0.01)
            assert process.poll() is None, "the run was over before it could be killed"
            process.kill()
            process.communicate()
            assert not before & set(provider.asked[asked:]), "what was stored was asked for again"
            assert len(set(provider.asked) - known()) <= under_way, "a reply was not stored at once"
            repeated = len(provider.asked) - len(set(provider.asked))
        before, asked = known(), len(provider.asked)
        finish(start(server, folder, *options))
        assert not before & set(provider.asked[asked:])

    # Two calls an answer, and again only what was on its way when a kill came.
    assert set(provider.asked) == set(undisturbed.asked)
    assert len(provider.asked) <= 2 * ANSWERS + KILLS * under_way
    assert results(folder) == results(whole)
    killed, untouched = rows(place)
    assert killed == untouched

"""A run that is killed again and again ends up like one that nobody touched."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from killed_run import NUMBER

from everyclaim.core.wire import result_to_json
from everyclaim.store.store import Store
from scored_runs import PROVENANCE

PROGRAM = str(Path(__file__).parent / "killed_run.py")


def start(place: str, run: str, calls: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, PROGRAM, place, run, str(calls)], stdout=subprocess.PIPE, text=True)


def content(place: str, run: str) -> tuple[list[object], ...]:
    """Give everything a store holds for a run: records, and the rows of claims and tags."""
    prefix = "everyclaim." if place.startswith("postgresql") else ""
    with Store.open(place) as store:
        records = [(k.position, k.fingerprint, k.sample, result_to_json(k.result)) for k in store.records(run)]
        tables: list[list[object]] = []
        with store._engine.connect() as connection:
            for table in ("claims", "tags"):
                query = sa.text(f"SELECT * FROM {prefix}{table} WHERE run_id = :run ORDER BY position, ordinal")
                tables.append([tuple(row)[1:] for row in connection.execute(query, {"run": run})])
    return (list(records), *tables)


def kill_until_done(place: str, run: str, calls: Path, dice: random.Random) -> int:
    """Kill the run at random moments and resume it until it ends by itself; return how many kills it took."""
    kills = 0
    ever_called: set[str] = set()
    while True:
        with Store.open(place) as store:
            before = {f"s{position}" for position in store.kept(run, 0, NUMBER)}
        calls.write_text("")
        announced: list[str] = []
        with start(place, run, calls) as process:
            assert process.stdout
            for _ in range(dice.randint(0, 24)):
                line = process.stdout.readline()
                if line:
                    announced.append(line.strip())
            time.sleep(dice.random() * 0.02)
            ended = process.poll() is not None
            process.kill()
            announced += [line.strip() for line in process.stdout if line.endswith("\n")]
        called = calls.read_text().split()
        assert not before & set(called), "a kept sample was scored again"
        assert len(set(called)) == len(called)
        with Store.open(place) as store:
            after = {f"s{position}" for position in store.kept(run, 0, NUMBER)}
        assert before | set(announced) <= after, "an announced sample was lost"
        ever_called.update(called)
        assert after <= ever_called
        if ended:
            assert process.returncode == 0
            return kills
        kills += 1


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills with SIGKILL")
def test_a_killed_run_loses_nothing_and_repeats_nothing(place: str, tmp_path: Path) -> None:
    """Killed at eight or more random moments, the content is that of an undisturbed run."""
    with Store.open(place) as store:
        killed, whole = store.create_run(PROVENANCE).id, store.create_run(PROVENANCE).id
    with start(place, whole, tmp_path / "whole") as process:
        process.communicate(timeout=120)
    kills = kill_until_done(place, killed, tmp_path / "calls", random.Random(20260101))
    assert kills >= 8
    expected = content(place, whole)
    assert len(expected[0]) == NUMBER
    assert content(place, killed) == expected
    with Store.open(place) as store:
        assert store.run(killed).status == "finished"
        assert store.run(killed).counts == store.run(whole).counts

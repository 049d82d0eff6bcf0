"""PostgreSQL that is restarted while somebody writes to it: nothing is lost, nothing is doubled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from real_stores import Server

from everyclaim.core.errors import StoreError
from everyclaim.core.protocols import Kept
from everyclaim.core.types import Outcome, Provenance, Result, Sample
from everyclaim.store.store import Store
from loopback_server import until

pytestmark = pytest.mark.slow
WEB = Path(__file__).parents[1] / "web"
ANSWERS = 40


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server.running() as running:
        yield running


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    rows = [
        {"id": f"a{number}", "response": f"It weighs {number} kg.", "contexts": [f"It weighs {number} kg."]}
        for number in range(ANSWERS)
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def scoring(answers: Path, url: str, log: Path) -> subprocess.Popen[str]:
    command = [
        sys.executable, "-m", "everyclaim", "score", answers.name, "--store", url, "--judge", "python:slow_judge:judge",
        "--concurrency", "2",
    ]  # fmt: skip
    path = os.pathsep.join([str(WEB), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, "JUDGE_SECONDS": "0.15", "JUDGE_LOG": str(log), "NO_COLOR": "1"}
    return subprocess.Popen(
        command, cwd=answers.parent, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def asked(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def kept(url: str) -> list[Counter[str]]:
    """How often each answer is in each run of a store."""
    with Store.open_to_read(url) as store:
        return [Counter(result.id for result in store.results(run.id)) for run in store.runs()]


def test_a_run_goes_on_after_a_restart(server: Server, answers: Path, tmp_path: Path) -> None:
    """The server comes back within seconds: one run, with every answer once."""
    url, log = server.database(), tmp_path / "asked"
    process = scoring(answers, url, log)
    until(lambda: asked(log) >= 10)
    server.stop()
    server.start()
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert "waiting for the server" in said
    assert asked(log) == ANSWERS, "nothing was judged twice"
    assert kept(url) == [Counter({f"a{number}": 1 for number in range(ANSWERS)})]


def test_a_run_whose_server_stays_away_ends_with_a_line_and_is_gone_on_with(
    server: Server, answers: Path, tmp_path: Path
) -> None:
    """What is kept stays; the same command again scores the rest alone."""
    url, log = server.database(), tmp_path / "asked"
    process = scoring(answers, url, log)
    until(lambda: asked(log) >= 10)
    server.stop()
    try:
        said, _ = process.communicate(timeout=120)
    finally:
        server.start()
    assert process.returncode == 2
    assert said.splitlines()[-1].endswith("; stored results are safe: repeat the command when the server is back")
    assert "Traceback" not in said
    (before,) = kept(url)
    asked_before = asked(log)
    again = scoring(answers, url, log)
    said, _ = again.communicate(timeout=120)
    assert again.returncode == 0, said
    assert kept(url) == [Counter({f"a{number}": 1 for number in range(ANSWERS)})]
    assert asked(log) - asked_before == ANSWERS - len(before)


def test_a_run_is_held_again_or_lost_to_who_took_it(server: Server) -> None:
    """A lock on the server ends with the connection: who goes on without it would not be alone."""
    provenance = Provenance("faithfulness", "embedded", "lexical", "joint", "0", {})
    sample = Sample("s", "It is red.", ())

    def result() -> Result:
        return Result("s", Outcome.NO_CLAIMS, None, provenance=provenance)

    url = server.database()
    with Store.open(url) as ours, Store.open(url) as theirs:
        run = ours.create_run(provenance).id
        server.stop()
        server.start()
        ours.save_all(run, [Kept(0, "f", sample, result())])
        with pytest.raises(StoreError, match="scored by another process"):
            theirs.resume_run(run)
        server.stop()
        server.start()
        theirs.resume_run(run)
        with pytest.raises(StoreError, match=f"another process continued {run}"):
            ours.save_all(run, [Kept(1, "g", sample, result())])
        theirs.save_all(run, [Kept(1, "g", sample, result())])
        theirs.finish_run(run, "finished")

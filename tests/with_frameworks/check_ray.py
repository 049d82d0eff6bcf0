"""Scoring on Ray, held against an installed Ray on this machine. Run by ``make integrations``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import ray
from framework_answers import GOOD, PASSAGES, QUESTION, SHY, WRONG

import everyclaim as ec
from everyclaim.integrations.ray import on_ray, score_dataset, summary_of
from everyclaim.testing import JudgeServer, play

ANSWERS = (GOOD, WRONG, SHY)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


def rows_of(number: int) -> list[dict[str, object]]:
    return [
        {"id": f"a{i}", "question": f"{QUESTION} ({i})", "response": ANSWERS[i % 3], "contexts": PASSAGES}
        for i in range(number)
    ]


def what_was_found(run: ec.Run) -> list[tuple[object, ...]]:
    return [(one.id, one.outcome, one.score, one.claims) for one in run.results()]


def test_workers_find_what_would_be_found_here(tmp_path: Path) -> None:
    """The same results in the same order, from processes other than this one."""
    store = tmp_path / "runs.db"
    with ec.Evaluator() as evaluator, on_ray(evaluator, actors=2):
        there = evaluator.score_file(rows_of(30), store=store, resume=None)
    assert what_was_found(there) == what_was_found(ec.score_file(rows_of(30), store=store, resume=None))
    assert there.record.status == "finished"
    seen = tmp_path / "processes"
    seen.mkdir()

    def named_by_its_process(claim: str, passages: list[str]) -> dict[str, str]:
        """Wait for a second process to take part: on a busy machine one could be done before it has started."""
        (seen / str(os.getpid())).touch()
        until = time.monotonic() + 60
        while len(list(seen.iterdir())) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        return {"label": "SUPPORTED", "rationale": str(os.getpid())}

    with ec.Evaluator(judge=named_by_its_process) as evaluator:
        with on_ray(evaluator, actors=2):
            run = evaluator.score_file(rows_of(30), store=store, resume=None)
        processes = {claim.verdict.rationale for one in run.results() for claim in one.claims}
        assert len(processes) == 2
        assert str(os.getpid()) not in processes
        here = evaluator.score_file(rows_of(3), store=store, resume=None)  # lent no longer
        assert {claim.verdict.rationale for one in here.results() for claim in one.claims} == {str(os.getpid())}


def test_a_worker_killed_in_the_middle_costs_nothing(tmp_path: Path) -> None:
    """What it had in work is scored by others: every sample once, none failed."""
    marks = tmp_path / "killed"

    def judge(claim, passages):
        if claim.text == WRONG and not marks.exists():
            marks.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return "SUPPORTED"

    with ec.Evaluator(judge=judge) as evaluator, on_ray(evaluator, actors=2):
        run = evaluator.score_file(rows_of(40), store=tmp_path / "runs.db")
    assert marks.exists()
    assert [one.id for one in run.results()] == [f"a{i}" for i in range(40)]
    assert {one.outcome for one in run.results()} == {"scored", "abstained"}


def test_a_sample_that_kills_workers_fails_alone(tmp_path: Path) -> None:
    """Three workers die of it, it is a failure with its reason, and its neighbours have their scores."""

    def judge(claim, passages):
        if "poison" in claim.text:
            os.kill(os.getpid(), signal.SIGKILL)
        return "SUPPORTED"

    rows = rows_of(12)
    rows[5]["response"] = "The unit weighs poison."
    with ec.Evaluator(judge=judge) as evaluator, on_ray(evaluator, actors=2):
        run = evaluator.score_file(rows, store=tmp_path / "runs.db")
    failed = [one for one in run.results() if one.outcome == "failed"]
    assert [(one.id, one.score) for one in failed] == [("a5", None)]
    assert failed[0].reason.startswith("worker_lost: 3 workers died")


def test_language_models_are_asked_by_workers_within_one_limit(tmp_path: Path) -> None:
    """What they use is counted with the evaluator, and shares of a limit add up to it."""
    store = tmp_path / "runs.db"
    with JudgeServer(play, keep=False) as server:
        options = {"judge": "openai:m", "base_url": server.base_url, "decomposer": "embedded"}
        with ec.Evaluator(**options) as evaluator, on_ray(evaluator, actors=2):
            run = evaluator.score_file(rows_of(9), store=store)
        assert run.summary.overall.scored == 6
        assert evaluator.usage.calls == server.calls == 9  # a refusal is judged too
        limited = ec.Evaluator(**options, max_calls=6)
        with limited, on_ray(limited, actors=2), pytest.raises(ec.BudgetExceeded, match="max_calls"):
            limited.score_file(rows_of(60), store=store)
        assert server.calls <= 15


def test_what_cannot_work_is_told_before_anything_is_scored(tmp_path: Path) -> None:
    """Options that are wrong, limits that cannot be shared, what cannot be sent."""
    with ec.Evaluator() as evaluator:
        for options, told in (
            ({"actors": 0}, "at least 1"),
            ({"cpus": -1.0}, "at least 0"),
            ({"address": "auto"}, "already running in this process"),
        ):
            with pytest.raises(ec.ConfigError, match=told), on_ray(evaluator, **options):
                pass
    limited = ec.Evaluator(judge="openai:m", base_url="http://127.0.0.1:9", max_calls=1)
    with (
        limited,
        pytest.raises(ec.ConfigError, match="max_calls=1 cannot be divided among 2"),
        on_ray(limited, actors=2),
    ):
        pass
    with (tmp_path / "open").open("w") as file:
        evaluator = ec.Evaluator(judge=lambda claim, passages: file.name)
        with evaluator, pytest.raises(ec.ConfigError, match="cannot be sent"), on_ray(evaluator, actors=1):
            pass
    with pytest.raises(ec.ConfigError, match="actors="):
        score_dataset(ray.data.from_items([{"response": GOOD}]), judge="openai:m", max_cost=1.0)
    with pytest.raises(ec.ConfigError, match="juge"):
        score_dataset(ray.data.from_items([{"response": GOOD}]), juge="embedded")


def test_a_dataset_gets_a_score_beside_every_row(tmp_path: Path) -> None:
    """Lists of texts and of objects as passages, a row that cannot be read; written, read again and summed up."""
    rows = [{"n": i, "question": QUESTION, "answer": ANSWERS[i % 3], "documents": PASSAGES} for i in range(20)]
    rows.append({"n": 20, "question": QUESTION, "answer": None, "documents": PASSAGES})
    scored = score_dataset(ray.data.from_items(rows), actors=1, batch_size=8)
    scored.write_parquet(str(tmp_path / "scored"))
    again = ray.data.read_parquet(str(tmp_path / "scored"))
    found = sorted(again.take_all(), key=lambda row: row["n"])
    assert [row["everyclaim_score"] for row in found[:3]] == [1.0, 0.0, None]
    assert [row["everyclaim_outcome"] for row in found[:3]] == ["scored", "scored", "abstained"]
    assert found[1]["everyclaim_claims"] == 1
    assert found[1]["everyclaim_supported"] == 0
    assert (found[20]["everyclaim_outcome"], found[20]["everyclaim_result"]) == ("unread", None)
    assert "is missing" in found[20]["everyclaim_reason"]
    assert json.loads(found[0]["everyclaim_result"])["claims"][0]["text"] == GOOD
    summary = summary_of(again)
    assert (summary.overall.total, summary.overall.scored, summary.bad_rows) == (20, 14, 1)
    assert summary.overall.score.value == 0.5


def test_the_command_line_scores_on_ray(tmp_path: Path) -> None:
    """With a Ray of its own on this machine; the run is an ordinary one."""
    data = tmp_path / "answers.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows_of(6)), "utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "everyclaim", "score", str(data), "--store", str(tmp_path / "runs.db")),
            *("--ray", "local", "--ray-actors", "1", "--json"),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["summary"]["outcomes"]["scored"] == 4

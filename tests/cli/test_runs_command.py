"""`runs`, `report` and `doctor` only look; `runs --delete` changes what it is told to."""

import json
import os
import signal
import subprocess
import sys

import pytest
from command_line import ANSWERS, clean_env, tree, write_jsonl

from everyclaim.core.types import Label
from everyclaim.store.records import Annotation, answer_key_of
from everyclaim.store.store import Store


def listed(everyclaim):
    return json.loads(everyclaim("runs", "--json").out)


@pytest.mark.parametrize("command", [["runs"], ["runs", "--json"], ["report"], ["doctor"]])
@pytest.mark.parametrize("store", [".everyclaim/runs.db", "no/such/runs.db"])
def test_looking_makes_no_store(everyclaim, desk, command, store):
    """Nor a folder for one; where there is nothing to show, that is said."""
    before = tree(desk)
    done = everyclaim(*command, "--store", store)
    assert tree(desk) == before
    assert done.code == (2 if command[0] == "report" else 0)
    if command == ["runs"]:
        assert done.out == f"no runs yet: there is no store at {store}\n"
    if command == ["report"]:
        assert done.said == [f"error: there is no store at {store}: score a file first"]


def test_runs_are_listed_with_their_scores(everyclaim):
    """The mean with its interval, as in the run's own report; in JSON likewise. At 80 columns it is a table."""
    everyclaim("score", "answers.jsonl", "--quiet")
    score = json.loads(everyclaim("report", "--json").out)["summary"]["score"]
    (listed,) = json.loads(everyclaim("runs", "--json").out)
    assert listed["score"] == score
    heading, _, row, judge = everyclaim("runs").out.splitlines()
    assert judge.startswith("judge ")
    assert heading.split("  ")[0] == "run"
    assert f"0.500   {score['low']:.3f} – {score['high']:.3f}" in row


def test_a_run_is_deleted_by_id_or_name(everyclaim, desk):
    """With everything that belongs to it, and only that; labels belong to the text and stay, which is said."""
    for name in ("one", "two", "three"):
        everyclaim("score", "answers.jsonl", "--quiet", "--name", name)
    with Store.open(".everyclaim/runs.db") as store:
        answer = answer_key_of(store.find(store.run("two").id, "good")[0].sample)
        store.add_labels(store.run("two").id, [Annotation(Label.SUPPORTED, "Ada", answer, answer)])
    ids = {run["name"]: run["id"] for run in listed(everyclaim)}
    done = everyclaim("runs", "--delete", "two", "--delete", ids["one"][:6])
    assert done.code == 0
    assert done.said == [
        f"run {ids['two']} deleted, with 5 samples; 1 human label of its texts stays",
        f"run {ids['one']} deleted, with 5 samples; 1 human label of its texts stays",
    ]
    assert [run["name"] for run in listed(everyclaim)] == ["three"]


def test_of_runs_with_one_name_the_newest_is_shown(everyclaim, caplog):
    """A line says which it is, and lists them all; none is deleted by that name."""
    for _ in range(2):
        everyclaim("score", "answers.jsonl", "--quiet", "--name", "one", "--fresh")
    runs = [f"{run['id']} ({run['created'][:16].replace('T', ' ')} UTC)" for run in listed(everyclaim)]
    done = everyclaim("report", "one")
    assert caplog.messages == [
        f"using the newest of 2 runs named 'one': {', '.join(runs)}; pass an id to choose another"
    ]
    assert f"run {runs[0][:12]}" in done.out
    done = everyclaim("runs", "--delete", "one")
    assert done.said == [f"error: 2 runs are named 'one': {', '.join(runs)}; pass an id"]
    assert len(listed(everyclaim)) == 2


def test_one_answer_is_shown_with_all_its_claims(everyclaim):
    """With the text, supported claims and their evidence too, or as JSON; an unknown id is an error."""
    everyclaim("score", "answers.jsonl", "--quiet")
    done = everyclaim("report", "--answer", "good")
    assert "✓ supported" in done.out
    assert "answer " in done.out
    (row,) = json.loads(everyclaim("report", "--answer", "good", "--json").out)
    assert row["id"] == "good"
    ids = "'good', 'mixed', 'wrong', …"
    done = everyclaim("report", "--answer", "nowhere")
    assert (done.code, done.said) == (
        2,
        [f"error: run {listed(everyclaim)[0]['id']} has no answer with the id 'nowhere'; its ids are {ids}"],
    )
    assert "did you mean 'good'?" in everyclaim("report", "--answer", "goood").err
    assert "leave out --report" in everyclaim("report", "--answer", "good", "--report", "one.html").err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_run_under_way_is_running_and_a_killed_one_interrupted(everyclaim, desk):
    """It cannot be deleted or begun twice while somebody is at it; killed, it goes on at once."""
    write_jsonl("long.jsonl", [ANSWERS[0] | {"id": str(n)} for n in range(5)])
    program = (
        "import time, everyclaim as ec\n"
        "def hold(event):\n"
        "    if type(event).__name__ == 'SampleFinished':\n"
        "        print(flush=True); time.sleep(600)\n"
        "ec.score_file('long.jsonl', judge='scripted', decomposer='sentences', hooks=[hold], mapping={}, slices=[])"
    )
    process = subprocess.Popen([sys.executable, "-c", program], cwd=desk, env=clean_env(), stdout=subprocess.PIPE)
    process.stdout.readline()
    (run,) = listed(everyclaim)
    assert run["status"] == "running"
    assert "(running)" in "".join(everyclaim("runs").out.split())
    done = everyclaim("runs", "--delete", run["id"])
    assert (done.code, "is being scored" in done.err) == (2, True)
    done = everyclaim("score", "long.jsonl", "--strategy", "joint", "--quiet")
    assert (done.code, f"run {run['id']} with the same input is in progress" in done.err) == (2, True), done
    done = everyclaim("score", "long.jsonl", "--resume", run["id"], "--quiet")
    assert (done.code, "is being scored by another process" in done.err) == (2, True)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    process.stdout.close()
    (run,) = listed(everyclaim)
    assert (run["status"], run["finished"], run["rows"]) == ("interrupted", None, None)
    assert "interrupted: not all samples were scored" in " ".join(everyclaim("report").out.split())
    assert everyclaim("score", "long.jsonl", "--quiet").code == 0
    assert [(one["id"], one["status"]) for one in listed(everyclaim)] == [(run["id"], "finished")]
    assert [path.name for path in (desk / ".everyclaim").iterdir()] == ["runs.db"]

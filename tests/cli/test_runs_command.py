"""`runs`, `report` and `doctor` only look; `runs --delete` and `runs --upgrade` change what they are told to."""

import itertools
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest
from command_line import ANSWERS, PLUGIN, write_jsonl

from everyclaim.core.types import Label
from everyclaim.store.records import Annotation, answer_key_of
from everyclaim.store.store import Store

OLD = Path(__file__).parents[1] / "store" / "schema1.sql"


def listed(everyclaim):
    return json.loads(everyclaim("runs", "--json").out)


def tree(folder):
    return {str(path.relative_to(folder)): path.is_file() and path.read_bytes() for path in folder.rglob("*")}


def test_the_answers_of_a_list_are_counted_whatever_its_file_is_called(everyclaim):
    """A JSON list over many lines in a file named .jsonl has as many answers as it holds, not as many as lines."""
    Path("list.jsonl").write_text(json.dumps(ANSWERS, indent=1), "utf-8")
    assert everyclaim("score", "list.jsonl", "--quiet").code == 0
    assert everyclaim("runs").out.split()[-1] == "3/5"
    assert [run["total"] for run in listed(everyclaim)] in ([None], [5])


@pytest.mark.parametrize("command", [["runs"], ["runs", "--json"], ["report"], ["doctor"], ["runs", "--upgrade"]])
@pytest.mark.parametrize("store", [".everyclaim/runs.db", "no/such/runs.db"])
def test_looking_makes_no_store(everyclaim, desk, command, store):
    """Nor a folder for one; where there is nothing to show, that is said."""
    before = tree(desk)
    done = everyclaim(*command, "--store", store)
    assert tree(desk) == before
    assert done.code == (2 if command[0] == "report" or "--upgrade" in command else 0)
    if command == ["runs"]:
        assert done.out == f"no runs yet: there is no store at {store}\n"
    if command == ["report"]:
        assert done.said == [f"error: there is no store at {store}: score something first"]


def test_runs_are_listed_with_their_scores(everyclaim):
    """The mean with its interval, as in the run's own report; in JSON likewise. At 80 columns it is a table."""
    everyclaim("score", "answers.jsonl", "--quiet")
    score = json.loads(everyclaim("report", "--json").out)["summary"]["score"]
    (listed,) = json.loads(everyclaim("runs", "--json").out)
    assert listed["score"] == score
    heading, _, row = everyclaim("runs").out.splitlines()
    assert heading.split("  ")[0] == "run"
    assert f"0.500   {score['low']:.3f} – {score['high']:.3f}" in row


def test_scores_of_several_metrics_are_told_apart(everyclaim):
    """A list that holds numbers of two kinds says which is which; one metric alone needs no column."""
    everyclaim("score", "answers.jsonl", "--quiet")
    assert "metric" not in everyclaim("runs").out
    everyclaim("score", "answers.jsonl", "--quiet", "--metric", "nli")
    told = everyclaim("runs").out
    assert "metric" in told
    assert " nli " in told
    assert " faithfulness " in told


@pytest.mark.parametrize("command", [["runs", "--delete", ""], ["report", ""]])
def test_an_empty_name_of_a_run_is_called_empty(everyclaim, command):
    """A variable of the shell that is not set names no run, and says so."""
    everyclaim("score", "answers.jsonl", "--quiet")
    done = everyclaim(*command)
    assert done.code == 2
    assert done.said == ["error: the id or name given for a run is empty; `everyclaim runs` lists the runs there are"]


@pytest.mark.parametrize("command", ["runs", "band", "score", "verify", "doctor"])
def test_a_paragraph_of_help_has_no_line_breaks_of_its_own(everyclaim, monkeypatch, command):
    """Every line but a paragraph's last is as full as the page allows."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    told = everyclaim(command, "--help").out.partition("[OPTIONS]")[2].partition("╭")[0].splitlines()[1:]
    for line, after in itertools.pairwise(one.strip() for one in told):
        assert not line or not after or len(line) + 1 + len(after.split()[0]) > 76, line


def test_looking_changes_nothing(everyclaim, desk):
    """Every file is what it was, to the byte and to the moment."""
    everyclaim("score", "answers.jsonl", "--quiet")
    before, when = tree(desk), (desk / ".everyclaim/runs.db").stat().st_mtime_ns
    for command in (["runs"], ["report"], ["report", "--json"], ["doctor"]):
        assert everyclaim(*command).code == 0
    assert tree(desk) == before
    assert (desk / ".everyclaim/runs.db").stat().st_mtime_ns == when


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_store_on_a_read_only_disk_can_be_looked_at(everyclaim, desk):
    """Tried as a user without privileges, since root may write anywhere; doctor says that runs need another place."""
    everyclaim("score", "answers.jsonl", "--quiet")
    folder = Path(tempfile.mkdtemp())
    shutil.copy(desk / ".everyclaim/runs.db", folder / "runs.db")
    folder.chmod(0o555)
    program = """
        import os, sys
        from everyclaim.cli.app import run
        import everyclaim.cli.doctor, everyclaim.cli.report, everyclaim.cli.runs, statistics
        import sqlalchemy.dialects.sqlite, rich.table
        sys.argv = ["everyclaim"]
        run(["doctor"])  # everything that is imported on the way must be, before the rights to are gone
        if os.getuid() == 0:
            os.setuid(65534)
        for command in (["runs", "--json"], ["report", "--json"], ["doctor", "--json"]):
            print(run([*command, "--store", sys.stdin.readline().strip()]))
    """
    env = {k: v for k, v in os.environ.items() if not k.startswith("EVERYCLAIM_")} | {"EVERYCLAIM_JUDGE": "lexical"}
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    try:
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)],
            input=f"{folder / 'runs.db'}\n" * 3,
            capture_output=True,
            text=True,
            env=env,
            check=True,
            cwd="/",
        )
    finally:
        shutil.rmtree(folder)
    assert [line for line in done.stdout.splitlines() if line.isdigit()][:2] == ["0", "0"], done
    assert "it can be read, not written" in done.stdout


def old_store(desk):
    connection = sqlite3.connect(desk / "old.db")
    connection.executescript(OLD.read_text())
    connection.close()
    return (desk / "old.db").read_bytes()


def test_an_older_store_is_upgraded_when_that_is_asked_for(everyclaim, desk):
    """Not by looking, which says how; then everything in it is there."""
    before = old_store(desk)
    for command in (["runs"], ["report"], ["runs", "--delete", "old"]):
        done = everyclaim(*command, "--store", "old.db")
        assert done.code == 2
        assert "everyclaim runs --upgrade" in done.err
        assert len(done.said) == 1
    assert (desk / "old.db").read_bytes() == before
    assert "old" in everyclaim("runs", "--upgrade", "--store", "old.db").out
    assert everyclaim("report", "old", "--store", "old.db").code == 0


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


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (["nothing"], "no run 'nothing'"),
        (["twice"], "2 runs are named 'twice': give the id of one"),
        (["once", "nothing"], "no run 'nothing'"),
        (["''; DROP TABLE runs"], "no run"),
        ([""], "the id or name given for a run is empty"),
    ],
)
def test_nothing_is_deleted_when_one_of_them_cannot_be(everyclaim, desk, wanted, says):
    """A name that several runs have means none of them."""
    for name in ("twice", "twice", "once"):
        everyclaim("score", "answers.jsonl", "--quiet", "--name", name)
    before = tree(desk)
    done = everyclaim("runs", *[part for one in wanted for part in ("--delete", one)])
    assert done.code == 2
    assert len(done.said) == 1
    assert says in done.err
    assert [run["name"] for run in listed(everyclaim)] == ["once", "twice", "twice"]
    assert set(tree(desk)) == set(before)


def test_deleting_makes_no_store(everyclaim, desk):
    """There is nothing to delete where there is none."""
    done = everyclaim("runs", "--delete", "x")
    assert done.code == 2
    assert not (desk / ".everyclaim").exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_run_under_way_is_running_and_a_killed_one_interrupted(everyclaim, desk):
    """It cannot be deleted or begun twice while somebody is at it; killed, it goes on at once."""
    write_jsonl("long.jsonl", [ANSWERS[0] | {"id": str(n)} for n in range(5)])
    env = {k: v for k, v in os.environ.items() if not k.startswith("EVERYCLAIM_")}
    env |= {"PYTHONPATH": os.pathsep.join([str(PLUGIN), *sys.path])}
    env |= {"EVERYCLAIM_JUDGE": "scripted", "EVERYCLAIM_DECOMPOSER": "sentences"}
    program = (
        "import time, everyclaim as ec\n"
        "def hold(event):\n"
        "    if type(event).__name__ == 'SampleFinished':\n"
        "        print(flush=True); time.sleep(600)\n"
        "ec.score_file('long.jsonl', judge='scripted', decomposer='sentences', hooks=[hold], mapping={}, slices=[])"
    )
    process = subprocess.Popen([sys.executable, "-c", program], cwd=desk, env=env, stdout=subprocess.PIPE)
    process.stdout.readline()
    (run,) = listed(everyclaim)
    assert run["status"] == "running"
    assert "(running)" in "".join(everyclaim("runs").out.split())
    done = everyclaim("runs", "--delete", run["id"])
    assert (done.code, "is being scored: stop that first" in done.err) == (2, True)
    done = everyclaim("score", "long.jsonl", "--strategy", "joint", "--quiet")
    assert (done.code, f"run {run['id']} does the same and is under way" in done.err) == (2, True), done
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

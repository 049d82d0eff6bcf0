"""Settings, streams and signals that are not what they should be: one line, the right code, never a bug of ours."""

import json
import os
import shlex
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from command_line import ANSWERS, clean_env, tree, write_jsonl

posix = pytest.mark.skipif(os.name != "posix", reason="streams and signals of POSIX")


FOLDER = {
    "in.json": json.dumps(ANSWERS),
    "claims.jsonl": '{"claim": "It is red", "contexts": ["It is red"]}\n',
    "labels.jsonl": '{"claim": "It is red", "contexts": ["It is red"], "label": "SUPPORTED"}\n',
    "rules.json": '[verify]\nrules = "Be strict."\n',
    "prices.json": "{}",
    "settings.json": 'judge = "scripted"\n',
    "bad.jsonl": "[1]\n",
    "other.db": "not a corpus",
    "documents/rye.md": "Rye bread keeps for a week.",
}
WRONG = list(map(json.loads, Path(__file__).with_name("wrong_usage.jsonl").read_text("utf-8").splitlines()))


@pytest.mark.parametrize("row", WRONG, ids=lambda row: row["command"])
def test_what_cannot_be_meant_is_one_line_and_2(everyclaim, desk, monkeypatch, row):
    """What is wrong and what to do; no secret is repeated, nothing is asked, and nothing has changed or appeared."""
    (desk / "documents").mkdir()
    (desk / "below").mkdir()
    for name, text in FOLDER.items():
        Path(name).write_text(text)
    for name, target in {"link.jsonl": "answers.jsonl", "nowhere.jsonl": "no/such/x.jsonl", "below/up": desk}.items():
        Path(name).symlink_to(target)
    Path("twin.jsonl").hardlink_to("answers.jsonl")
    if "settings" in row:
        Path("everyclaim.toml").write_text(row["settings"], row.get("encoding", "utf-8"))
    for name, value in {"OPENAI_API_KEY": "sk-test-0123456789abcdef", **row.get("env", {})}.items():
        monkeypatch.setenv(name, value)
    before = tree(desk)
    done = everyclaim(*shlex.split(row["command"]), stdin=bytes.fromhex(row.get("stdin", "")))
    assert (done.code, done.out, len(done.said)) == (2, "", 1), done.err
    assert row["said"] in done.err
    assert "settings" not in row or "everyclaim.toml" in done.err
    assert not any(secret in done.err for secret in ("secret", "geheim", "Traceback"))
    assert tree(desk) == before


@pytest.mark.slow
@posix
@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("$EC runs > /dev/full", 2, "error: No space left on device\n"),
        ("$EC score - < /dev/null", 2, "error: standard input is empty\n"),
    ],
)
def test_standard_streams_that_are_empty_or_full(desk, line, code, said):
    """Said in one line."""
    if "/dev/full" in line and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    env = clean_env(EC=f"{sys.executable} -m everyclaim")
    done = subprocess.run(["bash", "-c", line], cwd=desk, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, said)


@pytest.mark.slow
@posix
@pytest.mark.parametrize(
    ("name", "word", "code"),
    [("SIGTERM", "terminated", 143), ("SIGHUP", "hung up", 129), ("SIGINT", "interrupted", 130)],
)
def test_a_run_that_is_asked_to_end_ends_in_order(desk, process, name, word, code):
    """What is done is kept, one line says how to go on, and nothing is left behind."""
    rows = [ANSWERS[0] | {"id": f"s{i}"} for i in range(40)]
    rows[20] = rows[20] | {"response": "STOP"}
    write_jsonl("long.jsonl", rows)
    heeded = partial(signal.signal, signal.Signals[name], signal.SIG_DFL)  # the tests may run where it is ignored
    done = process("score", "long.jsonl", "--out", "o.jsonl", env={"SCRIPTED_STOP": name}, preexec_fn=heeded)
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith(f"{word}; ")
    assert "repeat the command to continue" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert sorted(path.name for path in desk.iterdir()) == [".everyclaim", "answers.jsonl", "long.jsonl"]
    assert '"status": "stopped"' in process("runs", "--json").stdout
    again = process("score", "long.jsonl")
    assert (again.returncode, "samples are already scored" in again.stderr) == (0, True)
    assert "40 scored of 40" in again.stdout
    assert len(json.loads(process("runs", "--json").stdout)) == 1


@posix
@pytest.mark.parametrize(("number", "word"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")])
def test_an_interrupt_while_starting_is_one_line(desk, number, word):
    """Also in the middle of an import, which would leave half a module and a traceback."""
    folder = desk / "slow"
    folder.mkdir()
    (folder / "typer.py").write_text("print('importing', flush=True)\nimport time\ntime.sleep(60)\n")
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-m", "everyclaim", "runs"]
    pipes["preexec_fn"] = partial(signal.signal, number, signal.SIG_DFL)  # the tests may run where it is ignored
    process = subprocess.Popen(command, cwd=desk, env=env, text=True, **pipes)
    assert process.stdout.readline() == "importing\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (128 + number, "", f"{word}\n")

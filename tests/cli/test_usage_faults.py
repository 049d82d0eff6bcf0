"""Settings, streams and signals that are not what they should be: one line, the right code, never a bug of ours."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from command_line import ANSWERS, PLUGIN, write_jsonl

posix = pytest.mark.skipif(os.name != "posix", reason="streams and signals of POSIX")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('judge = "é"'.encode("latin-1"), "everyclaim.toml is not UTF-8 text (byte 9): save it as UTF-8"),
        ('judge = "lexical"'.encode("utf-16"), "everyclaim.toml is not UTF-8 text (byte 0): save it as UTF-8"),
        (b"judge = ", "everyclaim.toml is not valid TOML"),
        (b"judge = embedded", 'texts need quotes, as in judge = "embedded"'),
        (
            b"fail_undr = 0.5",
            "unknown setting 'fail_undr' in",
        ),
        (b"fail_under = 60", "setting 'fail_under' in"),
        (b"[headers]\nX = 5", "setting 'headers' in"),
    ],
)
def test_a_settings_file_that_cannot_be_read(everyclaim, desk, content, says):
    """One line that names the file and what is wrong in it."""
    (desk / "everyclaim.toml").write_bytes(content)
    done = everyclaim("score", "answers.jsonl")
    assert done.code == 2
    assert len(done.said) == 1
    assert says in done.err
    assert "everyclaim.toml" in done.err


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("SLICES", "domain", """EVERYCLAIM_SLICES is not JSON: write for example EVERYCLAIM_SLICES='["domain"]'"""),
        ("MAP", "a=b", "EVERYCLAIM_MAP is not JSON: write for example EVERYCLAIM_MAP="),
        ("HEADERS", "X-Key=sk-secret", "EVERYCLAIM_HEADERS is not JSON"),
        ("HEADERS", '["sk-secret"]', "EVERYCLAIM_HEADERS must be a mapping, got a list"),
        ("FAIL_UNDER", "60", "EVERYCLAIM_FAIL_UNDER must be a number from 0 to 1, got 60.0 (a share: 60 % is 0.6)"),
        ("CONCURRENCY", "many", "EVERYCLAIM_CONCURRENCY must be a whole number from 1 to 10,000, got a text"),
    ],
)
def test_a_variable_that_cannot_be_read(everyclaim, monkeypatch, name, value, says):
    """It is named, with what to write; what may be secret is not repeated."""
    monkeypatch.setenv(f"EVERYCLAIM_{name}", value)
    done = everyclaim("score", "answers.jsonl")
    assert done.code == 2
    assert len(done.said) == 1
    assert says in done.err
    assert "secret" not in done.err


def shell(desk, line, **env):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("EVERYCLAIM_")}
    clean |= {"PYTHONPATH": os.pathsep.join([str(PLUGIN), *sys.path]), "EVERYCLAIM_JUDGE": "scripted"}
    clean |= {"EVERYCLAIM_DECOMPOSER": "sentences", "EC": f"{sys.executable} -m everyclaim"}
    command = ["bash", "-c", line]
    return subprocess.run(command, cwd=desk, env=clean | env, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.slow
@posix
@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("$EC runs >&-", 2, "error: standard output is closed\n"),
        ("$EC runs --json >&-", 2, "error: standard output is closed\n"),
        ("$EC score answers.jsonl --json >&-", 2, "error: standard output is closed\n"),
        ("$EC score answers.jsonl --out r.jsonl -q >&-", 0, ""),
        ("$EC --version >&-", 2, "error: Bad file descriptor\n"),
        ("$EC runs > /dev/full", 2, "error: No space left on device\n"),
        ("$EC runs 2>&-", 0, ""),
        ("$EC nothing 2>&-", 2, ""),
        ("$EC score - <&-", 2, "error: standard input is empty\n"),
        ("$EC claims - <&- >&- 2>&-", 2, ""),
    ],
)
def test_standard_streams_that_are_closed_or_full(desk, line, code, said):
    """Said where there is anybody to hear it; a file that is opened later is never taken for a closed stream."""
    if "/dev/full" in line and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    done = shell(desk, line)
    assert (done.returncode, done.stderr) == (code, said)
    if "r.jsonl" in line:
        assert (desk / "r.jsonl").read_text().count("\n") == len(ANSWERS)


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
    assert process("score", "long.jsonl").returncode == 0


@posix
@pytest.mark.parametrize(("number", "word"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")])
def test_an_interrupt_while_starting_is_one_line(desk, number, word):
    """Also in the middle of an import, which would leave half a module and a traceback."""
    folder = desk / "slow"
    folder.mkdir()
    (folder / "typer.py").write_text("print('importing', flush=True)\nimport time\ntime.sleep(60)\n")
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-m", "everyclaim", "runs"], cwd=desk, env=env, text=True, **pipes)
    assert process.stdout.readline() == "importing\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (128 + number, "", f"{word}\n")

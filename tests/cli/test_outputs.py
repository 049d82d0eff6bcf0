"""What a command writes: never over what it reads, whole or not at all."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from command_line import ANSWERS, clean_env, write_jsonl

CLAIMS = [{"id": "a", "claim": "It is red", "contexts": ["It is red"]}]


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("out", ["answers.jsonl", "other.jsonl"])
def test_a_redirected_input_is_the_same_file(process, desk, out):
    """`< answers.jsonl` is reading answers.jsonl; verdicts that are appended to it would be read again."""
    before = (desk / "answers.jsonl").read_bytes()
    with (desk / "answers.jsonl").open("rb") as stdin:
        done = process("score", "-", "--out", out, stdin=stdin)
    assert done.returncode == (2 if out == "answers.jsonl" else 0)
    assert (desk / "answers.jsonl").read_bytes() == before
    write_jsonl(desk / "claims.jsonl", CLAIMS)
    with (desk / "claims.jsonl").open("ab") as stdout:
        done = process("verify", "claims.jsonl", "--out", "-", stdout=stdout)
    assert done.returncode == 2
    assert "standard output would overwrite the input claims.jsonl" in done.stderr


def write_everything(everyclaim):
    write_jsonl("claims.jsonl", CLAIMS)
    write_jsonl("other.jsonl", ANSWERS)
    Path("notes.txt").write_text("Ask Ottavela about the seals.\n")
    Path("page.html").write_text("<!doctype html><title>Our home page</title>")
    Path("old.json").write_text('{"name": "a package"}')
    Path("README.md").write_text("# Our bot")
    Path("notes.json").write_text('{"name": "a package"}')
    Path("pytest.xml").write_text('<?xml version="1.0"?><testsuites name="pytest tests"></testsuites>')
    Path("pom.xml").write_text('<?xml version="1.0"?><project/>')
    Path("prometheus.yml").write_text("groups:\n  - name: ours\n")
    assert everyclaim("score", "answers.jsonl", "--name", "run", "--quiet", "--out", "edited.csv").code == 0
    Path("edited.csv").write_text(Path("edited.csv").read_text().replace("id,", "checked by,id,", 1))
    for sheet in ("sheet.csv", "sheet.jsonl"):
        assert everyclaim("label", "run", "--n", "2", "--out", sheet).code == 0
    write_jsonl("new.jsonl", [row | {"release": "v2"} for row in ANSWERS])
    assert everyclaim("score", "new.jsonl", "--name", "new", "--quiet").code == 0


@pytest.mark.parametrize("line", Path(__file__).with_name("written_over.txt").read_text("utf-8").splitlines())
def test_a_page_replaces_a_page_rules_replace_rules_and_nothing_replaces_answers(everyclaim, desk, prepared, line):
    """A file that holds something else stays, and the message names it; the same command may be given twice."""
    prepared(write_everything)
    what, *command = line.split()
    if what == "again":
        Path(command[-1]).touch()  # an empty file may have been made for it
        assert [everyclaim(*command).code for _ in range(2)] == [0, 0]
        return
    before = files(desk)
    done = everyclaim(*command)
    assert (done.code, files(desk)) == (2, before)
    assert done.said[-1].startswith(f"error: {command[-1]} ")
    assert "another name" in done.said[-1]


@pytest.mark.parametrize("name", ["thesis.txt", "ours.db"])
def test_a_cache_takes_no_file_of_somebody_else(everyclaim, desk, monkeypatch, name):
    """A text, and a database with other tables: refused, and both are as they were."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    Path("thesis.txt").write_text("Once upon a time.\n" * 300)
    with closing(sqlite3.connect("ours.db")) as database, database:
        database.execute("CREATE TABLE customers (name TEXT)")
    before = files(desk)
    done = everyclaim("score", "answers.jsonl", "--judge", "openai:m", "--cache", name)
    assert done.code == 2
    assert f"cannot use the reply cache {name}" in done.err
    assert files(desk) == before


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("how", ["SIGTERM", "SIGKILL"])
def test_a_command_that_is_killed_while_writing_leaves_the_older_output_whole(desk, how):
    """Asked to end it cleans up; killed, it leaves a file that the next command of the same name removes."""
    write_jsonl("claims.jsonl", CLAIMS)
    older = '{"id": "older", "label": null, "provenance": {}}\n'
    (desk / "out.jsonl").write_text(older)
    command, env = [sys.executable, "-m", "everyclaim", "verify", "-", "--out", "out.jsonl"], clean_env()
    process = subprocess.Popen(command, cwd=desk, env=env, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(json.dumps(CLAIMS[0]).encode() + b"\n")
    process.stdin.flush()
    end = time.monotonic() + 60
    while not list(desk.glob(".out.jsonl.*.part")):
        assert time.monotonic() < end
    process.send_signal(getattr(signal, how))
    process.communicate(timeout=60)
    left = list(desk.glob(".out.jsonl.*"))
    assert (desk / "out.jsonl").read_text() == older
    assert len(left) == (how == "SIGKILL")
    subprocess.run([*command[:3], "verify", "claims.jsonl", "--out", "out.jsonl"], cwd=desk, env=env, check=True)
    assert list(desk.glob(".out.jsonl.*")) == []
    assert json.loads((desk / "out.jsonl").read_text())["label"] == "SUPPORTED"


def test_score_writes_the_page_that_report_writes(everyclaim, desk):
    """`--report FILE.html` while scoring and afterwards: the same bytes."""
    done = everyclaim("score", "answers.jsonl", "--slice", "topic", "--report", "one.html", "-q")
    assert (done.code, done.err) == (0, "")
    assert everyclaim("report", "--report", "two.HTML", "-q").code == 0
    one = (desk / "one.html").read_bytes()
    assert one == (desk / "two.HTML").read_bytes()
    text = one.decode()
    assert text.startswith("<!doctype html>")
    assert "3 scored of 5" in " ".join(text.replace("<strong>", "").replace("</strong>", "").split())
    assert "http" not in text.replace("Content-Security-Policy", "").replace("http-equiv", "")

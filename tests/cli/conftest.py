"""Commands run in an empty folder, with a scripted judge that a third party might have installed."""

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ANSWERS, PLUGIN, Done, clean_env, write_jsonl

from everyclaim.cli.app import run

sys.path.insert(0, str(Path(__file__).parents[1] / "store"))

from real_stores import place, postgres, postgres_server  # noqa: F401 - fixtures

MADE = {}
PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """An empty folder to work in, with `answers.jsonl` in it and no settings around."""
    monkeypatch.chdir(tmp_path)
    write_jsonl("answers.jsonl", ANSWERS)
    return tmp_path


@pytest.fixture
def everyclaim(desk, monkeypatch, capsys):
    """Run a command line in this process; `stdin` is what a pipe would bring."""
    monkeypatch.syspath_prepend(str(PLUGIN))
    for name in [name for name in os.environ if name.startswith("EVERYCLAIM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("EVERYCLAIM_JUDGE", "scripted")
    monkeypatch.setenv("EVERYCLAIM_DECOMPOSER", "sentences")
    monkeypatch.setenv("COLUMNS", "100")

    def call(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return call


@pytest.fixture
def prepared(everyclaim, desk, tmp_path_factory):
    """Fill the folder with what `make(everyclaim)` leaves there; it is made once, and copied from then on."""

    def prepare(make):
        if make in MADE:
            shutil.copytree(MADE[make], desk, dirs_exist_ok=True)
        else:
            make(everyclaim)
            MADE[make] = shutil.copytree(desk, tmp_path_factory.mktemp("made"), dirs_exist_ok=True)
        return everyclaim

    return prepare


@pytest.fixture
def process(desk):
    """Start a command line in a process of its own."""

    def start(*arguments, env=None, **options):
        command = [sys.executable, "-m", "everyclaim", *map(str, arguments)]
        streams = PIPES | options
        env = clean_env(**(env or {}))
        return subprocess.run(command, cwd=desk, env=env, text=True, timeout=120, check=False, **streams)

    return start

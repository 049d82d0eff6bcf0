"""The tree of commands: twelve names, former names still work, and its help loads no command."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from everyclaim.cli.app import FORMER_OPTIONS, app, every_command, run

TWELVE = (
    "score", "verify", "claims", "runs", "report", "compare", "label", "calibrate", "judge", "watch", "serve", "doctor",
)  # fmt: skip


def help_of(*words: str) -> str:
    """Return the help of a command."""
    done = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "100"})
    assert done.exit_code == 0, done.output
    return done.output


def test_the_help_names_twelve_commands() -> None:
    """Former names are hidden."""
    page = help_of()
    rows = [line.split()[1] for line in page.splitlines() if line.startswith("│ ") and line[2] not in " -"]
    assert tuple(rows) == TWELVE


@pytest.mark.parametrize(
    ("former", "now"),
    [
        (["ui"], ["serve", "--ui"]),
        (["band"], ["judge", "cascade"]),
        (["judge-test"], ["judge", "smoke"]),
        (["judge-check"], ["judge", "evaluate"]),
        (["tune"], ["judge", "tune"]),
        (["release-report"], ["compare", "--release"]),
        (["rules"], ["watch", "rules"]),
    ],
)
def test_a_former_name_is_the_same_command(former: list[str], now: list[str]) -> None:
    """With the same options."""
    assert help_of(*former) == help_of(*now)


HEAVY = (
    "numpy", "scipy", "pandas", "polars", "pyarrow", "sqlalchemy", "onnxruntime", "tokenizers", "torch", "transformers",
    "aiohttp", "fastapi", "uvicorn", "ray", "opentelemetry", "snowballstemmer", "rapidfuzz", "sentencex", "py3langid",
)  # fmt: skip
FIRST_HEAVY = """
import json, sys
from everyclaim.cli.app import run
from everyclaim.cli.app import COMMANDS, HIDDEN

found = {}
for name, entry in (COMMANDS | HIDDEN).items():
    for words in ([], [name], *([name, form] for form in entry.forms)):
        run([*words, "--help"])
        if loaded := [module for module in HEAVY if module in sys.modules and module not in sum(found.values(), [])]:
            found[" ".join(words)] = loaded
print(json.dumps(found))
"""


def test_help_loads_nothing_heavy() -> None:
    """No command's help loads statistics, a store, a model or a server: they take longer than the help itself."""
    program = FIRST_HEAVY.replace("HEAVY", repr(HEAVY))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == {}


def visible(command: object) -> list[str]:
    """Return the options in the help of a command."""
    return [one.opts[0] for one in command.params if one.opts[0].startswith("-") and not one.hidden]


def test_help_shows_what_most_people_need() -> None:
    """At most 32 options of `score` and 250 of all commands; the rarer ones are named below, and work."""
    shown = {name: visible(command) for name, command in every_command()}
    assert len(shown["score"]) <= 32
    assert sum(map(len, shown.values())) <= 250
    assert "--claims-per-call" not in shown["score"]
    assert "--claims-per-call" in help_of("score")


def test_a_former_option_is_the_same_option(capsys: pytest.CaptureFixture[str]) -> None:
    """Every one is an option of some command; a wrong value is refused under the name that it has now."""
    known = {
        name.lstrip("-")
        for _, command in every_command()
        for one in command.params
        for name in (*one.opts, *one.secondary_opts)
    }
    assert set(FORMER_OPTIONS.values()) <= known
    assert run(["compare", "a", "b", "--movers=-1"]) == 2
    assert "--top-changes" in capsys.readouterr().err
    assert run(["watch", "rows.jsonl", "--per", "month", "--keep"]) == 2
    assert "--run-by must be one of" in capsys.readouterr().err

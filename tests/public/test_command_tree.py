"""The tree of commands: twelve names, former names still work, and its help loads no command."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from everyclaim.cli.app import app

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


def test_the_help_of_the_tree_loads_no_command() -> None:
    """Neither a judge nor the store is imported for it."""
    program = """
import json, sys
from everyclaim.cli.app import run
run(["--help"])
print(json.dumps([m for m in ("numpy", "sqlalchemy", "pydantic", "onnxruntime") if m in sys.modules]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == []

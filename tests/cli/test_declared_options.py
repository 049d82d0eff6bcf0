"""Options are declared once: settings, command line, keyword arguments and the page in the docs are made from that."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import everyclaim as ec
from everyclaim.api.options import Options
from everyclaim.api.settings import load_settings
from everyclaim.core.options import declared_options

BESIDE_PYTHON = {"knowledge"}  # an object, which nobody can write in a file or on the command line
DECLARED = declared_options(Options)


def test_every_option_of_a_score_is_declared() -> None:
    """The keyword arguments of `score` are the declared options and those that are objects."""
    assert get_type_hints(Options).keys() - DECLARED.keys() == BESIDE_PYTHON


@pytest.mark.parametrize(
    ("name", "value"), [("repeats", 0), ("max_cost", -1), ("evidence", "maybe"), ("max_row_mb", 0), ("strategy", "all")]
)
def test_what_python_refuses_settings_refuse(name: str, value: object) -> None:
    """By the same declared ranges and choices."""
    with pytest.raises(ec.ConfigError, match=f"--{name.replace('_', '-')}"):
        load_settings(**{name: value})
    with pytest.raises(ec.ConfigError, match=name):
        ec.score(response="x", passages=["x"], judge="openai:m", **{name: value})  # type: ignore[arg-type]


def test_slices_of_a_project_are_for_the_files_that_have_them(everyclaim, desk):
    """A file without the field is scored, with a warning; a slice of the command line must be there."""
    (desk / "everyclaim.toml").write_text('slices = ["domain"]')
    done = everyclaim("score", "answers.jsonl")
    assert done.code == 0
    assert "no answer has a tag 'domain'" in done.err
    assert everyclaim("score", "answers.jsonl", "--slice", "domain").code == 2


SCRIPT = Path(__file__).parents[2] / "docs" / "commands.py"


def test_the_reference_in_the_docs_is_what_the_code_says(monkeypatch):
    """A new option is in the docs, or this fails: run python docs/commands.py."""
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), "--check"])
    assert runpy.run_path(str(SCRIPT))["main"]() == 0

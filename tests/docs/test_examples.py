"""The docs run: every Python block, and every `everyclaim` command of a console block."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import everyclaim as ec

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
FILE = re.compile(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BIN = ".venv/bin/"  # where `make demo` installs the command
GATES = {0, 1}  # an example may end with a gate that fails


def test_a_run_and_the_page_of_judges_state_the_same_accuracy(tmp_path: Path) -> None:
    """What the report of a run says of the offline judge is what the page says of it."""
    row = {"response": "Paris is in France.", "contexts": ["Paris is in France."]}
    ec.score_file([row], store=tmp_path / "runs.db").report(tmp_path / "run.html")
    report = (tmp_path / "run.html").read_text("utf-8")
    found, alarms = re.search("finds ([^<]+) of failing claims, with ([^<]+) false positives", report).groups()
    page = (ROOT / "docs/how-to/judges.md").read_text("utf-8")
    assert f"finds {found} of failing claims (unsupported or contradicted), with {alarms} false positives" in page


def blocks(page: Path, language: str) -> list[str]:
    return [code for kind, code in BLOCK.findall(page.read_text("utf-8")) if kind == language]


def pages_with(language: str) -> list[object]:
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES if blocks(page, language)]


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with the files that the examples speak of."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copy(ROOT / "examples/support_bot/answers.jsonl", tmp_path / "answers.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text("utf-8").splitlines()]
    claims = [{"id": row["id"], "claim": "The unit weighs 9 kg.", "contexts": row["contexts"]} for row in rows[:5]]
    (tmp_path / "claims.jsonl").write_text("\n".join(json.dumps(row) for row in claims), "utf-8")
    return tmp_path


def write_files(page: Path, desk: Path) -> None:
    """Write the files that a page shows."""
    for name, text in FILE.findall(page.read_text("utf-8")):
        (desk / name).parent.mkdir(parents=True, exist_ok=True)
        (desk / name).write_text(text, "utf-8")


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("EVERYCLAIM_")}
    if (folder / "plugin").exists():  # as if it was installed
        clean["PYTHONPATH"] = os.pathsep.join([str(folder / "plugin"), clean.get("PYTHONPATH", "")])
    return subprocess.run(
        command, cwd=folder, env=clean, capture_output=True, text=True, encoding="utf-8", timeout=300, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("python"))
def test_the_python_of_a_page_runs_from_top_to_bottom(page: Path, desk: Path) -> None:
    """The blocks of one page are one program."""
    write_files(page, desk)
    done = run([sys.executable, "-W", "error", "-c", "\n".join(blocks(page, "python"))], desk)
    assert done.returncode == 0, done.stderr


def test_the_readme_works_in_a_checkout_from_a_fresh_shell() -> None:
    """It names no file and no run that is not there, and every command with its path, behind the one that installs it."""
    page = (ROOT / "README.md").read_text("utf-8")
    found = [code for kind, code in BLOCK.findall(page) if kind in ("shell", "console")]
    lines = [shlex.split(line, comments=True) for code in found for line in code.splitlines()]
    assert lines[0] == ["make", "demo"]
    assert {line[0] for line in lines[1:]} == {f"{BIN}everyclaim", "pip"}
    assert all((ROOT / word).is_file() for line in lines for word in line if word.endswith(".jsonl"))
    assert not any("RUN" in line for line in lines)
    assert len(page.splitlines()) <= 120


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("console"))
def test_the_commands_of_a_page_run(page: Path, desk: Path) -> None:
    """Every line that starts with `everyclaim` ends as it should; RUN stands for the newest run."""
    write_files(page, desk)
    lines = [line.removeprefix(BIN) for block in blocks(page, "console") for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("everyclaim ")]
    if commands:  # the pages that speak of stored runs need one
        run([sys.executable, "-m", "everyclaim", "score", "answers.jsonl", "--quiet"], desk)
    for line in commands:
        words = shlex.split(line, comments=True)[1:]
        if "RUN" in words:
            listed = run([sys.executable, "-m", "everyclaim", "runs", "--json"], desk)
            words = [json.loads(listed.stdout)[0]["id"] if word == "RUN" else word for word in words]
        done = run([sys.executable, "-m", "everyclaim", *words], desk)
        assert done.returncode in GATES, f"{line}\n{done.stderr}"
        assert "Traceback" not in done.stderr

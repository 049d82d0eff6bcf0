"""``everyclaim rules``: a file for Prometheus from a run or a rate, and the dashboard; what it stands on is said."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from promtool import promtool

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/support_bot"


def everyclaim(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "everyclaim", *words]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scored run of the example."""
    folder = tmp_path_factory.mktemp("desk")
    done = everyclaim(folder, "score", str(EXAMPLE / "answers.jsonl"), "--quiet", "--name", "first")
    assert done.returncode == 0, done.stderr
    return folder


def checked(path: Path) -> str:
    done = promtool("check", "rules", path)
    assert done.returncode == 0, done.stdout + done.stderr
    return path.read_text("utf-8")


def test_rules_of_a_run_are_rules_and_say_what_they_stand_on(desk: Path) -> None:
    """The newest run without a word; its rate, its interval, and that nothing corrects it."""
    done = everyclaim(desk, "rules", "--out", "rules.yml", "--match", "job=support-bot")
    assert done.returncode == 0, done.stderr
    text = checked(desk / "rules.yml")
    assert 'job="support-bot"' in text
    assert re.search(r"[\d.]+ % of \d+ claims in \d+ answers", " ".join(text.replace("# ", "").split()))
    assert "there are no labels" in " ".join(done.stderr.split())
    assert everyclaim(desk, "rules", "--baseline", "first", "--match", "job=support-bot").stdout == text


@pytest.mark.slow
def test_labels_of_the_baseline_correct_the_rates(desk: Path, tmp_path: Path) -> None:
    """Sensitivity and specificity of calling a claim contradicted, by the labels of the run."""
    shutil.copytree(desk / ".everyclaim", tmp_path / ".everyclaim")
    done = everyclaim(tmp_path, "calibrate", "first", str(EXAMPLE / "labels.jsonl"))
    assert done.returncode == 0, done.stderr
    for words in ((), ("--baseline", "first", "--rate", "0.02")):
        assert everyclaim(tmp_path, "rules", *words, "--out", "rules.yml").returncode == 0
        text = checked(tmp_path / "rules.yml")
        sensitivity, specificity = map(
            float, re.search(r"sensitivity\s([\d.]+).*?specificity\s([\d.]+)", text.replace("\n# ", " ")).groups()
        )
        false, sharpness = map(float, re.search(r"ratio_1h - ([\d.]+)\) / ([\d.]+)", text).groups())
        assert false == pytest.approx(1 - specificity, abs=1e-4)
        assert sharpness == pytest.approx(sensitivity + specificity - 1, abs=2e-4)


def test_the_dashboard_in_the_repository_is_the_one_that_the_command_writes(tmp_path: Path) -> None:
    """Byte by byte."""
    done = everyclaim(tmp_path, "rules", "--dashboard")
    assert done.returncode == 0
    assert done.stdout == (ROOT / "deploy/grafana/everyclaim.json").read_text("utf-8"), (
        "run everyclaim rules --dashboard --out deploy/grafana/everyclaim.json"
    )
    assert json.loads(done.stdout)["panels"]

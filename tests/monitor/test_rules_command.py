"""``everyclaim rules``: a file for Prometheus from a run or a rate, and the dashboard; what it stands on is said."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from promtool import promtool
from watching import EXAMPLE

from everyclaim.cli.app import run

ROOT = Path(__file__).parents[2]
Command = Callable[..., tuple[str, str]]


@pytest.fixture
def everyclaim(example: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command beside a scored run of the example; give what it printed on both streams."""
    monkeypatch.chdir(example.parent)
    monkeypatch.setenv("EVERYCLAIM_STORE", example.name)

    def command(*words: str) -> tuple[str, str]:
        code = run(list(words))
        out, err = capsys.readouterr()
        assert code == 0, err
        return out, err

    return command


def checked() -> str:
    done = promtool("check", "rules", "rules.yml")
    assert done.returncode == 0, done.stdout + done.stderr
    return Path("rules.yml").read_text("utf-8")


def test_rules_of_a_run_are_rules_and_say_what_they_stand_on(everyclaim: Command) -> None:
    """The newest run without a word; its rate, its interval, and that nothing corrects it."""
    _, said = everyclaim("rules", "--out", "rules.yml", "--match", "job=support-bot")
    text = checked()
    assert 'job="support-bot"' in text
    assert re.search(r"[\d.]+ % of \d+ claims in \d+ answers", " ".join(text.replace("# ", "").split()))
    assert "there are no labels" in " ".join(said.split())
    assert everyclaim("rules", "--baseline", "first", "--match", "job=support-bot")[0] == text


def test_labels_of_the_baseline_correct_the_rates(everyclaim: Command) -> None:
    """Sensitivity and specificity of calling a claim contradicted, by the labels of the run."""
    everyclaim("calibrate", "first", str(EXAMPLE / "labels.jsonl"))
    for words in ((), ("--baseline", "first", "--rate", "0.02")):
        everyclaim("rules", *words, "--out", "rules.yml")
        text = checked()
        sensitivity, specificity = map(
            float, re.search(r"sensitivity\s([\d.]+).*?specificity\s([\d.]+)", text.replace("\n# ", " ")).groups()
        )
        false, sharpness = map(float, re.search(r"ratio_1h - ([\d.]+)\) / ([\d.]+)", text).groups())
        assert false == pytest.approx(1 - specificity, abs=1e-4)
        assert sharpness == pytest.approx(sensitivity + specificity - 1, abs=2e-4)


def test_the_dashboard_in_the_repository_is_the_one_that_the_command_writes(everyclaim: Command) -> None:
    """Byte by byte."""
    written, _ = everyclaim("rules", "--dashboard")
    assert written == (ROOT / "deploy/grafana/everyclaim.json").read_text("utf-8"), (
        "run everyclaim rules --dashboard --out deploy/grafana/everyclaim.json"
    )
    assert json.loads(written)["panels"]

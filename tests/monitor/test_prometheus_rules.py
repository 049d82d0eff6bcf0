"""Rules under promtool: they fire on a planted release and a failing or changed judge, and are silent on noise."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from promtool import PER_DAY, PER_HOUR, Traffic, fired, promtool

import everyclaim as ec
from everyclaim.cli.app import run
from everyclaim.core.errors import ConfigError
from everyclaim.monitor import Baseline, JudgeAccuracy, Level, Metrics
from everyclaim.monitor.rules import ErrorBudget, dashboard, error_budget, rules_text

NOISY = JudgeAccuracy(sensitivity=0.85, specificity=0.95, contradicted=120, others=700)
USUAL = Baseline(
    run="abc123",
    answers=900,
    claims=4500,
    contradicted=Level(0.02, 0.003, 0.0145, 0.0265),
    contradicted_by_answer=Level(0.02, 0.003, 0.0145, 0.0265),
    score=Level(0.98, 0.003, 0.974, 0.985),
    failed=0.0,
)
LABELLED = replace(USUAL, score=Level(0.94, 0.005, 0.93, 0.95), judge=NOISY)


@pytest.mark.slow
def test_silent_on_thirty_days_of_noise_under_a_noisy_judge(tmp_path: Path) -> None:
    """1.5 % are contradicted; the judge says 6 %: rates are corrected for its error, so a budget of 2 % holds."""
    traffic = Traffic(1).run(30 * PER_DAY, NOISY.judged(0.015), failed=0.01)
    assert fired(tmp_path, rules_text(error_budget(LABELLED, 0.02)), traffic, [(0, 30 * PER_DAY)]) == [{}]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("budget", "rates"),
    [(error_budget(USUAL), (0.02, 0.1)), (error_budget(LABELLED, 0.02), (NOISY.judged(0.02), NOISY.judged(0.1)))],
)
def test_fires_on_a_planted_release_and_names_it(
    tmp_path: Path, budget: ErrorBudget, rates: tuple[float, float]
) -> None:
    """Two days at the usual rate, silent; then a release with five times as much: within hours, of that release alone."""
    usual, worse = rates
    traffic = Traffic(2).run(2 * PER_DAY, usual).run(6 * PER_HOUR, worse, release="v2")
    end = 2 * PER_DAY
    before, after = fired(tmp_path, rules_text(budget), traffic, [(0, end), (end, end + 6 * PER_HOUR)], every=10)
    assert before == {}
    assert after["EveryclaimContradictedClaims"] == {"v2"}


def test_a_judge_that_fails_and_one_that_changed_are_alerts_of_their_own(tmp_path: Path) -> None:
    """Failures are in no rate; another model behind the name; verdicts that contradict their evidence."""
    traffic = Traffic(6).run(3 * PER_DAY, 0.02).run(PER_DAY, 0.02, failed=0.2, model="m-2", trouble=0.05)
    end = 3 * PER_DAY
    windows = [(0, end - 1), (end, end + PER_DAY)]
    before, after = fired(tmp_path, rules_text(error_budget(USUAL)), traffic, windows)
    assert before == {}
    assert after == {"EveryclaimJudgeFailing": {""}, "EveryclaimJudgeChanged": {"m-2"}, "EveryclaimJudgeDrift": {""}}


@pytest.mark.parametrize(
    "text",
    [
        rules_text(error_budget(USUAL), match={"job": 'a "bot" \\ ☃😀\n\u2028\x85\x00', "namespace": "x"}),
        rules_text(error_budget(LABELLED, 0.01), max_failed=0.2),
    ],
)
def test_promtool_finds_nothing_wrong_with_the_file(tmp_path: Path, text: str) -> None:
    """Also with awkward values of labels."""
    (tmp_path / "rules.yml").write_text(text, "utf-8")
    done = promtool("check", "rules", tmp_path / "rules.yml")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "wrong", [{"match": {"release": "v1"}}, {"match": {"a b": "c"}}, {"match": {"x}": ""}}, {"max_failed": 0}]
)
def test_what_would_break_the_rules_is_refused(wrong: dict[str, object]) -> None:
    """A matcher on a label that the rules use themselves, and what is no label."""
    with pytest.raises(ConfigError):
        rules_text(error_budget(None, 0.02), **wrong)


NAME = re.compile(r"\beveryclaim_[a-z_]+\b")


def test_dashboard_and_rules_name_only_metrics_that_there_are() -> None:
    """Of the client, and of the rules that record rates: a renamed metric would make an alert silent for ever."""
    text, rules = json.dumps(dashboard()), rules_text(error_budget(None, 0.02))
    families = re.findall(r"^# TYPE (\S+) (\w+)", Metrics().render().decode("utf-8"), re.MULTILINE)
    parts = {"histogram": ("_bucket", "_sum", "_count")}
    rendered = {f"{name}{part}" for name, kind in families for part in parts.get(kind, ("",))}
    assert set(NAME.findall(text)) | set(NAME.findall(rules)) <= rendered
    assert set(re.findall(r"everyclaim:[a-z_:]+\w+", text)) <= set(re.findall(r"record: (\S+)", rules))
    assert len(set(NAME.findall(text))) > 10


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
    assert "labels of 0 contradicted and 0 other claims, 10 of each are needed" in " ".join(said.split())
    assert everyclaim("rules", "--baseline", "first", "--match", "job=support-bot")[0] == text


def test_labels_of_the_baseline_correct_the_rates(everyclaim: Command, example: Path) -> None:
    """Sensitivity and specificity of calling a claim contradicted, by the labels of the run."""
    rows = sorted(ec.label("first", 200, with_verdicts=True, store=example).rows, key=lambda row: row["judge_label"])
    labels = [{**row, "label": "CONTRADICTED" if number < 10 else "SUPPORTED"} for number, row in enumerate(rows)]
    ec.calibrate("first", labels, store=example)
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

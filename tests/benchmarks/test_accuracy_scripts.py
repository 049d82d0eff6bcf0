"""The accuracy scripts measure any verifier on any labelled file, and the card is made from what they write."""

from __future__ import annotations

import ast
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import judging
import minimal_pairs
import pytest
import verifier
from labelled import Labelled, read_pairs

import card
from everyclaim.core.errors import JudgeError
from everyclaim.core.types import Label, Verdict

ROOT = Path(__file__).parents[2]


def called(monkeypatch: pytest.MonkeyPatch, module: Any, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", [module.__name__, *map(str, arguments)])
    module.main()


@pytest.mark.parametrize("script", sorted((ROOT / "benchmarks").rglob("*.py")), ids=lambda path: path.stem)
def test_what_a_benchmark_imports_of_the_package_is_there(script: Path) -> None:
    """A name that moved is missed by nothing else: scripts run by hand."""
    for node in ast.walk(ast.parse(script.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("everyclaim"):
            module = importlib.import_module(str(node.module))
            assert [one.name for one in node.names if not hasattr(module, one.name)] == []


def labelled_file(folder: Path) -> Path:
    """Sixty claims of two made data sets."""
    lines = []
    for number, pair in enumerate(read_pairs()[:30]):
        row = {"contexts": list(pair.contexts), "group": pair.group, "dataset": f"made {number % 2}", "unit": "claim"}
        lines += [{**row, "text": pair.supported, "label": "SUPPORTED", "slice": pair.kind}]
        lines += [{**row, "text": pair.not_supported, "label": pair.label, "slice": pair.kind}]
    path = folder / "claims.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    return path


@pytest.mark.slow
def test_any_number_of_judges_is_measured_on_the_same_claims_and_put_into_the_card(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`lexical` is always among them; another threshold changes decisions and not the ranking."""
    report, pairs, model_card = tmp_path / "report.json", tmp_path / "pairs.json", tmp_path / "card.md"
    strict = "lexical?threshold=0.8"
    called(
        monkeypatch, verifier, labelled_file(tmp_path), "--judge", strict, "--by", "dataset", "--draws", 20,
        "--json", report,
    )  # fmt: skip
    called(monkeypatch, minimal_pairs, "--judge", strict, "--half", "a", "--json", pairs)
    found = json.loads(report.read_text("utf-8"))["judges"]
    assert [entry["spec"] for entry in found] == ["overlap", "lexical", strict]
    everything = found[2]["tables"]["all"][0]
    assert everything["claims"] == 60
    assert everything["auc_over_lexical"] == {"value": 0.0, "low": 0.0, "high": 0.0}
    assert [line["name"] for line in found[2]["tables"]["dataset"]] == ["made 0", "made 1", "mean"]

    model_card.write_text(f"# A card\n\n{card.BEGIN}\nwhat stood here\n{card.END}\n\n## Weaknesses\n", "utf-8")
    arguments = ("--judge", strict, "--verifier", report, "--pairs", pairs, "--into", model_card)
    called(monkeypatch, card, *arguments)
    text = model_card.read_text("utf-8")
    assert "what stood here" not in text
    assert text.startswith("# A card\n")
    assert text.endswith("## Weaknesses\n")
    assert f"| made 0 | {found[2]['tables']['dataset'][0]['claims']} | " in text
    called(monkeypatch, card, *arguments)
    assert model_card.read_text("utf-8") == text
    assert "per s" in capsys.readouterr().out


class Faulty:
    """Judges claims about one passage and fails on the other."""

    spec = "faulty"

    async def verify(self, claims: Any, passages: Any, *, question: str = "") -> list[Verdict]:
        if passages[0].text == "bad":
            raise JudgeError("timeout", "no reply from the judge")
        return [Verdict(claim_id=claim.id, label=Label.SUPPORTED) for claim in claims]


def test_a_judge_that_fails_ends_the_measurement() -> None:
    """A failure is no label; a judge that gives no probabilities is measured by its labels."""
    good, bad = (Labelled("x", (text,), "SUPPORTED") for text in ("good", "bad"))
    said = judging.answers(Faulty(), [good, good])
    assert (list(said.supported), said.graded) == ([1.0, 1.0], False)
    with pytest.raises(JudgeError, match="no reply"):
        judging.answers(Faulty(), [good, bad])

"""The accuracy scripts measure any verifier on any labelled file, and the card is made from what they write."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import judging
import minimal_pairs
import numpy as np
import probes
import pytest
import verifier
from labelled import Labelled, limited, read_labelled, read_pairs

import card
import verifier_speed
from everyclaim.core.errors import JudgeError
from everyclaim.core.types import Label, Verdict


def called(monkeypatch: pytest.MonkeyPatch, module: Any, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", [module.__name__, *map(str, arguments)])
    module.main()


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


def test_an_unknown_judge_is_a_plain_message(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And nothing is judged before it."""
    with pytest.raises(SystemExit):
        called(monkeypatch, verifier, labelled_file(tmp_path), "--judge", "nothing-like-it")
    assert "nothing-like-it" in capsys.readouterr().err


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


def test_a_limit_holds_for_every_data_set_and_keeps_the_order() -> None:
    """Claims of the same groups are kept first."""
    claims = [Labelled(str(i), (), "SUPPORTED", dataset="ab"[i % 2], group=str(i // 8)) for i in range(80)]
    kept = limited(claims, 12)
    assert [claim.dataset for claim in kept].count("a") == 12
    assert [int(claim.text) for claim in kept] == sorted(int(claim.text) for claim in kept)
    assert len({claim.group for claim in kept}) == 3


def test_groups_that_models_are_fitted_on_can_be_left_out(tmp_path: Path) -> None:
    """About half of the development groups are left, and fewer of `written`: whole groups, the same ones."""
    path = tmp_path / "claims.jsonl"
    rows = [{"text": "x", "contexts": ["y"], "label": "SUPPORTED", "group": str(i)} for i in range(50)]
    path.write_text("\n".join(json.dumps({**row, "dataset": d}) for row in rows for d in ("written", "q2")), "utf-8")
    kept = list(read_labelled([path], held_out=True))
    groups = {name: {claim.group for claim in kept if claim.dataset == name} for name in ("q2", "written")}
    assert 15 < len(groups["q2"]) < 35
    assert 2 < len(groups["written"]) < 20
    assert groups["written"] < groups["q2"]


def test_a_missed_aim_is_shown() -> None:
    """Copies must be supported, edited copies must not, good answers must not be contradicted."""
    names = ["copied"] * 10 + ["number changed"] * 10 + ["good answer"] * 10
    said = np.array(["SUPPORTED"] * 20 + ["UNSUPPORTED"] * 10)
    assert {row["probe"]: row["kept"] for row in probes.rows(names, list(said))} == {
        "copied": True,
        "number changed": False,
        "good answer": True,
    }


def test_only_a_judge_that_is_both_faster_and_more_accurate_pushes_another_off_the_frontier() -> None:
    """On as many cores."""

    def row(cores: int, speed: float, right: float) -> dict[str, float]:
        return {"cores": cores, "claims_per_second": speed, "pairs_right": right}

    rows = [row(1, 100, 0.3), row(1, 50, 0.8), row(1, 40, 0.7), row(2, 40, 0.7)]
    assert verifier_speed.frontier(rows) == [True, True, False, True]

"""A judge's health on labelled claims, with faults that are planted."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import everyclaim as ec
from everyclaim.testing import JudgeServer, play


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 60 answers of two claims, the second long and false; every claim is labelled."""
    store = tmp_path_factory.mktemp("labelled") / "runs.db"
    rows = [
        {
            "id": str(n),
            "response": f"Fact {n} is true|Fact {n} is false because of many reasons that nobody ever wrote down here",
            "contexts": [f"Fact {n} is true.", "Other facts."],
        }
        for n in range(60)
    ]
    ec.score_file(rows, judge=honest, decomposer=split, store=store, name="frozen")
    labels = [
        {**row, "label": "SUPPORTED" if "is true" in row["claim"] else "CONTRADICTED"}
        for row in ec.label("frozen", 200, store=store).rows
    ]
    ec.calibrate("frozen", labels, store=store)
    return store


def split(response: str) -> list[str]:
    return response.split("|")


def honest(claim: ec.Claim, passages: list[ec.Passage]) -> str:
    return "SUPPORTED" if "is true" in claim.text else "CONTRADICTED"


def check(labelled: Path, tmp_path: Path, judge: Callable[..., object], **options: object) -> object:
    return ec.evaluate_judge(judge, run="frozen", store=labelled, history=tmp_path / "checks.jsonl", **options)


def test_a_sound_judge_has_no_finding(labelled: Path, tmp_path: Path) -> None:
    """All 120 claims, three times and once turned round, without a flip."""
    found = check(labelled, tmp_path, honest)
    assert len(found.asked) == 120
    assert found.flips.value == found.turned.value == 0.0
    assert found.supported_called_so.value == found.failing_called_so.value == 1.0
    assert found.drift is None
    assert found.findings == ()
    assert "no instability, bias or drift found; both rates are significantly at least 90 %" in " ".join(
        str(found).split()
    )


def test_drift_is_told_against_the_first_check_and_not_by_chance(labelled: Path, tmp_path: Path) -> None:
    """Every further check may spend less of the 5 %; a judge that got worse is named with how much."""
    assert check(labelled, tmp_path, honest, times=1).drift is None
    alphas = []
    for _ in range(3):
        drift = check(labelled, tmp_path, honest, times=1).drift
        assert drift.changed == 0
        assert not drift.is_shown
        alphas.append(drift.alpha)
    assert alphas == sorted(alphas, reverse=True)
    assert sum(alphas) < 0.05

    history = tmp_path / "checks.jsonl"
    rows = [json.loads(line) for line in history.read_text("utf-8").splitlines()]
    assert len(rows) == 4
    worse = dict.fromkeys(list(rows[0]["labels"])[:40], "UNSUPPORTED")
    history.write_text(
        json.dumps({**rows[0], "labels": rows[0]["labels"] | worse, "created": "2026-01-02"}) + "\n", "utf-8"
    )
    found = check(labelled, tmp_path, honest, times=1)
    assert found.drift.changed == 40
    assert found.drift.difference.value > 0
    assert any("drift since 2026-01-02: accuracy is better" in told for told in found.findings)


@pytest.mark.slow
def test_a_language_model_may_stand_beside_a_judge_that_is_none(tmp_path: Path) -> None:
    """What is said of its endpoint is for it alone; every reply is a new one, and a cache is refused."""
    store = tmp_path / "runs.db"
    with JudgeServer(play) as server:
        first = ec.evaluate_judge("openai:any", times=1, base_url=server.base_url, store=store, against="lexical")
        asked = server.calls
        second = ec.evaluate_judge("lexical", times=1, base_url=server.base_url, store=store, against="openai:any")
        assert asked > 20
        assert asked < server.calls
    assert first.against.judge.startswith("lexical")
    assert second.against.judge.startswith("openai:any")
    with pytest.raises(ec.ConfigError, match="does not use the cache"):
        ec.evaluate_judge("openai:any", cache=str(tmp_path / "replies.db"), store=store)
    with pytest.raises(ec.ConfigError, match="base_url"):
        ec.evaluate_judge("lexical", base_url="http://localhost:1", store=store)

"""A judge's health on labelled claims, with faults that are planted."""

import json
import random
import subprocess
import sys
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
    return ec.check_judge(judge, run="frozen", store=labelled, history=tmp_path / "checks.jsonl", **options)


def test_a_sound_judge_has_no_finding(labelled: Path, tmp_path: Path) -> None:
    """All 120 claims, three times and once turned round, without a flip."""
    found = check(labelled, tmp_path, honest)
    assert len(found.asked) == 120
    assert found.flips.value == found.turned.value == 0.0
    assert found.supported_called_so.value == found.failing_called_so.value == 1.0
    assert found.drift is None
    assert found.findings == ()
    assert "no instability, bias or drift is shown; both rates are shown to be at least 90 %" in " ".join(
        str(found).split()
    )


def test_a_judge_that_misses_claims_is_never_called_sound(labelled: Path, tmp_path: Path) -> None:
    """Stable, and below 90 % by the whole interval: that is said; where labels are few, neither is."""
    found = check(labelled, tmp_path, lambda claim, passages: not {"3", "7"} & set(claim.text) and honest(claim, []))
    assert found.findings == ()
    assert found.shortfalls[0].startswith("it misses supported claims: it calls ")
    assert found.to_json()["shortfalls"] == list(found.shortfalls)
    assert "both rates are shown" not in str(found)
    judge = lambda claim, passages: "7" not in claim.text and honest(claim, passages)  # noqa: E731
    few = check(labelled, tmp_path / "other", judge)
    assert few.shortfalls == ()
    assert "these labels do not show whether both rates are at least 90 %" in " ".join(str(few).split())


def test_a_judge_that_throws_dice_does_not_repeat_itself(labelled: Path, tmp_path: Path) -> None:
    """Flips are counted over all repeats, and turning passages flips no more than repeating does."""
    draw = random.Random(5)
    found = check(labelled, tmp_path, lambda claim, passages: draw.random() < 0.6, times=4)
    assert found.flips.value > 0.5
    assert any("does not repeat itself" in told for told in found.findings)
    assert not any("order" in told for told in found.findings)
    assert not check(labelled, tmp_path, honest, max_flips=0.0).findings


def test_a_judge_that_minds_order_is_found(labelled: Path, tmp_path: Path) -> None:
    """It believes only what the first passage says."""
    found = check(labelled, tmp_path, lambda claim, passages: passages[0].text.startswith("Fact") and honest(claim, []))
    assert found.flips.value == 0.0
    assert found.turned.value == 1.0
    assert any("minds the order" in told for told in found.findings)


def test_a_judge_that_minds_length_is_found(labelled: Path, tmp_path: Path) -> None:
    """Of supported claims it fails the longer ones; where all of a kind are as long, there is nothing to compare."""

    def by_number(claim: ec.Claim, passages: list[ec.Passage]) -> str:
        return "SUPPORTED" if len(claim.text) > 60 else honest(claim, passages)

    found = check(labelled, tmp_path, by_number)
    assert found.failing_called_so.value == 0.0
    assert [one for one in found.lengths if one.of == "claim"] == []


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
    assert any("drifted since 2026-01-02: it judges better" in told for told in found.findings)


def test_claims_ship_for_a_judge_without_labels(tmp_path: Path) -> None:
    """Ninety of them; the check is kept beside the store."""
    found = ec.check_judge(lambda claim, passages: True, times=1, store=tmp_path / "runs.db")
    assert len(found.asked) == 90
    assert (tmp_path / "judge_checks.jsonl").is_file()


def test_a_judge_that_fails_is_told_apart_from_one_that_errs(labelled: Path, tmp_path: Path) -> None:
    """What has no verdict is in no rate, and its share is a finding."""

    def broken(claim: ec.Claim, passages: list[ec.Passage]) -> str:
        if "7" in claim.text:
            raise RuntimeError
        return honest(claim, passages)

    found = check(labelled, tmp_path, broken, times=2)
    assert 0.05 < found.unjudged < 0.4
    assert found.failing_called_so.value == 1.0
    assert any("no verdict came" in told for told in found.findings)


def test_a_history_that_is_something_else_is_refused_untouched(labelled: Path, tmp_path: Path) -> None:
    """Before the judge is asked."""
    (tmp_path / "checks.jsonl").write_text('{"id": "answer"}\n', "utf-8")
    with pytest.raises(ec.InputError, match="line 1: this is no check of a judge"):
        check(labelled, tmp_path, honest)
    assert (tmp_path / "checks.jsonl").read_text("utf-8") == '{"id": "answer"}\n'


def test_a_language_model_may_stand_beside_a_judge_that_is_none(tmp_path: Path) -> None:
    """What is said of its endpoint is for it alone; every reply is a new one, and a cache is refused."""
    store = tmp_path / "runs.db"
    with JudgeServer(lambda request: play(request.messages)) as server:
        first = ec.check_judge("openai:any", times=1, base_url=server.base_url, store=store, against="lexical")
        asked = server.calls
        second = ec.check_judge("lexical", times=1, base_url=server.base_url, store=store, against="openai:any")
        assert asked > 20
        assert asked < server.calls
    assert first.against.judge.startswith("lexical")
    assert second.against.judge.startswith("openai:any")
    with pytest.raises(ec.ConfigError, match="takes no reply from a cache"):
        ec.check_judge("openai:any", cache=str(tmp_path / "replies.db"), store=store)
    with pytest.raises(ec.ConfigError, match="base_url"):
        ec.check_judge("lexical", base_url="http://localhost:1", store=store)


OF_LABELS = {
    "check": "ec.check_judge(lambda claim, passages: False, times=1, store=sys.argv[1])",
    "matrix": "ec.score(response='Tea is hot', reference='Tea is hot', passages=['Cats sleep'], metric='ragchecker',"
    " decomposer=lambda text: [text], judge=lambda claim, passages: passages[0].text == claim.text)",
}


@pytest.mark.parametrize("work", OF_LABELS.values(), ids=OF_LABELS)
def test_where_only_labels_count_nobody_looks_for_reasons(work: str, tmp_path: Path) -> None:
    """Why a claim fails is found by the network: it is not even loaded where no failing claim is shown."""
    code = f"import sys, everyclaim as ec; {work}; print('onnxruntime' in sys.modules)"
    asked = [sys.executable, "-c", code, str(tmp_path / "runs.db")]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip() == "False"

"""What labels say of a judge: planted errors come back, whatever way the claims were chosen; cascades fitted to them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.api.fitting import cascade_spec
from everyclaim.testing import JudgeServer, play

RIGHT, FLAGGED, RATE = 0.85, 0.7, 0.75


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, bool]]:
    """A run of 400 answers with 4 claims each, by a judge that errs as planted; and what is true."""
    draw = random.Random(7)
    truth: dict[str, bool] = {}
    said: dict[str, bool] = {}
    rows = []
    for number in range(400):
        claims = [f"Fact {number} of kind {kind} holds" for kind in "abcd"]
        for claim in claims:
            truth[claim] = draw.random() < RATE
            right = draw.random() < (RIGHT if truth[claim] else FLAGGED)
            said[claim] = truth[claim] == right
        rows.append({"id": str(number), "response": ". ".join(claims) + ".", "contexts": ["Facts hold."]})
    store = str(tmp_path_factory.mktemp("planted") / "runs.db")

    def judge(claim: ec.Claim, passages: list[str]) -> bool:
        return said[claim.text]

    def split(response: str) -> list[str]:
        return [piece.strip(". ") for piece in response.split(". ")]

    ec.score_file(rows, judge=judge, decomposer=split, store=store, name="planted")
    return store, truth


@pytest.mark.slow
@pytest.mark.parametrize("by", ["random", "stratified", "allocation"])
def test_planted_errors_are_recovered(planted: tuple[str, dict[str, bool]], by: str, tmp_path: Path) -> None:
    """The judge's rates and the true share lie in their intervals, and the raw share does not."""
    store, truth = planted
    sheet = ec.label("planted", 500, by=by, store=store, seed=3)
    rows = [
        {**row, "label": "SUPPORTED" if truth[row["claim"]] else "UNSUPPORTED", "annotator": by} for row in sheet.rows
    ]
    copy = tmp_path / "runs.db"
    copy.write_bytes(Path(store).read_bytes())
    found = ec.calibrate("planted", rows, store=copy)
    assert found.used == 500
    assert found.rates.tpr.low < RIGHT < found.rates.tpr.high
    assert found.rates.tnr.low < FLAGGED < found.rates.tnr.high
    true_share = sum(truth.values()) / len(truth)
    best = found.corrected.shown
    assert true_share in best.interval
    raw = found.corrected.raw
    assert raw.high < true_share
    if by == "random":
        assert true_share in found.corrected.rogan_gladen.interval
    assert found.standing == ("missed", "missed")
    assert all(len(line) <= 80 for line in str(found).splitlines())


def thermometer(claim: ec.Claim, passages: object) -> float:
    """Say as SUPPORTED what stands in the claim."""
    if "broken" in claim.text:
        raise ec.JudgeError("timeout", "no answer")
    return float(claim.text.split()[0])


def row(says: float, label: str, number: int, **more: Any) -> dict[str, Any]:
    return {"claim": f"{says} of claim {number}", "contexts": [f"passage {number}"], "label": label, **more}


SURE = [row(0.97, "SUPPORTED", i) for i in range(60)] + [row(0.02, "not supported", i) for i in range(60, 120)]
DOUBT = [row(0.6, label, i) for i, label in enumerate(("SUPPORTED", "Contradicted", "unsupported") * 20, start=200)]


def test_a_band_is_fitted_and_the_cascade_keeps_to_it(tmp_path: Path) -> None:
    """What the judge is right about when it is sure is settled; what it is not is put to the second judge."""
    fit = ec.fit_cascade(SURE + DOUBT, thermometer, error=0.1)
    assert (fit.claims, fit.clusters) == (180, 180)
    assert fit.settled.claims == 120
    assert fit.needs_second
    assert not ec.fit_cascade(SURE + DOUBT[:2], thermometer, error=0.1).needs_second
    assert 0.6 < fit.high <= 0.97
    assert fit.low == pytest.approx(1 - fit.high)
    with JudgeServer(play) as server:
        spec = cascade_spec(fit, "lexical", f"openai:m?base_url={server.base_url}")
        made_by = ec.score(response="It is red.", passages=["It is red."], judge=spec).provenance
    assert (made_by.parameters["low"], made_by.parameters["high"]) == (f"{fit.low:g}", f"{fit.high:g}")


def labelled(run: ec.Run, n: int) -> list[dict[str, Any]]:
    """Label claims at random, as true unless they say that they are wrong."""
    rows = ec.label(run, n, by="random").rows
    return [{**row, "label": "UNSUPPORTED" if "wrong" in row["claim"] else "SUPPORTED"} for row in rows]


def every_tenth(claim: ec.Claim, passages: list[str]) -> bool:
    """Call claims failing that are wrong, and every tenth that is not."""
    return "wrong" not in claim.text and not claim.text.endswith("0 holds.")


def answers(numbers: Any, text: str) -> list[dict[str, Any]]:
    return [{"response": f"Fact {number} {text}.", "contexts": [f"Facts {number}."]} for number in numbers]


def test_a_label_stands_for_every_occurrence_of_its_answer(tmp_path: Path) -> None:
    """Of 100 answers 20 are wrong; each of these occurs 9 times: the corrected rate is of all, its interval of 100."""
    rows = answers(range(80), "holds") + 9 * answers(range(80, 100), "is wrong")
    run = ec.score_file(rows, judge=every_tenth, store=str(tmp_path / "runs.db"))
    found = ec.calibrate(run, labelled(run, 100))
    assert (found.used, found.is_weighted, found.corrected.shown.clusters) == (100, True, 100)
    assert found.corrected.raw.value == pytest.approx(72 / 260)
    for corrected in (found.corrected.ppi, found.corrected.rogan_gladen):
        assert corrected.value == pytest.approx(80 / 260, abs=0.01)
        assert corrected.interval.width > 0.1


def test_answers_that_changed_since_they_were_labelled_keep_their_verdicts(tmp_path: Path) -> None:
    """Labels of the old release correct the answers that the new one shares, and the rest is marked with figures."""
    store = str(tmp_path / "runs.db")
    kept = answers(range(50), "holds") + answers(range(100, 150), "is wrong")
    old = ec.score_file(kept + answers(range(50, 100), "holds"), judge=every_tenth, store=store)
    new = ec.score_file(kept + answers(range(50, 100), "is wrong"), judge=every_tenth, store=store)
    same = ec.score_file(kept + answers(range(50, 100), "holds"), judge=every_tenth, store=store)
    ec.calibrate(old, labelled(old, 10))
    assert (few := ec.calibrate(old).corrected).shown is None
    assert "claims; at least 10 are needed" in few.why[0]
    ec.calibrate(old, labelled(old, 120))
    found = ec.calibrate(new).corrected
    assert found.raw.value == pytest.approx(45 / 150)
    assert found.shown.value == pytest.approx(50 / 150, abs=0.02)
    assert any("50 of these 150 answers (50 of 150 claims) were not in the run" in text for text in found.warnings)
    assert not any("keep the judge's verdicts" in text for text in ec.calibrate(same).corrected.warnings)
    ec.calibrate(new, labelled(new, 40))
    assert not any("keep the judge's verdicts" in text for text in ec.calibrate(new).corrected.warnings)


def test_a_label_counts_once_however_often_the_answer_occurs(tmp_path: Path) -> None:
    """Two claims of one answer, 12 times in a run: two to label, two labels in every count, and none left to ask for."""
    answer = {"response": "Fact one holds. Fact two is wrong.", "contexts": ["Facts hold."]}
    store = str(tmp_path / "runs.db")

    def judge(claim: ec.Claim, passages: list[str]) -> bool:
        return "wrong" not in claim.text

    run = ec.score_file([{"id": str(n), **answer} for n in range(12)], judge=judge, store=store)
    sheet = ec.label(run, 24, by="random", annotators=["Ada", "Bo"], overlap=1.0)
    assert len(sheet.rows) == 2 * 2
    assert len(ec.label_splits(run).rows) == 2
    rows = [{**row, "label": "UNSUPPORTED" if "wrong" in row["claim"] else "SUPPORTED"} for row in sheet.rows]
    found = ec.calibrate(run, rows)
    assert (found.labelled, found.rates.supported, found.rates.failing, found.agreement.shared) == (2, 1, 1, 2)
    assert ec.compare(run, run).calibration.labelled == 2
    with pytest.raises(ec.InputError, match="no unlabelled claim left"):
        ec.label(run)
    assert found.advice[-1] == "this run has no unlabelled claim left: score and label more answers."

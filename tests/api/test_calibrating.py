"""What labels say of a judge: planted errors come back, whatever way the claims were chosen; cascades fitted to them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.analysis.calibration import Calibration
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
    beside = found.correct(ec.find_run("planted", store=copy).summary)
    assert true_share in beside.rogan_gladen.interval


def labelled_run(
    store: Path, verdict: Callable[[bool, random.Random], dict[str, object]], *, n: int = 160
) -> Calibration:
    """Score and label answers of two claims, of which the first is true, by a judge that knows and says so or not."""
    draw = random.Random(3)

    def judge(claim: ec.Claim, passages: list[str]) -> dict[str, object]:
        return verdict("holds" in claim.text, draw)

    rows = [{"id": str(n), "response": f"Fact {n} holds|Fact {n} fails", "contexts": ["Facts."]} for n in range(n)]
    ec.score_file(rows, judge=judge, decomposer=lambda text: text.split("|"), store=store, name="run")
    labels = [
        {**row, "label": "SUPPORTED" if "holds" in row["claim"] else "UNSUPPORTED"}
        for row in ec.label("run", 2 * n, by="random", store=store).rows
    ]
    return ec.calibrate("run", labels, store=store)


def verdict_of(is_supported: bool, chance: float) -> dict[str, object]:
    return {"label": "SUPPORTED" if is_supported else "UNSUPPORTED", "probability": chance}


def test_a_threshold_that_helps_is_advised_with_what_it_gains(tmp_path: Path) -> None:
    """The judge's own cut is far too low: labels that it was not fitted to say by how much another one is better."""

    def lax(truth: bool, draw: random.Random) -> dict[str, object]:
        chance = 0.75 + 0.2 * draw.random() if truth else 0.4 + 0.3 * draw.random()
        return verdict_of(chance > 0.5, chance)

    found = labelled_run(tmp_path / "runs.db", lax)
    assert found.standing == ("met", "missed")
    missed, helps, *_ = found.advice
    assert missed.startswith("the judge misses too many failing claims")
    assert helps.startswith("a threshold of 0.7")
    assert "raises balanced accuracy by" in helps
    assert f"{found.fitted.reported_on} labels not used in the fit" in helps


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
    assert 0.6 < fit.high <= 0.97
    assert fit.low == pytest.approx(1 - fit.high)
    with JudgeServer(lambda request: play(request.messages)) as server:
        spec = cascade_spec(fit, "lexical", f"openai:m?base_url={server.base_url}")
        made_by = ec.score(response="It is red.", passages=["It is red."], judge=spec).provenance
    assert (made_by.parameters["low"], made_by.parameters["high"]) == (f"{fit.low:g}", f"{fit.high:g}")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row(0.9, "mostly", 1, id="a7")], "claim 'a7' has the label 'mostly'"),
        ([{"claim": "x", "contexts": ["y"]}], "no field 'label'"),
        ([row(0.9, "SUPPORTED", 1) | {"label": None}], "no labelled claim"),
        ([row(0.9, "SUPPORTED", 1) | {"claim": "broken"}], "no verdict on any of the 1 labelled claims"),
    ],
)
def test_a_source_that_holds_nothing_to_fit_to_is_said(rows: list[dict[str, Any]], said: str) -> None:
    """With the row, the field, or what became of them."""
    with pytest.raises(ec.InputError, match=said):
        ec.fit_cascade(rows, thermometer)

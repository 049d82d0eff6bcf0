"""A guard with a guarantee: a threshold from people's labels, what it promises, and when it promises nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import everyclaim as ec


def sure(claim: ec.Claim, passages: object) -> float:
    """Take a claim for as probable as it says: "It is 90 red."."""
    return int("".join(filter(str.isdigit, claim.text))) / 100


def lines(response: str) -> list[str]:
    return [f"{part}." for part in response.rstrip(".").split(". ")]


PARTS = {"judge": sure, "decomposer": lines}
SURE, UNSURE = "The lamp is 97 red.", "The lamp is 60 old."


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, ec.Run]:
    """A store with 240 labelled answers: what is 60 probable is mostly wrong, what is 97 probable right."""
    folder = tmp_path_factory.mktemp("risk")
    rows = [{"id": f"a{n}", "response": f"{SURE} {UNSURE}", "contexts": [f"x{n}"], "model": "bot"} for n in range(240)]
    run = ec.score_file(rows, store=folder / "runs.db", name="bot", **PARTS)
    labels = [
        {"sample_id": f"a{n}", "claim": text, "label": label, "annotator": "ann"}
        for n in range(240)
        for text, label in ((SURE, "SUPPORTED"), (UNSURE, "SUPPORTED" if n % 4 == 0 else "UNSUPPORTED"))
    ]
    (folder / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)), "utf-8")
    return str(folder / "runs.db"), str(folder / "labels.jsonl"), run


@pytest.fixture(scope="module")
def promise(calibrated: tuple[str, str, ec.Run]) -> object:
    store, labels, run = calibrated
    return ec.calibrate(run.id, labels, risk=0.02, store=store).promise


def test_what_is_promised_stands_in_a_sentence(promise: object) -> None:
    """The lowest threshold with which the labels show the risk, how many answers, and what it withholds."""
    assert 0.6 < promise.threshold <= 0.97
    assert str(promise) == (
        "at most 2.0 % of the shown claims are unsupported, with 95.0 % confidence, for answers like the 240 labelled ones; "
        "50.0 % of claims are withheld"
    )


def test_a_guard_withholds_what_is_below_the_threshold_and_says_what_it_promises(promise: object) -> None:
    """With it an answer is validated; without it, checked; a judge of record needs none."""
    answer = ec.Guard(None, risk=promise, threshold=0.0, **PARTS).answer("", ["x"], response=f"{SURE} {UNSURE}")
    assert (answer.text, answer.checked, answer.validated, answer.promise) == (SURE, True, True, str(promise))
    assert [one.claim.text for one in answer.removed] == [UNSURE]
    assert f"guarantee: {str(promise)[:30]}" in " ".join(str(answer).split())
    plain = ec.Guard(None, threshold=0.0, **PARTS).answer("", ["x"], response=SURE)
    assert (plain.checked, plain.validated, plain.promise) == (True, False, "")
    assert ec.Guard(None, judge_of_record=True, **PARTS).answer("", ["x"], response=SURE).validated


@pytest.mark.parametrize(("question", "answer"), [("How old is it?", "97 years."), ("", "ON-97.")])
def test_a_short_answer_is_in_the_language_of_its_question(promise: object, question: str, answer: str) -> None:
    """And what tells no language at all is not taken for another one."""
    assert ec.Guard(None, risk=promise, threshold=0.0, **PARTS).answer(question, ["x"], response=answer).validated


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (["Die Lampe ist 97 rot und sie steht auf dem Tisch."], "in German, for which there are no labels"),
        ([f"{UNSURE} {UNSURE.replace('old', 'big')} {UNSURE.replace('old', 'new')}", SURE], "rewritten"),
    ],
)
def test_nothing_is_promised_outside_of_what_was_labelled(promise: object, says: list[str], why: str) -> None:
    """In another language, of an answer that was written anew."""
    given = iter(says)
    guard = ec.Guard(lambda question, passages, instructions: next(given), risk=promise, threshold=0.1, **PARTS)
    answer = guard.answer("", ["x"])
    assert (answer.promise, answer.validated) == ("", False)
    assert any("no guarantee" in text and why in text for text in answer.warnings)


def test_the_command_writes_a_file_that_a_guard_reads(
    calibrated: tuple[str, str, ec.Run], promise: object, tmp_path: Path
) -> None:
    """`everyclaim calibrate RUN LABELS --risk 0.02 --save risk.json`, and `Guard(risk="risk.json")`."""
    from typer.testing import CliRunner

    from everyclaim.cli.app import app

    store, labels, run = calibrated
    saved = tmp_path / "risk.json"
    done = CliRunner().invoke(
        app, ["calibrate", run.id, labels, "--risk", "0.02", "--save", str(saved), "--store", store]
    )
    assert done.exit_code == 0, done.output
    assert "240 labelled ones; 50.0 % of claims are withheld" in " ".join(done.output.split())
    answer = ec.Guard(None, risk=saved, threshold=0.0, **PARTS).answer("", ["x"], response=SURE)
    assert answer.promise == str(promise)
    with pytest.raises(ec.ConfigError, match=r"fitted to labels.* got 0\.02"):
        ec.Guard(None, risk=0.02, **PARTS)
    saved.write_text("{}")
    with pytest.raises(ec.InputError, match="not a calibrated risk"):
        ec.Guard(None, risk=saved, **PARTS)

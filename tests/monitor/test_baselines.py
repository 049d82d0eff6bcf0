"""A kept run as a baseline: its rates, with intervals that count answers as clusters, and its judge's error by labels."""

from __future__ import annotations

from pathlib import Path

import pytest
from watching import EXAMPLE

import everyclaim as ec
from everyclaim.monitor import Detector, Limits


@pytest.fixture
def run(example: Path) -> ec.Run:
    return ec.find_run("first", store=example)


def test_a_baseline_has_the_rates_of_its_run(run: ec.Run) -> None:
    """Those that its page shows."""
    found = ec.baseline("first", store=run.store_location)
    shown = run.summary.overall
    assert found.claims == sum(one.count(label) for one in run.results() for label in ec.Label)
    assert found.contradicted.value == pytest.approx(shown.rates[ec.Label.CONTRADICTED].value)
    assert found.contradicted.low < found.contradicted.value < found.contradicted.high
    assert found.score.value == pytest.approx(shown.score.value)
    assert found.judge is None
    assert Detector(Limits.above(found)).limits.contradicted > 1.5 * found.contradicted_by_answer.value


def test_labels_say_how_the_judge_errs_about_contradictions(run: ec.Run) -> None:
    """The share of truly contradicted claims that it calls so, and of the others that it does not; as in the table."""
    table = ec.calibrate(run, EXAMPLE / "labels.jsonl").confusion
    judge = ec.baseline(run).judge
    assert judge is not None
    assert judge.sensitivity == pytest.approx(table[2][2] / sum(table[2]))
    called, others = table[0][2] + table[1][2], sum(table[0]) + sum(table[1])
    assert judge.specificity == pytest.approx(1 - called / others)
    assert 0 < judge.others <= others

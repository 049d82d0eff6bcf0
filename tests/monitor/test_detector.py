"""The detector: quiet while a rate is in order, quick when it rises, right about since when; and a restart goes on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streams import failed, stream

import everyclaim as ec
from everyclaim.core.errors import ConfigError
from everyclaim.monitor import Alert, Baseline, Detector, JudgeAccuracy, Level, Limits
from everyclaim.monitor.detector import why_too_high


def alerts(detector: Detector, results) -> list[tuple[int, Alert]]:
    found = []
    for place, result in enumerate(results):
        if alert := detector.update(result):
            found.append((place, alert))
    return found


@pytest.mark.slow
def test_a_rate_in_order_raises_no_alarm_though_claims_of_an_answer_go_wrong_together() -> None:
    """30,000 answers at 2.5 % under a limit of 3 %, where a test that takes claims as independent cries every day."""
    detector = Detector(Limits(contradicted=0.03, failed=None), answers_between_false_alarms=100_000)
    assert alerts(detector, stream(np.random.default_rng(0), 0.025, 30_000)) == []


def test_a_bad_release_is_noticed_within_some_hundred_answers_and_named() -> None:
    """2 % and then 10 %: what is said are the answers since, and their rate."""
    detector = Detector(Limits(contradicted=0.03), name="support bot")
    random = np.random.default_rng(1)
    assert alerts(detector, stream(random, 0.02, 2000)) == []
    found = alerts(detector, stream(random, 0.10, 600, release="v2"))
    assert found
    place, alert = found[0]
    assert place < 300
    assert alert.measure == "contradicted"
    assert abs(alert.answers - place) < 100
    assert 0.06 < alert.rate < 0.16
    assert alert.title.startswith("support bot: contradicted claims at ")


@pytest.mark.slow
def test_a_noisy_judge_does_not_cry_wolf_and_is_still_seen_through() -> None:
    """A judge that calls 8 % of good claims contradicted: alarms at once where its error is not known, none where it is."""
    judge = JudgeAccuracy(sensitivity=0.8, specificity=0.92, contradicted=200, others=800)
    in_order = list(stream(np.random.default_rng(3), judge.judged(0.015), 6000))
    assert alerts(Detector(Limits(contradicted=0.03)), in_order)
    corrected = Detector(Limits(contradicted=0.03), judge=judge)
    assert alerts(corrected, in_order) == []
    _, alert = alerts(corrected, stream(np.random.default_rng(4), judge.judged(0.12), 3000))[0]
    assert alert.rate == pytest.approx(judge.corrected(alert.raw))
    assert 0.05 < alert.rate < 0.2
    assert "corrected for the judge's error" in alert.text


def test_a_judge_that_fails_is_an_alarm_of_its_own_and_no_rate_of_claims() -> None:
    """Failures are no scores: the measure is `failed`."""
    found = alerts(Detector(Limits(contradicted=0.03)), (failed(i) for i in range(200)))
    assert {alert.measure for _, alert in found} == {"failed"}


def test_a_restart_goes_on_where_the_state_was_kept() -> None:
    """Cut anywhere and restored through JSON: the same alarms at the same answers."""
    results = list(stream(np.random.default_rng(5), 0.08, 900))
    whole = alerts(Detector(Limits(contradicted=0.03)), results)
    detector, pieces = Detector(Limits(contradicted=0.03)), []
    for start in range(0, len(results), 37):
        detector = Detector.from_json(json.loads(json.dumps(detector.to_json())))
        pieces += [(start + at, one.measure, one.answers) for at, one in alerts(detector, results[start : start + 37])]
    assert pieces == [(at, one.measure, one.answers) for at, one in whole]
    assert pieces


def test_limits_lie_above_a_baseline_and_above_what_it_may_be() -> None:
    """Half as much again, corrected; of a short run at least the end of its interval."""
    level = Level(0.10, 0.005, 0.09, 0.11)
    judge = JudgeAccuracy(0.9, 0.95, 100, 400)
    baseline = Baseline("r", 900, 5000, level, level, Level(0.9, 0.01, 0.88, 0.92), 0.0, judge)
    limits = Limits.above(baseline)
    assert limits.contradicted == pytest.approx(1.5 * (0.10 - 0.05) / 0.85)
    assert limits.unfaithful == pytest.approx(0.15)
    short = replace(baseline, contradicted_by_answer=Level(0.0, 0.01, 0.0, 0.04), judge=None)
    assert Limits.above(short).contradicted == pytest.approx(0.04)


@pytest.mark.parametrize(
    ("high", "judge", "told"),
    [
        (0.11, JudgeAccuracy(0.9, 0.95, 100, 400), ""),
        (
            0.11,
            JudgeAccuracy(0.2, 0.99, 13, 400),
            "13 labels of contradicted claims, of which the judge finds 20 %; label at least 62 contradicted claims",
        ),
        (0.3, None, "12 answers the baseline rate is between 9.0 % and 30.0 %"),
        (0.3, JudgeAccuracy(0.9, 0.95, 100, 400), "score about 192 answers"),
    ],
)
def test_a_limit_that_is_too_high_is_told_with_what_is_missing(
    high: float, judge: JudgeAccuracy | None, told: str
) -> None:
    """Labels where the judge finds few and few say so, else answers."""
    level = Level(0.10, 0.005, 0.09, high)
    baseline = Baseline("r", 12, 50, level, level, Level(0.9, 0.01, 0.88, 0.92), 0.0, judge)
    said = why_too_high(Limits.above(baseline).contradicted or 0.0, baseline)
    assert told in said
    assert bool(told) == bool(said)


@pytest.mark.parametrize("state", [{}, {"schema": 9}, [], None, {"schema": 1, "limits": {"contradicted": "much"}}])
def test_what_is_no_state_is_refused(state: object) -> None:
    """A broken file is an error of the user's, with words, and no fresh start behind their back."""
    with pytest.raises(ConfigError, match="state of a detector"):
        Detector.from_json(state)


@pytest.mark.parametrize(
    "wrong", [{"contradicted": 0}, {"contradicted": 1.2}, {"failed": None}, {"failed": float("nan")}]
)
def test_limits_that_no_rate_can_be_held_against_are_refused(wrong: dict[str, float | None]) -> None:
    """A limit of 0 would alarm at the first slip; one of 1 never."""
    with pytest.raises(ConfigError):
        Limits(**wrong)


def test_a_baseline_has_the_rates_of_its_run(example: Path) -> None:
    """Those that its page shows."""
    run = ec.find_run("first", store=example)
    found = ec.baseline("first", store=example)
    shown = run.summary.overall
    assert found.claims == sum(one.count(label) for one in run.results() for label in ec.Label)
    assert found.contradicted.value == pytest.approx(shown.rates[ec.Label.CONTRADICTED].value)
    assert found.contradicted.low < found.contradicted.value < found.contradicted.high
    assert found.score.value == pytest.approx(shown.score.value)
    assert found.judge is None
    assert Detector(Limits.above(found)).limits.contradicted > 1.5 * found.contradicted_by_answer.value

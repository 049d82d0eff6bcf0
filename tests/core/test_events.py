"""Observers: told of the work in their block, wherever it goes; what they raise changes nothing."""

from __future__ import annotations

import logging

import pytest

import everyclaim as ec
from everyclaim.core.events import JudgeCalled, ScoringEnded, ScoringStarted, observed
from everyclaim.testing import JudgeServer, Request, play

ROW = {"question": "How heavy?", "response": "The unit weighs 9 kg.", "contexts": ["The unit weighs 9 kg."]}


def played(request: Request) -> str:
    return play(request.messages)


def test_observers_are_told_of_a_sample_from_its_start_to_its_result() -> None:
    """Also from a synchronous call; and outside the block of nothing."""
    told: list[object] = []
    with observed([told.append, told.append]):
        result = ec.score(ROW)
    ec.score(ROW)
    started, ended = told
    assert isinstance(started, ScoringStarted)
    assert isinstance(ended, ScoringEnded)
    assert ended.result == result
    assert ended.seconds > 0


def test_every_call_of_a_judge_is_told_with_its_usage_also_from_the_cache(tmp_path) -> None:
    """By an evaluator's background loop; the model is named without options, for they may be secret."""
    told: list[object] = []
    with (
        JudgeServer(played) as server,
        ec.Evaluator(
            judge="openai:m?temperature=1", base_url=server.base_url, cache=tmp_path / "replies.db"
        ) as evaluator,
        observed([told.append]),
    ):
        evaluator.score(ROW)
        evaluator.score(ROW)
    calls = [event for event in told if isinstance(event, JudgeCalled)]
    assert [call.is_cached for call in calls] == [False, False, True, True]
    assert {call.model for call in calls} == {"openai:m"}
    assert all(call.usage.prompt_tokens > 0 for call in calls if not call.is_cached)


def test_an_observer_that_fails_is_logged_once_and_scoring_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    """Telemetry that is down must not take the scoring with it, nor keep the other observers from hearing."""

    def broken(_: object) -> None:
        raise OSError("the collector is gone")

    told: list[object] = []
    with caplog.at_level(logging.WARNING), observed([broken, told.append]):
        assert ec.score(ROW).score == 1.0
    assert len(told) == 2
    assert [record.message for record in caplog.records] == [
        "an observer failed; scoring continues: OSError: the collector is gone"
    ]

"""What is used is counted where it belongs, what is opened is closed, and observers are told of the work."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

import pytest

import everyclaim as ec
from everyclaim.core.errors import JudgeError
from everyclaim.core.events import JudgeCalled, ScoringEnded, ScoringStarted, observed, tallied
from everyclaim.core.lifetime import on_close, scope
from everyclaim.core.protocols import ChatReply, Scorer
from everyclaim.core.types import Outcome, Passage, Sample, Usage
from everyclaim.decompose.llm import LlmDecomposer
from everyclaim.engine import score_sample
from everyclaim.models.chat.replies import Inquiry, ask_once
from everyclaim.prompts.verdicts import NliPrompt
from everyclaim.testing import JudgeServer, ScriptedChat, play
from everyclaim.verify.llm import LlmVerifier

ONE = Usage(calls=1, prompt_tokens=10, completion_tokens=2, cost=0.5)


@pytest.mark.parametrize(
    ("answer", "used"),
    [
        (ChatReply("{}", "stop", "m", ONE), ONE),
        (ChatReply("not JSON", "stop", "m", ONE), ONE),
        (ChatReply("{", "length", "m", ONE), ONE),
        (JudgeError("rate_limited", "429", usage=ONE), ONE),
        (JudgeError("timeout", "none"), Usage()),
    ],
)
def test_a_call_is_paid_once_whatever_becomes_of_its_reply(answer: ChatReply | JudgeError, used: Usage) -> None:
    """Good, malformed, cut or failed."""
    with tallied() as tally, suppress(JudgeError):
        inquiry = Inquiry(ScriptedChat(answer), NliPrompt(), lambda _items, _shared: [])
        asyncio.run(ask_once(inquiry, {"a": "The kettle is red."}))
    assert tally.usage == used


def metric(chat: ScriptedChat) -> Scorer:
    from everyclaim.api.session import Session

    return Session({"judge": LlmVerifier(chat), "decomposer": LlmDecomposer(chat)}).metric


SAMPLE = Sample("1", "The kettle is red. It holds 9 litres.", (Passage("p1", "The kettle is red."),), model="gpt-4o")


def test_a_failed_sample_says_what_it_took_all_the_same() -> None:
    """Three calls: the claims, and the verdicts twice."""
    chat = ScriptedChat(lambda messages: "nonsense" if "claims" in messages[-1].content else play(messages))
    result = asyncio.run(score_sample(metric(chat), SAMPLE))
    assert (result.outcome, result.usage.calls) == (Outcome.FAILED, 3)
    assert result.reason.startswith("malformed")


def test_a_scope_closes_what_was_opened_inside_last_first() -> None:
    """Also in tasks, also after an error, and in the outermost scope only."""
    closed: list[str] = []

    async def opened(name: str) -> None:
        async def close() -> None:
            closed.append(name)

        on_close(close)

    async def work() -> None:
        async with scope():
            await asyncio.create_task(opened("first"))
            async with scope():
                await opened("second")
            assert closed == []
            raise JudgeError("timeout", "none")

    with pytest.raises(JudgeError):
        asyncio.run(work())
    assert closed == ["second", "first"]


ROW = {"question": "How heavy?", "response": "The unit weighs 9 kg.", "contexts": ["The unit weighs 9 kg."]}


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
        JudgeServer(play) as server,
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

"""Faithfulness in one call: the same numbers, the same checks, half the calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from everyclaim.api.session import Session
from everyclaim.core.errors import ConfigError
from everyclaim.core.protocols import Message
from everyclaim.core.types import Label, Outcome, Passage, Result, Sample
from everyclaim.engine import score_sample
from everyclaim.testing import ScriptedChat, play, request_data
from everyclaim.verify.llm import LlmVerifier

ANSWER = "The kettle is red. It holds 9 litres. Do you want it?"
SHELF = (Passage("p1", "The kettle is red. It holds 2 litres."),)


def score(chat: ScriptedChat, answer: str = ANSWER, shelf: tuple[Passage, ...] = SHELF, **options: Any) -> Result:
    metric = Session({"judge": LlmVerifier(chat), "metric": "faithfulness?mode=one_call", **options}).metric
    return asyncio.run(score_sample(metric, Sample("1", answer, shelf, "Which kettle?")))


def changed(change: Callable[[dict[str, Any]], Any]) -> Callable[[Sequence[Message]], str]:
    """Return a rule that changes the first claim in every reply of one call."""

    def rule(messages: Sequence[Message]) -> str:
        reply = json.loads(play(messages))
        if reply.get("sentences"):
            change(reply["sentences"][0]["claims"][0])
        return json.dumps(reply)

    return rule


def test_one_call_gives_claims_and_verdicts() -> None:
    """The result looks like any other; evidence is located, questions are skipped."""
    chat = ScriptedChat(play)
    result = score(chat)
    assert (result.outcome, result.score, chat.calls, result.usage.calls) == (Outcome.SCORED, 0.5, 1, 1)
    assert [c.verdict.label for c in result.claims] == [Label.SUPPORTED, Label.UNSUPPORTED]
    assert result.claims[0].verdict.evidence[0].quote == "The kettle is red."
    assert [s.reason for s in result.skipped] == ["question"]
    assert result.provenance.decomposer == result.provenance.verifier
    assert "one_call_prompt" in result.provenance.parameters
    assert result.probability == min(
        c.verdict.probabilities.supported for c in result.claims if c.verdict.probabilities
    )


def test_a_claim_with_a_stranger_gives_way_to_its_sentence_which_is_judged_apart() -> None:
    """Two calls: the second for that sentence alone."""
    chat = ScriptedChat(changed(lambda row: row.update(claim="The kettle was sold in Vienna in 1999.")))
    result = score(chat)
    assert [c.text for c in result.claims] == ["The kettle is red.", "It holds 9 litres."]
    assert chat.calls == 2
    (group,) = request_data(chat.asked[1])["claims"]
    assert list(group["claims"].values()) == ["The kettle is red."]


def test_a_sentence_with_an_unusable_verdict_is_asked_for_again_then_judged_apart() -> None:
    """Three calls: all, that sentence, its verdict."""
    chat = ScriptedChat(changed(lambda row: row.update(label="YES")))
    result = score(chat)
    assert (result.outcome, chat.calls) == (Outcome.SCORED, 3)
    assert list(request_data(chat.asked[1])["sentences"].values()) == ["The kettle is red."]


def test_it_needs_a_language_model_that_sees_all_passages_at_once() -> None:
    """Anything else is one clear error."""
    for options in (
        {"judge": "lexical"},
        {"strategy": "ranked"},
        {"judge": LlmVerifier(ScriptedChat(play), repeats=2)},
    ):
        with pytest.raises(ConfigError, match="one_call needs a language model"):
            score(ScriptedChat(play), **options)
    with pytest.raises(ConfigError, match="must be one of two_calls, one_call"):
        score(ScriptedChat(play), metric="faithfulness?mode=three_calls")

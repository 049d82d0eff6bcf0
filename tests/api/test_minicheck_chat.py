"""A MiniCheck model behind a chat endpoint: what it is asked, and what its words become."""

from __future__ import annotations

import pytest

import everyclaim as ec
from everyclaim.testing import JudgeServer, Reply, rejected

ANSWER = "The kettle is red. It holds 9 litres."
SHELF = ["The kettle is red.", "It holds 2 litres."]


def spec(server: JudgeServer, options: str = "") -> str:
    return f"openai:bespoke-minicheck?prompt=minicheck&base_url={server.base_url}{options}"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")


def test_every_claim_is_asked_in_the_words_the_model_knows() -> None:
    """One call per claim, all passages as one document, no schema; the answer is split without the model."""
    with JudgeServer(lambda request: "No" if "9 litres" in request.messages[-1].content else "Yes.") as server:
        result = ec.score(response=ANSWER, passages=SHELF, judge=spec(server))
        asked = [request.messages[-1].content for request in server.requests]
    assert sorted(asked) == [
        "Document: The kettle is red.\nIt holds 2 litres.\nClaim: The kettle holds 9 litres.",
        "Document: The kettle is red.\nIt holds 2 litres.\nClaim: The kettle is red.",
    ]
    assert [claim.verdict.label for claim in result.claims] == ["SUPPORTED", "UNSUPPORTED"]
    assert result.claims[0].verdict.evidence[0].quote == "The kettle is red."
    assert result.provenance.parameters["judge_prompt"] == "minicheck-1"
    assert result.provenance.decomposer.startswith("embedded")


def test_any_other_word_is_a_failure() -> None:
    """Asked twice, then the answer is failed, never scored."""
    with JudgeServer(lambda _: Reply("Perhaps")) as server:
        result = ec.score(response="The kettle is red.", passages=SHELF, judge=spec(server))
        assert server.calls == 2
    assert (result.outcome, result.score) == ("failed", None)
    assert "bad_reply" in result.reason


def test_what_it_takes_is_counted() -> None:
    """Calls and tokens of every claim, also of replies that were of no use and of calls that failed."""
    with JudgeServer(Reply("Yes", prompt_tokens=100, completion_tokens=1)) as server:
        result = ec.score(response=ANSWER, passages=SHELF, judge=spec(server))
        usage = result.usage
        assert (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cost) == (2, 200, 2, None)
        server.script(Reply("Perhaps", prompt_tokens=100, completion_tokens=1))
        failed = ec.score(response="The kettle is red.", passages=SHELF, judge=spec(server))
        assert (failed.outcome, failed.usage.calls, failed.usage.prompt_tokens) == ("failed", 2, 200)
        server.script(rejected("flagged", code="content_filter"))
        declined = ec.score(response="The kettle is red.", passages=SHELF, judge=spec(server))
        assert (declined.outcome, declined.usage.calls) == ("failed", 1)


def test_one_token_is_enough_of_an_answer() -> None:
    """Where the reply is limited to one, it ends by that limit; a refusal is no answer."""
    with JudgeServer(Reply("Yes", "length")) as server:
        assert (
            ec.score(response="The kettle is red.", passages=SHELF, judge=spec(server, "&reply_tokens=1")).score == 1.0
        )
        server.script(Reply("No", "refusal"))
        result = ec.score(response="The kettle is red.", passages=SHELF, judge=spec(server))
    assert (result.outcome, result.reason.partition(":")[0]) == ("failed", "refused")

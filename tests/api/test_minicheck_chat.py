"""A MiniCheck model behind a chat endpoint: what it is asked, and what its words become."""

from __future__ import annotations

import pytest

import everyclaim as ec
from everyclaim.testing import JudgeServer, Reply

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

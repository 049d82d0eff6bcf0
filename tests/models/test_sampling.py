"""What is asked of a model beside its text: temperature 0 where it takes one, thoughts, seeds; found out and remembered."""

from __future__ import annotations

from typing import Any

import pytest

import everyclaim as ec
from everyclaim.core.protocols import Message
from everyclaim.models.chat.capabilities import first_capabilities
from everyclaim.models.chat.options import read_options
from everyclaim.models.chat.wires import WIRES, ChatRequest
from everyclaim.testing import JudgeServer, Request, play, rejected
from everyclaim.testing.script import Step


def body(spec: str) -> dict[str, Any]:
    """The first request to this model."""
    options = read_options(spec)
    return WIRES[options.api].write(ChatRequest(options, first_capabilities(options), [Message("user", "x")]))


def judge(server: JudgeServer, spec: str, **options: Any) -> Any:
    return ec.score(response="It is red.", passages=["It is red."], judge=spec, base_url=server.base_url, **options)


def test_a_judge_and_its_splitter_are_asked_at_temperature_0() -> None:
    """Said nowhere, in both requests and in the provenance; a spec that says another has its own."""
    with JudgeServer(lambda request: play(request.messages)) as server:
        result = judge(server, "openai:m")
        assert [request.body["temperature"] for request in server.requests] == [0.0, 0.0]
        assert result.provenance.parameters["temperature"] == "0"
        assert "temperature" not in result.provenance.verifier
        server.requests.clear()
        judge(server, "openai:m?temperature=0.7&seed=3")
        assert [(r.body["temperature"], r.body["seed"]) for r in server.requests] == [(0.7, 3), (0.7, 3)]


def test_a_model_that_takes_no_temperature_is_asked_without_from_then_on() -> None:
    """One request is lost at most by each model, and none of the answer."""

    def rule(request: Request) -> Step:
        if "temperature" in request.body:
            return rejected("Unsupported value: 'temperature' does not support 0 with this model", param="temperature")
        return play(request.messages)

    with JudgeServer(rule) as server:
        assert judge(server, "openai:m").score == 1.0
        assert ["temperature" in request.body for request in server.requests] == [True, False, False]


@pytest.mark.parametrize(
    ("spec", "has"),
    [
        ("openai:gpt-5-mini?temperature=0", False),
        ("openai:o3?temperature=0", False),
        ("openai:gpt-4o?temperature=0", True),
        ("openai:gpt-5-mini?temperature=0&base_url=http://localhost:1/v1", True),
    ],
)
def test_models_that_are_known_to_take_none_lose_no_request(spec: str, has: bool) -> None:
    """OpenAI's reasoning models, at OpenAI's address; elsewhere the name says nothing."""
    assert ("temperature" in body(spec)) is has


def test_thoughts_have_a_budget_beside_that_of_the_reply() -> None:
    """Anthropic counts both in one limit, and takes no other temperature then."""
    found = body("anthropic:m?thinking_tokens=2000&reply_tokens=500")
    assert (found["thinking"], found["max_tokens"]) == ({"type": "enabled", "budget_tokens": 2000}, 2500)
    with JudgeServer(lambda request: play(request.messages)) as server:
        spec = f"anthropic:m?thinking_tokens=2000&base_url={server.root}"
        assert ec.verify_claims("It is red.", ["It is red."], judge=spec)[0].verdict.label is ec.Label.SUPPORTED
        assert "temperature" not in server.requests[0].body
    with pytest.raises(ec.ConfigError, match="option 'thinking_tokens' is not supported by this provider's format"):
        read_options("openai:m?thinking_tokens=2000")

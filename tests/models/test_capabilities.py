"""What an endpoint takes is found out and remembered: the way to JSON, sampling, thoughts."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from chatting import KEY, SCHEMA, ask, run, spec_for
from chatting import WIRES as FORMATS

import everyclaim as ec
from everyclaim.core.protocols import Message
from everyclaim.models.chat.endpoint import first_capabilities, from_spec
from everyclaim.models.chat.links import Call
from everyclaim.models.chat.options import read_options
from everyclaim.models.chat.wires import WIRES, ChatRequest
from everyclaim.testing import Fault, JudgeServer, Reply, Request, play, rejected

GOOD = '{"ok": true}'


def takes(*modes: str) -> Any:
    """A server that gives JSON only in these ways."""

    def rule(request: Request) -> Reply | Fault:
        names = {"schema": "response_format json_schema is not supported", "tool": "tools are not supported"}
        return Reply(GOOD) if request.mode in modes else rejected(names[request.mode])

    return rule


def ask_twice(server: JudgeServer, endpoint: str, **options: str) -> list[str]:
    """Ask two questions of one endpoint; return the way each request was put."""

    async def work() -> None:
        model = from_spec(spec_for(endpoint, server.base_url, **options), key=KEY)
        for _ in range(2):
            assert (await model.ask(Call("", [Message("user", "Is it?")], SCHEMA))).content == GOOD
        await model.aclose()

    run(work)
    return [request.mode for request in server.requests]


@pytest.mark.parametrize("endpoint", FORMATS)
@pytest.mark.parametrize(
    ("modes", "seen"),
    [
        (("schema", "tool", "plain"), ["schema", "schema"]),
        (("tool", "plain"), ["schema", "tool", "tool"]),
        (("plain",), ["schema", "tool", "plain", "plain"]),
    ],
)
def test_the_way_to_json_is_found_once(endpoint: str, modes: tuple[str, ...], seen: list[str]) -> None:
    """Strict schema, else a tool call, else plain words; the second question starts with what worked."""
    with JudgeServer(takes(*modes)) as server:
        assert ask_twice(server, endpoint) == seen


def reasoning_model(request: Request) -> Reply | Fault:
    """Takes no temperature, and its own name for the output limit."""
    if "max_tokens" in request.body:
        return rejected(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
    if "temperature" in request.body:
        return rejected("Unsupported value: 'temperature' does not support 0.0 with this model.", param="temperature")
    return Reply(GOOD)


def test_a_reasoning_model_is_recognised_by_what_it_rejects(caplog: pytest.LogCaptureFixture) -> None:
    """The limit is renamed, the temperature left out and said; the next call is right at once."""
    with JudgeServer(reasoning_model) as server, caplog.at_level(logging.WARNING):
        assert ask_twice(server, "chat", reply_tokens="500", temperature="0") == ["schema"] * 4
        last = server.requests[-1].body
    assert last["max_completion_tokens"] == 500
    assert "temperature" not in last
    (record,) = caplog.records
    assert record.getMessage().endswith("does not support temperature; it is no longer sent")


@pytest.mark.parametrize("name", ["temperature", "top_p", "seed", "reasoning_effort"])
def test_any_sampling_option_that_is_refused_is_left_out(name: str) -> None:
    """Each by its own name."""
    with JudgeServer(lambda r: rejected(f"Unknown parameter: '{name}'") if name in r.body else GOOD) as server:
        assert ask(server, **{name: "low" if name == "reasoning_effort" else "1"}).content == GOOD
        assert server.calls == 2


# What a judge asks beside its text


def body(spec: str) -> dict[str, Any]:
    """The first request to this model."""
    options = read_options(spec)
    return WIRES[options.api].write(ChatRequest(options, first_capabilities(options), [Message("user", "x")]))


def test_a_judge_and_its_splitter_are_asked_at_temperature_0() -> None:
    """Said nowhere, in both requests and in the provenance; a spec that says another has its own."""
    row = {"response": "It is red.", "passages": ["It is red."]}
    with JudgeServer(play) as server:
        result = ec.score(**row, judge="openai:m", base_url=server.base_url)
        assert [request.body["temperature"] for request in server.requests] == [0.0, 0.0]
        assert result.provenance.parameters["temperature"] == "0"
        assert "temperature" not in result.provenance.verifier
        server.requests.clear()
        ec.score(**row, judge="openai:m?temperature=0.7&seed=3", base_url=server.base_url)
        assert [(r.body["temperature"], r.body["seed"]) for r in server.requests] == [(0.7, 3), (0.7, 3)]


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
    with JudgeServer(play) as server:
        spec = f"anthropic:m?thinking_tokens=2000&base_url={server.root}"
        assert ec.verify_claims("It is red.", ["It is red."], judge=spec)[0].verdict.label is ec.Label.SUPPORTED
        assert "temperature" not in server.requests[0].body
    with pytest.raises(ec.ConfigError, match="option 'thinking_tokens' is not supported by this provider's format"):
        read_options("openai:m?thinking_tokens=2000")

"""What an endpoint takes is found out and remembered: the way to JSON, sampling, thoughts, how long a reply may be."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from chatting import KEY, SCHEMA, ask, run, spec_for

import everyclaim as ec
from everyclaim.core.protocols import Message
from everyclaim.models import Budget, ChatSettings, build_chat_model
from everyclaim.models.chat.endpoint import LEAST, TIMES, describe_reply_limit, first_capabilities, from_spec, thinks
from everyclaim.models.chat.links import Call
from everyclaim.models.chat.options import read_options
from everyclaim.models.chat.wires import WIRES, ChatRequest
from everyclaim.testing import Fault, JudgeServer, Reply, Request, play, rejected
from everyclaim.testing.script import Step

FIELDS = {"chat": "max_tokens", "responses": "max_output_tokens", "messages": "max_tokens"}
USUAL = {"chat": None, "responses": None, "messages": 8192}  # where we have none: one format wants one
GOOD = '{"ok": true}'


def limits(server: JudgeServer, field: str) -> list[Any]:
    return [request.body.get(field) for request in server.requests]


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


@pytest.mark.parametrize("endpoint", FIELDS)
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
    with JudgeServer(lambda request: play(request.messages)) as server:
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
    with JudgeServer(lambda request: play(request.messages)) as server:
        spec = f"anthropic:m?thinking_tokens=2000&base_url={server.root}"
        assert ec.verify_claims("It is red.", ["It is red."], judge=spec)[0].verdict.label is ec.Label.SUPPORTED
        assert "temperature" not in server.requests[0].body
    with pytest.raises(ec.ConfigError, match="option 'thinking_tokens' is not supported by this provider's format"):
        read_options("openai:m?thinking_tokens=2000")


# How long a reply may be


@pytest.mark.parametrize("endpoint", FIELDS)
def test_a_limit_goes_with_what_is_asked(endpoint: str) -> None:
    """A thousand tokens, and six times the last turn's; instructions and passages before it play no part."""
    turns = [Message("system", "x" * 9_000), Message("user", "y" * 8_000), Message("assistant", "z" * 400)]
    with JudgeServer(GOOD) as server:
        ask(server, endpoint, messages=turns)
        if endpoint == "messages":
            assert limits(server, "max_tokens") == [LEAST + TIMES * 100]
        ask(server, endpoint, messages=[Message("user", "y" * 400)])
        assert limits(server, FIELDS[endpoint])[-1] == LEAST + TIMES * 100
        ask(server, endpoint, messages=[Message("user", "y" * 400)], schema=None)  # words: nobody knows how many
        assert limits(server, FIELDS[endpoint])[-1] == USUAL[endpoint]
        ask(server, endpoint, reply_tokens="77")
        assert limits(server, FIELDS[endpoint])[-1] == 77


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("openai:gpt-4o", f"{LEAST}+{TIMES}x"),
        ("openai:gpt-4o?reply_tokens=900", "900"),
        ("openai:o3", "none"),
        ("openai:any?reasoning_effort=low", "none"),
        ("openai:any?body.chat_template_kwargs={}", "none"),
        ("openai:deepseek-ai/DeepSeek-R1?base_url=http%3A%2F%2Flocalhost%3A1%2Fv1", "none"),
        ("anthropic:claude-opus?thinking_tokens=2000", "none"),
        ("openai:solo3", f"{LEAST}+{TIMES}x"),
    ],
)
def test_models_that_are_known_to_think_are_not_limited(model: str, told: str) -> None:
    """By their name, or by what is asked of them; a limit in the spec is the limit. The provenance says which."""
    options = read_options(model)
    assert (describe_reply_limit(options), thinks(options)) == (told, told == "none")


def thinker(request: Request) -> Step:
    """A model that needs 5,000 tokens, whatever it says."""
    limit = next((request.body[name] for name in {*FIELDS.values()} if name in request.body), 10**9)
    if limit < 5_000:
        return Reply("", finish="length", completion_tokens=limit)
    return Reply(GOOD, completion_tokens=5_000)


@pytest.mark.parametrize("endpoint", FIELDS)
def test_a_reply_that_was_cut_is_asked_for_without_a_limit_and_so_are_all_that_follow(
    endpoint: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing fails; what both took is counted; it is said once."""

    async def twice() -> list[Any]:
        async with build_chat_model(spec_for(endpoint, server.base_url), key=KEY) as chat:
            return [await chat.complete([Message("user", f"Is it {n}?")], schema=SCHEMA) for n in (1, 2)]

    with JudgeServer(thinker) as server, caplog.at_level(logging.WARNING):
        first, second = run(twice)
        assert limits(server, FIELDS[endpoint]) == [LEAST + TIMES * 2, USUAL[endpoint], USUAL[endpoint]]
    assert (first.content, first.usage.calls, first.usage.completion_tokens) == (GOOD, 2, 5_000 + LEAST + TIMES * 2)
    assert (second.usage.calls, second.usage.completion_tokens) == (1, 5_000)
    assert sum("is no longer sent" in record.getMessage() for record in caplog.records) == 1


def test_a_reply_stays_cut_where_no_limit_of_ours_cut_it_or_the_budget_allows_no_other() -> None:
    """It is asked for twice at most, and then halved or failed as ever; a limit of the spec's is kept to."""
    with JudgeServer(Reply("{", finish="length", completion_tokens=7)) as server:
        assert ask(server).finish == "length"
        assert limits(server, "max_tokens") == [LEAST + TIMES, None]
        server.requests.clear()
        assert ask(server, reply_tokens="500").finish == "length"
        assert limits(server, "max_tokens") == [500]
    with JudgeServer(thinker) as server:
        reply = ask(server, settings=ChatSettings(budget=Budget(max_calls=1)))
        assert (reply.finish, reply.usage.completion_tokens, server.calls) == ("length", LEAST + TIMES, 1)


@pytest.mark.parametrize(
    "words",
    [
        "max_tokens is too large: 1012. This model supports at most 400 completion tokens",
        "maximum context length is 900 tokens. However, you requested 1300 (288 in the messages, 1012 in the completion).",
        "input length and `max_tokens` exceed context limit: 180000 + 1012 > 180500",
        "Unrecognized request argument supplied: max_tokens",
    ],
)
def test_an_endpoint_that_refuses_our_limit_is_asked_without(words: str) -> None:
    """A request that would do must not fail for a limit that nobody asked for."""
    fields = {"max_tokens", "max_completion_tokens"}
    with JudgeServer(lambda request: rejected(words) if fields & request.body.keys() else GOOD) as server:
        assert ask(server).content == GOOD
        assert not fields & server.requests[-1].body.keys()

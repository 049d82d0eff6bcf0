"""How long replies may be: a limit that goes with what is asked, given up where it is in the way, and stated."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from chatting import KEY, SCHEMA, ask, run, spec_for

from everyclaim.core.protocols import Message
from everyclaim.models import Budget, ChatSettings, build_chat_model
from everyclaim.models.chat.options import read_options
from everyclaim.models.chat.reply_limits import LEAST, TIMES, said, thinks
from everyclaim.testing import JudgeServer, Reply, Request, rejected
from everyclaim.testing.script import Step

FIELDS = {"chat": "max_tokens", "responses": "max_output_tokens", "messages": "max_tokens"}
USUAL = {"chat": None, "responses": None, "messages": 8192}  # where we have none: one format wants one
GOOD = '{"ok": true}'


def limits(server: JudgeServer, field: str) -> list[Any]:
    return [request.body.get(field) for request in server.requests]


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


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("openai:gpt-4o", f"{LEAST}+{TIMES}x"),
        ("openai:gpt-4o?reply_tokens=900", "900"),
        ("openai:o3", "none"),
        ("openai:gpt-5-mini?base_url=http%3A%2F%2Flocalhost%3A1%2Fv1", "none"),
        ("openai:any?reasoning_effort=low", "none"),
        ("openai:any?body.chat_template_kwargs={}", "none"),
        ("openai:deepseek-ai/DeepSeek-R1?base_url=http%3A%2F%2Flocalhost%3A1%2Fv1", "none"),
        ("openai:Qwen/Qwen3-8B?base_url=http%3A%2F%2Flocalhost%3A1%2Fv1", "none"),
        ("anthropic:claude-opus?thinking_tokens=2000", "none"),
        ("openai:solo3", f"{LEAST}+{TIMES}x"),
        ("openai:gemma-2b-it", f"{LEAST}+{TIMES}x"),
    ],
)
def test_models_that_are_known_to_think_are_not_limited(model: str, told: str) -> None:
    """By their name, or by what is asked of them; a limit in the spec is the limit. The provenance says which."""
    options = read_options(model)
    assert said(options) == told
    assert thinks(options) == (told == "none")


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


def test_a_reply_that_is_cut_without_a_limit_of_ours_is_cut() -> None:
    """It is asked for twice at most, and then halved or failed as ever; a limit of the spec's is kept to."""
    with JudgeServer(Reply("{", finish="length", completion_tokens=7)) as server:
        assert ask(server).finish == "length"
        assert limits(server, "max_tokens") == [LEAST + TIMES, None]
        server.requests.clear()
        assert ask(server, reply_tokens="500").finish == "length"
        assert limits(server, "max_tokens") == [500]


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

    def rule(request: Request) -> Step:
        has_limit = {"max_tokens", "max_completion_tokens"} & request.body.keys()
        return rejected(words) if has_limit else GOOD

    with JudgeServer(rule) as server:
        assert ask(server).content == GOOD
        assert not {"max_tokens", "max_completion_tokens"} & server.requests[-1].body.keys()


def test_a_second_attempt_that_the_budget_does_not_allow_leaves_the_reply_cut() -> None:
    """What the first took is counted."""
    with JudgeServer(thinker) as server:
        reply = ask(server, settings=ChatSettings(budget=Budget(max_calls=1)))
        assert (reply.finish, reply.usage.completion_tokens, server.calls) == ("length", LEAST + TIMES, 1)

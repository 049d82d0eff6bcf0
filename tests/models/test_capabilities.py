"""Finding out what an endpoint takes, and remembering it."""

import asyncio
import logging
from typing import Any

import pytest
from chatting import KEY, SCHEMA, ask, spec_for

from everyclaim.core.protocols import Message
from everyclaim.models.chat.endpoint import from_spec
from everyclaim.testing import Fault, JudgeServer, Reply, Request, rejected

GOOD = '{"ok": true}'
ASK = [Message("user", "Is it?")]


def takes(*modes: str) -> Any:
    """A server that gives JSON only in these ways."""

    def rule(request: Request) -> Reply | Fault:
        names = {"schema": "response_format json_schema is not supported", "tool": "tools are not supported"}
        return Reply(GOOD) if request.mode in modes else rejected(names[request.mode])

    return rule


def ask_twice(server: JudgeServer, endpoint: str, **options: str) -> list[str]:
    """Ask two questions of one endpoint; return the way each request was put."""

    async def run() -> None:
        model = from_spec(spec_for(endpoint, server.base_url, **options), key=KEY)
        for _ in range(2):
            assert (await model.complete(ASK, schema=SCHEMA)).content == GOOD
        await model.aclose()

    asyncio.run(run())
    return [request.mode for request in server.requests]


@pytest.mark.parametrize("endpoint", ["chat", "responses", "messages"])
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
        modes = ask_twice(server, "chat", reply_tokens="500", temperature="0")
        assert modes == ["schema"] * 4
        last = server.requests[-1].body
    assert last["max_completion_tokens"] == 500
    assert "temperature" not in last
    assert [
        record.getMessage().endswith("does not support temperature; it is no longer sent") for record in caplog.records
    ] == [True]


@pytest.mark.parametrize("name", ["temperature", "top_p", "seed", "reasoning_effort"])
def test_any_sampling_option_that_is_refused_is_left_out(name: str) -> None:
    """Each by its own name."""
    with JudgeServer(lambda r: rejected(f"Unknown parameter: '{name}'") if name in r.body else GOOD) as server:
        assert ask(server, **{name: "low" if name == "reasoning_effort" else "1"}).content == GOOD
        assert server.calls == 2

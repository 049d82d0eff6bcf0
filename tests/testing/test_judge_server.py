"""The loopback provider that ships for tests: scripts, faults, counts, and what it leaves out."""

import asyncio
import http.client
import json
import subprocess
import sys
from typing import Any

import pytest
import stamina

from everyclaim.core.errors import InputError, JudgeError
from everyclaim.core.protocols import Message
from everyclaim.models.build import build_chat_model
from everyclaim.testing import JudgeServer, Recorder, Replayer, Request, no_sleep, rate_limited, rejected

CHAT = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def post(server: JudgeServer, path: str, body: Any, **headers: str) -> tuple[int, Any]:
    """Speak plain HTTP, without any of our own client code."""
    host, port = server.root.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=10)
    data = body if isinstance(body, bytes) else json.dumps(body)
    connection.request("POST", path, data, {"content-type": "application/json", **headers})
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, json.loads(content)


def test_a_list_is_played_and_its_last_step_repeated() -> None:
    """One after the other, then the last for ever; a new script takes over at once."""
    with JudgeServer(["a", rate_limited(2), "b"]) as server:
        statuses = [post(server, "/v1/chat/completions", CHAT)[0] for _ in range(4)]
        server.script("c")
        assert post(server, "/v1/chat/completions", CHAT)[1]["choices"][0]["message"]["content"] == "c"
    assert (statuses, server.calls) == ([200, 429, 200, 200], 5)


def test_a_rule_sees_the_request_and_answers_it() -> None:
    """By model, text, number; what it raises is kept and the client gets a 500."""

    def rule(request: Request) -> str:
        if request.number == 2:
            raise ValueError("no rule for this")
        return f"{request.model}: {request.text}"

    with JudgeServer(rule) as server:
        assert post(server, "/v1/chat/completions", CHAT)[1]["choices"][0]["message"]["content"] == "m: hi"
        assert post(server, "/v1/chat/completions", CHAT)[0] == 500
    assert [str(error) for error in server.errors] == ["no rule for this"]


def test_retries_without_waits_keep_their_number() -> None:
    """The switch takes the waits away, nests, and gives them back."""
    assert not stamina.is_testing()
    with no_sleep():
        with no_sleep():
            pass
        assert stamina.is_testing()
        with JudgeServer(rate_limited(60)) as server:
            chat = build_chat_model(f"openai:m?base_url={server.base_url}")

            async def work() -> None:
                async with chat:
                    await chat.complete([Message("user", "x")])

            with pytest.raises(JudgeError):
                asyncio.run(work())
            assert server.calls == 6
    assert not stamina.is_testing()


def test_it_runs_in_a_process_of_its_own() -> None:
    """It prints its address, serves, and ends when its input is closed."""
    command = [sys.executable, "-m", "everyclaim.testing", "--reply", "hello"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdin
        server = JudgeServer()
        server._port = int(process.stdout.readline().split(":")[2].split("/")[0])
        assert post(server, "/v1/chat/completions", CHAT)[0] == 200
        process.stdin.close()
        assert process.wait(10) == 0


def test_traffic_is_recorded_and_replayed_without_its_keys(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replies, failures and repeats come back in order; keys that stand in a text do not."""
    key = "sk-recorded-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    path, turns = tmp_path / "calls.jsonl", [Message("user", f"is {key} a key?")]

    async def record(server: JudgeServer) -> None:
        async with build_chat_model(f"openai:m?base_url={server.base_url}") as chat:
            model = Recorder(chat, path)
            for _ in range(2):
                await model.complete(turns, tag="t")
            with pytest.raises(JudgeError):
                await model.complete([Message("user", "bad")])

    with JudgeServer(lambda r: rejected("no") if r.text == "bad" else f"answer {r.number}") as server:
        asyncio.run(record(server))
        assert server.calls == 3
    assert key not in path.read_text()

    async def replay() -> list[str]:
        model = Replayer(path)
        replies = [(await model.complete(turns, tag="t")).content for _ in range(3)]
        with pytest.raises(JudgeError, match="bad_request"):
            await model.complete([Message("user", "bad")])
        with pytest.raises(InputError, match="record it again"):
            await model.complete(turns, tag="another")
        return replies

    assert asyncio.run(replay()) == ["answer 1", "answer 2", "answer 2"]

"""The reply cache: what makes a key, what is kept, and that nothing is paid for twice."""

import subprocess
import sys
from pathlib import Path

import pytest
from chatting import SCHEMA, ask

from everyclaim.core.protocols import Message
from everyclaim.models.build import ChatSettings
from everyclaim.models.chat.links import Call
from everyclaim.models.chat.options import read_options
from everyclaim.models.files import ReplyCache
from everyclaim.testing import JudgeServer, Reply, truncated

GOOD = '{"ok": true}'
TURNS = [Message("system", "rubric"), Message("user", "text")]
BASE = "openai:m?base_url=http://a/v1&reply_tokens=5"


def key_for(
    spec: str = BASE, turns: list[Message] = TURNS, schema: dict | None = SCHEMA, tag: str = "verify@1"
) -> bytes:
    return Call(read_options(spec).identity, turns, schema, tag).key


@pytest.mark.parametrize(
    "other",
    [
        key_for("openai:n?base_url=http://a/v1&reply_tokens=5"),
        key_for("openai:m?base_url=http://b/v1&reply_tokens=5"),
        key_for("openai:m?base_url=http://a/v1&reply_tokens=6"),
        key_for("openai:m?base_url=http://a/v1"),
        *(key_for(f"{BASE}&{option}") for option in ("temperature=0", "top_p=1", "seed=1", "reasoning_effort=low")),
        *(key_for(f"{BASE}&{option}") for option in ("structured=tool", "header.X=1", "query.v=1", "body.k=1")),
        key_for("anthropic:m?base_url=http://a/v1&reply_tokens=5"),
        key_for(turns=[TURNS[0], Message("user", "texT")]),
        key_for(turns=[Message("user", "rubric"), TURNS[1]]),
        key_for(turns=[*TURNS, Message("assistant", "")]),
        key_for(turns=[Message("system", "rubrict"), Message("user", "ext")]),
        key_for(schema=None),
        key_for(schema=SCHEMA | {"title": "Verdicts"}),
        key_for(schema=dict(reversed(SCHEMA.items()))),
        key_for(tag="verify@2"),
        key_for(tag="verify@1#2"),
    ],
)
def test_changing_any_single_thing_misses(other: bytes) -> None:
    """Provider, model, address, every parameter, every message, the schema, the prompt's version, the repeat."""
    assert other != key_for()


@pytest.mark.parametrize(
    "same",
    [
        key_for("openai:m?reply_tokens=5&base_url=http://a/v1"),
        key_for("openai:m?base_url=http://a/v1/&reply_tokens=5"),
        key_for(f"{BASE}&timeout=7"),
        key_for(f"{BASE}&key_env=SOME_NAME"),
        key_for(turns=[Message("system", "rubric", cache=True), TURNS[1]]),
    ],
)
def test_what_cannot_change_a_reply_does_not_miss(same: bytes) -> None:
    """The order of options, how long one waits, where a key comes from, cache marks."""
    assert same == key_for()


@pytest.mark.parametrize("step", [truncated(GOOD), Reply("no", "refusal"), Reply("", "filtered")])
def test_only_whole_answers_are_kept(tmp_path: Path, step: Reply) -> None:
    """Cut, refused and filtered replies are asked for again."""
    cache = ReplyCache(tmp_path / "replies.db")
    with JudgeServer([step, GOOD]) as server:
        assert ask(server, settings=ChatSettings(cache=cache), reply_tokens="900").finish != "stop"
        assert ask(server, settings=ChatSettings(cache=cache), reply_tokens="900").content == GOOD
        assert server.calls == 2
    cache.close()


WORKER = """
import asyncio, sys
from everyclaim.core.protocols import Message
from everyclaim.models.build import ChatSettings, build_chat_model
from everyclaim.models.files import ReplyCache

async def main(base_url, path, count, begin):
    settings = ChatSettings(cache=ReplyCache(path))
    async with build_chat_model("openai:m?base_url=" + base_url, settings) as chat:
        async def one(number):
            reply = await chat.complete([Message("user", str(number))])
            print(number, reply.content, flush=True)
        limit = asyncio.Semaphore(8)
        async def held(number):
            async with limit:
                await one(number)
        await asyncio.gather(*(held((begin + n) % count) for n in range(count)))

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
"""


def worker(server: JudgeServer, path: Path, count: int, begin: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORKER, server.base_url, str(path), str(count), str(begin)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_several_processes_share_one_file(tmp_path: Path) -> None:
    """Three at once on the same questions: all get all answers, none fails on a lock."""
    with JudgeServer(lambda r: f"answer {r.text}") as server:
        many = [worker(server, tmp_path / "replies.db", 40, begin) for begin in (0, 13, 26)]
        outputs = [sorted(process.communicate()[0].splitlines()) for process in many]
        assert [process.returncode for process in many] == [0, 0, 0]
        assert server.calls <= 120
    assert outputs == [sorted(f"{n} answer {n}" for n in range(40))] * 3

"""Calls through the providers' batch APIs: what is sent, what comes back, what happens when something goes wrong."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from batching import answers, ask_all, ask_batched, echo, numbered, open_chat, settings, taken, until
from chatting import ENDPOINTS, KEY, spec_for

from batch_provider import BatchScript, BatchServer
from everyclaim.core.errors import BudgetExceeded, ConfigError, JudgeError
from everyclaim.core.protocols import ChatReply
from everyclaim.models.build import build_chat_model
from everyclaim.models.chat.budget import Budget
from everyclaim.models.files import BatchState
from everyclaim.testing import Reply, Request, hang, rate_limited, rejected, reset, server_error, truncated

TWO = ("chat", "messages")  # one per provider


def shaky() -> Callable[[Request], Any]:
    """A server that fails the first four questions twice."""
    tries: Counter[str] = Counter()

    def answer(request: Request) -> Any:
        tries[request.text] += 1
        return server_error(500) if int(request.text.split()[-1]) < 4 and tries[request.text] < 3 else echo(request)

    return answer


# What happens, how many ask, at how many a batch at most, and the batches that come of it.
COURSES: dict[str, tuple[BatchScript, int, int | None, list[int]]] = {
    "all that wait together are one batch": (BatchScript(polls=3), 40, None, [40]),
    "more than a batch takes are several": (BatchScript(), 25, 10, [10, 10, 5]),
    "what failed for the moment goes into another, together": (BatchScript(), 12, None, [12, 4, 4]),
    "what was not got to is sent again: expired": (BatchScript(endings=("expired", "completed")), 20, None, [20, 10]),
    "what was not got to is sent again: cancelled": (
        BatchScript(endings=("cancelled", "completed")), 20, None, [20, 10],
    ),
    **{
        f"a submission is tried again: {fault.status} {dict(fault.headers)}": (
            BatchScript(submissions=[fault] * 3), 8, None, [8],
        )
        for fault in (rate_limited(), rate_limited(2), server_error(500), server_error(529))
    },
}  # fmt: skip


@pytest.mark.parametrize("wire", ENDPOINTS)
@pytest.mark.parametrize("course", COURSES)
def test_every_call_gets_its_own_answer_and_none_is_asked_in_vain(wire: str, course: str, tmp_path: Path) -> None:
    """In as few batches as it takes; no call is made one by one."""
    script, count, most, sizes = COURSES[course]
    with BatchServer(shaky() if "for the moment" in course else echo, batches=script) as server:
        replies = ask_batched(server, wire, settings(tmp_path, max_requests=most), numbered(count))
        assert answers(replies) == numbered(count)
        assert [len(batch.requests) for batch in server.batch_desk.batches] == sizes
        assert server.batch_desk.submissions == len(sizes) + len(script.submissions)
        assert server.calls == 0


@pytest.mark.parametrize("wire", ENDPOINTS)
def test_a_request_in_a_batch_is_the_one_that_is_sent_alone(wire: str, tmp_path: Path) -> None:
    """A judge that is tried out on one answer sees in the batch what it saw there."""
    with BatchServer(echo) as server:
        ask_batched(server, wire, settings(tmp_path), ["same"])
        chat = build_chat_model(spec_for(wire, server.base_url), key=KEY)

        async def alone() -> None:
            async with chat:
                await ask_all(chat, ["same"])

        asyncio.run(alone())
        (batched,) = server.batch_desk.batches[0].requests.values()
        assert batched == server.requests[0].body


@pytest.mark.parametrize("wire", TWO)
def test_what_was_answered_comes_from_the_cache(wire: str, tmp_path: Path) -> None:
    """A second run submits only what is new, and the state keeps nothing that was delivered."""
    with BatchServer(echo) as server:
        ask_batched(server, wire, settings(tmp_path), numbered(10))
        assert answers(ask_batched(server, wire, settings(tmp_path), numbered(13))) == numbered(13)
        assert [len(batch.requests) for batch in server.batch_desk.batches] == [10, 3]
        state = BatchState(tmp_path / "batches.db")
        assert state.known("openai " + server.base_url) == state.known("anthropic " + server.root) == frozenset()
        state.close()


def mixed(request: Request) -> Any:
    number = int(request.text.split()[-1])
    if number % 10 == 1:
        return rejected("This field is wrong", status=400)
    if number % 10 == 2:
        return rejected("prompt is too long: 300000 tokens", status=400)
    if number % 10 == 3:
        return Reply("I would rather not", finish="refusal")
    return truncated(echo(request)) if number % 10 == 4 else echo(request)


@pytest.mark.parametrize("wire", ENDPOINTS)
def test_one_request_fails_alone(wire: str, tmp_path: Path) -> None:
    """Errors, refusals and cut replies reach their own calls; the rest of the batch is answered."""
    with BatchServer(mixed) as server:
        replies = ask_batched(server, wire, settings(tmp_path), numbered(30))
        for number, reply in enumerate(replies):
            code = {1: "bad_request", 2: "too_long"}.get(number % 10)
            if code:
                assert isinstance(reply, JudgeError)
                assert reply.code == code
            else:
                assert isinstance(reply, ChatReply)
                assert reply.finish == {3: "refusal", 4: "length"}.get(number % 10, "stop")


def short(exchange: Callable[..., Any]) -> Callable[..., Any]:
    """A creation that hangs is given up after half a second and not after a quarter of an hour."""

    async def quick(*arguments: Any, seconds: float | None = None, **more: Any) -> Any:
        return await exchange(*arguments, seconds=0.5 if seconds else None, **more)

    return quick


@pytest.mark.parametrize("wire", TWO)
@pytest.mark.parametrize("fault", [reset(0.0), reset(0.5), hang()])
def test_a_batch_that_was_taken_without_our_hearing_of_it_is_found(wire: str, fault: Any, tmp_path: Path) -> None:
    """The answer to the creation is lost: the batch is found in the provider's list and not created again."""
    with BatchServer(echo, batches=BatchScript(submissions=[fault], polls=3)) as server:

        async def work() -> list[str]:
            async with open_chat(server, wire, settings(tmp_path), timeout="0.5") as chat:
                chat.endpoint.transport.exchange = short(chat.endpoint.transport.exchange)  # type: ignore[attr-defined]
                return answers(await ask_all(chat, numbered(8)))

        assert asyncio.run(work()) == numbered(8)
        assert server.batch_desk.submissions == len(server.batch_desk.batches) == 1


@pytest.mark.parametrize("wire", TWO)
def test_a_submission_that_never_works_fails_its_calls_and_keeps_the_rest(wire: str, tmp_path: Path) -> None:
    """The calls fail with one clear code; the next run submits exactly them."""
    script = BatchScript(submissions=[None, *[server_error(503)] * 3])
    with BatchServer(echo, batches=script) as server:
        chosen = settings(tmp_path, max_requests=10, attempts=3)
        replies = ask_batched(server, wire, chosen, numbered(15))
        assert answers(replies) == numbered(10) + ["batch_not_submitted"] * 5
        assert "5 requests" in str(replies[-1])
        assert "503" in str(replies[-1])
        again = ask_batched(server, wire, settings(tmp_path), numbered(15))
        assert answers(again) == numbered(15)
        assert [len(batch.requests) for batch in server.batch_desk.batches] == [10, 5]


@pytest.mark.parametrize("wire", TWO)
def test_a_wrong_key_stops_the_run(wire: str, tmp_path: Path) -> None:
    """Nothing is submitted, nothing stays behind, and the key is not in the message."""
    with BatchServer(echo, api_key="another") as server:
        replies = ask_batched(server, wire, settings(tmp_path), numbered(3))
        assert all(isinstance(reply, ConfigError) for reply in replies)
        assert KEY not in str(replies)
        assert b"sk-test" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    with BatchServer(echo) as server:
        assert answers(ask_batched(server, wire, settings(tmp_path), numbered(3))) == numbered(3)


def test_a_full_queue_at_the_provider_makes_batches_smaller(tmp_path: Path) -> None:
    """An account that takes six requests at a time gets 40 in batches of at most five, one after the other."""
    with BatchServer(echo, batches=BatchScript(most_requests=6)) as server:
        assert answers(ask_batched(server, "chat", settings(tmp_path), numbered(40))) == numbered(40)
        good = [len(batch.requests) for batch in server.batch_desk.batches if batch.ending == "completed"]
        assert (sum(good), max(good) <= 6) == (40, True)


@pytest.mark.parametrize("wire", TWO)
def test_batches_cost_half(wire: str, tmp_path: Path) -> None:
    """Usage counts every request once, at the batch price."""
    provider = "anthropic" if wire == "messages" else "openai"
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({provider: {"models": {"judge-1": {"input": 2.0, "output": 8.0}}}}))
    reply = Reply('{"ok": true}', prompt_tokens=1000, completion_tokens=100)
    with BatchServer(reply) as server:

        async def work() -> Any:
            async with open_chat(server, wire, settings(tmp_path, prices=prices)) as chat:
                await ask_all(chat, numbered(10))
                return chat.meter.usage

        used = asyncio.run(work())
        assert (used.calls, used.prompt_tokens, used.completion_tokens) == (10, 10_000, 1000)
        assert used.cost == pytest.approx((10_000 * 2 + 1000 * 8) / 1e6 / 2)


@pytest.mark.parametrize("wire", TWO)
def test_a_budget_on_calls_keeps_what_is_under_way(wire: str, tmp_path: Path) -> None:
    """Seven of twenty calls are allowed: seven are answered, the others learn that it is over, later runs go on."""
    with BatchServer(echo) as server:
        chosen = settings(tmp_path, budget=Budget(max_calls=7))
        replies = ask_batched(server, wire, chosen, numbered(20))
        assert answers(replies)[:7] == numbered(7)
        assert all(isinstance(reply, BudgetExceeded) for reply in replies[7:])
        assert sum(taken(server).values()) == 7
        assert answers(ask_batched(server, wire, settings(tmp_path), numbered(20))) == numbered(20)
        assert sum(taken(server).values()) == 20


@pytest.mark.parametrize("wire", TWO)
def test_a_call_that_is_given_up_is_not_sent(wire: str, tmp_path: Path) -> None:
    """Cancelled before its batch is cut, a call costs nothing; cancelled after, its reply is there the next time."""
    with BatchServer(echo, batches=BatchScript(polls=2)) as server:

        async def work() -> list[str]:
            async with open_chat(server, wire, settings(tmp_path)) as chat:
                early = asyncio.ensure_future(ask_all(chat, ["early"]))
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                early.cancel()
                late = asyncio.ensure_future(ask_all(chat, numbered(3)))
                await until(lambda: server.batch_desk.batches)
                late.cancel()
                return answers(await ask_all(chat, numbered(3)))

        assert asyncio.run(work()) == numbered(3)
        assert taken(server) == dict.fromkeys(numbered(3), 1)


def test_a_batch_that_the_provider_does_not_know_any_more_says_what_to_do(tmp_path: Path) -> None:
    """Another account's key, or a deleted batch: the run stops and names the batch and the file."""
    with BatchServer(echo, batches=BatchScript(polls=1000)) as server:

        async def leave() -> None:
            async with open_chat(server, "chat", settings(tmp_path)) as chat:
                task = asyncio.ensure_future(ask_all(chat, ["a"]))
                await until(lambda: server.batch_desk.looks)
                task.cancel()

        asyncio.run(leave())
        server.batch_desk.batches.clear()
        (reply,) = ask_batched(server, "chat", settings(tmp_path), ["a"])
        assert isinstance(reply, ConfigError)
        assert "batch_1" in str(reply)
        assert "batches.db" in str(reply)


def test_a_stranger_of_the_same_size_is_not_taken_for_ours(tmp_path: Path) -> None:
    """Somebody else's batch of as many requests is waited for, recognised, and left alone."""
    with BatchServer(echo, batches=BatchScript(submissions=[None, server_error()], polls=5)) as server:

        async def stranger() -> None:
            other = settings(tmp_path / "other")
            async with open_chat(server, "messages", other) as chat:
                task = asyncio.ensure_future(ask_all(chat, [f"other {n}" for n in range(8)]))
                await until(lambda: server.batch_desk.batches)
                task.cancel()

        asyncio.run(stranger())
        assert answers(ask_batched(server, "messages", settings(tmp_path), numbered(8))) == numbered(8)
        assert len(server.batch_desk.batches) == 2
        assert set(taken(server).values()) == {1}

"""One evaluator for many calls: what it keeps, what it counts, what it closes, and who may share it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import everyclaim as ec
from everyclaim.core.types import Usage
from everyclaim.testing import JudgeServer, play

SHELF = ["The kettle is red. It holds 2 litres."]
LLM: dict[str, Any] = {"judge": "openai:m", "decomposer": "embedded"}


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(play, keep=False) as server:
        yield server


def connections(server: JudgeServer) -> int:
    return sum(task.get_coro().__qualname__ == "RequestHandler.start" for task in asyncio.all_tasks(server._loop))


def answers(number: int, start: int = 0) -> list[dict[str, Any]]:
    row = {"response": "The kettle is red.", "contexts": SHELF}
    return [{**row, "question": f"What colour is number {i}?"} for i in range(start, start + number)]


def total(results: list[ec.Result]) -> Usage:
    used = Usage()
    for result in results:
        used += result.usage
    return used


def test_a_hundred_calls_share_one_connection_and_are_counted_to_the_token(server: JudgeServer) -> None:
    """What the evaluator says it used is what its results say together; nothing is left open."""
    with ec.Evaluator(base_url=server.base_url, **LLM) as evaluator:
        results = [evaluator.score(row) for row in answers(100)]
        assert connections(server) == 1
        assert server.calls == 100
        assert evaluator.usage == total(results)
        assert evaluator.usage.calls == 100
    assert {result.score for result in results} == {1.0}
    assert evaluator.usage == total(results)  # also when it is closed


def test_a_limit_is_for_the_evaluators_life_and_kept_exactly(server: JudgeServer) -> None:
    """In whatever way it is called."""
    with ec.Evaluator(base_url=server.base_url, max_calls=5, **LLM) as evaluator:
        for row in answers(3):
            evaluator.score(row)
        evaluator.verify("It is red.", SHELF)
        asyncio.run(evaluator.ascore(answers(1, 3)[0]))
        with pytest.raises(ec.BudgetExceeded, match="max_calls=5"):
            evaluator.score(answers(1, 4)[0])
        with pytest.raises(ec.BudgetExceeded, match="max_calls=5"):
            evaluator.verify("It is blue.", SHELF)
    assert server.calls == 5


def test_threads_and_tasks_of_several_loops_share_one_evaluator(server: JudgeServer) -> None:
    """Synchronous calls from threads, asynchronous ones from two event loops, all at once."""
    with ec.Evaluator(base_url=server.base_url, **LLM) as evaluator:
        found: list[ec.Result] = []

        async def tasks(start: int) -> None:
            found.extend(await asyncio.gather(*(evaluator.ascore(row) for row in answers(20, start))))

        threads = [threading.Thread(target=asyncio.run, args=(tasks(start),)) for start in (0, 20)]
        threads += [
            threading.Thread(target=lambda start=start: found.extend(map(evaluator.score, answers(20, start))))
            for start in (40, 60)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 80
        assert evaluator.usage == total(found)
        assert evaluator.usage.calls == server.calls == 80


def test_one_evaluator_does_what_the_functions_do(server: JudgeServer, tmp_path: Path) -> None:
    """Scoring, judging, splitting, files, each in both forms, with the same results."""
    options = {"judge": "openai:m", "base_url": server.base_url}
    row = {"answer": "It is red. It is new.", "retrieved_contexts": SHELF, "user_input": "What is it?"}
    with ec.Evaluator(**options) as evaluator:
        one = ec.score(response=row["answer"], passages=SHELF, question="What is it?", **options)
        assert evaluator.score(row) == asyncio.run(evaluator.ascore(row)) == one
        judged = ec.verify_claims(["It is red."], SHELF, **options)
        assert evaluator.verify(["It is red."], SHELF) == asyncio.run(evaluator.averify("It is red.", SHELF)) == judged
        split = ec.extract_claims(row["answer"], decomposer="openai:m", base_url=server.base_url)
        assert evaluator.claims(row["answer"]) == asyncio.run(evaluator.aclaims(row["answer"])) == split
        run = evaluator.score_file(answers(3), store=tmp_path / "runs.db", name="first")
        other = asyncio.run(evaluator.ascore_file(answers(3), store=tmp_path / "runs.db", name="second"))
        assert [r.score for r in run.results()] == [r.score for r in other.results()] == [1.0] * 3
        assert ec.find_run("first", store=tmp_path / "runs.db").id == run.id


def test_closing_twice_is_closing_once_and_nothing_works_after() -> None:
    """With a message that says what to do."""
    evaluator = ec.Evaluator(judge="lexical")
    assert evaluator.score(answers(1)[0]).score == 1.0
    evaluator.close()
    evaluator.close()
    for call in (
        lambda: evaluator.score(answers(1)[0]),
        lambda: evaluator.verify("It is red.", SHELF),
        lambda: evaluator.claims("It is red."),
        lambda: asyncio.run(evaluator.ascore(answers(1)[0])),
        lambda: evaluator.score_file(answers(1)),
        lambda: evaluator.guard(None),
    ):
        with pytest.raises(ec.UserError, match="this Evaluator is closed"):
            call()


def test_closing_cuts_off_what_is_under_way() -> None:
    """The call says why it ends; it does not hang."""
    with JudgeServer(play, keep=False, latency=60) as server:
        evaluator = ec.Evaluator(base_url=server.base_url, **LLM)
        errors: list[BaseException] = []

        def call() -> None:
            try:
                evaluator.score(answers(1)[0])
            except BaseException as error:  # noqa: BLE001
                errors.append(error)

        thread = threading.Thread(target=call)
        thread.start()
        while not server.calls:
            pass
        evaluator.close()
        thread.join(20)
        assert "closed during this call" in str(errors[0])


def test_a_synchronous_call_inside_one_of_its_own_components_is_refused_and_does_not_hang() -> None:
    """It would wait for itself."""

    class Circular:
        spec = "circular"

        async def verify(self, claims: Any, passages: Any, *, question: str = "") -> Any:
            evaluator.score(answers(1)[0])

    with ec.Evaluator(judge=Circular()) as evaluator, pytest.raises(ec.UserError, match="would deadlock"):
        evaluator.score(answers(1)[0])


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.parametrize("judge", ["openai:m", "embedded"])
def test_a_forked_process_has_an_evaluator_of_its_own(server: JudgeServer, judge: str) -> None:
    """It works there, with connections, limits and usage of its own, and in the parent as before."""
    code = f"""
import os, sys
import everyclaim as ec
options = {{}} if {judge!r} == "embedded" else {{"base_url": {server.base_url!r}, "max_calls": 3}}
row = {{"answer": "The kettle is red. It is new. It holds 2 litres.", "contexts": {SHELF!r}}}
with ec.Evaluator(judge={judge!r}, decomposer="embedded", **options) as evaluator:
    first = evaluator.score(row)
    child = os.fork()
    if not child:
        assert evaluator.usage.calls == 0
        same = evaluator.score(row) == first
        evaluator.close()
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert evaluator.score(row) == first
"""
    clean = {**os.environ, "OPENAI_API_KEY": "none"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore:This process:DeprecationWarning", "-c", code],
        env=clean, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_an_evaluator_that_is_never_closed_leaves_nothing_open(server: JudgeServer) -> None:
    """At its end, or the process's, it is closed without a warning."""
    code = f"""
import gc, threading
import everyclaim as ec
def use():
    evaluator = ec.Evaluator(judge="openai:m", decomposer="embedded", base_url={server.base_url!r})
    evaluator.score(response="The kettle is red.", passages={SHELF!r})
    return evaluator
use()
gc.collect()
assert not [one for one in threading.enumerate() if one.name == "everyclaim"], threading.enumerate()
kept = use()
"""
    clean = {**os.environ, "OPENAI_API_KEY": "none"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=clean, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert connections(server) == 0


def test_a_cancelled_task_stops_its_call_and_no_other() -> None:
    """The place in the budget is given back."""
    with JudgeServer(play, keep=False, latency=0.3) as server:

        async def main() -> ec.Result:
            async with ec.Evaluator(base_url=server.base_url, max_calls=3, **LLM) as evaluator:
                await evaluator.ascore(answers(1)[0])  # now it is known what a call takes, and two may go together
                dropped = asyncio.create_task(evaluator.ascore(answers(1, 1)[0]))
                kept = asyncio.create_task(evaluator.ascore(answers(1, 2)[0]))
                while server.calls < 3:  # noqa: ASYNC110 - in another thread
                    await asyncio.sleep(0.01)
                dropped.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await dropped
                return await kept

        assert asyncio.run(main()).score == 1.0

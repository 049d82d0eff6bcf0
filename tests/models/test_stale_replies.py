"""A gateway that sends responses nobody asked for: none counts as the answer to another request."""

from __future__ import annotations

import pytest
from chatting import KEY

import everyclaim as ec
from everyclaim.testing import JudgeServer, Reply, Request, play


@pytest.mark.parametrize(("latency", "again"), [(0.0, 0.004), (0.01, 0.004), (0.01, 0.015)])
def test_no_answer_gets_the_verdicts_of_another(monkeypatch: pytest.MonkeyPatch, latency: float, again: float) -> None:
    """Every third response comes a second time on its kept connection, before or while the next is waited for."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    rows = [
        {"response": f"The kettle holds {n} litres.", "passages": [f"The kettle holds {n + n % 2} litres."]}
        for n in range(1, 41)
    ]
    with JudgeServer(lambda request: late(request, again), latency=latency) as server:
        judge = f"openai:judge-1?base_url={server.base_url}"
        run = ec.score_file(rows, judge=judge, decomposer="embedded", concurrency=2)
    assert [one.score for one in run.results()] == [float(n % 2 == 0) for n in range(1, 41)]


def late(request: Request, again: float) -> Reply:
    return Reply(play(request.messages), again=again if request.number % 3 == 0 else None)

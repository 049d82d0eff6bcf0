"""One answer among many meets a fault: what becomes of it, in exactly how many calls, and that nobody else notices.

The fault hits either call of one answer, `once` or for ever. Every other answer must come out as in a run
without faults, the headline must count the good ones alone, and going on must ask for what failed alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest

import everyclaim as ec
from everyclaim.core.errors import InputError, JudgeError
from everyclaim.core.wire import result_to_json
from everyclaim.testing import (
    Fault,
    JudgeServer,
    Reply,
    Request,
    html,
    no_sleep,
    play,
    rate_limited,
    refused_url,
    reset,
    server_error,
)

Step = str | Reply | Fault
Call = Literal["split", "judge"]
JUDGE = "openai:some-model"
VICTIM = "a3"
ROWS = [
    {
        "id": f"a{i}",
        "response": f"Kettle {i} is red. It holds {i + 10} litres.",
        "contexts": [f"Kettle {i} is red. It holds {i + 10 if i % 2 else 30} litres."],
    }
    for i in range(1, 7)
]


class Case(NamedTuple):
    """What the victim's calls meet, one after the other; then all is well, unless it is `for_ever`."""

    steps: Sequence[Step]
    calls: int  # the victim's, in the first run
    reason: str = ""  # its code when it failed; empty: it is scored as without the fault
    at: Call = "judge"
    for_ever: bool = False


CASES: dict[str, Case] = {  # each fault over every wire: tests/models/test_fault_matrix.py
    "429 for ever, of the split": Case([rate_limited()], 6, "rate_limited", "split", for_ever=True),
    "several faults one after the other": Case([rate_limited(), server_error(503), html(), reset(0.5)], 6),
    "refusal": Case([Reply("I would rather not.", "refusal")], 2, "refused"),
}


@pytest.fixture(scope="module")
def server() -> Iterator[JudgeServer]:
    with JudgeServer(play, latency=0.02) as running, no_sleep():
        yield running


def hit(case: Case) -> Callable[[Request], Step]:
    """Make the rule that lets one call of the victim meet the case."""
    steps = list(case.steps)

    def rule(request: Request) -> Step:
        kind = "split" if '"sentences"' in request.messages[-1].content else "judge"
        if f"ettle {VICTIM[1:]} " not in request.text or kind != case.at or not steps:
            return play(request)
        return steps[0] if case.for_ever else steps.pop(0)

    return rule


def victims(server: JudgeServer) -> int:
    return sum(f"ettle {VICTIM[1:]} " in request.text for request in server.requests)


def scored(server: JudgeServer, folder: Path, **options: Any) -> ec.Run:
    """Score the file as users do: with a store, and with the cache beside it."""
    source = folder / "answers.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return ec.score_file(source, base_url=server.base_url, judge=JUDGE, store=folder / "runs.db", **options)


def shown(run: ec.Run) -> dict[str, dict[str, Any]]:
    return {result.id: result_to_json(result) for result in run.results()}


def unpaid(rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Leave out what the results took, some replies were there already, and what they warn of."""
    return {key: {**row, "usage": None, "warnings": []} for key, row in rows.items()}


@pytest.fixture(scope="module")
def undisturbed(server: JudgeServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The results of a run without faults."""
    server.script(play)
    return shown(scored(server, tmp_path_factory.mktemp("clean")))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_fault_is_one_answers_alone(
    server: JudgeServer, undisturbed: dict[str, dict[str, Any]], tmp_path: Path, name: str
) -> None:
    """Outcome, reason and calls as stated; the others byte for byte; the headline without it; then only it again."""
    case, clean = CASES[name], undisturbed
    server.script(hit(case))
    server.requests.clear()
    run = scored(server, tmp_path)
    found = shown(run)
    victim = found[VICTIM]
    assert victims(server) == case.calls == victim["usage"]["calls"]
    assert len(server.requests) == case.calls + 2 * (len(ROWS) - 1)
    assert {key: row for key, row in found.items() if key != VICTIM} == {
        key: row for key, row in clean.items() if key != VICTIM
    }
    if case.reason:
        assert (victim["outcome"], victim["score"], victim["claims"]) == ("failed", None, [])
        assert victim["reason"].startswith(f"{case.reason}: ")
    else:
        assert unpaid({VICTIM: victim}) == unpaid({VICTIM: clean[VICTIM]})
    kept = [row["score"] for row in found.values() if row["outcome"] == "scored"]
    summary = run.summary
    assert summary.overall.score.n == len(kept) == len(ROWS) - bool(case.reason)
    assert summary.overall.score.value == pytest.approx(sum(kept) / len(kept))
    assert dict(summary.failures) == ({case.reason: 1} if case.reason else {})

    # What is kept is not asked for again: one call where the split was good, two where it failed.
    server.script(play)
    server.requests.clear()
    again = scored(server, tmp_path, resume=run.id)
    assert len(server.requests) == victims(server) == (0 if not case.reason else 2 if case.at == "split" else 1)
    assert unpaid(shown(again)) == unpaid(clean)


def test_an_address_that_never_answered_ends_the_run(undisturbed: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    """After a stated number of attempts, not as many for every answer, with the reason alone; no empty run is left."""
    port = int(refused_url().removesuffix("/v1").rpartition(":")[2])
    with no_sleep():
        with pytest.raises(JudgeError, match=rf"http://127.0.0.1:{port}.*without any answer") as caught:
            scored(JudgeServer(play, port=port), tmp_path)
        assert 6 <= int(re.search(r"(\d+) attempts", str(caught.value))[1]) <= 5 + len(ROWS)
        assert "Connection refused (" in str(caught.value)
        with pytest.raises(InputError, match="no runs yet"):
            ec.find_run(store=tmp_path / "runs.db")
        with JudgeServer(play, port=port) as back:
            found = shown(scored(back, tmp_path))
            assert back.calls == 2 * len(ROWS)
    assert {key: (row["outcome"], row["score"]) for key, row in found.items()} == {
        key: (row["outcome"], row["score"]) for key, row in undisturbed.items()
    }

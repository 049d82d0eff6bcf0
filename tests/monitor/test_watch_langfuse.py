"""A watch over Langfuse: its official client against a server that speaks its public API."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from langfuse_server import PUBLIC, SECRET, Langfuse
from watching import watched

import everyclaim as ec
from everyclaim.core.errors import ConfigError, SourceError
from everyclaim.store.watching import WatchStore

NOW = datetime.now(UTC)


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch) -> Iterator[Langfuse]:
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", PUBLIC)
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", SECRET)
    with Langfuse().serving() as project:
        yield project


def look(project: Langfuse, store: Path, **options: Any) -> Any:
    return watched(f"langfuse:{project.url}", store, **options)


def test_answers_come_in_with_their_passages_and_scores_go_back(project: Langfuse, store: Path) -> None:
    """Question, answer, documents, model, release and tags of a trace; its score, the failing claims, on the answer."""
    project.answer(1)
    project.answer(2, text="The unit weighs 9 kg.")
    seen = look(project, store)
    assert (seen.judged, seen.sent_back) == (2, 2)
    results = {one.id: one for one in ec.find_run(store=store).results()}
    one = results["trace1:trace1-root"]
    assert (one.question, one.model, one.release) == ("How heavy is 1?", "gpt-5-mini", "v1")
    assert one.tags == {"trace_name": "chat", "environment": "production", "tenant": "acme", "beta": "true"}
    sample = next(one for one in ec.find_run(store=store).samples() if one.id == "trace1:trace1-root")
    assert [(passage.id, passage.text) for passage in sample.passages] == [("manual", "The unit weighs 1 kg.")]
    assert project.by_trace == {
        "trace1": {"faithfulness": 1.0, "faithfulness.outcome": "scored", "faithfulness.contradicted": 0.0, "faithfulness.unsupported": 0.0},
        "trace2": {"faithfulness": 0.0, "faithfulness.outcome": "scored", "faithfulness.contradicted": 0.0, "faithfulness.unsupported": 1.0},
    }  # fmt: skip
    about = next(one for one in project.scores.values() if one["traceId"] == "trace2" and one["name"] == "faithfulness")
    assert about["observationId"] == "trace2-root"
    assert about["comment"].startswith("UNSUPPORTED: The unit weighs 9 kg. (numeric mismatch")


def test_an_answer_that_is_listed_again_is_not_judged_again(project: Langfuse, store: Path) -> None:
    """Every pass lists the last hour again; what comes late, with a time that is past, is found by that."""
    project.answer(1, at=NOW - timedelta(minutes=5))
    look(project, store)
    project.answer(2, at=NOW - timedelta(minutes=40))
    assert look(project, store).judged == 1
    project.answer(3, at=NOW - timedelta(hours=3))
    assert look(project, store).found == 0, "later than lateness"
    assert look(project, store, lateness=4 * 3600).judged == 1


def test_an_answer_is_judged_when_it_is_whole(project: Langfuse, store: Path) -> None:
    """One that has not ended, or has only just, is looked at again; one that never ends is taken as it is."""
    project.answer(1, ended=False)
    project.answer(2, at=datetime.now(UTC) - timedelta(seconds=3))
    seen = look(project, store)
    assert (seen.judged, seen.incomplete) == (0, 2)
    project.answer(1)
    assert look(project, store).judged == 1
    assert look(project, store, settle=0).judged == 1
    project.answer(3, at=datetime.now(UTC) - timedelta(minutes=56), ended=False)
    seen = look(project, store)
    assert (seen.unreadable, seen.incomplete) == (1, 0)
    assert "the response is missing" in seen.reasons[0]


@pytest.mark.slow
def test_scores_that_were_not_taken_are_sent_again_and_are_the_same_scores(project: Langfuse, store: Path) -> None:
    """The result is kept meanwhile; what was perhaps taken is written over and not doubled."""
    project.answer(1)
    project.faults.extend([("scores", 502, {})] * 3)
    seen = look(project, store)
    assert (seen.judged, seen.sent_back, seen.not_sent_back) == (1, 0, 1)
    assert "HTTP 502" in seen.trouble
    assert look(project, store).sent_back == 1
    with WatchStore.open(store) as kept, kept._engine.begin() as connection:
        connection.execute(sa.text("UPDATE watched SET back = 'due'"))  # as a kill before the note would leave it
    assert look(project, store).sent_back == 1
    assert len(project.writes) == 8
    assert len(project.scores) == 4


def test_keys_that_are_not_accepted_are_told(project: Langfuse, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, naming the variables and not the keys; a server that is away is an error of the source."""
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", "sk-lf-wrong-123")
    with pytest.raises(ConfigError, match="LANGFUSE_SECRET_KEY") as told:
        look(project, store)
    assert "sk-lf-wrong" not in str(told.value)
    monkeypatch.delenv("LANGFUSE_SECRET_KEY")
    with pytest.raises(ConfigError, match="needs the keys"):
        look(project, store)
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", SECRET)
    with pytest.raises(SourceError, match="ConnectError"):
        watched("langfuse:http://127.0.0.1:1", store)

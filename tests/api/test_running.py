"""A data set through `score_file`: kept, found again, resumed, and never mixed up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import everyclaim as ec
from everyclaim.core.events import RunFinished, SampleFinished, SampleSkipped
from everyclaim.core.wire import result_to_json
from everyclaim.store.store import Store

ROWS = [
    {"id": "a", "response": "The tank holds 2 litres.", "contexts": ["The tank holds 2 litres."], "team": "red"},
    {"id": "b", "response": "The tank holds 5 litres.", "contexts": ["The tank holds 2 litres."], "team": "blue"},
    {"id": "c", "response": "I don't know.", "contexts": ["The tank holds 2 litres."], "team": "blue"},
]


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    return path


def interrupt(answers: Path, store: Path) -> None:
    """Score until the first answer is done."""

    def stop(event: object) -> None:
        if isinstance(event, SampleFinished):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ec.score_file(answers, store=store, concurrency=1, hooks=[stop])


def test_a_file_is_scored_into_the_store_and_found_again(answers: Path, tmp_path: Path) -> None:
    """The run found by id gives the same results, slices and summary."""
    store = tmp_path / "runs.db"
    run = ec.score_file(answers, store=store, slices=["team"])
    again = ec.find_run(run.id[:6], store=store)
    assert [result_to_json(r) for r in again.results()] == [result_to_json(r) for r in run.results()]
    assert again.summary == run.summary
    assert run.summary.overall.score.value == 0.5
    assert {name: group.total for name, group in run.summary.slices["team"].items()} == {"blue": 2, "red": 1}
    assert ec.find_run(store=store).id == run.id


def test_an_interrupted_run_goes_on_where_it_stopped(answers: Path, tmp_path: Path) -> None:
    """The same command again scores only what is missing, into the same run."""
    store = tmp_path / "runs.db"
    interrupt(answers, store)
    events: list[object] = []
    run = ec.score_file(answers, store=store, hooks=[events.append])
    skipped = sum(isinstance(event, SampleSkipped) for event in events)
    assert skipped >= 1
    assert [e.scored_now for e in events if isinstance(e, RunFinished)] == [3 - skipped]
    with Store.open(store) as kept:
        assert [(r.id, r.status, r.kept) for r in kept.runs()] == [(run.id, "finished", 3)]


def test_a_changed_file_is_a_new_run(answers: Path, tmp_path: Path) -> None:
    """Results of other data are never taken for this file's."""
    store = tmp_path / "runs.db"
    interrupt(answers, store)
    answers.write_text(json.dumps(ROWS[1]) + "\n", "utf-8")
    run = ec.score_file(answers, store=store)
    assert [r.id for r in run.results()] == ["b"]


def test_resuming_a_run_with_other_options_is_refused(answers: Path, tmp_path: Path) -> None:
    """One run has one configuration."""
    run = ec.score_file(answers, store=tmp_path / "runs.db")
    with pytest.raises(ec.ConfigError, match="another configuration"):
        ec.score_file(answers, store=tmp_path / "runs.db", resume=run.id, strict=True)


def test_a_field_that_nobody_named_is_there_to_compare_by_later(tmp_path: Path) -> None:
    """It needs no new scoring; and frames have a column for each tag."""
    rows = [
        {"id": str(n), "domain": "hall" if n % 2 else "nave", "response": "It is tall.", "contexts": ["It is tall."]}
        for n in range(6)
    ]
    runs = [ec.score_file(rows, store=tmp_path / "runs.db", judge="lexical", name=name) for name in ("one", "two")]
    cuts = {dict(look.where).get("domain") for look in ec.compare(*runs, by=["domain"]).deltas}
    assert {"hall", "nave"} <= cuts
    assert list(runs[0].to_pandas("answers")["tag.domain"]) == ["nave", "hall"] * 3

"""What a run does: order of events, failures, limits, resuming, stopping."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from everyclaim.core.errors import ConfigError, InputError, JudgeError, OperatorError, StoreError
from everyclaim.core.events import Event, RunFinished, RunStarted, SampleFinished
from everyclaim.core.protocols import Kept
from everyclaim.core.types import Outcome, Result, Sample
from everyclaim.engine import in_thread, run
from everyclaim.store.store import Store
from scored_runs import PROVENANCE, a_result, a_sample


class Metric:
    """A metric from a function of the sample; counts how many samples are in it."""

    provenance = PROVENANCE

    def __init__(self, score: Callable[[Sample], Awaitable[Result]] | None = None) -> None:
        self.inside = self.most = 0
        self.seen: list[str] = []
        self._score = score

    async def score(self, sample: Sample) -> Result:
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.seen.append(sample.id)
        try:
            if self._score:
                return await self._score(sample)
            await asyncio.sleep(0.001)
            return a_result(sample)
        finally:
            self.inside -= 1


def failing_with(error: BaseException, *, on: str = "s3") -> Metric:
    async def score(sample: Sample) -> Result:
        await asyncio.sleep(0)
        if sample.id == on:
            raise error
        return a_result(sample)

    return Metric(score)


def samples(number: int) -> Iterator[Sample]:
    return (a_sample(n) for n in range(number))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "runs.db") as opened:
        yield opened


@pytest.fixture
def name(store: Store) -> str:
    return store.create_run(PROVENANCE).id


def test_a_run_scores_every_sample_and_keeps_it_in_input_order(store: Store, name: str) -> None:
    """The events and the store tell the same story."""
    events: list[Event] = []
    asyncio.run(run(samples(40), Metric(), run=name, store=store, hooks=[events.append], total=40))
    assert events[0] == RunStarted(name, 40)
    assert events[-1] == RunFinished(name, 40)
    finished = [event.result for event in events if isinstance(event, SampleFinished)]
    assert sorted(r.id for r in finished) == sorted(s.id for s in samples(40))
    assert list(store.results(name)) == [a_result(s) for s in samples(40)]
    assert [kept.sample for kept in store.records(name)] == list(samples(40))
    assert (store.run(name).status, store.run(name).kept) == ("finished", 40)


def test_concurrency_is_used_and_kept() -> None:
    """As many samples at the same time as asked for, and no more."""
    metric = Metric()
    asyncio.run(run(samples(60), metric, concurrency=7))
    assert metric.most == 7


@pytest.mark.parametrize("concurrency", [1, 5])
def test_the_input_is_never_read_far_ahead(store: Store, name: str, concurrency: int) -> None:
    """Samples read but not yet kept stay below twice the concurrency, so memory is bounded."""
    read = finished = most = 0

    def counted() -> Iterator[Sample]:
        nonlocal read, most
        for sample in samples(100):
            read += 1
            most = max(most, read - finished)
            yield sample

    def count(event: Event) -> None:
        nonlocal finished
        finished += isinstance(event, SampleFinished)

    asyncio.run(run(counted(), Metric(), run=name, store=store, concurrency=concurrency, hooks=[count]))
    assert read == finished == 100
    assert most <= 2 * concurrency


# ---- failures of single samples


async def _soon(value: object) -> Result:
    return value  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (JudgeError("missing_verdict", "none for c2"), "missing_verdict: none for c2"),
        (InputError("no reference answer"), "bad_input: no reference answer"),
        (ValueError("the secret answer"), "component_error: ValueError in test_pipeline, line "),
        (KeyError("secret"), "component_error: KeyError in test_pipeline, line "),
        (asyncio.CancelledError("secret"), "component_error: CancelledError in test_pipeline, line "),
        (ExceptionGroup("secret", [ValueError("secret")]), "component_error: ExceptionGroup in test_pipeline, line "),
    ],
)
def test_a_failing_sample_is_kept_as_failed_and_stops_no_other(
    store: Store, name: str, error: BaseException, reason: str
) -> None:
    """A failure is data with a reason, never a score, and never quotes the data."""
    asyncio.run(run(samples(10), failing_with(error), run=name, store=store))
    assert store.run(name).status == "finished"
    results = list(store.results(name))
    failed = results[3]
    assert (failed.outcome, failed.score, failed.claims) == (Outcome.FAILED, None, ())
    assert failed.reason.startswith(reason)
    assert "secret" not in failed.reason
    assert (failed.question, failed.tags, failed.model) == ("What about 3?", {"source": "kitchen"}, "writer-1")
    assert [r.outcome for r in results[:3] + results[4:]] == [Outcome.SCORED] * 9


GOOD = a_result(a_sample(0))


@pytest.mark.parametrize(
    ("returned", "code"),
    [
        (None, "bad_result"),
        (replace(GOOD, id="s1"), "bad_result"),
        (replace(GOOD, score=float("nan")), "bad_score"),
        (replace(GOOD, score=None), "bad_score"),
        (replace(GOOD, score=7.0), "bad_score"),
        (replace(GOOD, outcome=Outcome.FAILED), "bad_score"),
        (replace(GOOD, claims=GOOD.claims + GOOD.claims[:1]), "misaligned_verdicts"),
        (replace(GOOD, claims=(replace(GOOD.claims[0], id="c9"),)), "misaligned_verdicts"),
        (replace(GOOD, reference_claims=GOOD.reference_claims * 2), "misaligned_verdicts"),
        (replace(GOOD, components={"recall": float("nan")}), "bad_score"),
        (replace(GOOD, details={"seen": {1, 2}}), "bad_result"),
    ],
)
def test_an_impossible_result_is_a_failure(returned: object, code: str) -> None:
    """What a metric returns is checked before it is kept."""
    events: list[Event] = []
    asyncio.run(run(samples(1), Metric(lambda _: _soon(returned)), hooks=[events.append]))
    (result,) = [event.result for event in events if isinstance(event, SampleFinished)]
    assert (result.outcome, result.score, result.id) == (Outcome.FAILED, None, "s0")
    assert result.reason.partition(":")[0] == code


# ---- what ends a run


def status_after(store: Store, name: str) -> tuple[str, int]:
    record = store.run(name)
    return record.status, record.kept


@pytest.mark.parametrize("error", [ConfigError("bad key"), OperatorError("budget spent"), StoreError("cache is full")])
def test_an_error_that_concerns_every_sample_ends_the_run(store: Store, name: str, error: Exception) -> None:
    """A wrong setting or a spent budget is raised; what was done before is kept."""
    with pytest.raises(type(error), match=str(error)):
        asyncio.run(run(samples(10), failing_with(error, on="s5"), run=name, store=store, concurrency=1))
    assert status_after(store, name) == ("failed", 5)


class BrokenStore:
    """Fails from the third batch on, and at the end."""

    def __init__(self) -> None:
        self.batches = 0
        self.ended: list[str] = []

    def kept(self, run: str, start: int, stop: int) -> dict[int, str]:
        return {}

    def save_all(self, run: str, batch: Sequence[Kept]) -> None:
        if self.batches == 2:
            raise StoreError("the disk is full")
        self.batches += 1

    def finish_run(self, run: str, status: Literal["finished", "stopped", "failed"]) -> None:
        self.ended.append(status)
        raise StoreError("the disk is still full")


def test_a_store_that_fails_ends_the_run_with_its_error() -> None:
    """A storage error is no judge failure: the run stops, and the first error is the one raised."""
    store = BrokenStore()
    metric = Metric()
    with pytest.raises(StoreError, match="the disk is full"):
        asyncio.run(run(samples(1000), metric, store=store))
    assert store.ended == ["failed"]
    assert len(metric.seen) < 100
    assert metric.inside == 0


def test_cancelling_keeps_what_is_done(store: Store, name: str) -> None:
    """The run is marked stopped; finished samples are kept, those in flight are cancelled."""
    finished: list[str] = []

    async def cancel() -> None:
        def hook(event: Event) -> None:
            if isinstance(event, SampleFinished):
                finished.append(event.result.id)
                if len(finished) == 10:
                    task.cancel()

        task = asyncio.create_task(run(samples(1000), metric, run=name, store=store, hooks=[hook]))
        await task

    metric = Metric()
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())
    status, kept = status_after(store, name)
    assert (status, kept) == ("stopped", len(finished))
    assert 10 <= kept < 100
    assert metric.inside == 0


def test_the_source_is_closed_when_the_run_stops_early(store: Store, name: str) -> None:
    """Files behind a generator do not stay open."""
    closed: list[bool] = []

    def source() -> Iterator[Sample]:
        try:
            yield from samples(1000)
        finally:
            closed.append(True)

    for made in (source(), in_thread(source())):
        with pytest.raises(ConfigError):
            asyncio.run(run(made, failing_with(ConfigError("x")), concurrency=2))
    for _ in range(100):
        if len(closed) == 2:
            break
        asyncio.run(asyncio.sleep(0.01))
    assert closed == [True, True]

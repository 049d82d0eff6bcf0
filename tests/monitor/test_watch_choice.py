"""Which answers a watch judges, how much in a day, and into which runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest
import sqlalchemy as sa
from watching import ByWords, append, ids, row, run_names, watched

import everyclaim as ec
from everyclaim.core.errors import ConfigError, StoreError
from everyclaim.core.types import Outcome, Usage
from everyclaim.monitor.alerts import Alert, AlertError
from everyclaim.monitor.watch.source import Batch, Found
from everyclaim.store.store import Store
from everyclaim.store.watching import JudgedAnswer, WatchStore


def test_a_share_is_chosen_by_what_the_answers_are_called(log: Path, store: Path, tmp_path: Path) -> None:
    """The same in another store and another order, more at a higher rate; their share is the rate."""
    rows = [row(number) for number in range(80)]
    append(log, *rows)
    seen = watched(log, store, rate=0.25)
    assert seen.judged + seen.skipped == 80
    assert 10 <= seen.judged <= 30
    other = tmp_path / "other.jsonl"
    append(other, *reversed(rows))
    watched(other, tmp_path / "other.db", rate=0.25)
    assert ids(tmp_path / "other.db") == ids(store)
    watched(other, tmp_path / "more.db", rate=0.5)
    assert set(ids(store)) < set(ids(tmp_path / "more.db"))


def test_a_rare_slice_gets_its_minimum_in_a_run_of_its_own(log: Path, store: Path) -> None:
    """The first few of a day, counted with those chosen at random; the random run stays what it would have been."""
    append(
        log,
        *(row(number, tenant="big") for number in range(40)),
        *(row(number, tenant="small") for number in range(40, 45)),
    )
    seen = watched(log, store, rate=0.0, slices=["tenant"], min_per_slice=3)
    assert seen.chosen == {"minimum": 6}
    day = datetime.now(UTC).date().isoformat()
    assert run_names(store) == {f"answers.jsonl {day} picked"}
    run = ec.find_run(store=store)
    assert [result.tags["everyclaim.picked"] for result in run.results()] == ["minimum"] * 6
    append(log, row(50, tenant="small"))
    assert watched(log, store, rate=0.0, slices=["tenant"], min_per_slice=3).judged == 0, "counted across passes"


def test_what_worries_a_cheap_judge_is_judged_besides(log: Path, store: Path) -> None:
    """The cheap judge sees what chance left out; the costly one is asked about what worries it, and nothing else."""
    wrong = row(2, response="The unit weighs 9 kg.", contexts=["The unit weighs 2 kg."])
    append(log, row(1), wrong, row(3))
    judge = ByWords()
    seen = watched(log, store, rate=0.0, screen="lexical", judge=judge)
    assert (dict(seen.chosen), seen.skipped) == ({"worried": 1}, 2)
    assert judge.asked == ["The unit weighs 9 kg."]
    assert ids(store) == Counter(a2=1)


def test_a_day_has_so_many_answers(log: Path, store: Path) -> None:
    """What is beyond is counted and passed over; the count outlasts the process."""
    append(log, *(row(number) for number in range(10)))
    seen = watched(log, store, daily_answers=4, concurrency=3)
    assert (seen.judged, seen.over_budget) == (4, 6)
    append(log, row(11))
    assert watched(log, store, daily_answers=4).over_budget == 1
    append(log, row(12))
    assert watched(log, store, daily_answers=5).judged == 1


class Priced(ByWords):
    """Costs 100 tokens and ten cents an answer, or nobody knows."""

    def __init__(self, cost: float | None) -> None:
        super().__init__()
        self.cost = cost

    async def verify(self, *args: Any, **named: Any) -> Any:
        from everyclaim.core.events import account

        account(Usage(calls=1, prompt_tokens=60, completion_tokens=40, cost=self.cost))
        return await super().verify(*args, **named)


def test_a_day_has_so_many_tokens_and_dollars(log: Path, store: Path, tmp_path: Path) -> None:
    """Nothing is begun beyond them; what is under way may go over by itself."""
    append(log, *(row(number) for number in range(10)))
    assert watched(log, store, daily_tokens=250, concurrency=1, judge=Priced(None)).judged == 3
    assert watched(log, tmp_path / "b.db", daily_cost=0.25, concurrency=1, judge=Priced(0.1)).judged == 3


def test_a_run_holds_a_day_of_answers(log: Path, store: Path) -> None:
    """By the answer's own time in UTC; a late one goes to its day, one from the future to today."""
    ahead = (datetime.now(UTC) + timedelta(days=3)).isoformat()
    append(
        log,
        row(1, timestamp="2026-03-01T23:30:00-02:00"),
        row(2, timestamp="2026-03-01T10:00:00Z"),
        row(3, timestamp=ahead),
    )
    watched(log, store)
    append(log, row(4, timestamp="2026-03-01T11:00:00Z"), row(5, timestamp="yesterday"))
    watched(log, store)
    today = datetime.now(UTC).date().isoformat()
    with Store.open_to_read(store) as kept:
        held = {run.name: sorted(one.id for one in kept.results(run.id)) for run in kept.runs()}
        assert {run.status for run in kept.runs()} == {"finished"}
    assert held == {
        "answers.jsonl 2026-03-02": ["a1"],
        "answers.jsonl 2026-03-01": ["a2", "a4"],
        f"answers.jsonl {today}": ["a3", "a5"],
    }


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"screen": "lexical"}, "rate below 1"),
        ({"rate": 0.5, "min_per_slice": 3}, "needs slices"),
        ({"rate": 0.5, "worry": 0.3}, "needs screen"),
        ({"rate": 0.5, "screen": "openai:gpt-5-mini"}, "a free judge"),
        ({"when_spent": "wait"}, "needs a daily limit"),
        ({"query": "select 1"}, "applies to sql, not to files"),
        ({"events_to": "http://x"}, "applies to otlp"),
        ({"since": "2026-01-01"}, "applies to langfuse"),
        ({"sampling": 0.1}, "sampling"),
        ({"mapping": {"x": "y"}}, "no such field"),
        ({"alerts": ["command:true"]}, "alert_above"),
    ],
)
def test_options_that_are_wrong_or_would_do_nothing_are_told(log: Path, store: Path, options: Any, told: str) -> None:
    """Nothing is swallowed; no input is written over."""
    append(log, row(1))
    with pytest.raises(ConfigError, match=told):
        watched(log, store, **options)
    with pytest.raises(ConfigError):
        watched(log, log)


def test_a_watch_is_under_way_in_one_place(log: Path, store: Path) -> None:
    """A second one of the same name is told so; of another name it has its own answers."""
    append(log, row(1))
    with WatchStore.open(store) as kept:
        kept.hold_watch(str(log))
        with pytest.raises(StoreError, match="is already running"):
            watched(log, store)
        assert watched(log, store, name="other").judged == 1
    assert watched(log, store).judged == 1
    assert ids(store) == Counter(a1=2)


def test_a_source_may_be_ones_own(store: Path) -> None:
    """Anything with the shape of one; what has it not is told."""

    class Mine:
        name, title, takes_scores = "mine", "mine", True
        sent: ClassVar[list[JudgedAnswer]] = []

        async def open(self) -> None: ...

        async def close(self) -> None: ...

        async def batches(self, checkpoint: Any) -> AsyncIterator[Batch]:
            assert checkpoint in {None, 2}

            async def load() -> ec.Sample:
                return ec.Sample("x", "It is red.", (ec.Passage("p", "It is red."),))

            yield Batch([Found("a", load), Found("a", load), Found("b", load)], 2)

        async def send_back(self, results: Sequence[JudgedAnswer]) -> dict[str, bool]:
            self.sent.extend(results)
            return {one.answer: True for one in results}

    seen = watched(Mine(), store)
    assert (seen.found, seen.judged, seen.known, seen.sent_back) == (2, 2, 1, 2)
    assert watched(Mine(), store).found == 0
    assert [one.result.score for one in Mine.sent] == [1.0, 1.0]
    with pytest.raises(ec.InputError, match="a source is a path"):
        watched(["a row"], store)
    with pytest.raises(ConfigError, match="standard input cannot be watched"):
        watched("-", store)


class Away(ByWords):
    """A judge that is away for its first few calls."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.left = calls

    async def verify(self, *args: Any, **named: Any) -> Any:
        if self.left:
            self.left -= 1
            raise ec.JudgeError("no_reply", "the judge is away")
        return await super().verify(*args, **named)


def an_hour_later(store: Path) -> None:
    with WatchStore.open(store) as kept, kept._engine.begin() as connection:
        connection.execute(sa.text("UPDATE watched SET tried = tried - 3700"))


def test_what_the_judge_failed_on_is_judged_again_later(log: Path, store: Path) -> None:
    """In its own place in its own run; not at once, and not for ever."""
    append(log, row(1), row(2))
    judge = Away(3)
    assert watched(log, store, judge=judge, concurrency=1).failed == 2
    assert watched(log, store, judge=judge).is_silent, "not at once"
    an_hour_later(store)
    assert watched(log, store, judge=judge, concurrency=1).tried_again == 2
    run = ec.find_run(store=store)
    assert Counter(one.outcome for one in run.results()) == {Outcome.FAILED: 1, Outcome.SCORED: 1}
    assert (run.record.status, run.record.counts[Outcome.SCORED]) == ("finished", 1)
    an_hour_later(store)
    assert watched(log, store, judge=judge).tried_again == 1
    assert Counter(one.outcome for one in run.results()) == {Outcome.SCORED: 2}
    assert ids(store) == Counter(a1=1, a2=1)


class Told:
    """A sink that is away at first."""

    def __init__(self) -> None:
        self.alerts: list[Alert] = []
        self.is_away = True

    def send(self, alert: Alert) -> None:
        if self.is_away:
            raise AlertError("nobody is there")
        self.alerts.append(alert)


def test_a_low_mean_score_alerts_where_nothing_is_called_contradicted(log: Path, store: Path) -> None:
    """`alert_below` counts unsupported claims, too; a limit that is met raises nothing."""
    append(log, *(row(number, contexts=["The unit is green."]) for number in range(60)))
    told = Told()
    told.is_away = False
    assert watched(log, store, alert_below=0.5, alerts=[told]).alerts[0].measure == "unfaithful"
    assert "mean score" in told.alerts[0].text


def test_a_rise_of_contradictions_is_told_until_it_is_delivered(log: Path, store: Path) -> None:
    """The detector goes on across passes; answers that were picked for being bad do not count."""
    told = Told()
    for part in range(4):
        for number in range(part * 20, part * 20 + 20):
            append(log, row(number, contexts=[f"NOT The unit weighs {number} kg."]))
        seen = watched(log, store, alert_above=0.05, alerts=[told])
        if seen.alerts:
            break
    assert {alert.measure for alert in seen.alerts} == {"contradicted"}
    assert "nobody is there" in seen.undelivered[0]
    told.is_away = False
    assert (seen.alerts_sent, "alert sent" in str(seen)) == (0, False)
    seen_again = watched(log, store, alert_above=0.05, alerts=[told])
    assert seen_again.undelivered == []
    assert (seen_again.alerts_sent, "1 alert sent" in str(seen_again)) == (1, True)
    assert [alert.id for alert in told.alerts] == [seen.alerts[-1].id], "the newest, once"
    assert watched(log, store, alert_above=0.05, alerts=[told]).is_silent
    assert len(told.alerts) == 1
    append(log, *(row(number, contexts=[f"NOT The unit weighs {number} kg."], kind="x") for number in range(100, 200)))
    seen = watched(log, store, rate=0.0, slices=["kind"], min_per_slice=100, alert_above=0.05, alerts=[told])
    assert (seen.judged, seen.alerts) == (100, [])


@pytest.mark.slow
def test_a_run_says_what_is_usual_and_how_the_judge_errs(log: Path, store: Path) -> None:
    """A limit above its rates; by its labels the judge that calls good claims contradicted does not cry wolf."""
    told = Told()

    def answers(first: int, last: int) -> None:
        append(log, *(row(n, contexts=[f"{'NOT ' * (n % 4 == 0)}The unit weighs {n} kg."]) for n in range(first, last)))

    answers(0, 120)
    assert watched(log, store).judged == 120
    run = ec.find_run(store=store)
    wrong = [one for one in run.results() if one.count(ec.Label.CONTRADICTED)]
    good = [one for one in run.results() if not one.count(ec.Label.CONTRADICTED)]
    labels = [
        {"sample_id": one.id, "claim": one.claims[0].text, "label": "SUPPORTED"} for one in (*good[:60], *wrong[:20])
    ]
    labels += [{"sample_id": one.id, "claim": one.claims[0].text, "label": "CONTRADICTED"} for one in wrong[20:]]
    ec.calibrate(run, labels, store=store)
    judge = ec.baseline(run).judge
    assert judge is not None
    assert judge.specificity == pytest.approx(0.75)
    answers(200, 400)
    seen = watched(log, store, alert_above=0.05, alert_baseline=run.id, alerts=[told])
    assert (seen.judged, seen.alerts) == (200, [])


def test_a_few_labels_correct_no_limit_and_what_is_missing_is_told(log: Path, store: Path) -> None:
    """With six labels the limit is that of the rates as judged; of three answers there is none that could be exceeded."""
    append(log, *(row(n, contexts=[f"{'NOT ' * (n % 10 == 0)}The unit weighs {n} kg."]) for n in range(60)))
    watched(log, store)
    run, told = ec.find_run(store=store), []
    labels = [
        {"sample_id": one.id, "claim": one.claims[0].text, "label": "SUPPORTED" if number else "CONTRADICTED"}
        for number, one in enumerate(list(run.results())[:6])
    ]
    ec.calibrate(run, labels, store=store)
    watched(log, store, alert_baseline=run.id, on_start=told.append)
    assert "contradicted claims 20" in told[0]
    assert "has labels of 1 contradicted and 5 other claims, 10 of each are needed" in told[1]
    few = ec.score_file([row(n, contexts=["NOT so."]) for n in range(3)], judge=ByWords(), store=store)
    with pytest.raises(ConfigError, match=r"too high: with only 3 answers .* score about [\d,]+ answers"):
        watched(log, store, alert_baseline=few.id)


def test_a_limit_of_cost_needs_prices(log: Path, store: Path) -> None:
    """A limit that cannot be held is told, after at most what was under way."""
    append(log, *(row(number) for number in range(10)))
    with pytest.raises(ConfigError, match="prices"):
        watched(log, store, daily_cost=5.0, concurrency=1, judge=Priced(None))
    assert sum(ids(store).values()) == 1

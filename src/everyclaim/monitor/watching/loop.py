"""The loop: read a source, decide about every answer, judge those that are chosen, keep, tell, send scores back.

    source ──► decided before? skip ──► chosen? ──► judged ──► kept with its decision ──► hooks ──► scores back
                                                                     └── then the checkpoint

A checkpoint is kept only when everything before it is decided, and a decision is kept in one transaction with its
result. So a watch that is killed anywhere reads some answers again, loses none, and judges none a second time into the
store. Scores go back with names that stay the same, and again until the source has taken them.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from threading import Event as Flag
from typing import Any, Literal, TypeVar, cast

from everyclaim.core.errors import EveryclaimError, SourceError, StoreError
from everyclaim.core.events import Hook, QueueChanged, RunFinished, SampleFinished, tell
from everyclaim.core.plaintext import one_line
from everyclaim.core.types import Provenance, Result, Sample
from everyclaim.monitor.watching.alarms import Alarms
from everyclaim.monitor.watching.report import GONE, OVER_BUDGET, PASSED_OVER, SCORED, UNREADABLE, Pass
from everyclaim.monitor.watching.sampling import AT_RANDOM, MINIMUM, WORRIED, Budget, Day, Sampling, is_worrying
from everyclaim.monitor.watching.source import Absent, Batch, Found, Return, Source, Unreadable
from everyclaim.store import Decided, Judged, WatchStore

PICKED = "everyclaim.picked"  # the tag that says why an answer beside the random ones was judged
_SENT_AT_ONCE = 50
_LONGEST_PAUSE = 300.0  # seconds between tries of a source that fails
_KEPT_DAYS = 7  # for which answers that were not judged are remembered
_MOST_OPEN = 32  # runs at a time: days and releases are whatever the answers say
_GLANCE = 0.1  # seconds between looks at whether to stop

T = TypeVar("T")
Score = Callable[[Sample], Awaitable[Result]]
OverRun = Callable[[Callable[[], Iterator[Result]]], Iterator[Result] | None]


@dataclass(frozen=True, slots=True)
class Judging:
    """What judges: the judge, and a cheap one that only looks for what should be judged besides."""

    score: Score
    provenance: Provenance
    screen: Callable[[Sample], Awaitable[Result | None]] | None = None  # None: it could not say
    concurrency: int = 8
    over_run: OverRun | None = None  # the last numbers of a run, where the metric has some that need the whole of it


@dataclass(frozen=True, slots=True)
class Plan:
    """How a watch goes about it."""

    watch: str  # its name in the store
    title: str  # of its runs
    sampling: Sampling = field(default_factory=Sampling)
    budget: Budget = field(default_factory=Budget)
    when_spent: Literal["skip", "wait"] = "skip"
    per: Literal["day", "release"] = "day"
    send_back: bool = True
    try_again: tuple[float, ...] = (60.0, 600.0, 3600.0)  # seconds after each failure of the judge
    every: float = 10.0  # seconds between passes


class Watcher:
    """One watch under way. `stop` may be set from any thread: what is begun is finished, and nothing else begun."""

    def __init__(
        self,
        source: Source,
        store: WatchStore,
        judging: Judging,
        plan: Plan,
        *,
        hooks: Sequence[Hook] = (),
        alarms: Alarms | None = None,
    ) -> None:
        self.stop = Flag()
        self._source = source
        self._store = store
        self._judging = judging
        self._plan = plan
        self._hooks = hooks
        self._alarms = alarms
        self._day = Day("")
        self._slots = asyncio.Semaphore(judging.concurrency)
        self._runs: dict[tuple[str, bool], str] = {}  # part and whether picked → id
        self._held: set[str] = set()  # runs that are open
        self._begun: Counter[str] = Counter()  # results by run, since it was opened
        self._opening = asyncio.Lock()
        self._pass = Pass()
        self._idle: list[Decided] = []  # decisions without a result, kept together
        self._kept: tuple[Any, Any] = (None, None)  # the place that the store has

    async def read_once(self) -> Pass:
        """Go through what there is, once; runs are finished afterwards."""
        try:
            return await self._read()
        finally:
            await self._finish_runs()

    async def go_on(self, say: Callable[[Pass | Exception], None]) -> Pass:
        """Go through it again and again until `stop` is set; `say` hears of every pass, and of what failed.

        What fails at the source or in the store is tried again, after pauses that grow.
        """
        whole, pause = Pass(), self._plan.every
        try:
            while not self.stop.is_set():
                try:
                    seen = await self._read()
                except (SourceError, StoreError) as error:
                    say(error)
                    pause = min(max(2 * pause, 1.0), _LONGEST_PAUSE)
                else:
                    pause = self._plan.every
                    whole.add(seen)
                    say(seen)
                    if self._plan.per == "day":
                        await self._finish_runs(but=_today())
                await self._pause(pause)
        finally:
            await self._finish_runs()
        return whole

    async def prepare(self) -> None:
        """Take the watch, and close what a kill left open."""
        await asyncio.to_thread(self._store.hold_watch, self._plan.watch)
        _, state = await asyncio.to_thread(self._store.place_of_watch, self._plan.watch)
        if self._alarms is not None and state is not None:
            self._alarms.restore(state)
        for run in await asyncio.to_thread(self._store.interrupted_runs, self._plan.watch):
            await asyncio.to_thread(self._store.finish_run, run, "stopped")

    async def _read(self) -> Pass:
        self._pass, self._idle = Pass(), []
        await self._send_back()
        await self._try_again()
        self._kept = await asyncio.to_thread(self._store.place_of_watch, self._plan.watch)
        checkpoint = self._kept[0]
        await self._keep_place(checkpoint)
        async with aclosing(cast("Any", self._source.batches(checkpoint))) as batches:
            async for batch in batches:
                is_done = await self._decide_all(batch)
                await self._send_back()
                checkpoint = batch.checkpoint if is_done else checkpoint
                await self._keep_place(checkpoint)
                if not is_done:
                    break
        if self._sends_back:
            self._pass.not_sent_back = await asyncio.to_thread(self._store.count_due, self._plan.watch)
        return self._pass

    async def _decide_all(self, batch: Batch) -> bool:
        """Decide about every answer of a batch; return whether that was done, or something stopped it."""
        wanted = {one.key: one for one in batch.found}
        known = await asyncio.to_thread(self._store.decided, self._plan.watch, wanted)
        left = [one for key, one in wanted.items() if key not in known]
        self._pass.found += len(left)
        self._pass.known += len(batch.found) - len(left)
        tell(QueueChanged("watch", len(left)))
        try:
            begun = await self._all(left, self._decide)
        finally:
            await self._keep_idle()
        self._pass.not_yet += len(left) - begun
        return begun == len(left) and not self._pass.waits_for

    async def _keep_idle(self) -> None:
        idle, self._idle = self._idle, []
        if idle:
            await asyncio.to_thread(self._store.keep_decided, self._plan.watch, self._day.date or _today(), idle)

    async def _all(self, items: Sequence[T], work: Callable[[T], Awaitable[None]]) -> int:
        """Do this with each, so many at a time, until something stops it; return how many were begun.

        What would befall all alike is raised, after those that are under way have ended.
        """
        begun, faults = 0, list[EveryclaimError]()

        async def one(item: T) -> None:
            try:
                await work(item)
            except EveryclaimError as error:
                faults.append(error)
            finally:
                self._slots.release()

        try:
            async with asyncio.TaskGroup() as group:
                for item in items:
                    await self._slots.acquire()
                    if self.stop.is_set() or self._pass.waits_for or faults:
                        self._slots.release()
                        break
                    group.create_task(one(item))
                    begun += 1
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        if faults:
            raise faults[0]
        return begun

    async def _decide(self, one: Found) -> None:
        await self._turn_day()
        sampling = self._plan.sampling
        chosen = AT_RANDOM if sampling.is_chosen(one.unit or one.key) else ""
        if not chosen and not sampling.minimum and self._judging.screen is None:
            self._leave(one, PASSED_OVER)
            return
        sample = await one.load()
        if isinstance(sample, Absent):
            self._absent(one, sample)
        elif isinstance(sample, Unreadable):
            self._refuse(one, sample.reason)
        elif PICKED in sample.tags:
            self._refuse(one, f"{one_line(sample.id, 60)}: the tag {PICKED!r} is the watch's own; call yours otherwise")
        elif reason := chosen or await self._why_pick(sample):
            await self._judge(one, sample, reason)
        else:
            self._leave(one, PASSED_OVER)

    def _refuse(self, one: Found, reason: str) -> None:
        self._pass.refuse(reason)
        self._idle.append(Decided(one.key, UNREADABLE))

    def _absent(self, one: Found, why: Absent) -> None:
        if why is Absent.NOT_YET:
            self._pass.not_yet += 1
        else:
            self._leave(one, GONE)

    def _leave(self, one: Found, decision: str) -> None:
        self._pass.count(decision)
        self._idle.append(Decided(one.key, decision))

    async def _why_pick(self, sample: Sample) -> str:
        sampling = self._plan.sampling
        if sampling.minimum and self._day.lacks(sample, sampling):
            return MINIMUM
        if self._judging.screen is not None and is_worrying(await self._judging.screen(sample), sampling.worry):
            return WORRIED
        return ""

    async def _judge(self, one: Found, sample: Sample, chosen: str) -> None:
        if not self._day.may_go_on(self._plan.budget):
            if self._plan.when_spent == "wait":
                self._pass.not_yet += 1
                self._pass.waits_for = "the day's budget is used up"
            else:
                self._leave(one, OVER_BUDGET)
            return
        day, is_picked = self._day, chosen != AT_RANDOM
        day.begin(sample, self._plan.sampling)
        if is_picked:
            sample = replace(sample, tags={**sample.tags, PICKED: chosen})
        begun = time.perf_counter()
        result = await self._judging.score(sample)
        day.use(result.usage)
        run = await self._run_of(sample, is_picked=is_picked)
        made = Decided(one.key, SCORED, chosen, run, sample, result, one.about, self._sends_back)
        if await asyncio.to_thread(self._store.keep_decided, self._plan.watch, day.date, [made]):
            self._begun[run] += 1
            self._pass.judge(result, is_random=not is_picked)
            self._pass.chosen[chosen] += 1
            self._tell(run, result, time.perf_counter() - begun, is_random=not is_picked)

    def _tell(self, run: str, result: Result, seconds: float, *, is_random: bool) -> None:
        if self._alarms is not None and is_random and (alert := self._alarms.see(result)):
            self._pass.alerts.append(alert)
        for hook in self._hooks:
            hook(SampleFinished(run, result, seconds))

    async def _try_again(self) -> None:
        """Judge once more what the judge failed on some time ago."""
        again = await asyncio.to_thread(self._store.to_try_again, self._plan.watch, self._plan.try_again)
        await self._all(again, self._judge_again)

    async def _judge_again(self, one: Judged) -> None:
        await self._turn_day()
        day, begun, sample = self._day, time.perf_counter(), one.kept.sample
        if not day.may_go_on(self._plan.budget):
            return
        day.begin(sample, self._plan.sampling)
        result = await self._judging.score(sample)
        day.use(result.usage)
        async with self._opening:
            if one.run not in self._held:
                await asyncio.to_thread(self._store.resume_run, one.run)
                self._held.add(one.run)
        new = one._replace(kept=one.kept._replace(result=result))
        await asyncio.to_thread(
            self._store.keep_second_try, self._plan.watch, day.date, new, goes_back=self._sends_back
        )
        self._pass.tried_again += 1
        self._tell(one.run, result, time.perf_counter() - begun, is_random=one.chosen == AT_RANDOM)

    async def _keep_place(self, checkpoint: Any) -> None:
        """Send what alerts are owed, and keep how far the watch has come where that is news."""
        state = self._kept[1]
        if self._alarms is not None:
            self._pass.trouble = await asyncio.to_thread(self._alarms.deliver) or self._pass.trouble
            state = self._alarms.to_json()
        if (checkpoint, state) != self._kept:
            await asyncio.to_thread(self._store.set_place_of_watch, self._plan.watch, checkpoint, state)
            self._kept = (checkpoint, state)

    async def _turn_day(self) -> None:
        """Begin the counts of a day with what the store has of it."""
        today = _today()
        if self._day.date == today:
            return
        async with self._opening:
            if self._day.date == today:
                return
            watch, sampling = self._plan.watch, self._plan.sampling
            spent = await asyncio.to_thread(self._store.spent, watch, today)
            names = sampling.slices if sampling.minimum else ()
            counts = await asyncio.to_thread(self._store.judged_by_slice, watch, today, names)
            before = (datetime.now(UTC) - timedelta(days=_KEPT_DAYS)).date().isoformat()
            await asyncio.to_thread(self._store.forget_unjudged, watch, before)
            self._day = Day(today, spent, Counter(counts))

    # ---- runs

    async def _run_of(self, sample: Sample, *, is_picked: bool) -> str:
        part = (sample.release or "no release") if self._plan.per == "release" else _day_of(sample)
        async with self._opening:
            if (part, is_picked) not in self._runs:
                if len(self._held) >= _MOST_OPEN:
                    await self._finish_runs()
                self._runs[part, is_picked] = await asyncio.to_thread(self._open_run, part, is_picked)
                self._held.add(self._runs[part, is_picked])
            return self._runs[part, is_picked]

    def _open_run(self, part: str, is_picked: bool) -> str:
        plan = self._plan
        name = f"{plan.title} {part}{' picked' if is_picked else ''}"
        config = {
            "slices": [*plan.sampling.slices, *([PICKED] if is_picked else [])],
            "rate": plan.sampling.rate,
            "picked": is_picked,
            "part": part,
        }
        record = self._store.run_of_watch(
            plan.watch, f"{part}\0{is_picked}", self._judging.provenance, name=name, config=config
        )
        self._pass.runs[record.id] = record.name
        return record.id

    async def _finish_runs(self, but: str = "") -> None:
        """Close the runs that are open, but for those of this part."""
        self._runs = {key: run for key, run in self._runs.items() if key[0] == but}
        for run in self._held - set(self._runs.values()):
            self._held.discard(run)
            with suppress(StoreError):  # it is closed when the watch begins again
                await asyncio.to_thread(self._finish, run)
                for hook in self._hooks:
                    hook(RunFinished(run, self._begun.pop(run, 0)))

    def _finish(self, run: str) -> None:
        over = self._judging.over_run
        if over is not None and (results := over(lambda: self._store.results(run))):
            self._store.rescore(run, results)
        self._store.finish_run(run, "finished")

    # ---- scores back

    @property
    def _sends_back(self) -> bool:
        return self._plan.send_back and self._source.takes_scores

    async def _send_back(self) -> None:
        """Send what is due; what the source does not take now stays due."""
        while self._sends_back and not self._pass.trouble:
            due = await asyncio.to_thread(self._store.to_send_back, self._plan.watch, _SENT_AT_ONCE)
            if not due:
                return
            try:
                settled = await self._source.send_back(
                    [Return(one.answer, one.about, one.run, one.kept.result) for one in due]
                )
            except SourceError as error:
                self._pass.trouble = str(error)
                return
            if settled:
                await asyncio.to_thread(self._store.note_sent_back, self._plan.watch, settled)
            self._pass.sent_back += sum(settled.values())
            self._pass.refused += len(settled) - sum(settled.values())
            if len(settled) < len(due):
                return

    async def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self.stop.is_set() and (left := until - time.monotonic()) > 0:  # noqa: ASYNC110 - set by any thread
            await asyncio.sleep(min(left, _GLANCE))


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _day_of(sample: Sample) -> str:
    """Return the day of an answer in UTC; of one without a time, or with one that is still to come, today."""
    now = datetime.now(UTC)
    with suppress(ValueError, OverflowError):
        when = datetime.fromisoformat(sample.timestamp or "")
        when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
        if when <= now:
            return when.date().isoformat()
    return now.date().isoformat()

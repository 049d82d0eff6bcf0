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
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any, TypeVar, cast

from everyclaim.analysis import percent
from everyclaim.core.errors import EveryclaimError, InputError, JudgeError, SourceError, StoreError
from everyclaim.core.events import Hook, QueueChanged, tell
from everyclaim.core.plaintext import one_line
from everyclaim.core.types import Result, Sample
from everyclaim.engine import score_sample
from everyclaim.metrics.assembled import Assembled
from everyclaim.monitor.alerts import Alert, AlertError, Notifier
from everyclaim.monitor.detector import MEASURES, Detector
from everyclaim.monitor.watch.plan import (
    AT_RANDOM,
    MINIMUM,
    PICKED,
    WORRIED,
    Day,
    OpenRuns,
    WatchPlan,
    share,
    today,
)
from everyclaim.monitor.watch.source import (
    OVER_BUDGET,
    SCORED,
    SKIPPED,
    UNREADABLE,
    AnswerSource,
    Batch,
    Found,
    Unreadable,
    WatchPass,
)
from everyclaim.store.watching import Decision, JudgedAnswer, WatchStore

_SENT_AT_ONCE = 50
_LONGEST_PAUSE = 300.0  # seconds between tries of a source that fails
_KEPT_DAYS = 7  # for which answers that were not judged are remembered
_TRIES_AFTER = (60.0, 600.0, 3600.0)  # seconds after each failure of the judge

T = TypeVar("T")


class Alarms:
    """A detector that sees every answer that was chosen at random, once, and the alerts that are still to be delivered.

    Its state is kept with the watch's checkpoint.
    """

    def __init__(self, detector: Detector, notifier: Notifier | None = None, warning: str = "") -> None:
        self.warning = warning  # of its limits
        self._detector = detector
        self._notifier = notifier or Notifier([])
        self._owed: dict[str, Alert] = {}  # not yet delivered: the newest about the same

    def see(self, result: Result) -> list[Alert]:
        """Take the next answer; return the alert that it raises, if any."""
        raised = [alert] if (alert := self._detector.update(result)) else []
        self._owed |= {alert.key: alert for alert in raised}
        return raised

    def deliver(self) -> tuple[int, list[str]]:
        """Send what is owed, which may take long; return how many were sent, and why others stay owed."""
        sent, trouble = 0, list[str]()
        for key, alert in list(self._owed.items()):
            try:
                sent += self._notifier.send(alert)
            except AlertError as error:
                trouble.append(str(error))
            else:
                del self._owed[key]
        return sent, trouble

    @property
    def told(self) -> str:
        """What raises an alert, in words."""
        watched = self._detector.limits.watched.items()
        return ", ".join(f"{MEASURES[name]} {percent(limit)}" for name, limit in watched)

    def to_json(self) -> dict[str, Any]:
        """Return where it stands as plain JSON values."""
        owed = [asdict(alert) for alert in self._owed.values()]
        return {"detector": self._detector.to_json(), "sent": self._notifier.to_json(), "owed": owed}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where `to_json` left off; a detector with other limits begins anew."""
        before = Detector.from_json(state["detector"])
        if before.is_alike(self._detector):
            self._detector = before
        self._notifier.restore(state["sent"])
        self._owed = {alert.key: alert for alert in (Alert(**one) for one in state["owed"])}


@dataclass(eq=False)
class Watcher:
    """One watch under way. `stop` may be set from any thread: what is begun is finished, and nothing else begun."""

    source: AnswerSource
    store: WatchStore
    metric: Assembled
    plan: WatchPlan
    concurrency: int
    screen: Assembled | None = None  # a cheap judge that only looks for what should be judged besides
    hooks: Sequence[Hook] = ()
    alarms: Alarms | None = None
    stop: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self._sends_back = self.plan.send_back and self.source.takes_scores
        self._runs = OpenRuns(self.store, self.plan, self.metric, self.hooks)
        self._day = Day("", self.plan)
        self._turning = asyncio.Lock()
        self._slots = asyncio.Semaphore(self.concurrency)
        self._pass = WatchPass()
        self._unjudged: list[Decision] = []  # decisions without a result, kept together
        self._kept: tuple[Any, Any] = (None, None)  # the checkpoint and the state of the alarms that the store has

    # ---- passes

    async def prepare(self) -> None:
        """Take the watch, and close what a kill left open."""
        await self._ask(self.store.hold_watch)
        _, state = await self._ask(self.store.place_of_watch)
        if self.alarms is not None and state is not None:
            self.alarms.restore(state)
        for run in await self._ask(self.store.runs_of_watch):
            if run.status == "interrupted":
                await asyncio.to_thread(self.store.finish_run, run.id, "stopped")

    async def read_once(self) -> WatchPass:
        """Go through what there is, once, and finish the runs; where nothing is new, name the newest."""
        try:
            seen = await self._read()
        finally:
            await self._runs.finish()
        if not seen.runs:
            seen.runs.update({run.id: run.name for run in (await self._ask(self.store.runs_of_watch))[:1]})
        return seen

    async def go_on(self, say: Callable[[WatchPass | Exception], None]) -> WatchPass:
        """Go through it again and again until `stop` is set; `say` hears of every pass, and of what failed.

        What fails at the source or in the store is tried again, after pauses that grow.
        """
        whole, pause = WatchPass(), self.plan.every
        try:
            while not self.stop.is_set():
                try:
                    seen = await self._read()
                except (SourceError, StoreError) as error:
                    say(error)
                    pause = min(max(2 * pause, 1.0), _LONGEST_PAUSE)
                else:
                    pause = self.plan.every
                    whole.add(seen)
                    say(seen)
                    if self.plan.per == "day":
                        await self._runs.finish(but=today())
                await asyncio.to_thread(self.stop.wait, pause)
        finally:
            await self._runs.finish()
        return whole

    async def _read(self) -> WatchPass:
        self._pass, self._unjudged = WatchPass(), []
        await self._send_back()
        await self._all(await self._ask(self.store.to_try_again, _TRIES_AFTER), self._judge_again)
        self._kept = await self._ask(self.store.place_of_watch)
        checkpoint = self._kept[0]
        await self._keep_place(checkpoint)
        async with aclosing(cast("Any", self.source.batches(checkpoint))) as batches:
            async for batch in batches:
                is_done = await self._decide_all(batch)
                await self._send_back()
                checkpoint = batch.checkpoint if is_done else checkpoint
                await self._keep_place(checkpoint)
                if not is_done:
                    break
        if self._sends_back:
            self._pass.not_sent_back = await self._ask(self.store.count_due)
        return self._pass

    async def _keep_place(self, checkpoint: Any) -> None:
        """Send what alerts are owed, and keep how far the watch has come where that is news."""
        state = self._kept[1]
        if self.alarms is not None:
            sent, self._pass.undelivered = await asyncio.to_thread(self.alarms.deliver)
            self._pass.alerts_sent += sent
            state = self.alarms.to_json()
        if (checkpoint, state) != self._kept:
            await self._ask(self.store.set_place_of_watch, checkpoint, state)
            self._kept = (checkpoint, state)

    # ---- answers

    async def _decide_all(self, batch: Batch) -> bool:
        """Decide about every answer of a batch; return whether that was done, or something stopped it."""
        wanted = {found.key: found for found in batch.found}
        known = await self._ask(self.store.decided, wanted)
        left = [found for key, found in wanted.items() if key not in known]
        self._pass.found += len(left)
        self._pass.known += len(batch.found) - len(left)
        tell(QueueChanged("watch", len(left)))
        try:
            begun = await self._all(left, self._decide)
        finally:
            unjudged, self._unjudged = self._unjudged, []
            if unjudged:
                await self._ask(self.store.keep_decided, self._day.date or today(), unjudged)
        self._pass.incomplete += len(left) - begun
        return begun == len(left) and not self._pass.waits_for

    async def _decide(self, found: Found) -> None:
        await self._turn_day()
        chosen = AT_RANDOM if share(found.unit or found.key) < self.plan.rate else ""
        if not chosen and not self.plan.min_per_slice and self.screen is None:
            self._leave(found, SKIPPED)
            return
        sample = await found.load() if callable(found.load) else found.load
        if sample is None:
            self._pass.incomplete += 1
        elif isinstance(sample, Unreadable):
            self._leave(found, sample.decision, sample.reason)
        elif PICKED in sample.tags:
            told = f"{one_line(sample.id, 60)}: the tag {PICKED!r} is reserved: rename yours"
            self._leave(found, UNREADABLE, told)
        elif reason := chosen or await self._why_pick(sample):
            await self._judge(found, sample, reason)
        else:
            self._leave(found, SKIPPED)

    def _leave(self, found: Found, decision: str, reason: str = "") -> None:
        self._pass.count(decision, reason)
        self._unjudged.append(Decision(found.key, decision))

    async def _why_pick(self, sample: Sample) -> str:
        if self.plan.min_per_slice and self._day.lacks(sample):
            return MINIMUM
        if self.screen is None:
            return ""
        try:  # nobody is told of it as a score
            looked = await self.screen.score(sample)
        except (JudgeError, InputError):
            looked = None
        return WORRIED if self.plan.is_worrying(looked) else ""

    async def _judge(self, found: Found, sample: Sample, chosen: str) -> None:
        day, is_random = self._day, chosen == AT_RANDOM
        if not day.may_go_on():
            if self.plan.when_spent == "wait":
                self._pass.incomplete += 1
                self._pass.waits_for = "the daily budget is used up"
            else:
                self._leave(found, OVER_BUDGET)
            return
        if not is_random:
            sample = replace(sample, tags={**sample.tags, PICKED: chosen})
        result, seconds = await self._score(day, sample)
        run = await self._runs.of(sample, is_picked=not is_random)
        made = Decision(found.key, SCORED, chosen, run, sample, result, found.about, self._sends_back)
        if await self._ask(self.store.keep_decided, day.date, [made]):
            self._pass.judge(result, chosen, is_random=is_random)
            self._tell(run, result, seconds, is_random=is_random, is_new=True)

    async def _judge_again(self, judged: JudgedAnswer) -> None:
        await self._turn_day()
        day = self._day
        if not day.may_go_on():
            return
        result, seconds = await self._score(day, judged.kept.sample)
        await self._runs.resume(judged.run)
        new = judged._replace(kept=judged.kept._replace(result=result))
        await self._ask(self.store.keep_second_try, day.date, new, goes_back=self._sends_back)
        self._pass.tried_again += 1
        self._tell(judged.run, result, seconds, is_random=judged.chosen == AT_RANDOM, is_new=False)

    async def _score(self, day: Day, sample: Sample) -> tuple[Result, float]:
        begun = time.perf_counter()
        day.begin(sample)
        result = await score_sample(self.metric, sample)
        day.use(result.usage)
        return result, time.perf_counter() - begun

    def _tell(self, run: str, result: Result, seconds: float, *, is_random: bool, is_new: bool) -> None:
        if name := self._runs.names.get(run):
            self._pass.runs[run] = name
        if self.alarms is not None and is_random:
            self._pass.alerts += self.alarms.see(result)
        self._runs.tell(run, result, seconds, is_new=is_new)

    async def _turn_day(self) -> None:
        """Begin the counts of a day with what the store has of it."""
        async with self._turning:
            if self._day.date == today():
                return
            now, plan = datetime.now(UTC), self.plan
            date = now.date().isoformat()
            spent = await self._ask(self.store.spent, date)
            counts = await self._ask(self.store.judged_by_slice, date, plan.slices if plan.min_per_slice else ())
            await self._ask(self.store.forget_unjudged, (now - timedelta(days=_KEPT_DAYS)).date().isoformat())
            self._day = Day(date, plan, spent, Counter(counts))

    # ---- scores back

    async def _send_back(self) -> None:
        """Send what is due; what the source does not take now stays due."""
        while self._sends_back and not self._pass.trouble:
            due = await self._ask(self.store.to_send_back, _SENT_AT_ONCE)
            if not due:
                return
            try:
                settled = await self.source.send_back(due)
            except SourceError as error:
                self._pass.trouble = str(error)
                return
            if settled:
                await self._ask(self.store.note_sent_back, settled)
            taken = sum(settled.values())
            self._pass.sent_back += taken
            self._pass.refused += len(settled) - taken
            if len(settled) < len(due):
                return

    # ---- threads and tasks

    async def _ask(self, method: Callable[..., T], *arguments: Any, **options: Any) -> T:
        return await asyncio.to_thread(method, self.plan.watch, *arguments, **options)

    async def _all(self, items: Sequence[T], work: Callable[[T], Awaitable[None]]) -> int:
        """Do this with each, so many at a time, until something stops it; return how many were begun.

        What would befall all alike is raised, after those that are under way have ended.
        """
        begun, faults = 0, list[EveryclaimError]()

        async def do(item: T) -> None:
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
                    group.create_task(do(item))
                    begun += 1
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        if faults:
            raise faults[0]
        return begun

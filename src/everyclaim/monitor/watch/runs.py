"""The runs of a watch that are open: one for each day or release, and one more for what was picked there."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

from everyclaim.core.errors import StoreError
from everyclaim.core.events import Hook, RunFinished, SampleFinished
from everyclaim.core.types import Result, Sample
from everyclaim.monitor.watch.plan import WatchPlan, WatchScorer
from everyclaim.store.watching import WatchStore

PICKED = "everyclaim.picked"  # the tag that says why an answer beside the random ones was judged
_MOST_OPEN = 32  # days and releases are whatever the answers say


class OpenRuns:
    """Opens the run that an answer belongs to, and finishes runs with the numbers that need the whole of them."""

    def __init__(self, store: WatchStore, plan: WatchPlan, scorer: WatchScorer, hooks: Sequence[Hook]) -> None:
        self._store = store
        self._plan = plan
        self._scorer = scorer
        self._hooks = hooks
        self._runs: dict[tuple[str, bool], str] = {}  # part and whether picked → id
        self._open: set[str] = set()
        self._begun: Counter[str] = Counter()  # results by run, since it was opened
        self._opening = asyncio.Lock()
        self.names: dict[str, str] = {}  # of the runs that were opened, by id

    async def of(self, sample: Sample, *, is_picked: bool) -> str:
        """Return the id of the run that holds an answer."""
        part = (sample.release or "no release") if self._plan.per == "release" else day_of(sample)
        async with self._opening:
            if (part, is_picked) not in self._runs:
                if len(self._open) >= _MOST_OPEN:
                    await self.finish()
                run = await asyncio.to_thread(self._begin, part, is_picked)
                self._runs[part, is_picked] = run
                self._open.add(run)
            return self._runs[part, is_picked]

    async def resume(self, run: str) -> None:
        """Open a run again, for another try of an answer that is in it."""
        async with self._opening:
            if run not in self._open:
                await asyncio.to_thread(self._store.resume_run, run)
                self._open.add(run)

    def tell(self, run: str, result: Result, seconds: float, *, is_new: bool) -> None:
        """Tell the hooks of a result that is kept."""
        self._begun[run] += is_new
        for hook in self._hooks:
            hook(SampleFinished(run, result, seconds))

    async def finish(self, but: str = "") -> None:
        """Close the runs that are open, but for those of this part."""
        self._runs = {key: run for key, run in self._runs.items() if key[0] == but}
        for run in self._open - set(self._runs.values()):
            self._open.discard(run)
            with suppress(StoreError):  # it is closed when the watch begins again
                await asyncio.to_thread(self._end, run)
                for hook in self._hooks:
                    hook(RunFinished(run, self._begun.pop(run, 0)))

    def _begin(self, part: str, is_picked: bool) -> str:
        plan, sampling = self._plan, self._plan.sampling
        name = f"{plan.title} {part}{' picked' if is_picked else ''}"
        slices = [*sampling.slices, *([PICKED] if is_picked else [])]
        config = {"slices": slices, "rate": sampling.rate, "picked": is_picked, "part": part}
        record = self._store.run_of_watch(
            plan.watch, f"{part}\0{is_picked}", self._scorer.provenance, name=name, config=config
        )
        self.names[record.id] = record.name
        return record.id

    def _end(self, run: str) -> None:
        over_run = self._scorer.over_run
        if over_run is not None and (results := over_run(lambda: self._store.results(run))):
            self._store.rescore(run, results)
        self._store.finish_run(run, "finished")


def today() -> str:
    """Return the day in UTC."""
    return datetime.now(UTC).date().isoformat()


def day_of(sample: Sample) -> str:
    """Return the day of an answer in UTC; of one without a time, or with one that is still to come, today."""
    now = datetime.now(UTC)
    with suppress(ValueError, OverflowError):
        when = datetime.fromisoformat(sample.timestamp or "")
        when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
        if when <= now:
            return when.date().isoformat()
    return now.date().isoformat()

"""What a watch is to do: who judges, which answers, how much in a day; and the runs that hold the results.

An answer is chosen at random by a hash of its trace, so that the same one is chosen wherever and whenever it is read.
Beside these, answers are picked: the first ones of a slice that would have too few, and those that worry a cheap judge.
Picked answers say nothing about a rate, and are kept apart: there is a run for each day or release, and one more for
what was picked there.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from everyclaim.core.errors import OptionError, StoreError
from everyclaim.core.events import Hook, RunFinished, SampleFinished
from everyclaim.core.types import Label, Result, Sample, Usage, tag_values
from everyclaim.metrics.assembled import Assembled
from everyclaim.store.records import utc_of
from everyclaim.store.watching import Spent, WatchStore

AT_RANDOM, MINIMUM, WORRIED = "random", "minimum", "worried"
PICKED = "everyclaim.picked"  # the tag that says why an answer beside the random ones was judged
_MOST_OPEN = 32  # runs: days and releases are whatever the answers say


@dataclass(frozen=True, slots=True)
class WatchPlan:
    """How a watch goes about it: which answers are judged, and how many a day (in UTC); None: any number.

    `rate` is within [0, 1], `worry` the probability of a contradiction that worries, `min_per_slice` of each a day.
    """

    watch: str  # its name in the store
    title: str  # of its runs
    slices: Sequence[str] = ()
    rate: float = 1.0
    min_per_slice: int = 0
    worry: float = 0.5
    daily_answers: int | None = None
    daily_tokens: int | None = None
    daily_cost: float | None = None  # US dollars
    when_spent: Literal["skip", "wait"] = "skip"
    per: Literal["day", "release"] = "day"
    send_back: bool = True
    every: float = 10.0  # seconds between passes

    def is_worrying(self, result: Result | None) -> bool:
        """Whether a cheap judge takes a claim to be contradicted, with at least that probability, or cannot say."""
        verdicts = [claim.verdict for claim in result.claims] if result else []
        return result is None or any(
            verdict.probabilities.contradicted >= self.worry
            if verdict.probabilities
            else verdict.label is Label.CONTRADICTED
            for verdict in verdicts
        )

    def slices_of(self, sample: Sample) -> Iterator[tuple[str, str]]:
        """Yield the slices that a sample is in."""
        own: Mapping[str, str | None] = {"model": sample.model, "release": sample.release}
        for name in self.slices:
            for value in tag_values(sample.tags.get(name) or own.get(name) or ()):
                yield name, value


@dataclass(slots=True)
class Day:
    """One day's counts: what is used, and what of each slice is judged."""

    date: str
    plan: WatchPlan
    spent: Spent = field(default_factory=Spent)
    slices: Counter[tuple[str, str]] = field(default_factory=Counter)

    def may_go_on(self) -> bool:
        """Whether another answer is within the limits. Raises `OptionError` where cost is limited and not known."""
        spent, most = self.spent, self.plan
        if most.daily_cost is not None and spent.cost is None:
            raise OptionError(
                "`daily_cost` needs the judge's prices, which are unknown: pass `prices`, or limit "
                "answers or tokens instead"
            )
        return (
            (most.daily_answers is None or spent.answers < most.daily_answers)
            and (most.daily_tokens is None or spent.tokens < most.daily_tokens)
            and (most.daily_cost is None or (spent.cost or 0.0) < most.daily_cost)
        )

    def begin(self, sample: Sample) -> None:
        """Count an answer that is going to be judged."""
        self.spent = self.spent._replace(answers=self.spent.answers + 1)
        self.slices.update(self.plan.slices_of(sample))

    def use(self, usage: Usage) -> None:
        """Count what judging took."""
        tokens = self.spent.tokens + usage.prompt_tokens + usage.completion_tokens
        known = None if usage.cost is None or self.spent.cost is None else self.spent.cost + usage.cost
        self.spent = self.spent._replace(tokens=tokens, cost=known)

    def lacks(self, sample: Sample) -> bool:
        """Whether a slice of this answer has fewer judged answers than it should."""
        return any(self.slices[key] < self.plan.min_per_slice for key in self.plan.slices_of(sample))


def share(unit: str) -> float:
    """Return a number within [0, 1) that belongs to this text for ever, as if drawn at random."""
    drawn = hashlib.blake2b(unit.encode("utf-8", "surrogatepass"), digest_size=8, person=b"everyclaim watch").digest()
    return int.from_bytes(drawn, "big") / 2**64


# ---- runs


@dataclass(eq=False)
class OpenRuns:
    """Opens the run that an answer belongs to, and finishes runs with the numbers that need the whole of them."""

    _store: WatchStore
    _plan: WatchPlan
    _metric: Assembled
    _hooks: Sequence[Hook]
    names: dict[str, str] = field(default_factory=dict)  # of the runs that were opened, by id
    # Part, or the id of a resumed run, and whether picked → id.
    _runs: dict[tuple[str, bool], str] = field(default_factory=dict)
    _begun: Counter[str] = field(default_factory=Counter)  # results by run, since it was opened
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def of(self, sample: Sample, *, is_picked: bool) -> str:
        """Return the id of the run that holds an answer."""
        part = (sample.release or "no release") if self._plan.per == "release" else day_of(sample)
        async with self._opening:
            if (part, is_picked) not in self._runs:
                if len(self._runs) >= _MOST_OPEN:
                    await self.finish()
                self._runs[part, is_picked] = await asyncio.to_thread(self._begin, part, is_picked)
            return self._runs[part, is_picked]

    async def resume(self, run: str) -> None:
        """Open a run again, for another try of an answer that is in it."""
        async with self._opening:
            if run not in self._runs.values():
                await asyncio.to_thread(self._store.resume_run, run)
                self._runs[run, False] = run

    def tell(self, run: str, result: Result, seconds: float, *, is_new: bool) -> None:
        """Tell the hooks of a result that is kept."""
        self._begun[run] += is_new
        for hook in self._hooks:
            hook(SampleFinished(run, result, seconds))

    async def finish(self, but: str = "") -> None:
        """Close the runs that are open, but for those of this part."""
        before = set(self._runs.values())
        self._runs = {key: run for key, run in self._runs.items() if key[0] == but}
        for run in before - set(self._runs.values()):
            with suppress(StoreError):  # it is closed when the watch begins again
                await asyncio.to_thread(self._end, run)
                for hook in self._hooks:
                    hook(RunFinished(run, self._begun.pop(run, 0)))

    def _begin(self, part: str, is_picked: bool) -> str:
        plan = self._plan
        name = f"{plan.title} {part}{' picked' if is_picked else ''}"
        slices = [*plan.slices, *([PICKED] if is_picked else [])]
        config = {"slices": slices, "rate": plan.rate, "picked": is_picked, "part": part}
        record = self._store.run_of_watch(
            plan.watch, f"{part}\0{is_picked}", self._metric.provenance, name=name, config=config
        )
        self.names[record.id] = record.name
        return record.id

    def _end(self, run: str) -> None:
        if results := self._metric.over_run(lambda: self._store.results(run)):
            self._store.rescore(run, results)
        self._store.finish_run(run, "finished")


def today() -> str:
    """Return the day in UTC."""
    return datetime.now(UTC).date().isoformat()


def day_of(sample: Sample) -> str:
    """Return the day of an answer in UTC; of one without a time, or with one that is still to come, today."""
    now = datetime.now(UTC)
    with suppress(ValueError, OverflowError):
        if (when := utc_of(sample.timestamp or "")) <= now:
            return when.date().isoformat()
    return now.date().isoformat()

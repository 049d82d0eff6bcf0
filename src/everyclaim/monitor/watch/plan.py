"""What a watch is to do: who judges, which answers, how much in a day.

An answer is chosen at random by a hash of its trace, so that the same one is chosen wherever and whenever it is read.
Beside these, answers are picked: the first ones of a slice that would have too few, and those that worry a cheap judge.
Picked answers say nothing about a rate, and are kept apart.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from everyclaim.core.errors import OptionError
from everyclaim.core.types import Label, Provenance, Result, Sample, Usage, tag_values
from everyclaim.store.watching import Spent

AT_RANDOM, MINIMUM, WORRIED = "random", "minimum", "worried"

OverRun = Callable[[Callable[[], Iterator[Result]]], Iterator[Result] | None]


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """Which answers are judged, and how many a day (in UTC); None: any number.

    `rate` is within [0, 1], `worry` the probability of a contradiction that worries, `minimum` of each slice a day.
    """

    rate: float = 1.0
    slices: tuple[str, ...] = ()
    minimum: int = 0
    worry: float = 0.5
    daily_answers: int | None = None
    daily_tokens: int | None = None
    daily_cost: float | None = None  # US dollars

    def is_chosen(self, unit: str) -> bool:
        """Whether a trace is among those chosen at random."""
        return share(unit) < self.rate

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


@dataclass(frozen=True, slots=True)
class WatchScorer:
    """What judges: the judge, and a cheap one that only looks for what should be judged besides."""

    score: Callable[[Sample], Awaitable[Result]]
    provenance: Provenance
    screen: Callable[[Sample], Awaitable[Result | None]] | None = None  # None: it could not say
    concurrency: int = 8
    over_run: OverRun | None = None  # the last numbers of a run, where the metric has some that need the whole of it


@dataclass(frozen=True, slots=True)
class WatchPlan:
    """How a watch goes about it."""

    watch: str  # its name in the store
    title: str  # of its runs
    sampling: SamplingPlan = field(default_factory=SamplingPlan)
    when_spent: Literal["skip", "wait"] = "skip"
    per: Literal["day", "release"] = "day"
    send_back: bool = True
    every: float = 10.0  # seconds between passes


@dataclass(slots=True)
class Day:
    """One day's counts: what is used, and what of each slice is judged."""

    date: str
    sampling: SamplingPlan
    spent: Spent = field(default_factory=Spent)
    slices: Counter[tuple[str, str]] = field(default_factory=Counter)

    def may_go_on(self) -> bool:
        """Whether another answer is within the limits. Raises `OptionError` where cost is limited and not known."""
        spent, most = self.spent, self.sampling
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
        self.slices.update(self.sampling.slices_of(sample))

    def use(self, usage: Usage) -> None:
        """Count what judging took."""
        tokens = self.spent.tokens + usage.prompt_tokens + usage.completion_tokens
        known = None if usage.cost is None or self.spent.cost is None else self.spent.cost + usage.cost
        self.spent = self.spent._replace(tokens=tokens, cost=known)

    def lacks(self, sample: Sample) -> bool:
        """Whether a slice of this answer has fewer judged answers than it should."""
        return any(self.slices[key] < self.sampling.minimum for key in self.sampling.slices_of(sample))


def share(unit: str) -> float:
    """Return a number within [0, 1) that belongs to this text for ever, as if drawn at random."""
    drawn = hashlib.blake2b(unit.encode("utf-8", "surrogatepass"), digest_size=8, person=b"everyclaim watch").digest()
    return int.from_bytes(drawn, "big") / 2**64

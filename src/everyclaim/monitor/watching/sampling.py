"""Which answers are judged, and how much may be spent in a day.

An answer is chosen at random by a hash of its trace, so that the same one is chosen wherever and whenever it is read.
Beside these, answers are picked: the first ones of a slice that would have too few, and those that worry a cheap judge.
Picked answers say nothing about a rate, and are kept apart.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from everyclaim.core.errors import OptionError
from everyclaim.core.types import Label, Result, Sample, Usage, tag_values
from everyclaim.store import Spent

AT_RANDOM, MINIMUM, WORRIED = "random", "minimum", "worried"


@dataclass(frozen=True, slots=True)
class Sampling:
    """Which answers are judged. `rate` is within [0, 1], `worry` the probability of a contradiction that worries."""

    rate: float = 1.0
    slices: tuple[str, ...] = ()
    minimum: int = 0  # of each slice, a day
    worry: float = 0.5

    def is_chosen(self, unit: str) -> bool:
        """Whether a trace is among those chosen at random."""
        return share(unit) < self.rate


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be used in a day (in UTC); None: any amount. `cost` is in US dollars."""

    answers: int | None = None
    tokens: int | None = None
    cost: float | None = None


@dataclass(slots=True)
class Day:
    """One day's counts: what is used, and what of each slice is judged."""

    date: str
    spent: Spent = field(default_factory=Spent)
    slices: Counter[tuple[str, str]] = field(default_factory=Counter)

    def may_go_on(self, budget: Budget) -> bool:
        """Whether another answer is within the budget. Raises `OptionError` where cost is limited and not known."""
        spent = self.spent
        if budget.cost is not None and spent.cost is None:
            raise OptionError(
                "`daily_cost` needs the judge's prices, and they are not known: give `prices`, or limit answers or"
                " tokens instead"
            )
        return (
            (budget.answers is None or spent.answers < budget.answers)
            and (budget.tokens is None or spent.tokens < budget.tokens)
            and (budget.cost is None or (spent.cost or 0.0) < budget.cost)
        )

    def begin(self, sample: Sample, sampling: Sampling) -> None:
        """Count an answer that is going to be judged."""
        self.spent = self.spent._replace(answers=self.spent.answers + 1)
        self.slices.update(slices_of(sample, sampling.slices))

    def use(self, usage: Usage) -> None:
        """Count what judging took."""
        tokens = self.spent.tokens + usage.prompt_tokens + usage.completion_tokens
        known = None if usage.cost is None or self.spent.cost is None else self.spent.cost + usage.cost
        self.spent = self.spent._replace(tokens=tokens, cost=known)

    def lacks(self, sample: Sample, sampling: Sampling) -> bool:
        """Whether a slice of this answer has fewer judged answers than it should."""
        return any(self.slices[one] < sampling.minimum for one in slices_of(sample, sampling.slices))


def share(unit: str) -> float:
    """Return a number within [0, 1) that belongs to this text for ever, as if drawn at random."""
    drawn = hashlib.blake2b(unit.encode("utf-8", "surrogatepass"), digest_size=8, person=b"everyclaim watch").digest()
    return int.from_bytes(drawn, "big") / 2**64


def slices_of(sample: Sample, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the slices that a sample is in."""
    own: Mapping[str, str | None] = {"model": sample.model, "release": sample.release}
    for name in names:
        tag = sample.tags.get(name) or own.get(name)
        for value in tag_values(tag or ()):
            yield name, value


def is_worrying(result: Result | None, worry: float) -> bool:
    """Whether a cheap judge takes a claim to be contradicted, with at least this probability, or cannot say."""
    if result is None:
        return True
    for claim in result.claims:
        chances = claim.verdict.probabilities
        if chances.contradicted >= worry if chances else claim.verdict.label is Label.CONTRADICTED:
            return True
    return False

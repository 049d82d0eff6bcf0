"""What a guard costs of its own: time per answer beside the generator and the judge.

    python benchmarks/guard.py              the table, some seconds

The generator answers at once and the metric knows every result beforehand, so all that is left is the guard: tasks,
decisions, cutting and mending sentences, guidance. Medians over 200 answers of ten sentences, of the processor's time
and of the clock's; on a busy machine only the first says something.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Any

import everyclaim as ec
from everyclaim.api.session import Session
from everyclaim.core.protocols import Scorer
from everyclaim.core.types import Passage
from everyclaim.guard.authors import FunctionAuthor, Task
from everyclaim.guard.loop import Loop
from everyclaim.guard.rules import Rules

BUDGET = 5.0  # milliseconds
ROUNDS = 200
GOOD = " ".join(f"Crate {i} holds {i + 10} green tiles and was packed this spring." for i in range(9))
ANSWERS = {
    "passes at once": [f"{GOOD} Crate 9 is full."],
    "one claim is dropped": [f"{GOOD} Crate 9 is wrong."],
    "generated anew": ["Crate 9 is wrong.", f"{GOOD} Crate 9 is full."],
    "gives up after two": ["Crate 9 is wrong.", "Crate 8 is wrong.", "Crate 7 is wrong."],
}
SHELF = tuple(Passage(f"p{i}", "The warehouse in lot 17 holds crates of green tiles. " * 10) for i in range(4))


class Judge:
    """Answers at once."""

    spec = "instant"

    async def verify(self, claims: Sequence[ec.Claim], *_: Any, **__: Any) -> list[ec.Verdict]:
        """Find every claim supported that does not say "wrong"."""
        labels = (ec.Label.CONTRADICTED if "wrong" in claim.text else ec.Label.SUPPORTED for claim in claims)
        return [ec.Verdict(claim.id, label) for claim, label in zip(claims, labels, strict=True)]


class Remembered:
    """A metric that scores a text once and then knows the result."""

    def __init__(self, metric: Scorer) -> None:
        self.metric = metric
        self.provenance = metric.provenance
        self.known: dict[str, ec.Result] = {}

    async def score(self, sample: ec.Sample) -> ec.Result:
        """Return a result of its own, as a judge would."""
        if sample.response not in self.known:
            self.known[sample.response] = await self.metric.score(sample)
        return replace(self.known[sample.response])


async def main() -> None:
    """Print the table."""
    metric = Remembered(Session({"judge": Judge()}).metric)
    task = Task("What is in the crates?", SHELF)
    print(f"{'':22} {'calls':>5} {'attempts':>8} {'CPU':>9} {'clock':>10}")
    worst = 0.0
    for name, says in ANSWERS.items():
        calls: list[int] = []

        async def generate(*_: object, says: list[str] = says, calls: list[int] = calls) -> str:
            calls.append(1)
            return says[min(len(calls), len(says)) - 1]

        loop = Loop(metric, FunctionAuthor(generate), Rules())
        answer = await loop.answer(task)
        cpu, clock = [], []
        for _ in range(ROUNDS):
            calls.clear()
            started = time.process_time(), time.perf_counter()
            await loop.answer(task)
            cpu.append((time.process_time() - started[0]) * 1000)
            clock.append((time.perf_counter() - started[1]) * 1000)
        worst = max(worst, median(cpu))
        print(f"{name:22} {len(calls):5} {len(answer.attempts):8} {median(cpu):6.2f} ms {median(clock):7.2f} ms")
    print(f"\nat most {worst:.2f} ms of its own; budget {BUDGET:g} ms: {'kept' if worst < BUDGET else 'EXCEEDED'}")


if __name__ == "__main__":
    asyncio.run(main())

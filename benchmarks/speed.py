"""Speed of the offline path: import, cold start, claims per second. Prints one table.

    python benchmarks/speed.py

Every figure is the median of several runs, in processes of their own where start-up is what counts. Machines are
noisy, so each figure stands beside a bound measured in the same run: a bare interpreter for start-up, and
reading the words of the same texts for throughput.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

EXAMPLE = Path(__file__).parents[1] / "examples" / "support_bot" / "answers.jsonl"
FIRST_SCORE = (
    "import everyclaim as ec;"
    "ec.score(response='The tank holds 2 litres. It is made of steel.', passages=['The steel tank holds 2 litres.'])"
)


def seconds(work: Callable[[], object], times: int) -> float:
    """Return the median wall time of several calls."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def process(code: str) -> Callable[[], object]:
    """Return a call that runs code in a fresh interpreter."""
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)


def throughput(judge: str, strategy: str) -> tuple[float, float]:
    """Return claims per second over the example answers, decomposition included, and answers per second."""
    import everyclaim as ec
    from everyclaim.io import read_samples

    samples = list(read_samples(EXAMPLE))
    options = {"judge": judge, "strategy": strategy}
    claims = 0

    def once() -> None:
        nonlocal claims
        claims = 0
        for s in samples:
            result = ec.score(response=s.response, passages=s.passages, question=s.question, **options)
            claims += len(result.claims)

    once()  # models are loaded, patterns compiled
    taken = seconds(once, 5)
    return claims / taken, len(samples) / taken


def reading_bound() -> float:
    """Return how often per second the passages of the example could be tokenised, a floor for any judge."""
    from everyclaim.io import read_samples
    from everyclaim.text.tokens import tokenize

    samples = list(read_samples(EXAMPLE))
    taken = seconds(lambda: [tokenize(p.text) for s in samples for p in s.passages], 5)
    return len(samples) / taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", default="lexical")
    parser.add_argument("--times", type=int, default=11, help="processes per start-up figure")
    asked = parser.parse_args()

    bare = seconds(process("pass"), asked.times)
    imported = seconds(process("import everyclaim"), asked.times)
    scored = seconds(process(FIRST_SCORE), asked.times)
    print("| what | measured | bound in the same run |")
    print("| --- | --- | --- |")
    print(f"| `import everyclaim`, beyond a bare interpreter | {imported - bare:.3f} s | bare: {bare:.3f} s |")
    print(f"| first offline score from a cold start | {scored:.2f} s | bare: {bare:.3f} s |")
    for strategy in ("joint", "each", "ranked"):
        claims, answers = throughput(asked.judge, strategy)
        bound = f"tokenising alone: {reading_bound():.0f} answers/s"
        print(
            f"| `{asked.judge}`, {strategy}, one process | {claims:.0f} claims/s, {answers:.0f} answers/s | {bound} |"
        )


if __name__ == "__main__":
    main()

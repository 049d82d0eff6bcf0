"""Memory of a long run: peak resident set over files of growing length. Prints one table.

    python benchmarks/memory.py --samples 10000 100000 1000000 [--bare]

`--bare` puts a judge in place that answers at once: reading, decomposing, storing and summing up a million answers
then takes minutes instead of an hour.

Writes a file of generated answers, scores it into an SQLite store in a process of its own, and reads that
process's peak from the operating system. Flat means: ten times the samples, about the same peak.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCORE = """
import resource, sys
import everyclaim as ec

class AtOnce:
    spec = "at-once"
    async def verify(self, claims, passages, *, question=""):
        return [ec.Verdict(claim.id, ec.Label.SUPPORTED) for claim in claims]

judge = AtOnce() if sys.argv[3] == "bare" else "lexical"
run = ec.score_file(sys.argv[1], store=sys.argv[2], judge=judge)
overall = run.summary.overall
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{peak:.0f} {overall.total} {overall.score.value:.4f}")
"""
PARTS = ("tank", "pump", "filter", "boiler", "valve", "tray", "hose", "grinder")
VERBS = ("holds", "needs", "shows", "weighs")
UNITS = ("litres", "bar", "grams", "minutes")


def write(path: Path, samples: int) -> None:
    """Write generated answers: one sentence each, true in about two of three."""
    draw = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for i in range(samples):
            part, verb, unit = draw.choice(PARTS), draw.choice(VERBS), draw.choice(UNITS)
            value = draw.randint(1, 99)
            said = value if draw.random() < 2 / 3 else value + 1
            passage = f"Model {i % 997}: the {part} {verb} {value} {unit} when it is new."
            row = {"id": str(i), "response": f"The {part} {verb} {said} {unit}.", "contexts": [passage]}
            file.write(json.dumps(row) + "\n")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--bare", action="store_true", help="with a judge that answers at once")
    asked = parser.parse_args()
    print("| samples | file | peak memory | wall | samples/s |")
    print("| --- | --- | --- | --- | --- |")
    for samples in asked.samples:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "answers.jsonl"
            write(path, samples)
            start = time.perf_counter()
            command = [
                sys.executable,
                "-c",
                SCORE,
                str(path),
                str(Path(folder) / "runs.db"),
                "bare" if asked.bare else "",
            ]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            wall = time.perf_counter() - start
            peak, total, _ = done.stdout.split()
            assert int(total) == samples
            size = path.stat().st_size / 1e6
            print(f"| {samples:,} | {size:.0f} MB | {peak} MB | {wall:.0f} s | {samples / wall:.0f} |", flush=True)


if __name__ == "__main__":
    main()

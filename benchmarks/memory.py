"""Memory of a long run: peak resident set over files of growing length. Prints one table.

    python benchmarks/memory.py --samples 10000 100000 1000000 [--bare]
    python benchmarks/memory.py --samples 250 1000 --passages 10 --characters 5000 [--distinct 50] [--judge embedded]

`--bare` puts a judge in place that answers at once: reading, decomposing, storing and summing up a million answers
then takes minutes instead of an hour. `--passages` of so many `--characters` are in every row; `--distinct` of them
come again and again, without it none does. `--strategy` and `--metric` are those of a score.

Writes a file of generated answers, scores it into an SQLite store in a process of its own, and reads that
process's peak from the operating system. Flat means: ten times the samples, about the same peak.
"""

from __future__ import annotations

import argparse
import json
import random
import string
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

judge = AtOnce() if sys.argv[3] == "bare" else sys.argv[3]
run = ec.score_file(sys.argv[1], store=sys.argv[2], judge=judge, strategy=sys.argv[4], metric=sys.argv[5])
overall = run.summary.overall
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{peak:.0f} {overall.total} {overall.score.value:.4f}")
"""
PARTS = ("tank", "pump", "filter", "boiler", "valve", "tray", "hose", "grinder")
VERBS = ("holds", "needs", "shows", "weighs")
UNITS = ("litres", "bar", "grams", "minutes")


class Shelf:
    """Long passages: invented words, and now and then a sentence of the kind that answers are made of."""

    def __init__(self, passages: int, characters: int, distinct: int) -> None:
        self.passages = passages
        self._characters = characters
        self._distinct = distinct
        draw = random.Random(1)
        self._words = ["".join(draw.choices(string.ascii_lowercase, k=draw.randint(3, 9))) for _ in range(5000)]

    def of_row(self, row: int) -> list[str]:
        """Make the passages of a row."""
        numbers = range(row * self.passages, (row + 1) * self.passages)
        return [self._passage(number % self._distinct if self._distinct else number) for number in numbers]

    def _passage(self, number: int) -> str:
        draw = random.Random(number)
        sentences: list[str] = []
        while sum(map(len, sentences)) + len(sentences) < self._characters:
            words = " ".join(draw.choices(self._words, k=draw.randint(8, 20)))
            fact = f"the {draw.choice(PARTS)} {draw.choice(VERBS)} {draw.randint(1, 99)} {draw.choice(UNITS)}"
            sentences.append(f"{(fact if draw.random() < 0.2 else words).capitalize()}.")
        return " ".join(sentences)[: self._characters]


def write(path: Path, samples: int, shelf: Shelf) -> None:
    """Write generated answers: one sentence each, true in about two of three."""
    draw = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for i in range(samples):
            part, verb, unit = draw.choice(PARTS), draw.choice(VERBS), draw.choice(UNITS)
            value = draw.randint(1, 99)
            said = value if draw.random() < 2 / 3 else value + 1
            passage = f"Model {i % 997}: the {part} {verb} {value} {unit} when it is new."
            response = f"The {part} {verb} {said} {unit}."
            contexts = [passage] if shelf.passages == 0 else shelf.of_row(i)
            row = {"id": str(i), "response": response, "contexts": contexts, "reference": response}
            file.write(json.dumps(row) + "\n")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--bare", action="store_true", help="with a judge that answers at once")
    parser.add_argument("--passages", type=int, default=0, help="in every row; 0: one sentence")
    parser.add_argument("--characters", type=int, default=5000, help="of a passage")
    parser.add_argument("--distinct", type=int, default=0, help="passages that come again; 0: every one is new")
    parser.add_argument("--judge", default="lexical")
    parser.add_argument("--strategy", default="joint")
    parser.add_argument("--metric", default="faithfulness")
    asked = parser.parse_args()
    shelf = Shelf(asked.passages, asked.characters, asked.distinct)
    print("| samples | file | peak memory | wall | samples/s |")
    print("| --- | --- | --- | --- | --- |")
    for samples in asked.samples:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "answers.jsonl"
            write(path, samples, shelf)
            start = time.perf_counter()
            command = [
                sys.executable,
                "-c",
                SCORE,
                str(path),
                str(Path(folder) / "runs.db"),
                "bare" if asked.bare else asked.judge,
                asked.strategy,
                asked.metric,
            ]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            wall = time.perf_counter() - start
            peak, total, _ = done.stdout.split()
            assert int(total) == samples
            size = path.stat().st_size / 1e6
            print(f"| {samples:,} | {size:.0f} MB | {peak} MB | {wall:.0f} s | {samples / wall:.0f} |", flush=True)


if __name__ == "__main__":
    main()

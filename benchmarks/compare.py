"""Time and peak memory of comparing two stored runs. Prints one line.

    python benchmarks/compare.py --samples 100000 --claims 6 [--by auto]

Writes two runs of made-up verdicts straight into an SQLite store, then compares them by one tag and its failure modes,
or by the slices that are asked for, in a process of its own. Seconds are of the clock, and of the processor.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from everyclaim.core.types import Provenance
from everyclaim.store.store import Store
from everyclaim.store.tables import CLAIMS, SAMPLES, TAGS

COMPARE = """
import resource, sys, time
import everyclaim as ec
start, busy = time.perf_counter(), time.process_time()
found = ec.compare("v1", "v2", by=sys.argv[2:], store=sys.argv[1])
taken, busy = time.perf_counter() - start, time.process_time() - busy
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{taken:.1f} s ({busy:.1f} s of processor), {peak:.0f} MB: {found.sentence}")
"""
AT_ONCE = 5_000
PASSAGE = "The programme takes 35 minutes on the Classica and 50 on the Doppia, and must not be interrupted. " * 10


def main() -> None:
    """Make a store, compare in a child, print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--claims", type=int, default=6)
    parser.add_argument("--by", action="append", help="a slice; as often as wanted")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "runs.db"
        write(place, asked.samples, asked.claims)
        by = asked.by or ["source", "source+mode"]
        done = subprocess.run(
            [sys.executable, "-c", COMPARE, str(place), *by], capture_output=True, text=True, check=True
        )
        print(f"{asked.samples:,} samples × {asked.claims} claims, twice, by {' '.join(by)}: {done.stdout.strip()}")


def write(place: Path, samples: int, claims: int) -> None:
    """Fill a store with two runs; the second has more numeric mismatch where several sources are needed."""
    with Store.open(place) as store:
        made = Provenance("faithfulness", "embedded", "embedded", "joint", "1")
        runs = {name: store.create_run(made, name=name, total=samples).id for name in ("v1", "v2")}
        for run in runs.values():
            store.finish_run(run, "finished")
    engine = sa.create_engine(f"sqlite:///{place}")
    for name, run in runs.items():
        with engine.begin() as connection:
            for rows in batches(run, name, samples, claims):
                for table, part in zip((SAMPLES, CLAIMS, TAGS), rows, strict=True):
                    connection.execute(sa.insert(table), part)


def batches(run: str, name: str, samples: int, claims: int) -> Iterator[tuple[list[dict], list[dict], list[dict]]]:
    """Yield rows of the three tables."""
    draw = random.Random(name)
    for first in range(0, samples, AT_ONCE):
        kept: tuple[list[dict], list[dict], list[dict]] = ([], [], [])
        for position in range(first, min(first + AT_ONCE, samples)):
            is_multi = position % 2 == 0
            failing = 0.1 + (0.005 if name == "v2" and is_multi else 0)
            labels = ["UNSUPPORTED" if draw.random() < failing else "SUPPORTED" for _ in range(claims)]
            place = {"run_id": run, "position": position}
            text = f"Answer {position} of {name}. " * 20
            kept[0].append(
                place
                | {"fingerprint": str(position), "sample_id": f"s{position}", "question": "", "response": text}
                | {"contexts": [{"id": "d", "text": PASSAGE}], "reference": None, "tags": {}, "model": None}
                | {"release": name, "timestamp": None, "outcome": "scored", "reason": "", "result": {"text": text * 3}}
                | {"score": labels.count("SUPPORTED") / claims}
            )
            kept[2].append(place | {"ordinal": 0, "name": "source", "value": "multi" if is_multi else "single"})
            for ordinal, label in enumerate(labels):
                mode = None if label == "SUPPORTED" else draw.choice(("numeric_mismatch", "other"))
                kept[1].append(
                    place
                    | {"ordinal": ordinal, "claim_id": f"c{ordinal}", "text": f"Claim {ordinal} of {position}."}
                    | {"span_start": 0, "span_end": 20, "sentence": text[:100], "label": label, "supported": 0.5}
                    | {"unsupported": 0.4, "contradicted": 0.1, "conflict": False, "failure_mode": mode}
                    | {"judge": "embedded", "evidence": []}
                )
        yield kept


if __name__ == "__main__":
    main()

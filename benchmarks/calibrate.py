"""Time and memory of `calibrate` and `label` over a large run: 100,000 samples of six claims, 600 labels.

    python benchmarks/calibrate.py [SAMPLES]

The store is made first, in a temporary folder, and is not timed.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CLAIMS, LABELS = 6, 600


def make(place: str, samples: int) -> None:
    """Keep a run of so many samples."""
    from everyclaim.core.protocols import Kept
    from everyclaim.core.types import (
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
    from everyclaim.store.records import Annotation, answer_key, claim_key
    from everyclaim.store.store import Store

    draw = random.Random(1)
    made_by = Provenance("faithfulness", "embedded", "clauses", "joint", "0")
    with Store.open(place) as store:
        run = store.create_run(made_by, name="large").id
        batch: list[Kept] = []
        labels: list[Annotation[Label]] = []
        for number in range(samples):
            text = [f"Fact {kind} of answer {number} holds." for kind in range(CLAIMS)]
            sample = Sample(str(number), " ".join(text), (Passage("p", f"What is known of {number}. " * 20),))
            claims, start = [], 0
            for place_, one in enumerate(text):
                p = draw.random()
                label = Label.SUPPORTED if p > 0.2 else Label.UNSUPPORTED
                verdict = Verdict(f"c{place_}", label, Probabilities(p, 1 - p, 0))
                claims.append(JudgedClaim(f"c{place_}", one, Span(start, start + len(one)), one, verdict))
                start += len(one) + 1
            result = Result.of(sample, made_by, Outcome.SCORED, 0.8, claims=tuple(claims))
            batch.append(Kept(number, str(number), sample, result))
            if number < LABELS:
                key = answer_key(sample.response, [sample.passages[0].text])
                said = Label.SUPPORTED if draw.random() < 0.8 else Label.UNSUPPORTED
                labels.append(Annotation(said, "annotator", key, claim_key(key, claims[0].text), claims[0].span))
            if len(batch) == 2000:
                store.save_all(run, batch)
                batch.clear()
        store.save_all(run, batch)
        store.add_labels(run, labels)
        store.finish_run(run, "finished")


def measure(place: str) -> None:
    """Calibrate and choose, and print seconds and megabytes."""
    import everyclaim as ec

    for name, work in (
        ("calibrate", lambda: ec.calibrate("large", store=place)),
        ("label", lambda: ec.label("large", 500, store=place)),
    ):
        began = time.perf_counter()
        work()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{name}: {time.perf_counter() - began:.1f} s, peak {peak:,.0f} MB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(sys.argv[2])
    else:
        with tempfile.TemporaryDirectory() as folder:
            store = str(Path(folder) / "runs.db")
            make(store, int(sys.argv[1]) if sys.argv[1:] else 100_000)
            subprocess.run([sys.executable, __file__, "measure", store], check=True)

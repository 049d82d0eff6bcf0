"""Speed against accuracy of verifiers: claims per second, cold start, memory, and how right they are.

    python benchmarks/verifier_speed.py 'embedded?tokens=128' 'embedded?tokens=256' lexical [--cores 1 2]
        [--claims DATA/claims/dev.jsonl.xz --limit 200] [--json FILE]

Each judge works in processes of its own, held to so many cores. What it is given is made from the minimal pairs of
`benchmarks/accuracy`: each passage set lies among seven others (about 500 words, more than any token budget), its
claims are put in one call, as those of an answer are, and no claim comes twice. Measured:

- claims/s: median of `--times` processes, after the first call; in every process, a fixed piece of plain Python is
  timed too, and `own pace` is the claims done in the time of that piece, which a busy machine changes less;
- cold start: from starting the interpreter to the first verdict, median;
- memory: the most the process ever held.

Beside it stand the share of minimal pairs with both members right and, over the claims given by `--claims`,
ROC-AUC and balanced accuracy. A judge marked * is on the frontier: none other is both faster and more accurate.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "accuracy"))

AMONG = 8  # passage sets put together
WARM = 3  # calls before the clock starts
READY = "READY"


def workload() -> list[tuple[str, list[str], list[str]]]:
    """Question, passages and claims of each call."""
    from labelled import Pair, read_pairs

    sets: dict[str, list[Pair]] = {}
    for pair in read_pairs():
        sets.setdefault(pair.group, []).append(pair)
    groups = list(sets.values())
    calls = []
    for number, pairs in enumerate(groups):
        around = [groups[(number + k) % len(groups)][0].contexts for k in range(AMONG)]
        claims = [text for pair in pairs for text in (pair.supported, pair.not_supported)]
        calls.append(
            (pairs[0].question, [text for contexts in around for text in contexts], list(dict.fromkeys(claims)))
        )
    return calls


async def work(spec: str, most: int) -> dict[str, float]:
    """Judge in this process; the first verdict is announced on standard output as soon as it is there."""
    from everyclaim.api.specs import create_verifier
    from everyclaim.core.types import Claim, Passage, Span

    verifier = create_verifier(spec)
    claim = Claim("c1", "The tank holds 2 litres.", Span(0, 24), "The tank holds 2 litres.")
    await verifier.verify([claim], [Passage("p1", "The steel tank holds two litres of water.")])
    print(READY, flush=True)
    seconds, judged = 0.0, 0
    for number, (question, texts, claims) in enumerate(workload()):
        passages = [Passage(f"p{i}", text) for i, text in enumerate(texts, 1)]
        asked = [Claim(f"c{i}", text, Span(0, len(text)), text) for i, text in enumerate(claims, 1)]
        began = time.perf_counter()
        await verifier.verify(asked, passages, question=question)
        if number >= WARM:
            seconds += time.perf_counter() - began
            judged += len(asked)
        if judged >= most:
            break
    return {"claims_per_second": judged / seconds, "unit_seconds": unit(), "memory_mb": memory()}


def unit() -> float:
    """Seconds that a fixed piece of plain Python takes."""
    began = time.perf_counter()
    total = 0
    for number in range(3_000_000):
        total += number & 7
    return time.perf_counter() - began


def memory() -> float:
    """The most this process held, in MB."""
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


def run(spec: str, cores: int, most: int) -> dict[str, float]:
    """Start a process for a judge, held to so many cores, and take its figures."""
    allowed = sorted(os.sched_getaffinity(0))[:cores]
    threads = {name: str(cores) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, __file__, spec, "--work", str(most)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **threads},
        preexec_fn=lambda: os.sched_setaffinity(0, allowed),  # noqa: PLW1509 - no threads here before the fork
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    cold = time.perf_counter() - began
    rest, _ = process.communicate()
    if first.strip() != READY or process.returncode:
        sys.exit(f"judging with {spec!r} failed; its message is above")
    return {"cold_start": cold, **json.loads(rest)}


def accuracy(spec: str, files: list[Path], limit: int | None) -> dict[str, float]:
    """Share of minimal pairs right, and ROC-AUC and balanced accuracy on labelled claims where files are given."""
    import numpy as np
    from judging import answers
    from labelled import limited, read_labelled, read_pairs
    from measures import auc, balanced
    from minimal_pairs import members, rows

    from everyclaim.api.specs import create_verifier

    pairs = read_pairs()
    found = {"pairs_right": rows(pairs, answers(create_verifier(spec), members(pairs)).predicted)[-1]["both"]}
    if files:
        claims = limited(list(read_labelled(files, held_out=True)), limit)
        said = answers(create_verifier(spec), claims)
        target = np.array([claim.label == "SUPPORTED" for claim in claims])
        found["auc"] = auc(target, said.supported)
        found["balanced_accuracy"] = balanced(target, said.predicted == "SUPPORTED")
    return found


def measured(spec: str, cores: int, options: argparse.Namespace) -> dict[str, Any]:
    """Medians over several processes."""
    runs = [run(spec, cores, options.most) for _ in range(options.times)]
    middle = {key: statistics.median(one[key] for one in runs) for key in runs[0]}
    pace = statistics.median(one["claims_per_second"] * one["unit_seconds"] for one in runs)
    return {"judge": spec, "cores": cores, **middle, "own_pace": pace}


def frontier(rows: list[dict[str, Any]]) -> list[bool]:
    """Whether no other row with as many cores is faster and more accurate."""
    key = "auc" if "auc" in rows[0] else "pairs_right"
    return [
        not any(
            other["cores"] == row["cores"]
            and other["claims_per_second"] > row["claims_per_second"]
            and other[key] > row[key]
            for other in rows
        )
        for row in rows
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("judges", nargs="+", help="specs of verifiers")
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--times", type=int, default=3, help="processes per figure")
    parser.add_argument("--most", type=int, default=600, help="claims per process")
    parser.add_argument("--claims", type=Path, nargs="*", default=[], help="labelled claims for the accuracy")
    parser.add_argument("--limit", type=int, help="about so many claims of every data set")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    parser.add_argument("--work", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        print(json.dumps(asyncio.run(work(options.judges[0], options.work))))
        return
    rows = []
    for spec in options.judges:
        right = accuracy(spec, options.claims, options.limit)
        rows += [{**measured(spec, cores, options), **right} for cores in options.cores]
    print("judge                         cores  claims/s  own pace  cold start  memory  pairs right   AUC  bal.acc")
    for row, best in zip(rows, frontier(rows), strict=True):
        row["frontier"] = best
        speed = f"{row['claims_per_second']:10.0f}{row['own_pace']:10.1f}{row['cold_start']:10.2f} s"
        kept = f"{row['memory_mb']:5.0f} MB{row['pairs_right']:13.1%}"
        right = f"{row['auc']:7.3f}{row['balanced_accuracy']:8.3f}" if "auc" in row else ""
        print(f"{row['judge']:29s}{row['cores']:5d} {speed} {kept}{right}{' *' if best else ''}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Paired differences and tests by simulation: do intervals hold, are false alarms as rare as said, is a change found?

    python benchmarks/statistics/differences.py [--repeats 300] [--processes 2] [--out differences.md]

Samples have 1 to 9 claims and are measured twice. Between the two, a share of the claims changes its verdict, by chance
either way, or more of them one way by `gain`. Claims of a sample share their fate (correlation .2). `p ≤ .05` is of the
sign-flip test; where nothing gained it is the rate of false alarms.
"""

from __future__ import annotations

import argparse
import itertools
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from everyclaim.stats.paired import exchanges, holm, paired_difference, sign_flip_test
from everyclaim.stats.types import Sampling

SAMPLES = (10, 30, 100, 500)
CHANGED = (0.0, 0.01, 0.05, 0.2)  # share of claims that are drawn anew
GAINS = (0.0, 0.03)
RATES = (0.8, 0.97)


def draw(samples: int, rate: float, changed: float, gain: float, random: np.random.Generator) -> list[np.ndarray]:
    """Simulate two releases over the same samples: supported claims and claims, before and after."""
    sizes = random.integers(1, 10, samples)
    of = np.repeat(np.arange(samples), sizes)
    own = random.beta(rate * 4, (1 - rate) * 4, samples)[of]
    before = random.random(len(of)) < own
    anew = np.where(random.random(len(of)) < changed, random.random(len(of)) < own, before)
    after = anew | (~anew & (random.random(len(of)) < gain / (1 - rate)))
    units = sizes.astype(float)
    return [np.bincount(of, before, samples), units, np.bincount(of, after, samples), units]


def study(samples: int, rate: float, changed: float, gain: float, repeats: int) -> str:
    """Simulate one condition: a row of the table."""
    random = np.random.default_rng([samples, round(100 * rate), round(100 * changed), round(100 * gain)])
    true = gain
    held = rejected = shown = warned = 0
    width = 0.0
    for _ in range(repeats):
        a, n, b, m = draw(samples, rate, changed, gain, random)
        found = paired_difference((a, n), (b, m))
        held += true in found.interval
        width += found.interval.width
        warned += not found.reliable
        shown += 0 not in found.interval
        rejected += sign_flip_test(exchanges((a, n), (b, m)), sampling=Sampling(resamples=999)) <= 0.05
    cells = [held / repeats, width / repeats, warned / repeats, shown / repeats, rejected / repeats]
    return f"| {samples} | {rate} | {changed} | {gain} | " + " | ".join(f"{c:.3f}" for c in cells) + " |"


def looks(repeats: int, slices: int = 20) -> str:
    """How often any of many slices is called different when none is, and how often a planted one is found."""
    random = np.random.default_rng(5)
    false = {"none": 0, "Holm": 0}
    found = dict(false)
    for planted, counts in ((False, false), (True, found)):
        for _ in range(repeats):
            p = []
            for number in range(slices):
                a, n, b, m = draw(150, 0.8, 0.05, 0.04 if planted and number == 0 else 0.0, random)
                p.append(sign_flip_test(exchanges((a, n), (b, m)), sampling=Sampling(resamples=1999)))
            for name, adjusted in (("none", np.array(p)), ("Holm", holm(p))):
                counts[name] += bool(adjusted[0] <= 0.05) if planted else bool((adjusted <= 0.05).any())
    lines = [
        f"| correction | any of {slices} called different, none is | the one that gained 4 points found |",
        "| --- | --: | --: |",
    ]
    lines += [f"| {name} | {false[name] / repeats:.3f} | {found[name] / repeats:.3f} |" for name in false]
    return "\n".join(lines)


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    head = (
        "| samples | rate | drawn anew | gain | holds | mean width | warned | 0 outside | p ≤ .05 |\n"
        "| --: | --: | --: | --: | --: | --: | --: | --: | --: |"
    )
    tasks = [(*each, options.repeats) for each in itertools.product(SAMPLES, RATES, CHANGED, GAINS)]
    with Pool(options.processes) as pool:
        table = pool.starmap(study, tasks, chunksize=1)
    text = "\n".join([head, *table, "", looks(max(1, options.repeats // 3)), ""])
    print(text)
    if options.out:
        options.out.write_text(
            f"# Paired differences\n\nWritten by `differences.py --repeats {options.repeats}`.\n\n{text}",
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()

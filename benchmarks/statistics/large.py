"""Time and memory of the statistics on many samples of six claims each. Prints one table.

python benchmarks/statistics/large.py [--samples 100000]
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from everyclaim.stats.intervals import bootstrap, clustered_mean, clustered_ratio
from everyclaim.stats.paired import exchanges, paired_difference, sign_flip_test
from everyclaim.stats.ppi import Labelled, Unlabelled, ppi_rate
from everyclaim.stats.prevalence import clustered_rogan_gladen

CLAIMS = 6


def main() -> None:
    """Time each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=100_000)
    samples = parser.parse_args().samples
    random = np.random.default_rng(0)
    truth = (random.random(samples * CLAIMS) < 0.9).astype(float)
    judged = np.where(random.random(len(truth)) < 0.9, truth, 1 - truth)
    names = np.repeat(np.array([f"sample-{number}" for number in range(samples)]), CLAIMS)
    units = np.full(samples, float(CLAIMS))
    before = judged.reshape(samples, CLAIMS).sum(axis=1)
    after = np.where(random.random(samples) < 0.3, random.binomial(CLAIMS, 0.87, samples), before).astype(float)
    labelled = np.zeros(len(truth), dtype=bool)
    labelled[random.permutation(len(truth))[:1000]] = True
    known = Labelled(truth[labelled], judged[labelled], names[labelled])
    others = Unlabelled(judged[~labelled], names[~labelled])
    questions = np.arange(samples) // 2
    tasks = {
        "rate of claims, clusters by name": lambda: clustered_mean(judged, names),
        "rate by sample": lambda: clustered_ratio(before, units),
        "bootstrap, 2,000 resamples": lambda: bootstrap(np.column_stack([before, units]), lambda s: s[:, 0] / s[:, 1]),
        "bootstrap of a difference": lambda: bootstrap(
            np.column_stack([before, units, after, units]), lambda s: s[:, 2] / s[:, 3] - s[:, 0] / s[:, 1]
        ),
        "paired difference": lambda: paired_difference((before, units), (after, units)),
        "paired difference by question": lambda: paired_difference((before, units), (after, units), questions),
        "sign-flip test": lambda: sign_flip_test(exchanges((before, units), (after, units))),
        "PPI++ rate, 1,000 labels": lambda: ppi_rate(known, others),
        "Rogan-Gladen, 1,000 labels": lambda: clustered_rogan_gladen(
            (judged, names), (truth[labelled], judged[labelled]), names[labelled]
        ),
    }
    print(f"{samples:,} samples x {CLAIMS} claims\n\n| | seconds |\n| --- | --: |")
    for name, task in tasks.items():
        start = time.perf_counter()
        task()
        print(f"| {name} | {time.perf_counter() - start:.2f} |")
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()

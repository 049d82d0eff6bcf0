"""Is the promise of a calibrated risk kept? Simulated streams of answers whose claims fail together.

    python benchmarks/statistics/risk.py [--streams 2000]

In each stream 300 answers are labelled, a threshold is fitted, and the true share of wrong claims among those shown is
computed from 200,000 further ones. Prints how often a threshold was found, what it withholds, and how often the promise
was broken: in at most 5 % of the streams, by exit code.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from everyclaim.stats.thresholds import losses_above, risk_threshold

Stream = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]


def stream(draw: np.random.Generator, answers: int, sharpness: float, trouble: float) -> Stream:
    """Draw scores, wrongness and answers; a share `trouble` of the answers has many wrong claims, which look alike."""
    sizes = draw.integers(1, 8, answers)
    codes = np.repeat(np.arange(answers), sizes)
    bad = np.repeat(draw.random(answers) < trouble, sizes)
    wrong = (draw.random(len(codes)) < np.where(bad, 0.6, 0.03)).astype(np.float64)
    shift = np.repeat(draw.normal(0, 0.7, answers), sizes)
    score = 1 / (1 + np.exp(-(2.2 + shift - sharpness * wrong + draw.normal(0, 1, len(codes)))))
    return score, wrong, codes


def settings() -> Iterator[tuple[float, float, float]]:
    """Yield how sharp the judge is, how many answers are in trouble, and the risk that is asked for."""
    for sharpness in (0.0, 1.5, 3.0, 6.0):
        for trouble, risk in ((0.0, 0.05), (0.1, 0.05), (0.1, 0.1), (0.3, 0.1)):
            yield sharpness, trouble, risk


def main() -> int:
    """Simulate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=2000)
    given = parser.parse_args()
    draw = np.random.default_rng(0)
    worst = 0.0
    each = max(1, given.streams // len(list(settings())))
    total = 0
    for sharpness, trouble, risk in settings():
        score, wrong, codes = stream(draw, 200_000, sharpness, trouble)
        broken = promised = 0
        withheld = []
        for _ in range(each):
            labelled = stream(draw, 300, sharpness, trouble)
            threshold = risk_threshold(labelled[0], 1 - labelled[1], labelled[2], risk)
            if threshold is None:
                continue
            promised += 1
            withheld.append(float(np.mean(score < threshold)))
            broken += float(losses_above(threshold, score, wrong, codes.astype(np.float64)).mean()) > risk
        total += broken
        worst = max(worst, broken / each)
        told = f"withheld {np.mean(withheld):.0%}" if withheld else ""
        print(f"sharpness {sharpness} trouble {trouble} risk {risk}: promised {promised}/{each} {told} broken {broken}")
    share = total / (each * len(list(settings())))
    print(f"broken in {share:.1%} of all streams, at worst in {worst:.1%} of those of one kind")
    return 0 if share <= 0.05 else 1


if __name__ == "__main__":
    sys.exit(main())

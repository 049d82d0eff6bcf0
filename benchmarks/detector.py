"""How often the detector cries wolf, and how long it takes to notice: python benchmarks/detector.py [--streams N]

Streams of answers with 1 to 9 claims, which go wrong together (beta binomial, correlation 0.3). The limit is half as
much again as the usual rate, as `Limits.above` sets it. Printed are alarms per 30 days at 1,000 answers a day while
nothing happens (at the usual rate, and at the limit itself, which is the worst allowed), and after a rise the answers
until the alarm: median and 95th percentile. Also for a noisy judge, whose error is known.

All streams go side by side; one of them is checked against `everyclaim.monitor.Detector` itself.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from everyclaim.core.types import JudgedClaim, Label, Outcome, Provenance, Result, Span, Verdict
from everyclaim.monitor import Detector, JudgeAccuracy, Limits
from everyclaim.stats.sequential import _STAKES as STAKES

BETWEEN = 100_000  # answers between false alarms, the detector's own default
MEASURES = 2  # contradicted and failed, which share it
PER_DAY, DAYS = 1_000, 30
CORRELATION = 0.3
USUAL, RISES = (0.01, 0.02, 0.05), (2, 3, 5)
JUDGES = {"right": None, "noisy": JudgeAccuracy(0.85, 0.95, 120, 700)}
SETTLED = 3_000  # answers at the usual rate before a rise
LATEST = 10_000  # answers after it


def shares(random: np.random.Generator, rate: float, shape: tuple[int, ...]) -> np.ndarray:
    """Draw the share of contradicted claims of so many answers."""
    spread = 1 / CORRELATION - 1
    claims = random.integers(1, 10, shape)
    return random.binomial(claims, random.beta(rate * spread, (1 - rate) * spread, shape)) / claims


class Side:
    """Many streams watched side by side, by the rule of `stats.sequential`."""

    def __init__(self, limit: float, streams: int) -> None:
        self.limit, self.held = limit, np.ones((streams, len(STAKES)))

    def step(self, values: np.ndarray) -> np.ndarray:
        """Take the next answer of each stream; return which alarm, and let those begin anew."""
        gain = (values / self.limit - 1)[:, None] * np.array(STAKES)
        self.held = np.maximum(self.held, 1) * (1 + gain)
        risen = self.held.mean(axis=1) >= BETWEEN * MEASURES
        self.held[risen] = 1
        return risen


def alarms(random: np.random.Generator, rate: float, limit: float, streams: int) -> float:
    """Count alarms per stream in 30 days."""
    side, found = Side(limit, streams), 0
    for _ in range(DAYS):
        day = shares(random, rate, (PER_DAY, streams))
        found += sum(int(side.step(values).sum()) for values in day)
    return found / streams


def delays(random: np.random.Generator, usual: float, after: float, limit: float, streams: int) -> np.ndarray:
    """Return the answers from the rise to the first alarm; infinite where there is none by `LATEST`."""
    side, found = Side(limit, streams), np.full(streams, np.inf)
    for values in shares(random, usual, (SETTLED, streams)):
        side.step(values)
    for place, values in enumerate(shares(random, after, (LATEST, streams)), start=1):
        risen = side.step(values)
        found[risen & np.isinf(found)] = place
        if np.isfinite(found).all():
            break
    return found


def check_against_the_detector() -> None:
    """One stream through both: the same alarms at the same answers."""
    random, limit = np.random.default_rng(9), 0.03
    claims = random.integers(1, 10, 2_000)
    wrong = random.binomial(claims, 0.12)
    detector, side, made = Detector(Limits(contradicted=limit)), Side(limit, 1), Provenance("m", "d", "v", "joint", "0")
    for place, (size, bad) in enumerate(zip(claims.tolist(), wrong.tolist(), strict=True)):
        labels = [Label.CONTRADICTED] * bad + [Label.SUPPORTED] * (size - bad)
        judged = tuple(JudgedClaim("c", "", Span(0, 0), "", Verdict("c", label)) for label in labels)
        alert = detector.update(Result("a", Outcome.SCORED, 1.0, made, claims=judged))
        if (alert is not None) != bool(side.step(np.array([bad / size]))[0]):
            raise SystemExit(f"the benchmark and the detector differ at answer {place}")


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--streams", type=int, default=100)
    streams = parser.parse_args().streams
    begun = time.perf_counter()
    check_against_the_detector()
    random = np.random.default_rng(0)
    rises = " | ".join(f"delay at {rise}×" for rise in RISES)
    print(f"| judge | usual | limit | alarms per 30 days, usual | at the limit | {rises} |")
    print("| --- | --- | --- | --- | --- |" + " --- |" * len(RISES))
    for name, judge in JUDGES.items():
        seen = judge.judged if judge else float
        for usual in USUAL:
            limit = 1.5 * usual
            quiet, worst = (alarms(random, seen(rate), seen(limit), streams) for rate in (usual, limit))
            cells = []
            for rise in RISES:
                found = delays(random, seen(usual), seen(rise * usual), seen(limit), streams)
                cells.append(" / ".join(_answers(np.quantile(found, q, method="higher")) for q in (0.5, 0.95)))
            print(f"| {name} | {usual:.0%} | {limit:.1%} | {quiet:.2f} | {worst:.2f} | {' | '.join(cells)} |")
    stated = PER_DAY * DAYS / BETWEEN
    took = time.perf_counter() - begun
    print(f"\nStated: at most {stated:.2f} alarms per 30 days. {streams} streams a cell, {took:.0f} s.")


def _answers(delay: float) -> str:
    return f"{delay:,.0f}" if np.isfinite(delay) else f"over {LATEST:,}"


if __name__ == "__main__":
    main()

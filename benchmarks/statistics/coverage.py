"""How often each interval for a rate holds the truth, by simulation. Prints and writes Markdown tables.

    python benchmarks/statistics/coverage.py [--repeats 1000] [--processes 2] [--out benchmarks/statistics/coverage.md]

A run of about 2,000 claims is drawn again and again: true labels at a prevalence, verdicts of a judge that errs, labels
of people on some of the claims. Every method of the library makes its 95 % interval for the prevalence. Designs:

  alone    claims are independent
  claims   claims come in answers of 1 to 9 that share their fate (correlation .2, of the judge's errors .1);
           single claims are labelled
  answers  the same, but whole answers are labelled, so labels come in clusters too

What is counted is also what a user sees: intervals with a warning (`Inference.warnings`) are counted apart.
"""

from __future__ import annotations

import argparse
import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from everyclaim.stats.intervals import clustered_mean
from everyclaim.stats.ppi import Labelled, Unlabelled, ppi_rate
from everyclaim.stats.prevalence import clustered_rogan_gladen
from everyclaim.stats.types import Inference, Interval, Sampling, few_clusters

PREVALENCES = (0.5, 0.8, 0.9, 0.98)
JUDGES = ((0.95, 0.95), (0.95, 0.7), (0.7, 0.95), (0.7, 0.7))  # sensitivity, specificity
LABELS = (30, 100, 300)
DESIGNS = ("alone", "claims", "answers")
CLAIMS = 2000
FATE, ERRORS = 0.2, 0.1  # correlation within an answer
RESAMPLES = Sampling(resamples=500)
HOLDS = (0.93, 0.97)


@dataclass(frozen=True)
class Condition:
    """What is simulated: how often claims are true, the judge's two rates, labels, and how claims hang together."""

    prevalence: float
    judge: tuple[float, float]
    labels: int
    design: str


@dataclass(frozen=True)
class Draw:
    """One simulated run: truth and verdict of every claim, its answer, and which claims are labelled."""

    truth: np.ndarray
    judged: np.ndarray
    answers: np.ndarray
    labelled: np.ndarray


@dataclass
class Tally:
    """What was seen of one method: intervals, those that held, their widths, and those with a warning."""

    made: int = 0
    held: int = 0
    width: float = 0.0
    warned: int = 0
    held_unwarned: int = 0
    wider: int = 0  # than the labels alone, by more than 5 %

    def add(self, interval: Interval, truth: float, warned: bool, alone: float) -> None:
        """Count one interval."""
        holds = truth in interval
        self.made += 1
        self.held += holds
        self.width += interval.width
        self.warned += warned
        self.held_unwarned += holds and not warned
        self.wider += interval.width > 1.05 * alone


def draw(condition: Condition, random: np.random.Generator) -> Draw:
    """Simulate one run."""
    clustered = condition.design != "alone"
    sizes = random.integers(1, 10, CLAIMS // 5) if clustered else np.ones(CLAIMS, dtype=int)
    answers = np.repeat(np.arange(len(sizes)), sizes)
    truth = alike(condition.prevalence, FATE if clustered else 0.0, answers, random)
    sensitivity, specificity = condition.judge
    error = ERRORS if clustered else 0.0
    said_of_true, said_of_false = alike(sensitivity, error, answers, random), alike(specificity, error, answers, random)
    judged = np.where(truth == 1, said_of_true, 1 - said_of_false)
    labelled = np.zeros(len(truth), dtype=bool)
    if condition.design == "answers":  # whole answers, in random order, until there are as many labels as wanted
        order = random.permutation(len(sizes))
        enough = int(np.searchsorted(np.cumsum(sizes[order]), condition.labels)) + 1
        labelled = np.isin(answers, order[:enough])
    else:
        labelled[random.permutation(len(truth))[: condition.labels]] = True
    return Draw(truth, judged, answers, labelled)


def alike(rate: float, correlation: float, answers: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Draw 0 or 1 for every claim at this rate, with this correlation between claims of one answer."""
    if correlation == 0:
        return (random.random(len(answers)) < rate).astype(float)
    more = (1 - correlation) / correlation
    own = random.beta(rate * more, (1 - rate) * more, int(answers.max()) + 1)
    return (random.random(len(answers)) < own[answers]).astype(float)


def intervals(run: Draw) -> Iterator[tuple[str, Interval | None, bool]]:
    """Make every method's interval: its name, the interval (None where it refuses), whether it warns."""
    at = run.labelled
    truth, judged, answers = run.truth[at], run.judged[at], run.answers[at]
    known = Labelled(truth, judged, answers)
    others = Unlabelled(run.judged[~at], run.answers[~at])
    alone = clustered_mean(truth, answers, RESAMPLES)
    is_doubtful = alone.method != "wilson" and bool(few_clusters(alone.clusters))
    yield "labels alone", Interval(alone.low, alone.high), is_doubtful
    for name, made in (
        ("PPI++ rate", lambda: ppi_rate(known, others)),
        ("Rogan-Gladen", lambda: clustered_rogan_gladen((run.judged, run.answers), (truth, judged), answers)),
    ):
        yield name, *attempted(made)


def attempted(made) -> tuple[Interval | None, bool]:
    """Return the interval and whether it warns; None where the method refuses."""
    try:
        found: Inference = made()
    except ValueError:
        return None, True
    return found.interval, not found.reliable


def study(task: tuple[Condition, int, int]) -> tuple[Condition, dict[str, Tally]]:
    """Simulate one condition."""
    condition, repeats, number = task
    random = np.random.default_rng([20261122, number])
    tallies: dict[str, Tally] = defaultdict(Tally)
    for _ in range(repeats):
        width = np.inf
        for name, interval, warned in intervals(draw(condition, random)):
            if name == "labels alone":
                width = interval.width
            if interval is not None:
                tallies[name].add(interval, condition.prevalence, warned, width)
    return condition, dict(tallies)


def rows(results: list[tuple[Condition, dict[str, Tally]]], repeats: int) -> Iterator[str]:
    """Write one table by method, and one with every condition."""
    names = list(results[0][1])
    yield "| interval | conditions | 93 to 97 % | lowest | highest | warned | lowest unwarned | 93 to 97 % or warned |"
    yield "| --- | --: | --: | --: | --: | --: | --: | --: |"
    for name in names:
        cells = [tallies[name] for _, tallies in results if name in tallies]
        rates = [t.held / t.made for t in cells]
        fine = [HOLDS[0] <= rate <= HOLDS[1] for rate in rates]
        silent = [t for t in cells if t.made - t.warned >= repeats / 5]
        unwarned = [t.held_unwarned / (t.made - t.warned) for t in silent]
        told = [ok or t.warned > t.made / 2 or t.made < repeats / 2 for ok, t in zip(fine, cells, strict=True)]
        yield (
            f"| {name} | {len(cells)} | {sum(fine)} | {min(rates):.3f} | {max(rates):.3f} | "
            f"{sum(t.warned for t in cells) / sum(t.made for t in cells):.0%} | "
            f"{min(unwarned, default=float('nan')):.3f} | {sum(told)} |"
        )
    ratio = [t["PPI++ rate"].width / t["labels alone"].width for _, t in results]
    most = max(t["PPI++ rate"].wider / t["PPI++ rate"].made for _, t in results)
    yield ""
    yield (
        f"Mean width of `PPI++ rate` over that of the labels alone: {min(ratio):.2f} to {max(ratio):.2f}; "
        f"more than 5 % wider in at most {most:.1%} of the runs of a condition."
    )
    yield ""
    yield "Share of intervals that hold the truth (mean width; share with a warning):"
    yield ""
    yield "| design | prevalence | judge | labels | " + " | ".join(names) + " |"
    yield "| --- | --: | --- | --: |" + " --: |" * len(names)
    for condition, tallies in results:
        shown = [cell(tallies.get(name), repeats) for name in names]
        judge = " / ".join(f"{rate:g}" for rate in condition.judge)
        yield (
            f"| {condition.design} | {condition.prevalence} | {judge} | {condition.labels} | "
            + " | ".join(shown)
            + " |"
        )


def cell(tally: Tally | None, repeats: int) -> str:
    """Write what was seen of one method under one condition."""
    if tally is None:
        return "refused"
    told = f"; {tally.warned / tally.made:.0%}" if tally.warned else ""
    refused = f", {1 - tally.made / repeats:.0%} refused" if tally.made < repeats else ""
    return f"{tally.held / tally.made:.3f} ({tally.width / tally.made:.3f}{told}){refused}"


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    conditions = [Condition(*each) for each in itertools.product(PREVALENCES, JUDGES, LABELS, DESIGNS)]
    tasks = [(condition, options.repeats, number) for number, condition in enumerate(conditions)]
    with Pool(options.processes) as pool:
        results = pool.map(study, tasks, chunksize=1)
    text = "\n".join(rows(results, options.repeats)) + "\n"
    print(text)
    if options.out:
        head = f"Written by `coverage.py --repeats {options.repeats}`; the Monte Carlo error of a rate of .95 is "
        error = (0.95 * 0.05 / options.repeats) ** 0.5
        options.out.write_text(f"# Coverage of 95 % intervals\n\n{head}{error:.3f}.\n\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()

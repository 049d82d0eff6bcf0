"""What each family of checks is worth: the judge is fitted without its features, and measured beside the whole.

    python benchmarks/accuracy/ablate.py --data DATA --made WORK/probe.jsonl WORK/tested.jsonl --cache WORK/features.bin

Options and features are those of `training/judge.py`. Two means of ROC-AUC are compared: over tasks of marked answers
to other documents, and over families of claims that are left out of the fit (a quarter of them at a time). A difference
is what the family adds; intervals are 95 %, paired, from resampling documents. A family earns its lines where one of
its intervals lies above zero.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from measures import auc

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))
from everyclaim.verify.lexical.features import COVERAGE
from everyclaim.verify.lexical.model import Head
from judge import ODDS, fit_raw, signs
from judge_rows import Table, joined, measure, read_rows

FAMILIES = {
    "network": ("read_",),
    "copies and names": ("verbatim", "name_missing"),
    "values": ("changed_",),
    "negation": ("negation_",),
}
PARTS = 4  # of the families, each left out of one fit
SAMPLES = 200


def odds(fitted: Table, test: Table) -> np.ndarray:
    """Fit to some rows and judge others."""
    raw = fit_raw(fitted, fitted.labels == "SUPPORTED", signs(fitted.names), (0,), ODDS["embedded"])
    return Head.parse(raw).probability(test.values)


def judged(fitted: Table, test: Table) -> tuple[np.ndarray, np.ndarray]:
    """Judge answers by a fit to all rows, and every family of claims by a fit without it; rows are those of `parts`."""
    answers, claims = parts(fitted, test)
    names = sorted(set(claims.families))
    found = np.zeros(len(claims.rows))
    for part in range(PARTS):
        left = names[part::PARTS]
        here = np.isin(claims.families, left)
        found[here] = odds(joined([fitted, test]).part(_use(fitted, test, left)), claims.part(here))
    return odds(fitted, answers), found


def _use(fitted: Table, test: Table, left: list[str]) -> np.ndarray:
    inside = np.arange(len(fitted.rows) + len(test.rows)) < len(fitted.rows)
    families = np.concatenate([fitted.families, test.families])
    return inside & ~np.isin(families, left)


def parts(fitted: Table, test: Table) -> tuple[Table, Table]:
    """Give the claims of answers that are tested on, and all labelled claims of other kinds."""
    both = joined([fitted, test])
    claims = ~np.char.startswith(both.datasets.astype(str), "answers_")
    claims &= ~np.char.startswith(both.datasets.astype(str), "made_")
    return test.part(np.char.startswith(test.datasets.astype(str), "answers_")), both.part(claims)


def mean_auc(table: Table, by: np.ndarray, scores: list[np.ndarray], rows: np.ndarray) -> np.ndarray:
    """Return the mean ROC-AUC over parts of some rows, of each score."""
    found = []
    positive = table.labels == "SUPPORTED"
    for name in sorted(set(by)):
        here = rows[by[rows] == name]
        if 0 < positive[here].sum() < len(here):
            found.append([auc(positive[here], score[here]) for score in scores])
    return np.mean(found, axis=0)


def gain(table: Table, by: np.ndarray, whole: np.ndarray, without: np.ndarray) -> tuple[float, float, float]:
    """Return what the family adds, and the ends of its interval."""
    groups, member = np.unique(table.groups, return_inverse=True)
    places = [np.flatnonzero(member == number) for number in range(len(groups))]
    random = np.random.default_rng(0)

    def added(rows: np.ndarray) -> float:
        one, other = mean_auc(table, by, [whole, without], rows)
        return float(one - other)

    drawn = [
        added(np.concatenate([places[number] for number in random.integers(0, len(groups), len(groups))]))
        for _ in range(SAMPLES)
    ]
    return added(np.arange(len(table.rows))), *map(float, np.quantile(drawn, (0.025, 0.975)))


def lines(fitted: Table, test: Table, families: list[str]) -> Iterator[str]:
    """Compare, family by family."""
    answers, claims = parts(fitted, test)
    whole = judged(fitted, test)
    for name in families:
        drop = FAMILIES[name]
        number = len(fitted.names) - len(fitted.without(drop).names)
        without = judged(fitted.without(drop), test.without(drop))
        told = [
            "{:+.4f} [{:+.4f}, {:+.4f}]".format(*gain(table, by, one, other))
            for table, by, one, other in zip(
                (answers, claims), (answers.datasets, claims.families), whole, without, strict=True
            )
        ]
        yield f"| {name} | {number} | {told[0]} | {told[1]} |"


def main() -> None:
    """Measure what is missing, fit, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--made", type=Path, nargs="*", default=[])
    parser.add_argument("--network", type=Path, default=Path("src/everyclaim/models/data/reader.onnx"))
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--family", action="append", choices=[*FAMILIES], help="repeatable (all)")
    options = parser.parse_args()
    rows = read_rows(options.data, options.made, ())
    measured = (measure(part, options.network, options.cache) for part in (rows.fitted, rows.tested))
    fitted, test = (part.without(COVERAGE) for part in measured)
    print("| family | features | claims of answers | families left out |\n| --- | --: | --- | --- |")
    for line in lines(fitted, test, options.family or [*FAMILIES]):
        print(line, flush=True)


if __name__ == "__main__":
    main()

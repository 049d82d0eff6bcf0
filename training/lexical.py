"""Fit the lexical verifier and write its model file.

    python training/lexical.py --data DATA --out src/everyclaim/verify/lexical/data/model.json [--cache FILE]
    python training/lexical.py --data DATA --leave-out      # leave whole families out, print the table, write nothing

Two heads are fitted on the features of `everyclaim.verify.lexical.features`: supported or not (all rows), and
contradicted or merely unsupported (rows where that is known). Every data set weighs the same in both its classes, so
that a row's data set says nothing about its label. Calibration is fitted on out-of-fold predictions, groups kept
whole. Seeds are fixed; the configuration and a hash of the data are written into the model file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GroupKFold

from everyclaim.verify.lexical.alignment import gather
from everyclaim.verify.lexical.analysis import Reading, read
from everyclaim.verify.lexical.comparison import compare as compare_texts
from everyclaim.verify.lexical.features import measure
from everyclaim.verify.lexical.model import FORMAT, Head
from everyclaim.verify.lexical.vectors import shipped_vectors
from lexical_data import Row, capped, padded, split, synthetic

VERSION = "2"
CAP = 2500  # rows per data set
MADE = 900  # passage sets for synthetic claims
SIGNED_TREES = {"max_iter": 250, "learning_rate": 0.08, "max_leaf_nodes": 7, "min_samples_leaf": 100,
         "l2_regularization": 20.0, "max_features": 0.3, "random_state": 7, "early_stopping": False}  # fmt: skip
TREES = {**SIGNED_TREES, "max_iter": 160}
RIDGE = 0.05  # of the logistic regression, on mean log-loss
BOUND = 4.0
TRUST = {
    "citint": 2.5,
    "wice_oracle": 2.5,
    "begin": 1.5,
    "defacto": 1.5,
    "factcheck_bench": 1.5,
    "true_paws": 0.3,
    "infotabs": 0.6,
    "snli": 0.5,
    "mnli_taxi": 0.5,
    "conjnli": 0.3,
    "written": 2.0,
    "made_speaker": 0.8,
    "made_speaker_copy": 0.5,
}
MADE_TRUST = 0.3
ALARM = {"named": 0.715, "other": 0.921}  # chosen by the rule of `answers/fit.py`, on its rows
# Features that may only raise, or only lower, the odds of support. Kept to these signs, a fit on one kind of text
# holds on another; without them it learns each data set's habits (see the leave-one-family-out table).
RAISE = ("exact_1", "exact_2", "exact_3", "exact_all", "exact_main", "exact_greedy", "soft_1", "soft_2", "soft_3",
         "soft_all", "soft_main", "soft_greedy", "soft_min", "soft_second", "soft_low", "soft_opening", "soft_closing",
         "share_", "pairs_", "triples_", "common", "aligned", "longest_run", "verbatim", "run_length", "near_steps",
         "content_common", "sentence_", "mean_cosine", "characters", "word_set", "spelled", "context_", "close_",
         "quantity_found", "comparison_agrees",
         "moment_found", "speaker_found", "window_used")  # fmt: skip
LOWER = ("missing_", "soft_missing", "number_missing", "name_missing", "plain_missing", "number_swap", "name_swap",
         "quantity_conflict", "quantity_missing", "moment_conflict", "moment_missing", "speaker_conflict",
         "speaker_missing", "swapped", "displaced", "added", "leading", "trailing", "reversed", "negation_parity",
         "negation_only", "denial_only", "hedge_only", "quantifier_only", "comparative_only", "opposites",
         "speech_only", "sharp_", "comparison_differs")  # fmt: skip
UNSIGNED = ("swapped_likeness",)

Matrix = np.ndarray


@lru_cache(maxsize=4000)
def _read(text: str) -> Reading:
    return read(text, shipped_vectors())


@lru_cache(maxsize=200)
def _gather(texts: tuple[str, ...]) -> Any:
    return gather([_read(text) for text in texts], shipped_vectors())


def describe(row: Row) -> tuple[dict[str, float], float] | None:
    """Measure one row; also give its word overlap: the share of the claim's content words found anywhere."""
    claim, source = _read(row.text), _gather(row.contexts)
    if not claim.content or not source.places:
        return None
    question = _read(row.question) if row.question else None
    features = measure(compare_texts(claim, source, shipped_vectors(), question))
    return features, float(np.mean([claim.keys[i] in source.index for i in claim.content]))


class Table:
    """Rows with their features (a matrix), word overlap and labels."""

    def __init__(self, rows: Iterable[Row]) -> None:
        kept, features, overlap = [], [], []
        for row in sorted(rows, key=lambda row: (row.dataset, row.contexts, row.id)):
            described = describe(row)
            if described is not None:
                kept.append(row)
                features.append(described[0])
                overlap.append(described[1])
        self.names = list(features[0])
        self.values = np.array([[row[name] for name in self.names] for row in features], dtype=np.float64)
        self.overlap = np.array(overlap)
        self.rows = kept
        self.datasets = np.array([row.dataset for row in kept])
        self.families = np.array([row.family for row in kept])
        self.labels = np.array([row.label for row in kept])
        self.groups = np.array([row.group for row in kept])


def weights(datasets: Matrix, positive: Matrix) -> Matrix:
    """Weigh rows so that the classes of a data set weigh the same, and large sets little more than small ones."""
    result = np.zeros(len(datasets))
    for name in sorted(set(datasets)):
        here = datasets == name
        trust = TRUST.get(name, MADE_TRUST if name.startswith("made_") else 1.0)
        classes = [c for c in (0, 1) if (positive[here] == c).any()]
        for c in classes:
            cell = here & (positive == c)
            result[cell] = min(here.sum(), 3000) ** 0.5 * trust / 2 / cell.sum()
    result = np.minimum(result, 20 * np.median(result))
    for c in (0, 1):  # one-sided sets must not tilt the whole
        result[positive == c] /= result[positive == c].sum()
    return result / result.mean()


def signs(names: list[str]) -> Matrix:
    """Give +1 for a feature that may only raise the odds of support, -1 for one that may only lower them, else 0."""
    return np.array(
        [0 if n in UNSIGNED else 1 if n.startswith(RAISE) else -1 if n.startswith(LOWER) else 0 for n in names]
    )


def fit_raw(values: Matrix, positive: Matrix, weight: Matrix, sign: Matrix) -> dict[str, Any]:
    """Fit the members of a head: a logistic regression, free trees and, where there are signs, trees that keep them."""
    mean, scale = values.mean(axis=0), np.maximum(values.std(axis=0), 1e-6)
    standard = np.clip((values - mean) / scale, -BOUND, BOUND)
    intercept, *coefficients = signed_regression(standard, positive, weight, sign)
    linear = {
        "kind": "linear", "mean": _short(mean), "scale": _short(scale), "weight": _short(coefficients),
        "intercept": float(intercept), "bound": BOUND,
    }  # fmt: skip
    members = [(0.4, linear)]
    if sign.any():
        members.append((0.2, fit_trees(values, positive, weight, sign, SIGNED_TREES)))
    members.append((1.0 - sum(share_of for share_of, _ in members), fit_trees(values, positive, weight, None, TREES)))
    return {
        "members": [{"share": round(share_of, 3), **member} for share_of, member in members],
        "calibration": {"slope": 1.0, "intercept": 0.0},
    }


def fit_trees(
    values: Matrix, positive: Matrix, weight: Matrix, sign: Matrix | None, options: dict[str, Any]
) -> dict[str, Any]:
    """Fit boosted trees; with signs, on the signed features only, monotone in each."""
    seen = np.arange(values.shape[1]) if sign is None else np.flatnonzero(sign)
    constraints = None if sign is None else sign[seen]
    trees = HistGradientBoostingClassifier(monotonic_cst=constraints, **options).fit(values[:, seen], positive, weight)
    base = float(np.ravel(trees._baseline_prediction)[0])  # noqa: SLF001 -- scikit-learn has no public way to the trees
    return {"kind": "trees", "base": base, "nodes": [_tree(stage[0], seen) for stage in trees._predictors]}  # noqa: SLF001


def signed_regression(standard: Matrix, positive: Matrix, weight: Matrix, sign: Matrix) -> Matrix:
    """Fit a ridge logistic regression whose coefficients keep to their signs; the intercept comes first."""
    side, share_of = 2.0 * positive - 1.0, weight / weight.sum()

    def loss(theta: Matrix) -> tuple[float, Matrix]:
        margin = -side * (standard @ theta[1:] + theta[0])
        slope = -side * share_of / (1 + np.exp(-margin))
        value = (share_of * np.logaddexp(0, margin)).sum() + RIDGE * (theta[1:] ** 2).sum() / 2
        return float(value), np.concatenate([[slope.sum()], standard.T @ slope + RIDGE * theta[1:]])

    bounds = [(None, None), *[(0, None) if s > 0 else (None, 0) if s < 0 else (None, None) for s in sign]]
    start = np.zeros(standard.shape[1] + 1)
    return minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 400}).x


def _tree(predictor: Any, seen: Matrix) -> dict[str, list[float]]:
    """Write one of scikit-learn's trees as lists."""
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    return {
        "feature": np.where(leaf, -1, seen[np.where(leaf, 0, nodes["feature_idx"])]).astype(int).tolist(),
        "threshold": [0.0 if end else float(value) for end, value in zip(leaf, nodes["num_threshold"], strict=True)],
        "left": np.where(leaf, 0, nodes["left"]).astype(int).tolist(),
        "right": np.where(leaf, 0, nodes["right"]).astype(int).tolist(),
        "value": [round(float(value), 6) if end else 0.0 for end, value in zip(leaf, nodes["value"], strict=True)],
    }


def _short(values: Iterable[float]) -> list[float]:
    return [float(f"{value:.7g}") for value in values]


def fit_head(table: Table, use: Matrix, positive: Matrix, sign: Matrix) -> dict[str, Any]:
    """Fit a head on the rows in `use`, its calibration on out-of-fold predictions of the rows that are not made."""
    values, target = table.values[use], positive[use].astype(int)
    datasets, groups = table.datasets[use], table.groups[use]
    weight = weights(datasets, target)
    held = np.zeros(len(target))
    for inside, outside in GroupKFold(n_splits=4).split(values, target, groups):
        head = Head.parse(fit_raw(values[inside], target[inside], weights(datasets[inside], target[inside]), sign))
        held[outside] = logit(head.probability(values[outside]))
    real = ~np.char.startswith(datasets.astype(str), "made_")
    line = LogisticRegression(C=1e6).fit(held[real, None], target[real], weight[real])
    head = fit_raw(values, target, weight, sign)
    head["calibration"] = {"slope": float(line.coef_[0, 0]), "intercept": float(line.intercept_[0])}
    return head


def logit(probability: Matrix) -> Matrix:
    """Log-odds."""
    safe = np.clip(probability, 1e-9, 1 - 1e-9)
    return np.log(safe / (1 - safe))


def fit(table: Table, use: Matrix, sign: Matrix | None = None) -> dict[str, dict[str, Any]]:
    """Fit both heads on the rows in `use`; the first keeps to the signs of its features."""
    known = use & np.isin(table.labels, ["UNSUPPORTED", "CONTRADICTED"])
    return {
        "supported": fit_head(table, use, table.labels == "SUPPORTED", signs(table.names) if sign is None else sign),
        "contradicted": fit_head(table, known, table.labels == "CONTRADICTED", np.zeros(len(table.names), dtype=int)),
    }


def compare(title: str, table: Table, scores: dict[str, Matrix], by: Matrix) -> list[tuple[str, list[float]]]:
    """Print ROC-AUC of every score, and balanced accuracy at one half of the last, for each value of `by`."""
    print(f"\n{title}\n{'':24s}{'n':>7s}" + "".join(f"{name:>10s}" for name in scores) + f"{'bal.acc':>10s}")
    lines = []
    target = table.labels == "SUPPORTED"
    for name in sorted(set(by)):
        here = by == name
        if not name or here.sum() < 20 or len(set(target[here])) < 2:
            continue
        aucs = [roc_auc_score(target[here], score[here]) for score in scores.values()]
        last = list(scores.values())[-1][here]
        line = [*aucs, balanced_accuracy_score(target[here], last > 0.5)]
        lines.append((name, line))
        print(f"{name:24s}{here.sum():7d}" + "".join(f"{value:10.3f}" for value in line))
    if lines:
        print(
            f"{'mean':24s}{'':7s}" + "".join(f"{value:10.3f}" for value in np.mean([line for _, line in lines], axis=0))
        )
    return lines


def leave_families_out(table: Table) -> None:
    """Fit without each family in turn and test on it."""
    made = np.char.startswith(table.datasets.astype(str), "made_")
    score = np.zeros(len(table.rows))
    for family in sorted(set(table.families[~made])):
        inside = table.families != family
        sign = signs(table.names)
        target = (table.labels == "SUPPORTED").astype(int)
        head = Head.parse(
            fit_raw(table.values[inside], target[inside], weights(table.datasets[inside], target[inside]), sign)
        )
        score[~inside] = head.probability(table.values[~inside])
    compare(
        "leave one family out, by data set",
        table,
        {"overlap": table.overlap, "lexical": score},
        np.where(made, "", table.datasets),
    )
    compare(
        "leave one family out, by family",
        table,
        {"overlap": table.overlap, "lexical": score},
        np.where(made, "", table.families),
    )


def data_hash(rows: list[Row]) -> str:
    """Hash what was fitted on."""
    digest = hashlib.sha256()
    for row in sorted(rows, key=lambda row: (row.dataset, row.id, row.text)):
        digest.update(f"{row.dataset}\t{row.id}\t{row.label}\t{row.text}\n".encode())
    return digest.hexdigest()[:16]


def cached(path: Path | None, make: Callable[[], Any]) -> Any:
    """Keep what is slow to make in a file of the caller's choice."""
    if path is None or not path.exists():
        made = make()
        if path is not None:
            path.write_bytes(pickle.dumps(made))
        return made
    return pickle.loads(path.read_bytes())  # noqa: S301 -- the caller's own file, written by the line above


def main() -> None:
    """Fit, test, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--cache", type=Path, help="file for measured features, outside the repository")
    parser.add_argument("--cap", type=int, default=CAP, help="rows per data set")
    parser.add_argument("--leave-out", action="store_true")
    options = parser.parse_args()

    def make() -> tuple[Table, Table, Table]:
        fit_rows, test_rows = split(options.data)
        made = synthetic(options.data, fit_rows, tested=False, most=MADE)
        probe = synthetic(options.data, fit_rows, tested=True, most=300)
        return Table(padded(capped(fit_rows, options.cap)) + made), Table(test_rows), Table(probe)

    table, test, probe = cached(options.cache, make)
    if options.leave_out:
        leave_families_out(table)
        return
    heads = fit(table, np.ones(len(table.rows), dtype=bool))
    head = Head.parse(heads["supported"])
    scores = {"overlap": test.overlap, "lexical": head.probability(test.values)}
    compare("development data, by data set", test, scores, test.datasets)
    compare("development data, by family", test, scores, test.families)
    other = Head.parse(heads["contradicted"])
    known = np.isin(test.labels, ["UNSUPPORTED", "CONTRADICTED"])
    guess = other.probability(test.values)
    for family in sorted(set(test.families[known])):
        here = known & (test.families == family)
        target = test.labels[here] == "CONTRADICTED"
        if len(set(target)) == 2:
            print(f"contradicted | not supported, {family:18s} AUC {roc_auc_score(target, guess[here]):.3f} "
                  f"bal.acc {balanced_accuracy_score(target, guess[here] > 0.5):.3f}")  # fmt: skip
    supported = head.probability(probe.values) > 0.5
    contradicted = other.probability(probe.values) > 0.5
    print("\nprobe of made claims: share called supported, contradicted")
    for name in sorted(set(probe.datasets)):
        here = probe.datasets == name
        print(f"{name:24s}{here.sum():6d}{supported[here].mean():8.3f}{(contradicted & ~supported)[here].mean():8.3f}")
    if options.out is not None:
        model = {
            "format": FORMAT,
            "version": VERSION,
            "alarm": ALARM,
            "about": "Fitted by training/lexical.py; see training/README.md.",
            "fitted_on": {"rows": len(table.rows), "hash": data_hash(table.rows)},
            "config": {
                "trees": TREES,
                "ridge": RIDGE,
                "cap": options.cap,
                "made": MADE,
                "trust": TRUST,
                "made_trust": MADE_TRUST,
            },
            "features": table.names,
            "heads": heads,
        }
        options.out.write_text(json.dumps(model, separators=(",", ":")) + "\n", encoding="utf-8")
        print(f"\nwrote {options.out}: {options.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()

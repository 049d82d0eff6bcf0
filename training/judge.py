r"""Fit what weighs the network's readings and the exact checks, for the embedded and the lexical judge; test both.

    python training/judge.py --data DATA --made WORK/probe.jsonl WORK/tested.jsonl --cache WORK/features.bin \
        [--drop PREFIX …] [--out src/everyclaim/verify]

Fitted on half of the development claims, claims of marked answers that no network has read (`unread`), made claims and
lessons that no network was trained on, and groups of short claims. Tested on the other half, on answers to other
documents, and on the kept groups. A head is a ridge regression whose coefficients keep to their
signs and boosted trees, each half; both classes of a data set weigh the same; a straight line fitted on out-of-fold
predictions calibrates. `--drop` leaves out features whose names begin so. The lexical judge is the same fit without the
readings.

Half of the claims fitted to are supported; in RAG answers most are: there supported ones weigh `ODDS` times as much.

Measuring takes long and fitting does not: what was measured is kept in `--cache`, which grows; begin a new one when a
feature or the network changes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GroupKFold

if __package__ in (None, ""):
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parent))
from everyclaim.verify.lexical.features import COVERAGE
from everyclaim.verify.lexical.model import FORMAT, Head, Whole
from judge_rows import Matrix, Table, measure, read_rows

VERSIONS = {"embedded": "27", "lexical": "6"}
BOUND = 4.0  # standard deviations within which a feature of the regression is held
RIDGE = 0.05  # of the regression, on mean log-loss
LINEAR = 0.5  # share of the regression; the rest is the trees'
TREES = {
    "objective": "binary", "num_leaves": 12, "learning_rate": 0.03, "feature_fraction_bynode": 0.2,
    "bagging_fraction": 0.8, "bagging_freq": 1, "lambda_l2": 10.0, "min_data_in_leaf": 30, "verbose": -1,
    "deterministic": True, "num_threads": 1, "max_bin": 63,
}  # fmt: skip
ROUNDS, SEEDS = 300, (0, 1, 2)
# What a data set weighs beside the square root of its size; others 1. Networks have read the lessons `m` and groups.
TRUST = {"answers_unread": 12.0, "answers_": 3.0, "made_": 0.4, "cases": 4.0, "m": 0.05, "rewordings": 0.5,
         "binding": 0.5, "written": 2.0, "snli": 0.5, "conjnli": 0.3, "mnli_taxi": 0.5, "infotabs": 0.6,
         "true_paws": 0.3}  # fmt: skip
LEAST = 60  # hundredths: least level of an alarm
PRECISION = 0.93
ODDS = {"embedded": 1.75, "lexical": 1.0}  # what supported claims of answers weigh; there are twelve to one that is not
WHOLE_RIDGE = 0.1  # of the probability of whole answers
LOWEST = 0.532  # what the lowest claim weighs beside the mean, as in version 20; short written answers give it nothing
# Features that may only raise, or only lower, the odds of support: kept to that, a fit holds on text of another kind.
LOWER = ("soft_missing", "missing_", "name_missing", "trailing", "changed_", "negation_")
RAISE = ("soft_", "aligned", "verbatim", "read_supported")


def weights(datasets: Matrix, positive: Matrix, odds: float = 1.0) -> Matrix:
    """Weigh rows so that the classes of a data set weigh the same, and large sets little more than small ones.

    In marked answers the positive class weighs `odds` times as much as the other.
    """
    result = np.zeros(len(datasets))
    for name in sorted(set(datasets)):
        trust = next((value for prefix, value in TRUST.items() if name.startswith(prefix)), 1.0)
        here = odds if name.startswith("answers_") else 1.0
        for side, part in ((False, 1 / (1 + here)), (True, here / (1 + here))):
            cell = (datasets == name) & (positive == side)
            if cell.any():
                result[cell] = (datasets == name).sum() ** 0.5 * trust * part / cell.sum()
    return np.minimum(result, 20 * np.median(result)) / result.mean()


def signs(names: list[str]) -> Matrix:
    """Give +1 for a feature that may only raise the odds of support, -1 for one that may only lower them, else 0."""
    return np.array([-1 if name.startswith(LOWER) else 1 if name.startswith(RAISE) else 0 for name in names])


def regression(values: Matrix, positive: Matrix, weight: Matrix, sign: Matrix) -> dict[str, Any]:
    """Fit a ridge logistic regression whose coefficients keep to their signs."""
    mean, scale = values.mean(axis=0), np.maximum(values.std(axis=0), 1e-6)
    standard = np.clip((values - mean) / scale, -BOUND, BOUND)
    side, part = 2.0 * positive - 1.0, weight / weight.sum()

    def loss(theta: Matrix) -> tuple[float, Matrix]:
        margin = -side * (standard @ theta[1:] + theta[0])
        slope = -side * part / (1 + np.exp(-margin))
        value = (part * np.logaddexp(0, margin)).sum() + RIDGE * (theta[1:] ** 2).sum() / 2
        return float(value), np.concatenate([[slope.sum()], standard.T @ slope + RIDGE * theta[1:]])

    bounds = [(None, None), *[(0, None) if s > 0 else (None, 0) if s < 0 else (None, None) for s in sign]]
    found = minimize(loss, np.zeros(standard.shape[1] + 1), jac=True, method="L-BFGS-B", bounds=bounds,
                     options={"maxiter": 300}).x  # fmt: skip
    short = ([float(f"{value:.6g}") for value in part] for part in (mean, scale, found[1:]))
    names = ("mean", "scale", "weight")
    return {"kind": "linear", **dict(zip(names, short, strict=True)), "intercept": float(found[0]), "bound": BOUND}


def boosted(values: Matrix, positive: Matrix, weight: Matrix, seed: int) -> dict[str, Any]:
    """Fit boosted trees."""
    data = lightgbm.Dataset(values, label=positive.astype(float), weight=weight)
    booster = lightgbm.train({**TREES, "seed": seed}, data, num_boost_round=ROUNDS)
    nodes = [_tree(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]]
    return {"kind": "trees", "base": 0.0, "nodes": nodes}


def _tree(root: dict[str, Any]) -> dict[str, list[float]]:
    """Write one of LightGBM's trees as lists, children after their parents."""
    lists: dict[str, list[float]] = {name: [] for name in ("feature", "threshold", "left", "right", "value")}

    def place(node: dict[str, Any]) -> int:
        number = len(lists["feature"])
        is_leaf = "leaf_value" in node
        lists["feature"].append(-1 if is_leaf else node["split_feature"])
        lists["threshold"].append(0.0 if is_leaf else float(f"{node['threshold']:.7g}"))
        lists["value"].append(round(node["leaf_value"], 5) if is_leaf else 0.0)
        lists["left"].append(0)
        lists["right"].append(0)
        if not is_leaf:
            lists["left"][number], lists["right"][number] = place(node["left_child"]), place(node["right_child"])
        return number

    place(root)
    return lists


def fit_raw(it: Table, positive: Matrix, sign: Matrix, seeds: Iterable[int], odds: float) -> dict[str, Any]:
    """Fit a head without its calibration."""
    weight = weights(it.datasets, positive, odds)
    seeds = list(seeds)
    trees = [{"share": (1 - LINEAR) / len(seeds), **boosted(it.values, positive, weight, seed)} for seed in seeds]
    linear = {"share": LINEAR, **regression(it.values, positive, weight, sign)}
    return {"members": [linear, *trees], "calibration": {"slope": 1.0, "intercept": 0.0}}


def fit_head(it: Table, positive: Matrix, sign: Matrix, odds: float = 1.0) -> tuple[dict[str, Any], Matrix]:
    """Fit a head; also give the calibrated out-of-fold probability of every row."""
    held = np.zeros(len(it.rows))
    for inside, outside in GroupKFold(n_splits=4).split(it.values, groups=it.groups):
        use = np.isin(np.arange(len(it.rows)), inside)
        head = Head.parse(fit_raw(it.part(use), positive[inside], sign, SEEDS[:1], odds))
        held[outside] = logit(head.probability(it.values[outside]))
    real = ~np.char.startswith(it.datasets.astype(str), "made_")
    weight = weights(it.datasets, positive, odds)[real]
    line = LogisticRegression(C=1e6).fit(held[real, None], positive[real], weight)
    head = fit_raw(it, positive, sign, SEEDS, odds)
    head["calibration"] = {"slope": float(line.coef_[0, 0]), "intercept": float(line.intercept_[0])}
    return head, line.predict_proba(held[:, None])[:, 1]


def logit(probability: Matrix) -> Matrix:
    """Log-odds."""
    safe = np.clip(probability, 1e-9, 1 - 1e-9)
    return np.log(safe / (1 - safe))


def fit(it: Table, odds: float) -> tuple[dict[str, Any], Matrix, Matrix]:
    """Fit both heads; also give out-of-fold P(supported) and P(contradicted | not supported) of every row."""
    supported, borne = fit_head(it, it.labels == "SUPPORTED", signs(it.names), odds)
    known = np.isin(it.labels, ["UNSUPPORTED", "CONTRADICTED"])
    part = it.part(known)
    contradicted, found = fit_head(part, part.labels == "CONTRADICTED", np.zeros(len(it.names)))
    against = Head.parse(contradicted).probability(it.values)
    against[known] = found
    return {"supported": supported, "contradicted": contradicted}, borne, against


def alarm(it: Table, borne: Matrix, against: Matrix) -> float:
    """Return the level from which a failing claim is called contradicted.

    It is the least hundredth from which on `PRECISION` of those called so are, claims of answers aside: so few of these
    are contradicted that most of those called so are right at any level.
    """
    apart = np.char.startswith(it.datasets.astype(str), "made_") | np.char.startswith(
        it.datasets.astype(str), "answers_"
    )
    said = np.where((it.labels != "NOT_SUPPORTED") & ~apart & (borne <= 0.5), (1 - borne) * against, 0.0)
    levels = np.arange(LEAST, 100) / 100
    good = (level for level in levels if np.mean(it.labels[said >= level] == "CONTRADICTED") >= PRECISION)
    return float(next(good, levels[-1]))


def whole(it: Table, borne: Matrix, right: dict[str, bool]) -> tuple[dict[str, float], dict[str, list[Any]]]:
    """Fit the probability that no claim of an answer is unsupported; also give every answer's numbers."""
    found: dict[str, list[float]] = defaultdict(list)
    names = {}
    for row, value in zip(it.rows, borne, strict=True):
        if row.dataset.startswith("answers_"):
            found[row.slice].append(float(value))
            names[row.slice] = row.dataset
    keys = sorted(found)
    numbers = np.array([Whole.numbers(found[key]) for key in keys])
    target = np.array([right[key] for key in keys])
    kinds = [(names[key], right[key]) for key in keys]
    weight = np.array([1.0 / kinds.count(kind) for kind in kinds])  # right and wrong ones of a data set weigh the same
    together = numbers @ np.array([[1.0], [LOWEST]])
    line = LogisticRegression(C=WHOLE_RIDGE).fit(together, target, weight * len(keys) / weight.sum())
    answers = {key: [row, bool(good), names[key]] for key, row, good in zip(keys, numbers, target, strict=True)}
    intercept, slope = float(line.intercept_[0]), float(line.coef_[0, 0])
    return {"intercept": round(intercept, 4), "mean": round(slope, 4), "lowest": round(slope * LOWEST, 4)}, answers


def show(it: Table, heads: dict[str, Any], level: float, answer: dict[str, float], right: dict[str, bool]) -> None:
    """Print what a fit gives on data that took no part."""
    borne, against = (Head.parse(heads[name]).probability(it.values) for name in ("supported", "contradicted"))
    high = (1 - borne) * against > level
    said = np.where(borne > 0.5, "SUPPORTED", np.where(high, "CONTRADICTED", "UNSUPPORTED"))
    positive = it.labels == "SUPPORTED"
    print(f"{'':24s}{'n':>6s}{'overlap':>9s}{'AUC':>7s}{'bal.acc':>9s}{'pairs':>7s}{'C of right':>12s}{'C prec':>8s}"
          f"{'C recall':>9s}")  # fmt: skip
    means: dict[str, list[float]] = defaultdict(list)
    for name in sorted(set(it.datasets)):
        here = it.datasets == name
        if here.sum() < 20 or len(set(positive[here])) < 2:
            continue
        auc = roc_auc_score(positive[here], borne[here])
        means["answers" if name.startswith("answers_") else "claims"].append(auc)
        loud, true = said[here] == "CONTRADICTED", it.labels[here] == "CONTRADICTED"
        print(f"{name:24s}{here.sum():6d}{roc_auc_score(positive[here], it.overlap[here]):9.3f}{auc:7.3f}"
              f"{balanced_accuracy_score(positive[here], borne[here] > 0.5):9.3f}{pairs_right(it, here, borne):7.2f}"
              f"{loud[positive[here]].mean():12.3f}{true[loud].mean() if loud.any() else 0:8.2f}"
              f"{loud[true].mean() if true.any() else 0:9.2f}")  # fmt: skip
    print({name: round(float(np.mean(values)), 4) for name, values in means.items()})
    _, answers = whole(it, borne, right)
    for name in sorted({of for _, _, of in answers.values()}):
        mine = [(row, good) for row, good, of in answers.values() if of == name]
        odds = [answer["intercept"] + answer["mean"] * row[0] + answer["lowest"] * row[1] for row, _ in mine]
        print(f"whole {name:18s}{len(mine):6d}{roc_auc_score([good for _, good in mine], odds):16.3f}")


def pairs_right(it: Table, here: Matrix, borne: Matrix) -> float:
    """Return the share of minimal pairs of which both claims are right."""
    members: dict[str, list[int]] = defaultdict(list)
    for i in np.flatnonzero(here):
        members[it.rows[i].slice].append(i)
    pairs = [two for two in members.values() if len(two) == 2 and len({it.labels[i] == "SUPPORTED" for i in two}) == 2]
    return float(np.mean([all((borne[i] > 0.5) == (it.labels[i] == "SUPPORTED") for i in two) for two in pairs] or [0]))


def write(path: Path, it: Table, about: dict[str, Any]) -> None:
    """Write a model as the judge reads it."""
    digest = hashlib.sha256("".join(sorted(f"{row.id} {row.label} {row.text}" for row in it.rows)).encode())
    config = {"trees": TREES, "rounds": ROUNDS, "ridge": RIDGE, "linear": LINEAR, "trust": TRUST}
    model = {
        "format": FORMAT, "version": VERSIONS[path.parts[-3]], "about": "Fitted by training/judge.py.",
        "features": it.names,
        "fitted_on": {"rows": len(it.rows), "hash": digest.hexdigest()[:16]}, "config": config,
        **about,
    }  # fmt: skip
    path.write_text(json.dumps(model, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"wrote {path}: {path.stat().st_size / 1e6:.2f} MB")


def main() -> None:
    """Measure, fit, test, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--made", type=Path, nargs="*", default=[], help="made claims that no network was trained on")
    parser.add_argument("--groups", type=Path, nargs="*", default=[], help="groups drawn by parallels.py and values.py")
    parser.add_argument("--network", type=Path, default=Path("src/everyclaim/models/data/reader.onnx"))
    parser.add_argument("--cache", type=Path, required=True, help="file for measured features, outside the repository")
    parser.add_argument("--drop", nargs="*", default=[], help="features to leave out, by how their names begin")
    parser.add_argument("--out", type=Path, help="folder of the judges whose models to write")
    options = parser.parse_args()
    rows = read_rows(options.data, options.made, options.groups)
    fitted, test = (measure(part, options.network, options.cache) for part in (rows.fitted, rows.tested))
    for judge, drop in (("embedded", COVERAGE), ("lexical", ("read_",))):
        it, other = fitted.without([*drop, *options.drop]), test.without([*drop, *options.drop])
        heads, borne, against = fit(it, ODDS[judge])
        level = alarm(it, borne, against)
        answer, _ = whole(it, borne, rows.right)
        print(f"\n{judge}: {len(it.rows)} rows, {len(it.names)} features, alarm {level}, answers {answer}")
        show(other, heads, level, answer, rows.right)
        if options.out:
            write(options.out / judge / "data" / "model.json", it, {"heads": heads, "alarm": level, "answer": answer})


if __name__ == "__main__":
    main()

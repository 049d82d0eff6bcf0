r"""Fit the embedded judge to RAG answers: what the network and the checks say, weighed anew, held to the fit before.

    python training/answers/fit.py --data DATA --made PROBE.jsonl TESTED.jsonl --cache FEATURES.pkl \
        --start MODEL.json [--halves A.onnx [B.onnx]] --out src/everyclaim/verify/embedded/data/model.json

A network that was trained on marked answers knows their claims by heart. `--halves` are two, each trained on the
answers to one half of the documents (`rows.py`); every answer is then read by the one that has not seen its document.
With the first alone, nothing is fitted on answers of the documents that it has read.

`--start` is a model of `training/encoder/stack.py` (or of this script). Its members stay as they are; boosted trees are
fitted to what they leave over, on claims of marked answers and on labelled claims of other kinds that the network has
not read, and count with a share (`SHARE`) below one, so that on text of another kind the old fit prevails. Then:

- the level at which a claim counts as supported (`CUT`); the levels of an alarm (the least from which on `PRECISION` of
  the claims called CONTRADICTED are, as the mean of answers and of other claims); the probability of whole answers: all
  on predictions for documents that the trees have not seen;
- tables on data that took no part: other documents' answers, the other half of the development claims; and every
  family of claims left out of the fit in turn.

Measuring takes long and fitting does not: what was measured is kept in `--cache`; remove it when features change.
"""

from __future__ import annotations

import argparse
import json
import pickle
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

if __package__ in (None, ""):
    import sys

    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "encoder")]
from stack import joined_up, made_rows, stacked, table

import lexical
from answers.claims import LabelledAnswer, split_answers
from answers.read import from_json_lines, from_texts, public_passages
from answers.rows import half
from everyclaim.verify.lexical.model import FORMAT, Head, Whole, is_named
from lexical_data import Row, fitted_half, share, split

VERSION = "7"
SHARE = 0.65  # of the new trees; 0 is the fit before
CUT = 0.5  # probability, before the shift, that becomes one half
PRECISION = 0.80
# Least levels of an alarm, in hundredths: where no check names a reason, below that hardly a claim of an answer was
# contradicted.
LEAST = {"named": 50, "other": 90}
_AT_ONCE = 2000  # rows measured before the file is written
MADE = 0.4  # share of the made claims that take part
TREES = {
    "objective": "binary", "num_leaves": 12, "learning_rate": 0.03, "feature_fraction_bynode": 0.2,
    "bagging_fraction": 0.8, "bagging_freq": 1, "lambda_l2": 10.0, "min_data_in_leaf": 30, "verbose": -1,
    "deterministic": True, "num_threads": 1,
}  # fmt: skip
ROUNDS = 300
SEEDS = (0, 1, 2)
RIDGE = 0.1  # of the probability of whole answers: how freely its two weights are chosen
TRUST = 3.0  # of answers: times the square root of its size is what a data set weighs

Matrix = np.ndarray


def answer_rows(answers: list[LabelledAnswer]) -> list[tuple[Row, str]]:
    """Turn the claims of answers into rows, each with its parent sentence; those without a label are left out."""
    rows = []
    for one, claims, labels, _ in answers:
        name = f"answers_{one.task}" if one.dataset == "ragtruth" else f"answers_{one.dataset}"
        for claim, label in zip(claims, labels, strict=True):
            if label is not None:
                rows.append((Row(f"{one.id}-{claim.id}", name, "claim", one.question, one.contexts, claim.text, label,
                                 one.group, one.id), claim.sentence))  # fmt: skip
    return rows


def measured(options: argparse.Namespace) -> tuple[Any, Any, dict[str, bool]]:
    """Measure the rows to fit on and those to test on; say of each answer whether it is right."""
    known = public_passages(options.data)
    ours = list(from_texts(known))
    fit = [*from_json_lines(options.data / "answers" / "train.jsonl.xz"), *(one for one in ours if not one.tested)]
    test = [*from_json_lines(options.data / "answers" / "dev.jsonl.xz"), *(one for one in ours if one.tested)]
    right = {one.id: not one.faults for one in (*fit, *test)}
    _, claims = split(options.data)
    made = [pair for path in options.made for pair in made_rows(path) if share(f"made {pair[0].id}") < MADE]
    cache = Measurements(options)
    parts = []
    for name, answers, others in (
        ("fit", fit, [*((row, "") for row in claims if fitted_half(row.group)), *made]),
        ("test", test, [(row, "") for row in claims if not fitted_half(row.group)]),
    ):
        rows = answer_rows(list(split_answers(answers)))
        print(f"{name}: {len(rows)} claims of {len(answers)} answers, {len(others)} others", flush=True)
        readers = options.halves if name == "fit" and options.halves else [options.network] * 2
        pairs = ((row, sentence, stranger(row, readers)) for row, sentence in (*rows, *others))
        parts.append(cache.table([(row, sentence, network) for row, sentence, network in pairs if network]))
    return (*parts, right)


def in_order(it: Any, first: list[str]) -> Any:
    """Put the features that a model knows before those it does not, in its order."""
    if lacking := [name for name in first if name not in it.names]:
        raise SystemExit(f"features of --start that are no longer measured: {', '.join(lacking)}")
    names = [*first, *(name for name in it.names if name not in first)]
    return joined_up(names, it.values[:, [it.names.index(name) for name in names]], it.overlap, it.rows)


def stranger(row: Row, halves: Sequence[Path]) -> Path | None:
    """Give the network that has not read the document of an answer; of the halves for any other claim, either."""
    if not row.dataset.startswith("answers_"):
        return halves[share(f"reader {row.id}") < 0.5 * (len(halves) - 1)]
    if half(row.group) == "b":
        return halves[0]
    return halves[1] if len(halves) > 1 else None


class Measurements:
    """What was measured of every row, kept in a file: only what is new is measured."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._path: Path = options.cache
        self._kept: dict[tuple[str, ...], Any] = {}
        self._names: list[str] = []
        if self._path.exists():
            self._names, self._kept = pickle.loads(self._path.read_bytes())  # noqa: S301 -- the caller's own file

    def table(self, rows: list[tuple[Row, str, Path]]) -> Any:
        """Return a table of the rows that have anything to measure, each read by the network beside it."""
        for network in sorted({network for _, _, network in rows}):
            missing = [(row, s) for row, s, mine in rows if mine == network and _key(row, s, mine) not in self._kept]
            for start in range(0, len(missing), _AT_ONCE):
                self._measure(missing[start : start + _AT_ONCE], network)
                print(f"{network}: {min(start + _AT_ONCE, len(missing))} of {len(missing)} measured", flush=True)
        found = [(row, kept) for row, s, mine in rows if (kept := self._kept[_key(row, s, mine)]) is not None]
        values, overlap = np.array([kept[0] for _, kept in found]), np.array([kept[1] for _, kept in found])
        return joined_up(self._names, values, overlap, [row for row, _ in found])

    def _measure(self, rows: list[tuple[Row, str]], network: Path) -> None:
        sentences = {row.id: sentence for row, sentence in rows}
        found = table(rows, network, self._options.tokens, self._options.threads)
        self._names = found.names or self._names
        self._kept |= {_key(row, sentence, network): None for row, sentence in rows}
        for row, values, overlap in zip(found.rows, found.values, found.overlap, strict=True):
            self._kept[_key(row, sentences[row.id], network)] = (values, overlap)
        self._path.write_bytes(pickle.dumps((self._names, self._kept)))


def _key(row: Row, sentence: str, network: Path) -> tuple[str, ...]:
    return (network.name, row.text, sentence, row.question, *row.contexts)


def weights(datasets: Matrix, positive: Matrix) -> Matrix:
    """Weigh every data set by the square root of its size, both of its classes the same."""
    result = np.zeros(len(datasets))
    for name in set(datasets):
        trust = TRUST if name.startswith("answers_") else lexical.MADE_TRUST if name.startswith("made_") else 1.0
        for side in (False, True):
            cell = (datasets == name) & (positive == side)
            if cell.any():
                result[cell] = (datasets == name).sum() ** 0.5 * trust / 2 / cell.sum()
    return np.minimum(result, 20 * np.median(result)) / result.mean()


def trees(it: Any, use: Matrix, positive: Matrix, before: Matrix) -> list[lightgbm.Booster]:
    """Fit trees to what the log-odds `before` leave over, once per seed."""
    weight = weights(it.datasets[use], positive[use])
    return [
        lightgbm.train(
            {**TREES, "seed": seed},
            lightgbm.Dataset(it.values[use], label=positive[use].astype(float), weight=weight, init_score=before[use]),
            num_boost_round=ROUNDS,
        )
        for seed in SEEDS
    ]


def grown(boosters: list[lightgbm.Booster], values: Matrix) -> Matrix:
    """Return the mean log-odds that the trees add."""
    return np.mean([booster.predict(values, raw_score=True) for booster in boosters], axis=0)


def held_out(it: Any, use: Matrix, positive: Matrix, before: Matrix) -> Matrix:
    """Return log-odds of the rows in `use`, each by trees that have not seen its group."""
    places = np.flatnonzero(use)
    odds = before.copy()
    for inside, outside in GroupKFold(4).split(places, groups=it.groups[places]):
        seen = np.zeros(len(use), dtype=bool)
        seen[places[inside]] = True
        odds[places[outside]] += SHARE * grown(trees(it, seen, positive, before), it.values[places[outside]])
    return odds


def as_members(boosters: list[lightgbm.Booster]) -> list[dict[str, Any]]:
    """Write boosters as members of a head; each counts for its part of `SHARE`."""
    return [
        {
            "share": SHARE / len(boosters), "kind": "trees", "base": 0.0,
            "nodes": [_tree(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]],
        }
        for booster in boosters
    ]  # fmt: skip


def _tree(root: dict[str, Any]) -> dict[str, list[float]]:
    """Write one of LightGBM's trees as lists, children after their parents."""
    lists: dict[str, list[float]] = {name: [] for name in ("feature", "threshold", "left", "right", "value")}

    def place(node: dict[str, Any]) -> int:
        number = len(lists["feature"])
        is_leaf = "leaf_value" in node
        lists["feature"].append(-1 if is_leaf else node["split_feature"])
        lists["threshold"].append(0.0 if is_leaf else node["threshold"])
        lists["value"].append(round(node["leaf_value"], 6) if is_leaf else 0.0)
        lists["left"].append(0)
        lists["right"].append(0)
        if not is_leaf:
            lists["left"][number] = place(node["left_child"])
            lists["right"][number] = place(node["right_child"])
        return number

    place(root)
    return lists


def extended(head: dict[str, Any], boosters: list[lightgbm.Booster], features: int) -> dict[str, Any]:
    """Add trees to a head; its calibration moves into its members, so that all of them add up log-odds.

    Features that came after those members weigh nothing in them.
    """
    slope, intercept = head["calibration"]["slope"], head["calibration"]["intercept"]
    members = [{**_widened(member, features), "share": member["share"] * slope} for member in head["members"]]
    return {"members": [*members, *as_members(boosters)], "calibration": {"slope": 1.0, "intercept": intercept}}


def _widened(member: dict[str, Any], features: int) -> dict[str, Any]:
    if member["kind"] != "linear":
        return member
    more = features - len(member["weight"])
    longer = {"mean": 0.0, "scale": 1.0, "weight": 0.0}
    return {**member, **{name: [*member[name], *[usual] * more] for name, usual in longer.items()}}


def precision(label: Matrix, supported: Matrix, contradicted: Matrix, level: float) -> float:
    """Return how many of the claims called contradicted from a level on are; 1 where none is."""
    called = ((1 - supported) * contradicted >= level) & (supported <= 0.5)
    return float((label[called] == "CONTRADICTED").mean()) if called.any() else 1.0


def differs(it: Any) -> Matrix:
    """Say of which claims an exact check names what speaks against them."""
    return np.array([is_named(dict(zip(it.names, row, strict=True))) for row in it.values])


def alarms(it: Any, supported: Matrix, contradicted: Matrix) -> dict[str, float]:
    """Return the levels of alarm, where a checked difference names the reason and where none does.

    Each is the least hundredth from which on `PRECISION` of those called contradicted are, as the mean of answers and
    of other claims: of answers too few are called for a level of their own.
    """
    known = (it.labels != "NOT_SUPPORTED") & ~np.char.startswith(it.datasets.astype(str), "made_")
    is_answer, named = np.char.startswith(it.datasets.astype(str), "answers_"), differs(it)
    found = {}
    for name, inside in (("named", named), ("other", ~named)):
        parts = [known & inside & kind for kind in (is_answer, ~is_answer)]
        for hundredth in range(LEAST[name], 101):
            level = hundredth / 100
            precise = [precision(it.labels[use], supported[use], contradicted[use], level) for use in parts]
            if np.mean(precise) >= PRECISION:
                break
        print(f"alarm, {name}, from {level}: right {precise[0]:.2f} of answers, {precise[1]:.2f} of other claims")
        found[name] = level
    return found


def whole(
    it: Any, odds: Matrix, right: dict[str, bool]
) -> tuple[dict[str, float], dict[str, tuple[list[float], bool, str]]]:
    """Fit the probability that none of an answer's claims is unsupported; also give each answer's numbers."""
    found: dict[str, list[float]] = defaultdict(list)
    name = {}
    for row, value in zip(it.rows, odds, strict=True):
        if row.dataset.startswith("answers_"):
            found[row.slice].append(float(1 / (1 + np.exp(-value))))
            name[row.slice] = row.dataset
    keys = sorted(found)
    numbers = np.array([Whole.numbers(found[key]) for key in keys])
    target = np.array([right[key] for key in keys])
    weight = np.array([1.0 / sum(other == name[key] for other in name.values()) for key in keys])
    line = LogisticRegression(C=RIDGE).fit(numbers, target, weight * len(keys) / weight.sum())
    answers = {
        key: ([*row.tolist(), len(found[key])], bool(good), name[key])
        for key, row, good in zip(keys, numbers, target, strict=True)
    }
    names = ("mean", "lowest")
    return {"intercept": round(float(line.intercept_[0]), 4)} | {
        name: round(float(weight), 4) for name, weight in zip(names, line.coef_[0], strict=True)
    }, answers


def show(title: str, it: Any, scores: dict[str, Matrix]) -> None:
    """Print ROC-AUC of scores by data set, and their means over answers and over other claims."""
    print(f"\n{title}\n{'':24s}{'n':>7s}" + "".join(f"{name:>12s}" for name in scores))
    means: dict[bool, list[list[float]]] = {True: [], False: []}
    positive = it.labels == "SUPPORTED"
    for name in sorted(set(it.datasets)):
        here = it.datasets == name
        if here.sum() < 20 or len(set(positive[here])) < 2 or name.startswith("made_"):
            continue
        line = [float(roc_auc_score(positive[here], score[here])) for score in scores.values()]
        means[name.startswith("answers_")].append(line)
        print(f"{name:24s}{here.sum():7d}" + "".join(f"{value:12.3f}" for value in line))
    for is_answers, lines in means.items():
        if lines:
            what = "mean of answers" if is_answers else "mean of claims"
            print(f"{what:24s}{'':7s}" + "".join(f"{value:12.3f}" for value in np.mean(lines, axis=0)))


def leave_families_out(both: Any, before: Matrix, fitted: Matrix) -> Matrix:
    """Score every family of claims by trees fitted without it."""
    positive = both.labels == "SUPPORTED"
    odds = before.copy()
    families = sorted({family for family in both.families if not family.startswith(("answers_", "made_"))})
    for family in families:
        here = both.families == family
        odds[here] += SHARE * grown(trees(both, fitted & ~here, positive, before), both.values[here])
    return odds


def main() -> None:
    """Measure, fit, test, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--made", type=Path, nargs="*", default=[], help="made claims that no network was trained on")
    parser.add_argument("--cache", type=Path, required=True, help="file for measured features, outside the repository")
    parser.add_argument("--start", type=Path, required=True, help="the model to begin from")
    parser.add_argument("--network", type=Path, default=Path("src/everyclaim/models/data/reader.onnx"))
    parser.add_argument("--halves", type=Path, nargs="+", help="networks, each trained on half of the documents")
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--leave-out", action="store_true", help="also leave every family of claims out in turn")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    start = json.loads(options.start.read_text(encoding="utf-8"))
    heads = {name: Head.parse(head) for name, head in start["heads"].items()}
    *tables, right = measured(options)
    it, test = (in_order(each, start["features"]) for each in tables)
    known = len(start["features"])
    odds = {name: lexical.logit(head.probability(it.values[:, :known])) for name, head in heads.items()}
    positive, every = it.labels == "SUPPORTED", np.ones(len(it.rows), dtype=bool)
    failing = np.isin(it.labels, ["UNSUPPORTED", "CONTRADICTED"])
    against = it.labels == "CONTRADICTED"
    unseen = {
        "supported": held_out(it, every, positive, odds["supported"]),
        "contradicted": held_out(it, failing, against, odds["contradicted"]),
    }
    shift = -float(lexical.logit(np.array(CUT)))
    supported, contradicted = (1 / (1 + np.exp(-unseen[name])) for name in ("supported", "contradicted"))
    level = alarms(it, supported, contradicted)
    answer, _ = whole(it, unseen["supported"] + shift, right)
    boosters = {
        "supported": trees(it, every, positive, odds["supported"]),
        "contradicted": trees(it, failing, against, odds["contradicted"]),
    }
    fitted = {name: extended(start["heads"][name], boosters[name], len(it.names)) for name in boosters}
    fitted["supported"]["calibration"]["intercept"] += shift
    show("other documents, other halves", test, {
        "overlap": test.overlap, "before": heads["supported"].probability(test.values[:, :known]),
        "now": Head.parse(fitted["supported"]).probability(test.values)})  # fmt: skip
    print(f"\nalarm {level}; answers {answer}")
    try_out(test, fitted, level, answer, right)
    if options.leave_out:
        both = stacked([it, test])
        before = lexical.logit(heads["supported"].probability(both.values[:, :known]))
        inside = np.concatenate([every, ~np.char.startswith(test.datasets.astype(str), "answers_")])
        left = leave_families_out(both, before, inside)
        claims = ~np.char.startswith(both.datasets.astype(str), "answers_")
        part = joined_up(both.names, both.values[claims], both.overlap[claims],
                         [row for row, use in zip(both.rows, claims, strict=True) if use])  # fmt: skip
        show(
            "families of claims left out",
            part,
            {"overlap": part.overlap, "before": before[claims], "now": left[claims]},
        )
    if options.out:
        write(options.out, it, start, {"heads": fitted, "alarm": level, "answer": answer})


def write(path: Path, it: Any, start: dict[str, Any], found: dict[str, Any]) -> None:
    """Write the model as the verifier reads it."""
    settings = {
        "share": SHARE,
        "rounds": ROUNDS,
        "trees": TREES,
        "trust": TRUST,
        "cut": CUT,
        "precision": PRECISION,
    }
    model = {
        **start, **found, "format": FORMAT, "version": VERSION, "features": it.names,
        "about": "Fitted by training/encoder/stack.py and training/answers/fit.py.",
        "fitted_on": {"before": start["fitted_on"], "rows": len(it.rows), "hash": lexical.data_hash(it.rows)},
        "config": {**start["config"], "answers": settings},
    }  # fmt: skip
    path.write_text(json.dumps(model, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"\nwrote {path}: {path.stat().st_size / 1e6:.2f} MB")


def try_out(
    test: Any, fitted: dict[str, Any], level: dict[str, float], answer: dict[str, float], right: dict[str, bool]
) -> None:
    """Print labels and whole answers on data that took no part."""
    supported, contradicted = (
        Head.parse(fitted[name]).probability(test.values) for name in ("supported", "contradicted")
    )
    said = np.where(
        supported > 0.5,
        "SUPPORTED",
        np.where(
            (1 - supported) * contradicted > np.where(differs(test), level["named"], level["other"]),
            "CONTRADICTED",
            "UNSUPPORTED",
        ),
    )
    print(f"\n{'':24s}{'supported':>10s}{'called so':>10s}{'wrong':>8s}{'flagged':>8s}{'called contradicted':>20s}"
          f"{'right':>7s}{'not supp.':>10s}{'recall':>8s}")  # fmt: skip
    names = [*sorted({name for name in test.datasets if name.startswith("answers_")}), "claims, known"]
    for name in names:
        here = test.datasets == name if name.startswith("answers_") else (
            ~np.char.startswith(test.datasets.astype(str), "answers_") & (test.labels != "NOT_SUPPORTED"))  # fmt: skip
        good, called = test.labels[here] == "SUPPORTED", said[here]
        loud = called == "CONTRADICTED"
        true = test.labels[here] == "CONTRADICTED"
        print(f"{name:24s}{good.sum():10d}{(called[good] == 'SUPPORTED').mean():10.2f}{(~good).sum():8d}"
              f"{(called[~good] != 'SUPPORTED').mean():8.2f}{loud.sum():20d}{true[loud].mean():7.2f}"
              f"{(~good)[loud].mean():10.2f}{loud[true].mean():8.2f}")  # fmt: skip
    _, answers = whole(test, lexical.logit(supported), right)
    print(f"\n{'whole answers':24s}{'n':>7s}{'right':>8s}{'AUC':>8s}{'length':>8s}{'stated':>8s}")
    for name in names[:-1]:
        mine = [(numbers, good) for numbers, good, of in answers.values() if of == name]
        target = np.array([good for _, good in mine])
        odds = np.array([answer["intercept"] + answer["mean"] * a + answer["lowest"] * b for (a, b, _), _ in mine])
        stated, length = (1 / (1 + np.exp(-odds))).mean(), roc_auc_score(target, [-count for (_, _, count), _ in mine])
        print(
            f"{name:24s}{len(mine):7d}{target.mean():8.2f}{roc_auc_score(target, odds):8.3f}{length:8.3f}{stated:8.2f}"
        )


if __name__ == "__main__":
    main()

"""How much `everyclaim judge tune` gains on kinds of text that its model has not seen, by the number of labels.

    python benchmarks/accuracy/tuning.py --data DATA --made PROBE.jsonl TESTED.jsonl --cache FEATURES.bin [--json FILE]

Teams are pretended: each is one kind of text (RAG answers to questions, over records, summaries of news; answers
written for this project; sets of labelled claims). For each the embedded judge is fitted anew **without** that kind,
by `training/judge.py`, whose options these are. Then, for every number of labels and every seed: half of the
kind's documents are drawn from, claims of at most a tenth of the labels per document; `fit_tuning` fits, or refuses;
and the gain over the untuned judge is measured on the claims of the other half. A fit that is refused gains nothing.

Printed are the share of fits that were not refused, and mean and tenth percentile over seeds of the gain in ROC-AUC
and in balanced accuracy; The
worst of all seeds is beside them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))
import judge
from everyclaim.analysis.labels import LabelledItem
from everyclaim.analysis.tuning import balanced_accuracy, fit_tuning
from everyclaim.stats.thresholds import roc_auc
from everyclaim.verify.embedded.verifier import log_odds, parse_tuning
from everyclaim.verify.lexical.features import COVERAGE
from everyclaim.verify.lexical.model import FORMAT, Model
from judge_rows import Table, joined, measure, read_rows

KINDS = {
    "questions": ("answers_qa",),
    "records": ("answers_data2txt",),
    "summaries": ("answers_summary",),
    "written answers": ("answers_written",),
    "tables": ("infotabs",),
    "dialogue": ("true_dialfact",),
    "paraphrases": ("true_paws",),
    "inference": ("mnli_taxi",),
    "edited claims": ("written",),
}
SIZES = (50, 100, 200, 400, 800)
_PER_DOCUMENT = 10  # at most one in so many labels is of one document
_TOKENS = 96


def model_without(both: Table, fitted: np.ndarray, kind: tuple[str, ...]) -> Model:
    """Fit the judge as it is shipped, to everything but a kind and its documents."""
    here = np.isin(both.datasets, kind)
    use = fitted & ~here & ~np.isin(both.groups, np.unique(both.groups[here]))
    heads, _, _ = judge.fit(both.part(use), judge.ODDS["embedded"])
    return Model.parse({"format": FORMAT, "version": "without", "features": both.names, "heads": heads, "alarm": 0.7})


def drawn(groups: np.ndarray, size: int, seed: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Draw claims to label from half of the documents, and give them and the claims of the other half."""
    random = np.random.default_rng(seed)
    order = random.permutation(np.unique(groups))
    half = order[: len(order) // 2]
    places: list[int] = []
    for group in half:
        mine = random.permutation(np.flatnonzero(groups == group))
        places += mine[: max(3, size // _PER_DOCUMENT)].tolist()
    if len(places) < size:
        return None
    return np.array(places[:size]), np.flatnonzero(~np.isin(groups, half))


def gains(table: Table, model: Model, size: int, seeds: int) -> Iterator[tuple[bool, float, float]]:
    """Say for every seed whether the fit was kept, and what ROC-AUC and balanced accuracy gain by it."""
    features = [dict(zip(table.names, map(float, row), strict=True)) for row in table.values]
    shipped = log_odds(model.predict(features)[0])
    truth = table.labels == "SUPPORTED"
    for seed in range(seeds):
        parts = drawn(table.groups, size, seed)
        if parts is None:
            return
        labelled, others = parts
        rows = [LabelledItem(features[i], str(table.labels[i]), str(table.groups[i])) for i in labelled]
        found = fit_tuning(rows, model, tokens=_TOKENS)
        if not found.helps:
            yield False, 0.0, 0.0
            continue
        by = parse_tuning(found.content, "the fit").adjustment
        tuned = by.log_odds(shipped[others], [features[i] for i in others])
        before, after = (
            (measure(truth[others], shipped[others]), measure(truth[others], tuned))
            for measure in (roc_auc, balanced_accuracy)
        )
        yield True, before[1] - before[0], after[1] - after[0]


def line(kind: str, size: int, found: list[tuple[bool, float, float]]) -> dict[str, Any]:
    """Sum up the seeds."""
    kept, auc, accuracy = (np.array(column, dtype=float) for column in zip(*found, strict=True))
    return {
        "kind": kind, "labels": size, "fits": len(found), "kept": round(float(kept.mean()), 2),
        **{
            f"{name}_{what}": round(float(value), 4)
            for name, values in (("auc", auc), ("balanced_accuracy", accuracy))
            for what, value in (("mean", values.mean()), ("p10", np.quantile(values, 0.1)), ("worst", values.min()))
        },
    }  # fmt: skip


def main() -> None:
    """Fit without, tune, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--made", type=Path, nargs="*", default=[])
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--network", type=Path, default=Path("src/everyclaim/models/data/reader.onnx"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--kind", action="append", choices=[*KINDS], help="repeatable (all)")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = read_rows(options.data, options.made, ())
    measured = (measure(part, options.network, options.cache) for part in (rows.fitted, rows.tested))
    table, test = (part.without(COVERAGE) for part in measured)
    both = joined([table, test])
    fitted = np.arange(len(both.rows)) < len(table.rows)
    print(
        f"{'':17s}{'labels':>7s}{'kept':>6s}{'ROC-AUC':>9s}{'p10':>8s}{'worst':>8s}{'bal.acc':>9s}{'p10':>8s}{'worst':>8s}"
    )
    lines = []
    for kind in options.kind or KINDS:
        here = np.isin(both.datasets, KINDS[kind])
        mine = both.part(here)
        model = model_without(both, fitted, KINDS[kind])
        for size in SIZES:
            if not (found := list(gains(mine, model, size, options.seeds))):
                continue
            it = line(kind, size, found)
            lines.append(it)
            print(f"{kind:17s}{size:7d}{it['kept']:6.2f}" + "".join(
                f"{it[f'{name}_{what}']:+{width}.3f}" for name in ("auc", "balanced_accuracy")
                for what, width in (("mean", 9), ("p10", 8), ("worst", 8))), flush=True)  # fmt: skip
    if options.json:
        options.json.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

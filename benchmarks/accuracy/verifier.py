"""How well a verifier labels claims, against people's labels and against plain word overlap.

    python benchmarks/accuracy/verifier.py DATA/claims/dev.jsonl.xz [MORE …] [--spec lexical] [--by dataset unit family]

Reads JSON lines with `text`, `contexts`, `label` (SUPPORTED, UNSUPPORTED, CONTRADICTED, or NOT_SUPPORTED where it is
not known which of the last two), and `dataset`, `unit`, `group`, `question` where given. Prints per data set, unit and
family, then over all: ROC-AUC of P(supported), balanced accuracy of supported or not at the verifier's own threshold,
expected calibration error (ten bins), all with 95 % intervals from resampling whole groups; three-way macro F1 and
the recall and precision of CONTRADICTED where all three are labelled. `--held-out` keeps only the groups of `written`
that the shipped model was not fitted on. `--noise` judges every claim again with its passages doubled, turned around
and put among passages of other claims, and prints how many labels stayed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from everyclaim.api.components import build_verifier
from everyclaim.core.types import Claim, Passage, Span
from everyclaim.verify.lexical.overlap import word_overlap

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))
from lexical_data import FAMILIES, HELD_OUT, share

NAMES = ("SUPPORTED", "UNSUPPORTED", "CONTRADICTED")


@dataclass(frozen=True)
class Judged:
    """Columns over all claims."""

    label: np.ndarray
    predicted: np.ndarray
    supported: np.ndarray
    overlap: np.ndarray
    group: np.ndarray
    keys: dict[str, np.ndarray]


def rows(paths: list[Path], *, held_out: bool) -> Iterator[dict[str, Any]]:
    """Read labelled claims."""
    for path in paths:
        with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as stream:
            for text in stream:
                row = json.loads(text)
                if not (held_out and row.get("dataset") == "written" and share(row["group"]) >= HELD_OUT):
                    yield row


def texts_of(row: dict[str, Any]) -> list[str]:
    """The passages of a row, as texts."""
    return [text if isinstance(text, str) else text.get("text", "") for text in row["contexts"]]


async def ask(verifier: Any, row: dict[str, Any], texts: list[str]) -> Any:
    """One verdict."""
    passages = [Passage(f"p{i}", text) for i, text in enumerate(texts)]
    claim = Claim("c1", row["text"], Span(0, len(row["text"])), row["text"])
    return (await verifier.verify([claim], passages, question=row.get("question") or ""))[0]


async def judge_in_noise(verifier: Any, data: list[dict[str, Any]], predicted: np.ndarray) -> dict[str, float]:
    """Share of labels that stay when passages are doubled, turned around, or put among three strange ones."""
    same = {"doubled": 0, "turned around": 0, "among three strange": 0}
    for number, (row, label) in enumerate(zip(data, predicted, strict=True)):
        texts = texts_of(row)
        strange = [texts_of(data[(number * 31 + k * 997 + 389) % len(data)])[0][:3000] for k in range(3)]
        for name, changed in zip(same, (texts + texts, texts[::-1], [strange[0], *texts, *strange[1:]]), strict=True):
            same[name] += (await ask(verifier, row, changed)).label.value == label
    return {name: count / len(data) for name, count in same.items()}


async def judge(verifier: Any, data: list[dict[str, Any]]) -> tuple[Judged, float]:
    """Judge every claim; also give the seconds the verifier took."""
    verdicts = []
    seconds = 0.0
    overlap = []
    for row in data:
        began = time.perf_counter()
        verdicts.append(await ask(verifier, row, texts_of(row)))
        seconds += time.perf_counter() - began
        overlap.append(word_overlap(row["text"], texts_of(row)))
    dataset = [row.get("dataset", "") for row in data]
    columns = Judged(
        label=np.array([row["label"] for row in data]),
        predicted=np.array([verdict.label.value for verdict in verdicts]),
        supported=np.array(
            [verdict.probabilities.supported if verdict.probabilities else np.nan for verdict in verdicts]
        ),
        overlap=np.array(overlap),
        group=np.array([str(row.get("group", i)) for i, row in enumerate(data)]),
        keys={
            "dataset": np.array(dataset),
            "unit": np.array([row.get("unit", "") for row in data]),
            "family": np.array([FAMILIES.get(name, name) for name in dataset]),
        },
    )
    return columns, seconds


def auc(target: np.ndarray, score: np.ndarray) -> float:
    """Area under the ROC curve: the chance that a supported claim scores above one that is not."""
    if target.all() or not target.any():
        return float("nan")
    _, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positive = target.sum()
    return float((ranks[target].sum() - positive * (positive + 1) / 2) / (positive * (len(target) - positive)))


def balanced(target: np.ndarray, said: np.ndarray) -> float:
    """Mean of sensitivity and specificity."""
    if target.all() or not target.any():
        return float("nan")
    return float((said[target].mean() + (~said[~target]).mean()) / 2)


def calibration_error(target: np.ndarray, score: np.ndarray) -> float:
    """Mean gap between the probability stated and the share found, over ten equal bins."""
    bins = np.minimum((score * 10).astype(int), 9)
    gaps = [
        abs(score[bins == b].mean() - target[bins == b].mean()) * (bins == b).mean()
        for b in range(10)
        if (bins == b).any()
    ]
    return float(sum(gaps))


def three_way(label: np.ndarray, predicted: np.ndarray) -> tuple[float, float, float]:
    """Macro F1, and recall and precision of CONTRADICTED, over rows whose label is one of the three."""
    known = np.isin(label, NAMES)
    label, predicted = label[known], predicted[known]
    if set(label) != set(NAMES):
        return (float("nan"),) * 3
    scores = []
    for name in NAMES:
        hit = ((label == name) & (predicted == name)).sum()
        scores.append(2 * hit / max(1, (label == name).sum() + (predicted == name).sum()))
    hit = ((label == "CONTRADICTED") & (predicted == "CONTRADICTED")).sum()
    return (
        float(np.mean(scores)),
        hit / (label == "CONTRADICTED").sum(),
        hit / max(1, (predicted == "CONTRADICTED").sum()),
    )


def interval(measure: Callable[[np.ndarray], float], groups: np.ndarray, draws: int) -> tuple[float, float]:
    """95 % percentile interval from resampling whole groups, seeded."""
    rng = np.random.default_rng(11)
    _, number = np.unique(groups, return_inverse=True)
    order = np.argsort(number, kind="stable")
    edges = np.searchsorted(number[order], np.arange(number.max() + 2))
    values = []
    for _ in range(draws):
        drawn = rng.integers(0, number.max() + 1, number.max() + 1)
        values.append(measure(np.concatenate([order[edges[g] : edges[g + 1]] for g in drawn])))
    low, high = np.nanpercentile(values, (2.5, 97.5)) if not np.isnan(values).all() else (np.nan, np.nan)
    return float(low), float(high)


def line(name: str, here: np.ndarray, judged: Judged, draws: int) -> dict[str, Any]:
    """All figures of one part of the data."""
    target, said = judged.label[here] == "SUPPORTED", judged.predicted[here] == "SUPPORTED"
    score, overlap, groups = judged.supported[here], judged.overlap[here], judged.group[here]
    macro, recall, precision = three_way(judged.label[here], judged.predicted[here])
    return {
        "name": name,
        "claims": int(here.sum()),
        "overlap_auc": auc(target, overlap),
        "auc": auc(target, score),
        "auc_interval": interval(lambda i: auc(target[i], score[i]), groups, draws),
        "gain_interval": interval(lambda i: auc(target[i], score[i]) - auc(target[i], overlap[i]), groups, draws),
        "balanced_accuracy": balanced(target, said),
        "balanced_accuracy_interval": interval(lambda i: balanced(target[i], said[i]), groups, draws),
        "calibration_error": calibration_error(target, score),
        "macro_f1": macro,
        "contradicted_recall": recall,
        "contradicted_precision": precision,
    }


def show(title: str, lines: list[dict[str, Any]]) -> None:
    """Print one table."""
    head = "overlap      AUC  [95 %]          gain [95 %]        bal.acc  [95 %]           ECE  macroF1"
    head += "  c.rec   c.prec"
    print(f"\n{title:22s} claims  {head}")
    for it in lines:
        (a, b), (c, d), (e, f) = it["auc_interval"], it["gain_interval"], it["balanced_accuracy_interval"]
        print(
            f"{it['name']:22s}{it['claims']:7d}   {it['overlap_auc']:.3f}    {it['auc']:.3f}  [{a:.3f}, {b:.3f}]"
            f"  [{c:+.3f}, {d:+.3f}]    {it['balanced_accuracy']:.3f}  [{e:.3f}, {f:.3f}]"
            f"  {it['calibration_error']:.3f}    {it['macro_f1']:.3f}"
            f"    {it['contradicted_recall']:.3f}     {it['contradicted_precision']:.3f}"
        )


def main() -> None:
    """Judge, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--spec", default="lexical")
    parser.add_argument("--by", nargs="*", default=["dataset", "unit", "family"], choices=["dataset", "unit", "family"])
    parser.add_argument("--draws", type=int, default=300, help="resamples for the intervals")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--noise", action="store_true")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    options = parser.parse_args()
    data = list(rows(options.files, held_out=options.held_out))
    verifier = build_verifier(options.spec)
    judged, seconds = asyncio.run(judge(verifier, data))
    tables: dict[str, list[dict[str, Any]]] = {}
    for key in options.by:
        column = judged.keys[key]
        parts = [name for name in sorted(set(column)) if (column == name).sum() >= 20]
        tables[key] = [line(name, column == name, judged, options.draws) for name in parts]
    tables["all"] = [line("all claims", np.ones(len(data), dtype=bool), judged, options.draws)]
    for key, lines in tables.items():
        show(f"by {key}" if key != "all" else "", lines)
        if key != "all":
            means = [np.nanmean([it[field] for it in lines]) for field in ("overlap_auc", "auc", "balanced_accuracy")]
            print(f"{'mean':29s}   {means[0]:.3f}    {means[1]:.3f}{'':39s}{means[2]:.3f}")
    rate = len(data) / seconds
    print(f"\n{verifier.spec}: {len(data)} claims, one after another, in {seconds:.1f} s: {rate:.0f} per s")
    if options.noise:
        for name, kept in asyncio.run(judge_in_noise(verifier, data, judged.predicted)).items():
            print(f"labels that stay with the passages {name}: {kept:.1%}")
    if options.json:
        options.json.write_text(json.dumps(tables, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

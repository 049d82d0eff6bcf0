"""How a judge does on groups of short claims about common passages, and whether text around the evidence sways it.

    python benchmarks/accuracy/groups.py DATA/claims/rewordings.jsonl.xz DATA/claims/binding.jsonl.xz --judge embedded

Of files whose groups take part in training only the kept ones are read (`training/encoder/windows.py`). Prints for
each file ROC-AUC, balanced accuracy of supported or not, minimal pairs both right, CONTRADICTED said of right
claims, its precision and recall; then the share of labels that stay when the passages come in another order, twice,
cut in two, or with two sentences of another group before and after, inside the passage and beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "training"))
from encoder.windows import kept
from everyclaim.api.specs import create_verifier
from everyclaim.core.types import Claim, Label, Passage, Span, Verdict
from everyclaim.text.stops import sentence_spans

Texts = list[str]


def read_groups(path: Path) -> list[dict[str, Any]]:
    """Read the kept groups of a file."""
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        return [group for line in stream if kept((group := json.loads(line))["group"])]


def judge_groups(judge: Any, groups: list[dict[str, Any]], contexts: list[Texts]) -> list[Verdict]:
    """Judge all claims of all groups."""
    found: list[Verdict] = []
    for group, texts in zip(groups, contexts, strict=True):
        claims = [
            Claim(f"c{i}", it["text"], Span(0, len(it["text"])), it["text"]) for i, it in enumerate(group["claims"])
        ]
        passages = [Passage(str(i), text) for i, text in enumerate(texts)]
        found += asyncio.run(judge.verify(claims, passages, question=group["question"]))
    return found


def variants(groups: list[dict[str, Any]]) -> dict[str, list[Texts]]:
    """Lay the passages of every group out in other ways."""
    neutral = [sentences(groups[(i + 7) % len(groups)]["contexts"][0])[:2] for i in range(len(groups))]
    plain = [group["contexts"] for group in groups]
    return {
        "turned around": [texts[::-1] for texts in plain],
        "doubled": [texts + texts for texts in plain],
        "cut in two": [[half for text in texts for half in halves(text)] for texts in plain],
        "padded inside": [[" ".join([*n, text, *n[::-1]]) for text in t] for t, n in zip(plain, neutral, strict=True)],
        "padded beside": [[" ".join(n), *t] for t, n in zip(plain, neutral, strict=True)],
    }


def sentences(text: str) -> Texts:
    """Cut a passage into sentences."""
    return [text[start:end] for start, end in sentence_spans(text)]


def halves(text: str) -> Texts:
    """Cut a passage in two between sentences; one sentence stays whole."""
    cut = sentence_spans(text)
    at = cut[len(cut) // 2][0]
    return [text[:at].rstrip(), text[at:]] if at else [text]


def report(name: str, groups: list[dict[str, Any]], found: list[Verdict]) -> None:
    """Print how right the labels are."""
    claims = [it | {"group": group["group"]} for group in groups for it in group["claims"]]
    right = np.array([it["label"] == "SUPPORTED" for it in claims])
    borne = np.array([verdict.probabilities.supported if verdict.probabilities else 0.5 for verdict in found])
    said = np.array([verdict.label is Label.SUPPORTED for verdict in found])
    loud = np.array([verdict.label is Label.CONTRADICTED for verdict in found])
    true = np.array([it["label"] == "CONTRADICTED" for it in claims])
    pairs: dict[tuple[str, int], list[int]] = defaultdict(list)
    for i, it in enumerate(claims):
        if it["pair"]:
            pairs[it["group"], it["pair"]].append(i)
    both = [all(said[i] == right[i] for i in two) for two in pairs.values() if len({bool(right[i]) for i in two}) == 2]
    precision = true[loud].mean() if loud.any() else 0.0
    print(f"{name}: {len(claims)} claims, ROC-AUC {roc_auc_score(right, borne):.3f}")
    print(f"  balanced accuracy {balanced_accuracy_score(right, said):.3f}, pairs both right {np.mean(both):.2f}")
    print(
        f"  CONTRADICTED of right {loud[right].mean():.3f}, precision {precision:.2f}, recall {loud[true].mean():.2f}"
    )


def main() -> None:
    """Judge, report, judge again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--judge", default="embedded")
    options = parser.parse_args()
    judge = create_verifier(options.judge)
    for path in options.files:
        groups = read_groups(path)
        found = judge_groups(judge, groups, [group["contexts"] for group in groups])
        report(path.name, groups, found)
        for name, contexts in variants(groups).items():
            again = judge_groups(judge, groups, contexts)
            stay = np.mean([one.label is two.label for one, two in zip(found, again, strict=True)])
            print(f"  {name}: {stay:.3f} of the labels stay", flush=True)


if __name__ == "__main__":
    main()

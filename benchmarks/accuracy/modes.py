"""How well failure modes are told apart, of claims that fail: confusion matrix, F1 of each mode, and their mean.

    python benchmarks/accuracy/modes.py [--part heldout] [--example examples/support_bot] [--json FILE]

The claims (`training/modes/texts`) were written for this, with their mode and the two places that differ. The part
`heldout`, on other topics, took no part in fitting; choose nothing on it. Every claim is classified as a claim that
fails, whether or not the judge finds it: `embedded` and `lexical` with the label that they give (UNSUPPORTED where they
find nothing wrong), `label known` with the right one, as beside a language model that names no mode. Aim: macro F1
.75, and less than 15 % `other`. `claim span` and `passage span` are the shares of the claims whose named stretch
overlaps the one that was written down. With `--example`, what the example's failing claims are called is counted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from training.modes.read import Failing, failing

from everyclaim.core.types import Claim, FailureMode, Label, Passage, Span, Verdict
from everyclaim.verify.embedded.verifier import EmbeddedVerifier
from everyclaim.verify.lexical.failure_modes import Classified, classify
from everyclaim.verify.lexical.verifier import LexicalVerifier

AIM, MOST_OTHER = 0.75, 0.15
MODES = tuple(FailureMode)
VIEWS = ("embedded", "lexical", "label known")
_SHORT = {mode: mode.value.split("_")[0][:8] for mode in MODES}


def classified(it: Failing, view: str) -> Classified:
    """Classify one claim as a view has it."""
    claim = Claim("c1", it.claim, Span(0, len(it.claim)), it.claim)
    passages = [Passage(f"p{number}", text) for number, text in enumerate(it.passages)]
    judge = LexicalVerifier() if view == "lexical" else EmbeddedVerifier()
    label = it.label if view == "label known" else _called(judge, claim, passages, it.question)
    found = judge.failing([claim], [label], passages, it.question)[0]
    if found is None:
        raise ValueError(f"there is nothing to compare in {it.claim!r}")
    return classify(found, passages)


def _called(judge: Any, claim: Claim, passages: list[Passage], question: str) -> Label:
    verdict: Verdict = asyncio.run(judge.verify([claim], passages, question=question))[0]
    return Label.UNSUPPORTED if verdict.label is Label.SUPPORTED else verdict.label


def measured(rows: Sequence[Failing], found: Sequence[Classified]) -> dict[str, Any]:
    """Count: confusion matrix (rows: as labelled), precision, recall and F1 per mode, and the spans."""
    place = {mode: number for number, mode in enumerate(MODES)}
    matrix = np.zeros((len(MODES), len(MODES)), dtype=int)
    for row, one in zip(rows, found, strict=True):
        matrix[place[row.mode], place[one.mode]] += 1
    right, called, labelled = np.diag(matrix), matrix.sum(axis=0), matrix.sum(axis=1)
    scores = 2 * right / np.maximum(called + labelled, 1)
    spans = [_overlaps(row.at, one.difference.claim) for row, one in zip(rows, found, strict=True)]
    theirs = [
        one.difference.passage_id == f"p{row.passage}" and _overlaps(_quoted(row), one.difference.passage)
        for row, one in zip(rows, found, strict=True)
        if row.passage is not None
    ]
    return {
        "claims": len(rows),
        "macro_f1": round(float(scores[labelled > 0].mean()), 4),
        "accuracy": round(float(right.sum() / len(rows)), 4),
        "other": round(float(called[place[FailureMode.OTHER]] / len(rows)), 4),
        "f1": {mode.value: round(float(score), 4) for mode, score in zip(MODES, scores, strict=True)},
        "matrix": matrix.tolist(),
        "claim_span": round(float(np.mean(spans)), 4),
        "passage_span": round(float(np.mean(theirs)), 4) if theirs else None,
    }


def _quoted(row: Failing) -> tuple[int, int]:
    start = row.passages[row.passage].index(row.quote)
    return start, start + len(row.quote)


def _overlaps(one: tuple[int, int], other: tuple[int, int] | None) -> bool:
    return other is not None and one[0] < other[1] and other[0] < one[1]


def show(view: str, found: dict[str, Any]) -> None:
    """Print one view."""
    print(f"\n{view}: macro F1 {found['macro_f1']:.3f} (aim {AIM:.2f}), accuracy {found['accuracy']:.1%}, "
          f"called other {found['other']:.1%} (aim < {MOST_OTHER:.0%}), claim span {found['claim_span']:.1%}, "
          f"passage span {found['passage_span']:.1%}, {found['claims']} claims")  # fmt: skip
    print("labelled / called   " + "".join(f"{_SHORT[mode]:>9s}" for mode in MODES) + "       F1")
    for mode, counts in zip(MODES, found["matrix"], strict=True):
        print(f"{mode.value:20s}" + "".join(f"{count:9d}" for count in counts) + f"{found['f1'][mode.value]:9.2f}")


def example(folder: Path) -> dict[str, int]:
    """Count what the failing claims of the example are called, by the labels' claims and the default judge."""
    answers = {row["id"]: row for row in map(json.loads, (folder / "answers.jsonl").read_text().splitlines())}
    called: Counter[str] = Counter()
    judge = EmbeddedVerifier()
    for label in map(json.loads, (folder / "labels.jsonl").read_text().splitlines()):
        if label["failure_mode"] is None or label["annotator"] != "annotator-1":
            continue
        answer = answers[label["sample_id"]]
        passages = [Passage(it["id"], it["text"], it.get("title", "")) for it in answer["contexts"]]
        claim = Claim("c1", label["claim"], Span(*label["span"]), label["claim"])
        it = judge.failing([claim], [Label(label["label"])], passages, answer["question"])[0]
        mode = classify(it, passages).mode
        called[mode.value] += 1
        called["right"] += mode.value == label["failure_mode"]
    return dict(called.most_common())


def main() -> None:
    """Classify, count, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default="heldout", choices=("dev", "heldout"))
    parser.add_argument("--file", default="", help="only the claims of this file, such as heldout-01")
    parser.add_argument("--example", type=Path, help="also count the labelled claims of this folder")
    parser.add_argument("--wrong", action="store_true", help="print the claims that are called something else")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    options = parser.parse_args()
    rows = [row for row in failing(options.part) if row.group.startswith(options.file)]
    report: dict[str, Any] = {"part": options.part}
    for view in VIEWS:
        found = [classified(row, view) for row in rows]
        report[view] = measured(rows, found)
        show(view, report[view])
        for row, one in zip(rows, found, strict=True) if options.wrong else ():
            if one.mode is not row.mode:
                print(f"{row.mode.value}, called {one.mode.value}: {row.claim} | {one.difference.reason}")
    if options.example:
        report["example"] = example(options.example)
        print(f"\n{options.example.name}: {report['example']}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

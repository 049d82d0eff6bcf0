"""Marked answers → rows for the network: every claim with its label, which of its words fail, and its half.

    python training/answers/rows.py --data DATA --out ROWS.jsonl

Of `DATA/answers/train.jsonl.xz` and of `texts`, without what is only tested on or what the judges are fitted to.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from answers.claims import LabelledAnswer, split_answers
from answers.read import Fault, from_json_lines, from_texts, public_passages
from everyclaim.core.types import Claim
from lexical_data import share
from rowfile import write_rows

TOGETHER = 24  # claims of a document that are twins of each other
HALF = 0.5  # share of the documents that the first of two networks reads


def half(group: str) -> str:
    """Say which of two networks is trained on the answers to a document, `a` or `b`."""
    return "a" if share(f"answers half {group}") < HALF else "b"


def rows(answers: Iterable[LabelledAnswer]) -> Iterator[dict[str, Any]]:
    """Write the labelled claims of answers as rows.

    `dataset` names half, side and task, so that a stage says how many right and wrong claims it draws. Claims of all
    answers to a document are twins (`beside`), those of an answer where they are many: that a right one has higher odds
    than a wrong one is learned too.
    """
    for group, of_document in groupby(answers, lambda it: it[0].group):
        labelled = [
            (one, claim, label)
            for one, claims, labels, _ in of_document
            for claim, label in zip(claims, labels, strict=True)
            if label is not None
        ]
        for one, claim, label in labelled:
            side = "right" if label == "SUPPORTED" else "wrong"
            task = one.task if one.dataset == "ragtruth" else one.dataset
            yield {
                "id": f"{one.id}-{claim.id}", "dataset": f"answers_{half(group)}_{side}_{task}", "unit": "claim",
                "question": one.question, "contexts": list(one.contexts), "text": claim.text, "label": label,
                "group": group, "slice": task, "sentence": claim.sentence,
                "beside": group if len(labelled) <= TOGETHER else one.id,
                "errors": [] if side == "right" else failing(claim, one.response, one.faults),
            }  # fmt: skip


def failing(claim: Claim, response: str, faults: Iterable[Fault]) -> list[list[int]]:
    """Say where in a claim's text the marked stretches stand; one that the claim words otherwise is left out."""
    found = []
    for fault in faults:
        low, high = max(claim.span.start, fault.start), min(claim.span.end, fault.end)
        words = response[low:high].strip() if low < high else ""
        at = claim.text.lower().find(words.lower()) if words else -1
        if at >= 0:
            found.append([at, at + len(words)])
    return found


def main() -> None:
    """Read the arguments, write the rows and say how many of each kind there are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    ours = (one for one in from_texts(public_passages(options.data)) if not one.tested and one.dataset != "unread")
    answers = [*from_json_lines(options.data / "answers" / "train.jsonl.xz"), *ours]
    counts = write_rows(rows(split_answers(answers)), options.out)
    print(f"{counts.total()} rows of {len(answers)} answers")


if __name__ == "__main__":
    main()

"""Labelled rows → pairs of a window and a claim: the sentences that settle the claim, each read alone with it.

    python training/encoder/windows.py ROWS.jsonl.xz … --model FOLDER_WITH_TOKENIZER --out PREPARED.npz

Reads labelled claims, groups of claims about common passages (`claims` in a row) and what `training.lessons`,
`training.synthesis` and `training/answers/rows.py` write. A window is one to three neighbouring sentences, the best few
sentences together, or all there is where that is short; which of them is chosen by a hash, the same for twins. A claim
whose marked evidence is not in its window becomes UNSUPPORTED; without marks, a window that holds far fewer of the
claim's words than the passages do is not used. The file written is what `rows.py` reads.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tokenizers import Tokenizer

if __package__ in (None, ""):
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from everyclaim.models.local.cross_encoder import CLAIM, laid_out
from everyclaim.text.stops import sentence_spans
from everyclaim.text.tokens import STOPWORDS
from lexical_data import HELD_OUT, share

TOKENS = 128  # of a premise at most
LABELS = {"SUPPORTED": 0, "UNSUPPORTED": 1, "CONTRADICTED": 2, "NOT_SUPPORTED": 3}
SINGLE, TOGETHER = 0.45, 0.85  # share of the rows read by one window; up to which, by the best few sentences
ASKED = 0.35  # share of the rows whose question is read too
SHORT, WHOLE = 48, {"cases": TOKENS}  # tokens up to which most passages are read whole; of cases, more
CUT = 0.7  # a window must hold this share of what the passages hold of the claim's words
WORDS = re.compile(r"\w+")
WHOLE_PARTS = (
    "T",
    "U",
    "D",
)  # parts of `rewordings` and `binding` that are kept for tests, beside a fifth of all groups
KEPT = 0.2


class Sentence(NamedTuple):
    """A sentence of a row's passages: where it stands, its stems, and how many tokens it has, about."""

    passage: int
    start: int
    end: int
    stems: frozenset[str]
    cost: int


@dataclass
class Flat:
    """Prepared pairs, laid end to end; the arrays of `rows.py`."""

    ids: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    claim: list[int] = field(default_factory=list)
    label: list[int] = field(default_factory=list)
    dataset: list[str] = field(default_factory=list)
    key: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)

    def add(
        self, ids: list[int], at: int, targets: list[int], *, label: int, dataset: str, key: str, beside: str
    ) -> None:
        """Put a pair at the end; its claim stands from `at` on, with a target for each of its tokens."""
        self.ids += ids
        self.targets += [*[-1] * at, *targets, -1]
        self.sizes.append(len(ids))
        self.claim.append(at)
        self.label.append(label)
        self.dataset.append(dataset)
        self.key.append(key)
        self.beside.append(beside)

    def write(self, path: Path) -> None:
        """Write all as one file."""
        np.savez(
            path, ids=np.array(self.ids, np.uint16), targets=np.array(self.targets, np.int8),
            sizes=np.array(self.sizes, np.int32), claim=np.array(self.claim, np.int32),
            label=np.array(self.label, np.int8), dataset=np.array(self.dataset), key=np.array(self.key),
            beside=np.array(self.beside),
        )  # fmt: skip


def stems(text: str) -> frozenset[str]:
    """Return the beginnings of a text's content words."""
    return frozenset(word[:5] for word in WORDS.findall(text.lower()) if word not in STOPWORDS)


def sentences_of(contexts: Sequence[str]) -> list[Sentence]:
    """Cut passages into sentences."""
    return [
        Sentence(number, start, end, stems(text[start:end]), (end - start) // 4 + 2)
        for number, text in enumerate(contexts)
        for start, end in sentence_spans(text)
    ]


def neighbours(found: Sequence[Sentence], claim: frozenset[str], width: int) -> list[int]:
    """Return the run of at most `width` sentences of one passage that holds most of the claim's words."""
    best, chosen = -1.0, [0]
    for first in range(len(found)):
        run = [first]
        while len(run) < width and run[-1] + 1 < len(found) and found[run[-1] + 1].passage == found[first].passage:
            run.append(run[-1] + 1)
        held = len(claim & frozenset().union(*(found[i].stems for i in run))) - 0.01 * len(run)
        if held > best:
            best, chosen = held, run
    return chosen


def together(found: Sequence[Sentence], claim: frozenset[str], tokens: int) -> list[int]:
    """Return the few sentences that hold most of the claim's words, within `tokens`."""
    chosen: list[int] = []
    covered: frozenset[str] = frozenset()
    left = tokens
    while True:
        worth = [
            (len((sentence.stems & claim) - covered) + 0.2 * len(sentence.stems & claim), -i)
            for i, sentence in enumerate(found)
            if i not in chosen and (sentence.cost <= left or not chosen)
        ]
        if not worth or (max(worth)[0] <= 0 and chosen):
            return sorted(chosen)
        best = -max(worth)[1]
        chosen.append(best)
        covered |= found[best].stems & claim
        left -= found[best].cost
        if left <= 0:
            return sorted(chosen)


def window(row: dict[str, Any], found: Sequence[Sentence]) -> list[int]:
    """Choose the sentences a claim is read with; twins are read alike."""
    claim, luck = stems(row["text"]), share("window " + row.get("beside", row["id"]))
    long = len(row["text"]) > 160
    if sum(sentence.cost for sentence in found) <= WHOLE.get(row["dataset"], SHORT) and luck < TOGETHER:
        return list(range(len(found)))
    if luck < SINGLE and not long:
        return neighbours(found, claim, 1 + int(luck / SINGLE * 3))
    return together(found, claim, TOKENS if long or luck >= TOGETHER else 72)


def joined(contexts: Sequence[str], found: Sequence[Sentence], chosen: Sequence[int]) -> str:
    """Write a window out; a gap within a passage is marked, and so is the step to another passage."""
    text = ""
    for before, now in zip([None, *chosen], chosen, strict=False):
        sentence = found[now]
        if before is not None:
            near = before == now - 1 and found[before].passage == sentence.passage
            gap = " … " if found[before].passage == sentence.passage else " | "
            text += contexts[sentence.passage][found[before].end : sentence.start] if near else gap
        text += contexts[sentence.passage][sentence.start : sentence.end]
    return text


def label_in(row: dict[str, Any], found: Sequence[Sentence], chosen: Sequence[int]) -> int | None:
    """Give the label that a window leaves a claim with; None: that cannot be said."""
    label = LABELS[row["label"]]
    if label == LABELS["UNSUPPORTED"]:
        return label
    marks = [place for place in row.get("evidence") or [] if isinstance(place, dict)]
    needs = list(row.get("needs") or [])
    if marks:
        seen = [
            any(
                found[i].passage == m["passage"] and found[i].start < m["end"] and m["start"] < found[i].end
                for i in chosen
            )
            for m in marks
        ]
        return label if all(seen) else LABELS["UNSUPPORTED"] if not any(seen) else None
    if needs and not {found[i].passage for i in chosen}.issuperset(needs):
        return LABELS["UNSUPPORTED"] if not {found[i].passage for i in chosen} & set(needs) else None
    claim = stems(row["text"])
    held = len(claim & frozenset().union(*(found[i].stems for i in chosen)))
    best = len(claim & frozenset().union(*(sentence.stems for sentence in found)))
    return label if held >= CUT * best else None


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Read rows with the texts of their contexts, groups of claims as one row each; of the kept groups none."""
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as stream:
        for line in stream:
            row = json.loads(line)
            row["contexts"] = [text if isinstance(text, str) else text["text"] for text in row["contexts"]]
            if "claims" not in row:
                if not (row["dataset"] == "written" and share(row["group"]) < HELD_OUT):
                    yield row
            elif not kept(row["group"]):
                yield from claims_of(row, path.name.split(".")[0].split("-")[0])


def kept(group: str) -> bool:
    """Whether a group is kept for tests: whole parts, and a fifth of the other groups."""
    return group.split("-", maxsplit=1)[0] in WHOLE_PARTS or share("kept " + group) < KEPT


def claims_of(row: dict[str, Any], dataset: str) -> Iterator[dict[str, Any]]:
    """Give the claims of a group as rows; those of a minimal pair are twins."""
    for number, claim in enumerate(row["claims"]):
        beside = f"{row['group']}:{claim['pair'] or f'single {number}'}"
        yield {
            "id": f"{row['group']}:{number}", "dataset": dataset, "question": row["question"], "label": claim["label"],
            "contexts": row["contexts"], "text": claim["text"], "evidence": claim["evidence"], "beside": beside,
            "needs": [place for place in claim["evidence"] if isinstance(place, int)],
        }  # fmt: skip


def failing(offsets: Sequence[tuple[int, int]], row: dict[str, Any], label: int) -> list[int]:
    """Mark the claim's tokens that fail: none of a supported claim, the marked ones where a row says which."""
    errors = row.get("errors") or []
    if label != LABELS["SUPPORTED"] and not errors:
        return [-1] * len(offsets)
    if label == LABELS["SUPPORTED"]:
        return [0] * len(offsets)
    return [int(any(start < high and low < end for low, high in errors)) for start, end in offsets]


def add(flat: Flat, row: dict[str, Any], found: Sequence[Sentence], tokenizer: Tokenizer) -> bool:
    """Put a row's pair at the end; say whether there is one."""
    chosen = window(row, found)
    label = label_in(row, found, chosen)
    if label is None:
        return False
    contexts = row["contexts"]
    asked = row["question"] if row.get("question") and share("question " + row.get("beside", row["id"])) < ASKED else ""
    premise = tokenizer.encode(joined(contexts, found, chosen), add_special_tokens=False).ids
    context = tokenizer.encode(asked, add_special_tokens=False).ids if asked else []
    claim = tokenizer.encode(row["text"], add_special_tokens=False)
    if not claim.ids:
        return False
    ids, _, at = laid_out(premise, context, claim.ids, TOKENS + 16)
    targets = failing(claim.offsets[:CLAIM], {} if label != LABELS[row["label"]] else row, label)
    beside = row.get("beside", row["id"])
    flat.add(ids, at, targets, label=label, dataset=row["dataset"], key=row["id"], beside=beside)
    return True


def main() -> None:
    """Prepare files and say how many pairs each gave."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--model", type=Path, required=True, help="folder with tokenizer.json")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--share", type=float, default=1.0, help="share of the rows, twins together")
    options = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(options.model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    flat, last, found, given = Flat(), None, [], 0
    for path in options.files:
        for row in rows_of(path):
            if share("part " + row.get("beside", row["id"])) >= options.share:
                continue
            if row["contexts"] != last:
                last = row["contexts"]
                found = sentences_of(last)
            given += 1
            if found:
                add(flat, row, found, tokenizer)
    flat.write(options.out)
    print(f"{len(flat.sizes)} pairs of {given} rows, {np.mean(flat.sizes):.0f} tokens on average")


if __name__ == "__main__":
    main()

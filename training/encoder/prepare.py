"""Rows → what the network reads: token ids, labels, and which tokens fail or are evidence.

    python training/encoder/prepare.py ROWS.jsonl.xz … --model FOLDER_WITH_TOKENIZER --out PREPARED.npz

A prepared file is one `.npz`, everything flat with offsets, so that an epoch needs no tokenizer: `ids` and `targets`
of all tokens; for each row `sizes` (its tokens), `claim` (where its claim begins), `label`, `dataset`, `key`, and
`beside`, which twins have in common: they are learned from together.
What differs from row to row (the premise's budget, whether the question is read) is chosen by a hash of `beside`.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Encoding, Tokenizer

if __package__ in (None, ""):
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from everyclaim.core.types import Claim, Passage, Span
from everyclaim.models.local.cross_encoder import CLAIM, laid_out
from everyclaim.verify.embedded.verifier import EmbeddedVerifier
from everyclaim.verify.embedded.verifier import _PreparedClaims as Beside
from everyclaim.verify.lexical.comparison import Spelling
from everyclaim.verify.lexical.passages import Shortlist
from lexical_data import HELD_OUT, share

BUDGETS = ((0.25, 48), (0.75, 96), (1.0, 160))  # share of the rows up to which, tokens of the premise
ASKED, PARENTED = 0.5, 0.8  # share of the rows whose question, whose parent sentence is read when there is one
LABELS = {"SUPPORTED": 0, "UNSUPPORTED": 1, "CONTRADICTED": 2, "NOT_SUPPORTED": 3}
LEFT_OUT = -1  # a supported claim whose evidence is not in the premise: its label would not be true
WHOLE = 40  # tokens of a row so short that the premise holds all there is


@cache
def verifier(tokens: int) -> EmbeddedVerifier:
    """Make the verifier that lays claims beside passages with such a budget."""
    return EmbeddedVerifier(tokens=tokens)


@lru_cache(maxsize=64)
def shortlist(texts: tuple[str, ...]) -> Shortlist:
    """Lay out the passages of a row once for all claims about them."""
    return Shortlist.of([Passage(str(number), text) for number, text in enumerate(texts)])


@dataclass
class Prepared:
    """One row, tokenised. `targets`: 1 fails or evidence, 0 not, -1 unknown, per token."""

    ids: list[int]
    claim_at: int
    targets: list[int]
    label: int
    found: bool | None  # whether the marked evidence is in the premise


@dataclass
class Flat:
    """Prepared rows, laid end to end."""

    ids: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    claim: list[int] = field(default_factory=list)
    label: list[int] = field(default_factory=list)
    dataset: list[str] = field(default_factory=list)
    key: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)

    def add(self, row: dict[str, Any], made: Prepared) -> None:
        """Put a row at the end."""
        self.ids += made.ids
        self.targets += made.targets
        self.sizes.append(len(made.ids))
        self.claim.append(made.claim_at)
        self.label.append(made.label)
        self.dataset.append(row["dataset"])
        self.key.append(row["id"])
        self.beside.append(row.get("beside", row["id"]))

    def write(self, path: Path) -> None:
        """Write all as one file."""
        np.savez(
            path, ids=np.array(self.ids, np.uint16), targets=np.array(self.targets, np.int8),
            sizes=np.array(self.sizes, np.int32), claim=np.array(self.claim, np.int32),
            label=np.array(self.label, np.int8), dataset=np.array(self.dataset), key=np.array(self.key),
            beside=np.array(self.beside),
        )  # fmt: skip


def load_tokenizer(path: Path) -> Tokenizer:
    """Load a tokenizer that takes any text as text, as it is at run time."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def laid_beside(row: dict[str, Any], tokens: int) -> Beside | None:
    """Lay a claim beside its passages as the verifier does; None where there is nothing to read."""
    texts = tuple(c if isinstance(c, str) else c["text"] for c in row["contexts"])
    claim = Claim("", row["text"], Span(0, len(row["text"])), row.get("sentence") or row["text"])
    it = verifier(tokens)._prepare(claim, shortlist(texts), "")  # noqa: SLF001
    return it if isinstance(it, Beside) else None


def context_of(row: dict[str, Any], around: str) -> str:
    """Give what helps to understand the claim: its question, what is `around` it; not always, so neither is needed."""
    context = []
    if row.get("question") and share("question " + row.get("beside", row["id"])) < ASKED:
        context.append(row["question"])
    if around and share("s " + row["id"]) < PARENTED:
        context.append(around)
    return " ".join(context)


def prepare(row: dict[str, Any], tokenizer: Tokenizer, tokens: int | None = None) -> Prepared | None:
    """Tokenise one row, its question and sentence as the context. None: there is nothing to read."""
    luck = share("budget " + row.get("beside", row["id"]))
    tokens = tokens or max(row.get("least", 0), next(tokens for upto, tokens in BUDGETS if luck < upto))
    it = laid_beside(row, tokens)
    if it is None:
        return None
    one = tokenizer.encode(it.pair.premise, add_special_tokens=False)
    two = tokenizer.encode(context_of(row, it.pair.context), add_special_tokens=False)
    three = tokenizer.encode(it.pair.claim, add_special_tokens=False)
    ids, theirs, at = laid_out(one.ids, two.ids, three.ids, it.pair.tokens)
    targets = [-1] * len(ids)
    if row["label"] == "SUPPORTED" or row.get("errors"):
        targets[at:-1] = failing(three, it.compared.spelling, row)
    label, found = LABELS[row["label"]], None
    if row.get("evidence"):
        marks = evidence(one.offsets[:theirs], it, row)
        targets[1 : 1 + len(marks)] = marks
        found = any(marks)
        if not found and row["label"] == "SUPPORTED" and len(ids) > WHOLE:
            label = LEFT_OUT
    read = {it.pieces[part.reading].passage for part in it.premise.parts}
    if row["label"] == "SUPPORTED" and not read.issuperset(row.get("needs", ())):
        label = LEFT_OUT
    return Prepared(ids, at, targets, label, found)


def failing(claim: Encoding, spelling: Spelling, row: dict[str, Any]) -> list[int]:
    """Mark the claim's tokens that touch an error, told in characters of the row's text; -1 where that cannot be said.

    The claim is read with its passages' spelling of values and without words that point at the sources.
    """
    moved = row["text"].lower().find(spelling.written.lower())
    errors = row.get("errors") or []
    if moved < 0:
        return [-1 if errors else 0] * len(claim.ids[:CLAIM])
    places = (spelling.origin(start, end) for start, end in claim.offsets[:CLAIM])
    return [int(any(start + moved < high and low < end + moved for low, high in errors)) for start, end in places]


def evidence(offsets: list[tuple[int, int]], it: Beside, row: dict[str, Any]) -> list[int]:
    """Mark the premise's tokens that stand, in the passage they are from, in marked evidence."""
    marked: list[list[tuple[int, int]]] = [[] for _ in row["contexts"]]
    for place in row["evidence"]:
        marked[place["passage"]].append((place["start"], place["end"]))
    result = []
    for start, end in offsets:
        part = it.premise.place(start, end)
        piece = it.pieces[part[0]] if part is not None else None
        place = piece.place(*part[1:]) if piece is not None and part is not None else None
        hit = place is not None and any(place[0] < high and low < place[1] for low, high in marked[piece.passage])
        result.append(int(hit))
    return result


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Read the rows of a file, compressed or not."""
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def neighbours(row: dict[str, Any]) -> str:
    """Order rows so that claims about the same passages follow each other: those are gathered once."""
    return row["contexts"][0] if row["contexts"] and isinstance(row["contexts"][0], str) else ""


def wanted(row: dict[str, Any], written: str) -> bool:
    """Say whether a row takes part: of `written` only the groups asked for."""
    if row["dataset"] != "written" or written == "all":
        return True
    return (share(row["group"]) < HELD_OUT) == (written == "test")


def main() -> None:
    """Prepare files, say how many rows there are and in how many supported ones the evidence is in the premise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--model", type=Path, required=True, help="folder with tokenizer.json")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--budget", type=int, default=None, help="one premise budget for all rows")
    parser.add_argument("--written", choices=["fit", "test", "all"], default="fit", help="which groups of `written`")
    parser.add_argument("--limit", type=int, default=None, help="rows of each file at most")
    options = parser.parse_args()
    tokenizer = load_tokenizer(options.model / "tokenizer.json")
    flat, kept = Flat(), {False: 0, True: 0}
    for path in options.files:
        for row in sorted(rows_of(path), key=neighbours)[: options.limit]:
            made = prepare(row, tokenizer, options.budget) if wanted(row, options.written) else None
            if made is None:
                continue
            if made.found is not None and row["label"] == "SUPPORTED":
                kept[made.found] += 1
            if made.label != LEFT_OUT:
                flat.add(row, made)
    flat.write(options.out)
    print(f"{len(flat.sizes)} rows, {np.mean(flat.sizes):.0f} tokens on average")
    print(f"marked evidence of supported claims: in the premise of {kept[True]}, missing from {kept[False]}")


if __name__ == "__main__":
    main()

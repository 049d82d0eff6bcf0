"""Measure sentence boundaries and the `embedded` decomposer against people's work.

    python benchmarks/accuracy/decomposition.py --data DIR [--part dev] [--show 20]

DIR holds `decompositions/{factscore,rose_acu}.jsonl.xz` (atomic facts written by people) and
`treebank/en_ewt-*.conllu.xz` (UD English Web Treebank). What is measured:

- claims per sentence against human facts per sentence; share of sentences kept whole;
- precision, recall, F1: claims and facts are paired one to one so that the sum of their token F1
  (lower-cased words and numbers without stop words) is greatest; precision is that sum per claim,
  recall per fact. `covered` is the share of a fact's words found in its best claim, one claim
  serving any number of facts. The same numbers for whole sentences stand beside as a baseline.
  People split finer than the decomposer does on purpose (every adjective a fact), so recall stays low.
- rule 9: claims that hold a word, number or name their sentence does not hold (copulas apart);
- sentence boundaries on the treebank's paragraphs: exact spans, F1;
- splits on the treebank: share of split-off clauses that the gold tree joins to the rest at one point,
  and, where a subject was carried over, share whose verb has that subject in the enhanced graph.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from everyclaim.decompose.clauses import clauses, holds_only
from everyclaim.decompose.embedded import EmbeddedDecomposer
from everyclaim.text.segment import sentences
from everyclaim.text.tokens import STOPWORDS

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")


def words(text: str) -> Counter[str]:
    """The content words and numbers of a text."""
    found = [token for token in _TOKEN.findall(text.lower()) if token not in STOPWORDS]
    return Counter(found or _TOKEN.findall(text.lower()))


def token_f1(left: Counter[str], right: Counter[str]) -> float:
    """Twice the shared words over all words."""
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 0.0


@dataclass
class Tally:
    """Sums over sentences or responses."""

    units: int = 0
    claims: int = 0
    facts: int = 0
    whole: int = 0
    paired: float = 0.0
    covered: float = 0.0
    lies: list[tuple[str, str]] = field(default_factory=list)

    def add(self, found: list[str], facts: list[str]) -> None:
        """Count one unit."""
        self.units += 1
        self.claims += len(found)
        self.facts += len(facts)
        self.whole += len(found) == 1
        ours, theirs = [words(text) for text in found], [words(text) for text in facts]
        if ours and theirs:
            table = np.array([[token_f1(a, b) for b in theirs] for a in ours])
            rows, columns = linear_sum_assignment(-table)
            self.paired += float(table[rows, columns].sum())
            self.covered += sum(max((a & b).total() for a in ours) / max(b.total(), 1) for b in theirs)

    def row(self, name: str) -> str:
        """One line of the table."""
        precision, recall = self.paired / max(self.claims, 1), self.paired / max(self.facts, 1)
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        return (
            f"{name:<28}{self.units:>7}{self.claims / self.units:>9.2f}{self.facts / self.units:>8.2f}"
            f"{self.whole / self.units:>8.1%}{precision:>8.3f}{recall:>8.3f}{f1:>8.3f}"
            f"{self.covered / max(self.facts, 1):>9.3f}{len(self.lies):>8}"
        )


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a compressed JSONL file."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def decompositions(path: Path) -> tuple[Tally, Tally, Counter[str]]:
    """Claims against human facts: the decomposer, whole sentences, and what was skipped."""
    ours, baseline, skipped = Tally(), Tally(), Counter[str]()
    fine, coarse = EmbeddedDecomposer(), EmbeddedDecomposer("low")
    for row in rows(path):
        text = row["sentence"] or row["response"]
        found = asyncio.run(fine.decompose(text))
        skipped.update(piece.reason for piece in found.skipped)
        ours.add([claim.text for claim in found.claims], row["facts"])
        ours.lies += [(c.text, c.sentence) for c in found.claims if not holds_only(c.text, c.sentence)]
        baseline.add([claim.text for claim in asyncio.run(coarse.decompose(text)).claims], row["facts"])
    return ours, baseline, skipped


@dataclass
class Parsed:
    """A sentence of the treebank: its text, and per word its span, head, relation and enhanced edges."""

    text: str
    paragraph: bool  # the first of a paragraph
    spans: list[tuple[int, int]]
    heads: list[int]
    relations: list[str]
    enhanced: list[str]


def treebank(path: Path) -> Iterator[Parsed]:
    """The sentences of a CoNLL-U file."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for block in file.read().strip().split("\n\n"):
            lines = block.split("\n")
            text = next(line[9:] for line in lines if line.startswith("# text = "))
            first = any(line.startswith(("# newpar", "# newdoc")) for line in lines)
            cells = [line.split("\t") for line in lines if not line.startswith("#")]
            parsed = Parsed(text, first, [], [], [], [])
            place = 0
            for cell in cells:
                if not cell[0].isdigit():
                    continue
                start = text.find(cell[1], place)
                start = place if start < 0 else start
                place = start + len(cell[1])
                parsed.spans.append((start, place))
                parsed.heads.append(int(cell[6]) - 1)
                parsed.relations.append(cell[7])
                parsed.enhanced.append(cell[8])
            yield parsed


def boundaries(found: list[Parsed]) -> tuple[float, float, float, int]:
    """Precision, recall and F1 of exact sentence spans, paragraph by paragraph."""
    right = ours = gold = 0
    paragraph: list[str] = []
    for parsed in [*found, Parsed("", True, [], [], [], [])]:
        if parsed.paragraph and paragraph:
            text, truth = "", set()
            for sentence in paragraph:
                truth.add((len(text), len(text) + len(sentence)))
                text += f"{sentence} "
            mine = {(s.start, s.end) for s in sentences(text)}
            right, ours, gold = right + len(mine & truth), ours + len(mine), gold + len(truth)
            paragraph = []
        paragraph.append(parsed.text)
    precision, recall = right / ours, right / gold
    return precision, recall, 2 * precision * recall / (precision + recall), gold


def splits(found: list[Parsed], show: int) -> Iterator[str]:
    """How sound the splits are by the gold trees."""
    total = split = pieces = joined = carried = subjects = 0
    for parsed in found:
        total += 1
        parts = clauses(parsed.text)
        if len(parts) < 2:
            continue
        split += 1
        for part in parts[1:]:
            inside = [i for i, (start, end) in enumerate(parsed.spans) if start >= part.start and end <= part.end]
            tops = [i for i in inside if parsed.heads[i] not in inside and parsed.relations[i] != "punct"]
            pieces += 1
            good = len(tops) == 1
            joined += good
            own = parsed.text[part.start : part.end]
            extra = part.text[: -len(own) - 1] if part.text.endswith(f"{own}.") else ""
            if good and extra:
                carried += 1
                edges = [e for e in parsed.enhanced[tops[0]].split("|") if e]
                heads = [
                    i
                    for i, e in enumerate(parsed.enhanced)
                    for x in e.split("|")
                    if x.startswith(f"{tops[0] + 1}:nsubj")
                ]
                good = any(parsed.text[slice(*parsed.spans[i])].lower() in extra.lower() for i in heads)
                good = good or any(edge.endswith((":appos", ":acl")) for edge in edges)
                subjects += good
            if not good and show > 0:
                show -= 1
                yield f"    ? {part.text}   <   {parsed.text}"
    yield (
        f"splits: {split} of {total} sentences, {pieces} clauses split off; "
        f"{joined / max(pieces, 1):.1%} joined to the rest at one point; "
        f"{subjects / max(carried, 1):.1%} of {carried} carried subjects are the verb's in the gold graph"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--part", choices=["train", "dev", "test"], default="dev", help="part of the treebank")
    parser.add_argument("--show", type=int, default=0, help="print this many doubtful splits")
    options = parser.parse_args()
    print(
        f"{'':<28}{'units':>7}{'claims':>9}{'human':>8}{'whole':>8}{'P':>8}{'R':>8}{'F1':>8}{'covered':>9}{'rule 9':>8}"
    )
    for name in ("factscore", "rose_acu"):
        ours, baseline, skipped = decompositions(options.data / "decompositions" / f"{name}.jsonl.xz")
        print(ours.row(name))
        print(baseline.row(f"{name}, whole sentences"))
        print(f"    skipped: {dict(sorted(skipped.items()))}")
        for claim, sentence in ours.lies[:5]:
            print(f"    ! {claim}   <   {sentence}")
    found = list(treebank(options.data / "treebank" / f"en_ewt-{options.part}.conllu.xz"))
    precision, recall, f1, gold = boundaries(found)
    print(f"sentence boundaries: P {precision:.3f} R {recall:.3f} F1 {f1:.3f} of {gold} sentences ({options.part})")
    for line in splits(found, options.show):
        print(line)


if __name__ == "__main__":
    main()

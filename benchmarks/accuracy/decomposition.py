"""Measure sentence boundaries and the `embedded` decomposer against people's work.

    python benchmarks/accuracy/decomposition.py --data DIR [--part dev] [--show 20]

DIR holds `decompositions/{factscore,rose_acu,answers}.jsonl.xz` (atomic facts written by people; `answers` are
RAG answers, read whole and compared sentence by sentence) and `treebank/en_ewt-*.conllu.xz` (UD English Web Treebank).
What is measured:

- claims per sentence against human facts per sentence; share of sentences kept whole;
- precision, recall, F1: claims and facts are paired one to one so that the sum of their token F1
  (lower-cased words and numbers without stop words) is greatest; precision is that sum per claim,
  recall per fact. `covered` is the share of a fact's words found in its best claim, one claim
  serving any number of facts. The same numbers for whole sentences stand beside as a baseline;
- the same with only those words of a fact that its sentence holds (`own words`): people write "the bank" for "it",
  the decomposer keeps to the sentence;
- hits: pairs of token F1 .6 and more, per claim and per fact, by own words;
- rule 9: claims that hold a word, number or name their sentence does not hold (forms of "be" and "have" apart);
- sentence boundaries on the treebank's paragraphs: exact spans, F1.
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

from everyclaim.core.types import Claim
from everyclaim.decompose.embedded import EmbeddedDecomposer
from everyclaim.text.segment import sentences
from everyclaim.text.tokens import STOPWORDS

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_ADDED = frozenset(["is", "are", "was", "were", "has", "have", "had"])
_HIT = 0.6


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
    own: float = 0.0
    hits: int = 0
    covered: float = 0.0
    lies: list[tuple[str, str]] = field(default_factory=list)

    def add(self, claims: list[Claim], facts: list[str], text: str) -> None:
        """Count one unit."""
        found = [claim.text for claim in claims]
        self.units += 1
        self.claims += len(found)
        self.facts += len(facts)
        self.whole += len(found) == 1
        ours, theirs = [words(text) for text in found], [words(text) for text in facts]
        if ours and theirs:
            self.paired += sum(paired(ours, theirs))
            self.covered += sum(max((a & b).total() for a in ours) / max(b.total(), 1) for b in theirs)
            known = set(words(text))
            own = paired(ours, [Counter({w: n for w, n in text.items() if w in known}) for text in theirs])
            self.own += sum(own)
            self.hits += sum(score >= _HIT for score in own)
        self.lies += [(one.text, one.sentence) for one in claims if not holds_only(one.text, one.sentence)]

    def row(self, name: str) -> str:
        """One line of the table."""
        claims, facts = max(self.claims, 1), max(self.facts, 1)
        precision, recall = self.paired / claims, self.paired / facts
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        return (
            f"{name:<28}{self.units:>7}{self.claims / self.units:>9.2f}{self.facts / self.units:>8.2f}"
            f"{self.whole / self.units:>8.1%}{precision:>8.3f}{recall:>8.3f}{f1:>8.3f}{self.covered / facts:>9.3f}"
            f"{self.own / claims:>8.3f}{self.own / facts:>8.3f}{self.hits / claims:>8.3f}{self.hits / facts:>8.3f}"
            f"{len(self.lies):>8}"
        )


def paired(ours: list[Counter[str]], theirs: list[Counter[str]]) -> list[float]:
    """The token F1 of claims and facts, paired one to one so that their sum is greatest."""
    table = np.array([[token_f1(a, b) for b in theirs] for a in ours])
    rows, columns = linear_sum_assignment(-table)
    return [float(score) for score in table[rows, columns]]


def holds_only(claim: str, sentence: str) -> bool:
    """Whether every word and number of a claim stands in its sentence, forms of "be" and "have" apart."""
    allowed = Counter(_TOKEN.findall(sentence.lower()))
    said = Counter(_TOKEN.findall(claim.lower()))
    return all(allowed[word] > 0 or word in _ADDED | {"a", "an"} for word in said)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a compressed JSONL file."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def decompositions(path: Path) -> tuple[Tally, Tally, Counter[str]]:
    """Claims against human facts: the decomposer, whole sentences, and what was skipped."""
    ours, baseline, skipped = Tally(), Tally(), Counter[str]()
    fine, coarse = EmbeddedDecomposer(), EmbeddedDecomposer("low")
    for row in rows(path):
        text = row.get("sentence") or row["response"]
        found = asyncio.run(fine.decompose(text, question=row.get("question") or ""))
        skipped.update(piece.reason for piece in found.skipped)
        plain = asyncio.run(coarse.decompose(text)).claims
        units = row.get("sentences") or [{"text": text, "start": 0, "end": len(text), "facts": row["facts"]}]
        for unit in units:
            if unit["facts"]:
                for tally, claims in ((ours, found.claims), (baseline, plain)):
                    here = [c for c in claims if unit["start"] <= (c.span.start + c.span.end) / 2 <= unit["end"]]
                    tally.add(here, unit["facts"], unit["text"])
    return ours, baseline, skipped


@dataclass
class Parsed:
    """A sentence of the treebank."""

    text: str
    paragraph: bool  # the first of a paragraph


def treebank(path: Path) -> Iterator[Parsed]:
    """The sentences of a CoNLL-U file."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for block in file.read().strip().split("\n\n"):
            lines = block.split("\n")
            text = next(line[9:] for line in lines if line.startswith("# text = "))
            yield Parsed(text, any(line.startswith(("# newpar", "# newdoc")) for line in lines))


def boundaries(found: list[Parsed]) -> tuple[float, float, float, int]:
    """Precision, recall and F1 of exact sentence spans, paragraph by paragraph."""
    right = ours = gold = 0
    paragraph: list[str] = []
    for parsed in [*found, Parsed("", True)]:
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--part", choices=["train", "dev", "test"], default="dev", help="part of the treebank")
    options = parser.parse_args()
    names = (
        "units",
        "claims",
        "human",
        "whole",
        "P",
        "R",
        "F1",
        "covered",
        "own P",
        "own R",
        "hit P",
        "hit R",
        "rule 9",
    )
    widths = (7, 9, 8, 8, 8, 8, 8, 9, 8, 8, 8, 8, 8)
    print(" " * 28 + "".join(f"{name:>{width}}" for name, width in zip(names, widths, strict=True)))
    for name in ("factscore", "rose_acu", "answers"):
        ours, baseline, skipped = decompositions(options.data / "decompositions" / f"{name}.jsonl.xz")
        print(ours.row(name))
        print(baseline.row(f"{name}, whole sentences"))
        print(f"    skipped: {dict(sorted(skipped.items()))}")
        for claim, sentence in ours.lies[:5]:
            print(f"    ! {claim}   <   {sentence}")
    found = list(treebank(options.data / "treebank" / f"en_ewt-{options.part}.conllu.xz"))
    precision, recall, f1, gold = boundaries(found)
    print(f"sentence boundaries: P {precision:.3f} R {recall:.3f} F1 {f1:.3f} of {gold} sentences ({options.part})")


if __name__ == "__main__":
    main()

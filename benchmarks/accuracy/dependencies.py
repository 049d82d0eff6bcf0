"""Measure the parser that ships on a treebank, from raw text, and its speed.

    python benchmarks/accuracy/dependencies.py --treebank DIR [--part test] [--gold-words] [--threads 2]

DIR holds `en_ewt-{train,dev,test}.conllu.xz`. Words are those of our own tokeniser; scores are F1 over words with the
same place in the text, as in the CoNLL 2018 shared task: UAS (head), LAS (head and universal relation), LAS with
subtypes of relations, UPOS and XPOS (parts of speech). Sentences are given as annotated.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "training"))
from everyclaim.models.local.parser import ParsedToken, load_parser, shipped_parser
from parser.treebank import Tree, trees

NAMES = ("words", "UAS", "LAS", "LAS with subtypes", "UPOS", "XPOS")


def same(gold: Tree, found: tuple[ParsedToken, ...]) -> tuple[int, int, int, int, int, int]:
    """How many words of a sentence agree, by each measure."""
    places = [(token.start, token.end) for token in found]
    number = {place: i for i, place in enumerate(places)}
    counts = [0] * len(NAMES)
    for i, place in enumerate(gold.spans):
        if place not in number:
            continue
        mine = found[number[place]]
        above = gold.spans[gold.heads[i] - 1] if gold.heads[i] else None
        head = (places[mine.head] if mine.head >= 0 else None) == above
        kind = mine.relation.partition(":")[0] == gold.relations[i].partition(":")[0]
        marks = (True, head, head and kind, head and mine.relation == gold.relations[i],
                 mine.pos == gold.universal[i], mine.tag == gold.penn[i])  # fmt: skip
        for measure, right in enumerate(marks):
            counts[measure] += right
    a, b, c, d, e, f = counts
    return a, b, c, d, e, f


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--treebank", type=Path, required=True)
    options.add_argument("--part", choices=["train", "dev", "test"], default="test")
    options.add_argument("--network", type=Path, help="another ONNX file than the one that ships")
    options.add_argument("--threads", type=int, default=2)
    given = options.parse_args()
    gold = list(trees(given.treebank / f"en_ewt-{given.part}.conllu.xz"))
    parser = load_parser(given.network, given.threads) if given.network else shipped_parser()
    parser.read(["It warms up."])
    begun = time.perf_counter()
    found = parser.read([tree.text for tree in gold])
    seconds = time.perf_counter() - begun
    right = [0] * len(NAMES)
    for tree, tokens in zip(gold, found, strict=True):
        right = [a + b for a, b in zip(right, same(tree, tokens), strict=True)]
    total = sum(len(tree.spans) for tree in gold) + sum(map(len, found))
    print(", ".join(f"{name} {200 * count / total:.2f}" for name, count in zip(NAMES, right, strict=True)))
    print(f"{len(gold)} sentences of part {given.part}, {len(gold) / seconds:.0f} a second on {parser.threads} threads")


if __name__ == "__main__":
    main()

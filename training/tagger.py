"""Train the part-of-speech tagger that ships as `src/everyclaim/text/tagger.tsv`.

    python training/tagger.py --treebank DIR [--out src/everyclaim/text/tagger.tsv] [--epochs 8]

DIR holds `en_ewt-{train,dev,test}.conllu.xz`, the UD English Web Treebank (CC BY-SA 4.0; the weights
are an adaptation of it and carry the same licence). Averaged perceptron, greedy, left to right.
The test part is only ever measured, and only at the end. Deterministic for a given seed.
"""

from __future__ import annotations

import argparse
import lzma
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from everyclaim.text.tagger import LETTERS, Model, features, normal_form, predict

RARE = {"LS", "SYM", "FW", "ADD", "AFX", "NFP", "GW", "XX", "UH", "-LRB-", "-RRB-"}
SMALLEST = 1.25  # smaller weights are dropped: a third of the file for 0.3 points on the development part
HEADER = """## Weights of everyclaim's English part-of-speech tagger, made by training/tagger.py.
## Trained on the UD English Web Treebank (en_ewt), CC BY-SA 4.0; this file carries the same licence.
## First line: the tags. Then `word<TAB>tag` for words that have one tag only,
## and `feature<TAB>weights`: a letter for the tag (a is the first, A the 27th) and a whole number."""


def sentences(path: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Words and tags of every sentence of a CoNLL-U file."""
    words: list[str] = []
    tags: list[str] = []
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            if len(cells) == 1 and words:
                yield words, tags
                words, tags = [], []
            elif len(cells) == 10 and cells[0].isdigit():
                words.append(cells[1])
                tags.append("X" if cells[4] in RARE else cells[4])
    if words:
        yield words, tags


def train(data: list[tuple[list[str], list[str]]], epochs: int, seed: int) -> Model:
    """Fit averaged weights, drop the small ones, and round what is left."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for words, tags in data:
        for word, name in zip(words, tags, strict=True):
            counts[normal_form(word)][name] += 1
    fixed = {
        word: tally.most_common(1)[0][0]
        for word, tally in counts.items()
        if tally.total() >= 30 and tally.most_common(1)[0][1] >= 0.995 * tally.total()
    }
    names = tuple(sorted({tag for _, tags in data for tag in tags}))
    number = {tag: index for index, tag in enumerate(names)}
    weights: dict[str, dict[int, float]] = {}
    totals: dict[tuple[str, int], float] = defaultdict(float)
    stamps: dict[tuple[str, int], int] = defaultdict(int)
    step = 0

    def change(feature: str, tag: int, amount: float) -> None:
        row = weights.setdefault(feature, {})
        key = (feature, tag)
        totals[key] += (step - stamps[key]) * row.get(tag, 0.0)
        stamps[key] = step
        row[tag] = row.get(tag, 0.0) + amount

    order = random.Random(seed)
    shuffled = list(data)
    for _ in range(epochs):
        order.shuffle(shuffled)
        for words, tags in shuffled:
            context = ["-S2-", "-S1-", *(normal_form(word) for word in words), "-E1-", "-E2-"]
            previous, before = "-S1-", "-S2-"
            for index, (word, truth) in enumerate(zip(words, tags, strict=True)):
                guess = fixed.get(context[index + 2])
                if guess is None:
                    step += 1
                    found = features(index, word, context, previous, before)
                    scores = [0.0] * len(names)
                    for feature in found:
                        for tag, weight in weights.get(feature, {}).items():
                            scores[tag] += weight
                    guess = names[scores.index(max(scores))]
                    if guess != truth:
                        for feature in found:
                            change(feature, number[truth], 1.0)
                            change(feature, number[guess], -1.0)
                before, previous = previous, guess
    averaged: dict[str, dict[int, int]] = {}
    for feature, row in weights.items():
        kept = {}
        for tag, weight in row.items():
            key = (feature, tag)
            mean = (totals[key] + (step - stamps[key]) * weight) / step
            if round(mean * 4) and abs(mean) >= SMALLEST:
                kept[tag] = round(mean * 4)
        if kept:
            averaged[feature] = kept
    return Model(names, fixed, averaged)


def accuracy(data: list[tuple[list[str], list[str]]], model: Model) -> float:
    """Share of words that get the right tag."""
    right = total = 0
    for words, tags in data:
        right += sum(a == b for a, b in zip(predict(words, model), tags, strict=True))
        total += len(tags)
    return right / total


def write(model: Model, path: Path) -> None:
    """Write the weights in a stable order."""
    lines = [HEADER, " ".join(model.tags)]
    lines += [f"{word}\t{tag}" for word, tag in sorted(model.fixed.items())]
    for feature, row in sorted(model.weights.items()):
        pairs = " ".join(f"{LETTERS[tag]}{weight}" for tag, weight in sorted(row.items()))
        lines.append(f"{feature}\t{pairs}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--treebank", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("src/everyclaim/text/tagger.tsv"))
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    parts = {part: list(sentences(options.treebank / f"en_ewt-{part}.conllu.xz")) for part in ("train", "dev", "test")}
    model = train(parts["train"], options.epochs, options.seed)
    write(model, options.out)
    for part in ("dev", "test"):
        print(f"{part}: {accuracy(parts[part], model):.4f} of {sum(len(tags) for _, tags in parts[part])} words")
    print(f"{len(model.weights)} features, {options.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()

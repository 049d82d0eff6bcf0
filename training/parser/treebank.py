"""Sentences of a CoNLL-U file, once as annotated and once on the words that our own tokeniser finds in the raw text."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from everyclaim.text.tokens import word_spans


@dataclass(frozen=True)
class Tree:
    """A sentence: per word its place in the text, parts of speech, head (0 is the root, the first word 1), relation."""

    text: str
    spans: tuple[tuple[int, int], ...]
    universal: tuple[str, ...]
    penn: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]


def trees(path: Path) -> Iterator[Tree]:
    """The trees as annotated."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for block in file.read().strip().split("\n\n"):
            lines = block.split("\n")
            text = next(line.removeprefix("# text = ") for line in lines if line.startswith("# text = "))
            cells = [line.split("\t") for line in lines if not line.startswith("#")]
            words = [cell for cell in cells if cell[0].isdigit()]
            yield Tree(
                text, _places(text, [word[1] for word in words]), tuple(word[3] for word in words),
                tuple(word[4] for word in words), tuple(int(word[6]) for word in words),
                tuple(word[7] for word in words),
            )  # fmt: skip


def _places(text: str, forms: list[str]) -> tuple[tuple[int, int], ...]:
    found, place = [], 0
    for form in forms:
        start = text.find(form, place)
        if start < 0 or text[place:start].strip():  # a form that the text spells otherwise stands right here
            start = place
        place = start + len(form)
        found.append((start, place))
    return tuple(found)


def retokenized(tree: Tree) -> Tree:
    """The tree on our own words: a word of ours takes the head that leaves it; a later piece hangs on the first."""
    ours = word_spans(tree.text)
    home: dict[int, int] = {}  # annotated word -> the first of our words that meets it
    inside: list[list[int]] = []
    for number, (start, end) in enumerate(ours):
        met = [i for i, (a, b) in enumerate(tree.spans) if a < end and b > start]
        inside.append(met)
        for i in met:
            home.setdefault(i, number)
    universal, penn, heads, relations = [], [], [], []
    for number, met in enumerate(inside):
        own = [i for i in met if home[i] == number]
        if not own:  # a later piece of an annotated word
            top = met[0] if met else 0
            heads.append(home.get(top, 0) + 1)
            relations.append("goeswith" if met else "dep")
        else:
            top = next((i for i in own if home.get(tree.heads[i] - 1, -1) != number), own[0])
            above = tree.heads[top]
            heads.append(home.get(above - 1, 0) + 1 if above else 0)
            relations.append(tree.relations[top])
        universal.append(tree.universal[top])
        penn.append(tree.penn[top])
    return Tree(tree.text, tuple(ours), tuple(universal), tuple(penn), tuple(heads), tuple(relations))

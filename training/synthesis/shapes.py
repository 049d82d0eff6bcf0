"""Contexts around the sentences a claim comes from: how many passages, how long, where the evidence stands.

Every kind of claim, whatever its label, gets its contexts here, so that nothing about them tells the label.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from training.synthesis.sources import Document, coverage, names_of, spans

LONGEST = 5_800  # characters of all contexts of a row


@dataclass(frozen=True, slots=True)
class Spot:
    """A sentence of a document: ``document.texts[passage][start:end]``."""

    passage: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Case:
    """Contexts, and where in them the chosen sentences stand (`evidence`: passage, start, end)."""

    document: Document
    contexts: tuple[str, ...]
    evidence: tuple[tuple[int, int, int], ...]
    question: str = ""
    names: tuple[str, ...] = field(default=(), compare=False)

    def sentence(self, index: int = 0) -> str:
        """Text of a chosen sentence."""
        passage, start, end = self.evidence[index]
        return self.contexts[passage][start:end]

    def edited(self, index: int, start: int, end: int, new: str) -> Case:
        """Replace a piece of a chosen sentence (offsets count from its start) in the contexts."""
        passage, first, _ = self.evidence[index]
        text = self.contexts[passage]
        at, to = first + start, first + end
        grown = len(new) - (end - start)
        contexts = list(self.contexts)
        contexts[passage] = text[:at] + new + text[to:]
        evidence = [
            (p, s + grown * (s >= to), e + grown * (e >= to)) if p == passage else (p, s, e)
            for p, s, e in self.evidence
        ]
        return replace(self, contexts=tuple(contexts), evidence=tuple(evidence))

    def without(self, index: int) -> Case:
        """Take a chosen sentence out of the contexts; a passage left empty goes as well."""
        passage, start, end = self.evidence[index]
        text = self.contexts[passage]
        while end < len(text) and text[end].isspace():
            end += 1
        case = self.edited(index, 0, end - start, "")
        kept = tuple(one for number, one in enumerate(case.evidence) if number != index)
        case = replace(case, evidence=kept)
        if case.contexts[passage].strip():
            return case
        contexts = case.contexts[:passage] + case.contexts[passage + 1 :]
        return replace(case, contexts=contexts, evidence=tuple((p - (p > passage), s, e) for p, s, e in kept))

    def elsewhere(self, claim: str) -> float:
        """How much of a claim the best sentence covers that is not among the chosen ones, with its neighbour."""
        best = 0.0
        for number, text in enumerate(self.contexts):
            taken = [(s, e) for p, s, e in self.evidence if p == number]
            free = [(s, e) for s, e in spans(text) if not any(s < b and a < e for a, b in taken)]
            for start, end in free:
                best = max(best, coverage(claim, text[start:end]))
        return best


def build(
    document: Document,
    spots: Sequence[Spot],
    others: Callable[[], Sequence[Document]],
    rng: random.Random,
    weights: Mapping[str, float],
) -> Case:
    """Put the chosen sentences into contexts of a shape drawn by weight."""
    shape = rng.choices(list(weights), list(weights.values()))[0]
    if shape == "bare":
        pieces = [(document.texts[spot.passage][spot.start : spot.end], [(i, 0)]) for i, spot in enumerate(spots)]
    elif shape == "split":
        pieces = _split(document, spots, rng)
    elif shape == "whole":
        pieces = _around(document, spots, rng, 2_600)
        used = {spot.passage for spot in spots}
        pieces += [(_slice(text, rng, 1_200), []) for i, text in enumerate(document.texts) if i not in used]
    else:
        pieces = _around(document, spots, rng, rng.choice((250, 500, 900, 1_500, 2_500)))
    if shape in ("distractors", "many"):
        count = rng.randint(1, 3) if shape == "distractors" else rng.randint(4, 10)
        near = others()
        most = 900 if shape == "distractors" else 450
        for _ in range(count):
            text = rng.choice(rng.choice(near).texts)
            pieces.append((_slice(text, rng, rng.randint(150, most)), []))
    if shape != "whole" or rng.random() < 0.3:
        rng.shuffle(pieces)
    return _case(document, spots, _fitting(pieces))


def _fitting(pieces: list[tuple[str, list[tuple[int, int]]]]) -> list[tuple[str, list[tuple[int, int]]]]:
    """Leave out passages without evidence, from the end, until all is short enough; twelve at most; no doubles."""
    seen: set[str] = set()
    kept = []
    for piece in pieces:
        if piece[1] or (piece[0].strip() and piece[0] not in seen):
            kept.append(piece)
            seen.add(piece[0])
    while sum(len(text) for text, _ in kept) > LONGEST or len(kept) > 12:
        spare = [i for i, (_, marks) in enumerate(kept) if not marks]
        if not spare:
            break
        kept.pop(spare[-1])
    return kept


def _case(document: Document, spots: Sequence[Spot], pieces: list[tuple[str, list[tuple[int, int]]]]) -> Case:
    evidence: list[tuple[int, int, int]] = [(0, 0, 0)] * len(spots)
    for number, (_, marks) in enumerate(pieces):
        for index, start in marks:
            evidence[index] = (number, start, start + spots[index].end - spots[index].start)
    names = dict.fromkeys(name for text in document.texts for name, _, _ in names_of(text))
    contexts = tuple(text for text, _ in pieces)
    return Case(document, contexts, tuple(evidence), document.question, tuple(names))


def _around(
    document: Document, spots: Sequence[Spot], rng: random.Random, limit: int
) -> list[tuple[str, list[tuple[int, int]]]]:
    """One run of sentences per passage that holds a chosen sentence, or one per sentence where they are far apart."""
    by_passage: dict[int, list[int]] = {}
    for index, spot in enumerate(spots):
        by_passage.setdefault(spot.passage, []).append(index)
    pieces = []
    for passage, indices in by_passage.items():
        text = document.texts[passage]
        low, high = min(spots[i].start for i in indices), max(spots[i].end for i in indices)
        groups = [indices] if high - low <= max(limit, 1_500) else [[i] for i in indices]
        taken: list[tuple[int, int]] = []
        for some in groups:
            low, high = min(spots[i].start for i in some), max(spots[i].end for i in some)
            start, end = _grown(text, low, high, limit, rng)
            if any(start < b and a < end for a, b in taken):
                start, end = low, high
            taken.append((start, end))
            pieces.append((text[start:end], [(i, spots[i].start - start) for i in some]))
    return pieces


def _grown(text: str, start: int, end: int, limit: int, rng: random.Random) -> tuple[int, int]:
    """Grow a run by whole sentences, to either side by chance, up to a length."""
    found = spans(text)
    first = max((i for i, (s, _) in enumerate(found) if s <= start), default=0)
    last = min((i for i, (_, e) in enumerate(found) if e >= end), default=len(found) - 1)
    while True:
        sides = [side for side, there in ((-1, first > 0), (1, last < len(found) - 1)) if there]
        if not sides:
            break
        side = rng.choice(sides)
        low, high = (found[first - 1][0], end) if side < 0 else (start, found[last + 1][1])
        if high - low > limit:
            break
        start, end = min(start, low), max(end, high)
        first, last = (first - 1, last) if side < 0 else (first, last + 1)
    return start, end


def _slice(text: str, rng: random.Random, limit: int) -> str:
    """A run of whole sentences of a text, no longer than `limit` where its sentences allow."""
    found = spans(text)
    if not found or len(text) <= limit:
        return text
    start, end = rng.choice(found)
    start, end = _grown(text, start, end, limit, rng)
    return text[start:end][:1_500]


def _split(document: Document, spots: Sequence[Spot], rng: random.Random) -> list[tuple[str, list[tuple[int, int]]]]:
    """Cut the surroundings into passages of one to three sentences."""
    pieces = []
    for text, marks in _around(document, spots, rng, 1_800):
        found = list(spans(text))
        edges = {start: index for index, start in marks}
        at = 0
        while at < len(found):
            run = found[at : at + rng.randint(1, 3)]
            start, end = run[0][0], run[-1][1]
            inside = [(edges[s], s - start) for s in edges if start <= s < end]
            pieces.append((text[start:end], inside))
            at += len(run)
    return pieces

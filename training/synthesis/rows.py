"""Rows in the proportions of a mix, checked, each once, in an order that depends only on the seed."""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from training.synthesis.kinds import MAKERS
from training.synthesis.shapes import LONGEST
from training.synthesis.sources import Document
from training.synthesis.world import Draft, World

_ROUND = 4_000  # rows made and shuffled together, so that a file can be read while it grows
_SAME = 6  # rows with the same claim, at most
_IDLE = 60  # of those that say nothing
_AT_ONCE = 2  # rows of one side that one draw may give
_TRIES = 40  # draws for one row before a kind is given up for now


def read_mix(path: Path) -> dict[str, Any]:
    """Read a mix file and check the names of its kinds."""
    mix = tomllib.loads(path.read_text(encoding="utf-8"))
    unknown = sorted((set(mix["wrong"]) | set(mix["right"])) - set(MAKERS))
    if unknown:
        raise ValueError(f"{path}: no kind {unknown[0]!r}; there are {', '.join(sorted(MAKERS))}")
    return mix


@dataclass(slots=True)
class _Made:
    """What has been made: the keys of all rows, and how often each claim was used."""

    seen: set[tuple[str, tuple[str, ...]]] = field(default_factory=set)
    used: Counter[str] = field(default_factory=Counter)

    def take(self, row: dict[str, Any] | None) -> bool:
        """Whether a row is new; if so it is remembered."""
        if row is None:
            return False
        key = (row["text"], tuple(row["contexts"]))
        if key in self.seen or self.used[row["text"]] >= (_IDLE if row["slice"] == "idle" else _SAME):
            return False
        self.seen.add(key)
        self.used[row["text"]] += 1
        return True


def made(documents: Sequence[Document], mix: Mapping[str, Any], *, size: int, seed: int) -> Iterator[dict[str, Any]]:
    """Give `size` rows, in rounds: wrong ones by weight, some of their right twins, right ones by weight; shuffled."""
    world = World(documents, mix)
    known = _Made()
    for first in range(0, size, _ROUND):
        name = f"{seed}-{first // _ROUND}"
        count = min(_ROUND, size - first)
        rows, twins = _filled(world, known, mix["wrong"], round(count * (1 - mix["supported"])), f"{name}-w")
        random.Random(f"{name} twins").shuffle(twins)
        rows += twins[: round((count - len(rows)) * mix["most_twins"])]
        rows += _filled(world, known, mix["right"], count - len(rows), f"{name}-r")[0]
        random.Random(f"{name} order").shuffle(rows)
        yield from rows


def _filled(
    world: World, known: _Made, weights: Mapping[str, float], wanted: int, name: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Make `wanted` rows of one side, wrong or right as `name` ends; and what of the other side came with them.

    What a kind could not give falls to the kinds behind it.
    """
    right = name.endswith("r")
    rows: list[dict[str, Any]] = []
    beside: list[dict[str, Any]] = []
    left = sum(weights.values())
    for kind, weight in weights.items():
        quota = round((wanted - len(rows)) * weight / left) if left > 0 else 0
        left -= weight
        got = tries = 0
        while got < quota and tries < quota * _TRIES:
            tries += 1
            pair = f"{name}-{kind}-{tries}"
            rng = random.Random(pair)
            fitting = 0
            for number, draft in enumerate(MAKERS[kind](world, rng)):
                mine = (draft.label == "SUPPORTED") == right
                if mine and (fitting == _AT_ONCE or got == quota):
                    continue
                row = _row(draft, f"{pair}-{number}", pair, rng)
                if row is None or not known.take(row):
                    continue
                if mine:
                    rows.append(row)
                    fitting, got = fitting + 1, got + 1
                elif not right:
                    beside.append(row)
    return rows, beside


def _row(draft: Draft, name: str, pair: str, rng: random.Random) -> dict[str, Any] | None:
    """Check a draft and write it down; None where it is not good enough."""
    case = draft.case
    claim = draft.claim.strip()
    if claim != draft.claim or len(claim) < 2 or "\n" in claim or not case.contexts or "\0" in claim:
        return None
    if len(case.contexts) > 12 or sum(map(len, case.contexts)) > LONGEST + 200:
        return None
    if any(not 0 <= start < end <= len(case.contexts[p]) for p, start, end in draft.evidence):
        return None
    if any(not 0 <= start < end <= len(claim) for start, end in draft.errors):
        return None
    question = draft.question if draft.question is not None else case.question if rng.random() < 0.5 else ""
    return {
        "id": f"synth:{name}", "dataset": f"synth_{draft.kind}", "unit": draft.unit, "question": question,
        "contexts": list(case.contexts), "text": claim, "sentence": draft.sentence, "label": draft.label,
        "evidence": [{"passage": p, "start": s, "end": e} for p, s, e in draft.evidence],
        "errors": [list(span) for span in draft.errors], "slice": draft.kind, "group": case.document.group,
        "source": case.document.source, "pair": pair,
    }  # fmt: skip

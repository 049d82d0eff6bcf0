"""Short passages of a few facts, and claims that join, apply, conclude or compute.

    python training/cases.py training/data/cases.txt --out GROUPS.jsonl [--groups 8000] [--seed 0]

An entry of the file is lines: three `r`, the same passage in other words; `+`, what follows from each of them; `-`,
what cannot be so, the n-th nearly in the words of the n-th `+`; `?`, what they leave open. A passage is drawn with
sentences of others before and after it. What is written is groups as in `training/data`, each sentence of the passage
marked as evidence; every fifth entry is kept from networks (`encoder.windows.kept`), for the fit of the judge.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

if __package__ in (None, ""):
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parent))
from everyclaim.text.stops import sentence_spans
from parallels import sentence
from rowfile import write_groups
from statements import groups_of
from values import claim


class Case(NamedTuple):
    """A passage in several wordings, and claims about it."""

    passages: list[str]
    right: list[str]
    wrong: list[str]
    open: list[str]


def read(path: Path) -> list[Case]:
    """Read the entries."""
    blocks = [block.splitlines() for block in path.read_text(encoding="utf-8").strip().split("\n\n")]
    return [Case(*([line[2:].strip() for line in block if line[0] == mark] for mark in "r+-?")) for block in blocks]


def beside(others: list[Case], rng: random.Random) -> str:
    """Draw one or two neighbouring sentences about something else."""
    text = rng.choice(rng.choice(others).passages)
    spans = sentence_spans(text)
    first = rng.randrange(len(spans))
    return text[spans[first][0] : spans[min(first + rng.randrange(2), len(spans) - 1)][1]]


def group(case: Case, others: list[Case], rng: random.Random) -> tuple[str, list[dict[str, Any]]]:
    """Draw a passage and its claims."""
    main = rng.choice(case.passages)
    before, after = (" ".join(beside(others, rng) for _ in range(rng.choice((0, 0, 1)))) for _ in range(2))
    text = " ".join(filter(None, (before, main, after)))
    at = len(before) + bool(before)
    marks = [{"passage": 0, "start": at + start, "end": at + end} for start, end in sentence_spans(main)]
    claims = []
    for pair, number in enumerate(rng.sample(range(len(case.right)), 3), start=1):
        claims.append(claim(case.right[number], "SUPPORTED", "case", pair))
        claims.append(claim(case.wrong[number], "CONTRADICTED", "case", pair))
    claims += [claim(it, "UNSUPPORTED", "open", None) for it in rng.sample(case.open, rng.choice((1, 1, 2)))]
    if rng.random() < 0.3:
        claims.append(claim(rng.choice(rng.choice(others).right), "UNSUPPORTED", "absent", None))
    return text, [it | {"evidence": marks if it["evidence"] else []} for it in claims]


def groups(cases: list[Case], count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Draw groups of cases."""
    return groups_of("cases", cases, count, seed, lambda case, *rest: (sentence(case.right[0]), *group(case, *rest)))


if __name__ == "__main__":
    write_groups(__doc__, 8000, groups, read)

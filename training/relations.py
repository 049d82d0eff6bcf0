"""Short passages that say how two things stand to each other, and claims that keep or exchange them.

    python training/relations.py training/data/relations.txt --out GROUPS.jsonl [--groups 8000] [--seed 0]

A network that starts from word vectors hears "the heron beat the otter" as "the otter beat the heron". An entry of the
file is lines: `s` things; `>` or `~` wordings of one relation of `{a}` to `{b}`, which follow from one another, `>`
where the relation of `{b}` to `{a}` cannot be so, too, `~` where it is left open; `v` what says more, from which the
relation follows; `?` what it leaves open. What is written is groups as in `training/data`; every fifth entry is kept
from networks (`encoder.windows.kept`).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

if __package__ in (None, ""):
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parent))
from parallels import sentence
from rowfile import write_groups
from statements import groups_of
from values import claim

FORMS = ("{}, and {}", "{}; {}", "{}, while {}", "{}. {}", "{}. {}", "{}. {}")


class Relation(NamedTuple):
    """Things, wordings of a relation between two, what says more, what it leaves open, and what the exchange is."""

    things: list[str]
    wordings: list[str]
    more: list[str]
    open: list[str]
    exchanged: str


def read(path: Path) -> list[Relation]:
    """Read the entries."""
    relations = []
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        lines = {line[0]: [part.strip() for part in line[2:].split(";") if part.strip()] for line in block.splitlines()}
        exchanged = "CONTRADICTED" if ">" in lines else "UNSUPPORTED"
        wordings = lines.get(">") or lines["~"]
        relations.append(Relation(lines["s"], wordings, lines.get("v", []), lines.get("?", []), exchanged))
    return relations


def put(wording: str, a: str, b: str) -> str:
    """Say a wording of two things."""
    return wording.replace("{a}", a).replace("{b}", b)


def pairs(relation: Relation, used: str, a: str, b: str, first: int, rng: random.Random) -> list[dict[str, Any]]:
    """Claim the relation in other words than those `used`, each beside one with the things exchanged."""
    claims = []
    for pair, wording in enumerate(rng.sample([it for it in relation.wordings if it != used], 2), start=first):
        wrong = wording if rng.random() < 0.6 else rng.choice(relation.wordings)
        claims.append(claim(put(wording, a, b), "SUPPORTED", "relation", pair))
        claims.append(claim(put(wrong, b, a), relation.exchanged, "exchanged", pair))
    return claims


def group(relation: Relation, others: list[Relation], rng: random.Random) -> tuple[str, list[dict[str, Any]]]:
    """Draw a passage and its claims."""
    a, b, c, *_ = rng.sample(relation.things, len(relation.things))
    is_more = bool(relation.more) and rng.random() < 0.5
    used = rng.choice(relation.more if is_more else relation.wordings)
    told, claims = [put(used, a, b)], pairs(relation, used, a, b, 1, rng)
    if rng.random() < 0.1:
        claims.append(claim(told[0], "SUPPORTED", "copy", None))
    if relation.open:
        claims.append(claim(put(rng.choice(relation.open), *rng.sample((a, b), 2)), "UNSUPPORTED", "open", None))
    stranger = put(rng.choice(relation.wordings), *rng.sample((c, rng.choice((a, b))), 2))
    claims.append(claim(stranger, "UNSUPPORTED", "absent", None))
    for other in rng.sample(others, rng.choice((0, 0, 1, 1, 2))):
        x, y, *_ = rng.sample(other.things, len(other.things))
        wording = rng.choice(other.wordings)
        told.append(put(wording, x, y))
        if rng.random() < 0.4:
            claims += pairs(other, wording, x, y, 3, rng)[:2]
    if relation.open and rng.random() < 0.2:
        told.append(put(rng.choice(relation.open), c, rng.choice((a, b))))
    rng.shuffle(told)
    text = told[0]
    for it in told[1:]:
        form = rng.choice(FORMS)
        text = form.format(text, sentence(it).rstrip(".") if ". " in form else it)
    return sentence(text), claims


def groups(relations: list[Relation], count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Draw groups of relations."""
    return groups_of("relations", relations, count, seed, lambda it, *rest: (it.wordings[0], *group(it, *rest)))


if __name__ == "__main__":
    write_groups(__doc__, 8000, groups, read)

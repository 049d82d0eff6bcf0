"""Short passages that say of things whether something is so, and claims that say it in other words, or the contrary.

    python training/statements.py training/data/statements.txt --out GROUPS.jsonl [--groups 8000] [--seed 0]

An entry of the file is lines: `s` things, `+` ways to say of one (`{}`) that it is so, `-` that it is not so, `?` what
neither of them settles, `P` and `N` more than that it is so, or not so, and `w` and `W` less, which follows from it. A
passage makes one to four statements, often the contrary of another thing of the same kind, or says less than the claim;
claims are pairs of a right one in other words and a wrong one, the right one of a thing beside it, two of them joined,
what says less or more, and what the passage leaves open. What is written is groups as in `training/data`; every fifth
entry is kept for tests (`encoder.windows.kept`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

if __package__ in (None, ""):
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parent))
from encoder.windows import kept
from parallels import sentence
from rowfile import write_groups
from values import claim

T = TypeVar("T")
JOINED = ("{} and {}", "{}; {}", "{}, and {}", "{}, while {}")


class Entry(NamedTuple):
    """Things, and what is said of one: that it is so, that it is not so, what neither settles."""

    things: list[str]
    sides: tuple[list[str], list[str]]
    open: list[str]
    more: tuple[list[str], list[str]]
    less: tuple[list[str], list[str]]


class Statement(NamedTuple):
    """What a passage says of a thing: its words, other right and wrong ones, and what it leaves open."""

    text: str
    right: list[str]
    wrong: list[str]
    open: list[str]


def read(path: Path) -> list[Entry]:
    """Read the entries."""
    entries = []
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        lines = {line[0]: [part.strip() for part in line[2:].split(";")] for line in block.splitlines()}
        more, less = ((lines.get(yes, []), lines.get(no, [])) for yes, no in ("PN", "wW"))
        entries.append(Entry(lines["s"], (lines["+"], lines["-"]), lines["?"], more, less))
    return entries


def of(thing: str, wordings: list[str]) -> list[str]:
    """Say wordings of a thing."""
    return [it.replace("{}", thing) for it in wordings]


def said(entry: Entry, thing: str, side: int, rng: random.Random) -> Statement:
    """Say of a thing that something is so (0) or not (1)."""
    same, other = (of(thing, entry.sides[at]) for at in (side, 1 - side))
    text, *right = rng.sample(same, len(same))
    if entry.more[side] and rng.random() < 0.6:
        text = rng.choice(entry.more[side]).replace("{}", thing)
    return Statement(text, right, rng.sample(other, len(other)), of(thing, entry.open))


def group(entry: Entry, others: list[Entry], rng: random.Random) -> tuple[str, list[dict[str, Any]]]:
    """Draw a passage and its claims."""
    things, side = rng.sample(entry.things, len(entry.things)), rng.randrange(2)
    main = said(entry, things[0], side, rng)
    told = [main]
    if rng.random() < 0.4:  # another thing of the kind, mostly the other way round
        told.append(said(entry, things[1], side if rng.random() < 0.2 else 1 - side, rng))
    beside = rng.sample(others, rng.choice((0, 0, 1, 2)))
    told += [said(it, rng.choice(it.things), rng.randrange(2), rng) for it in beside]
    claims = []
    for pair, it in enumerate([main, main, *told[1:2]], start=1):
        at = pair - 1 if it is main else 0
        right, wrong = it.right[at], it.wrong[at]
        if len(told) > 1 and rng.random() < 0.15:
            more, form = next(one for one in told if one is not it).right[-1], rng.choice(JOINED)
            right, wrong = form.format(right, more), form.format(wrong, more)
        claims += [claim(right, "SUPPORTED", "statement", pair), claim(wrong, "CONTRADICTED", "statement", pair)]
    claims.append(claim(rng.choice(main.open), "UNSUPPORTED", "open", None))
    claims += beyond(entry, things[0], side, main, rng)
    stranger = said(entry, things[2], rng.randrange(2), rng)
    claims.append(claim(stranger.text, "UNSUPPORTED", "absent", None))
    if rng.random() < 0.5:  # named, but for another reason
        told.append(stranger._replace(text=rng.choice(stranger.open)))
    rng.shuffle(told)
    return " ".join(sentence(it.text) for it in told), claims


def beyond(entry: Entry, thing: str, side: int, main: Statement, rng: random.Random) -> list[dict[str, Any]]:
    """Claim what says less than a statement, and, where the passage has no more than that, what says more."""
    less, more = (of(thing, kind[side]) for kind in (entry.less, entry.more))
    claims = [claim(rng.choice(less), "SUPPORTED", "less", None)] if less else []
    if more and main.text not in more and rng.random() < 0.5:
        claims.append(claim(rng.choice(more), "UNSUPPORTED", "more", None))
    return claims


def weak(entry: Entry, rng: random.Random) -> tuple[str, list[dict[str, Any]]]:
    """Draw a passage that says less than a claim, and claims."""
    things, side = rng.sample(entry.things, len(entry.things)), rng.randrange(2)
    text, unsaid = rng.choice(of(things[0], entry.less[side])), of(things[0], entry.open)
    more = said(entry, things[0], side, rng).text
    other = said(entry, things[1], 1 - side, rng)
    claims = [claim(more, "UNSUPPORTED", "more", None), claim(rng.choice(unsaid), "UNSUPPORTED", "open", None)]
    claims += [claim(text, "SUPPORTED", "copy", None)] if rng.random() < 0.2 else []
    right, wrong = other.right[0], other.wrong[0]
    claims += [claim(right, "SUPPORTED", "statement", 1), claim(wrong, "CONTRADICTED", "statement", 1)]
    told = rng.sample([text, other.text], 2)
    return " ".join(sentence(it) for it in told), claims


def drawn(entry: Entry, others: list[Entry], rng: random.Random) -> tuple[str, str, list[dict[str, Any]]]:
    """Draw a passage that says as much as its claims, or less; its domain comes first."""
    is_weak = entry.less[0] and rng.random() < 0.25
    return entry.sides[0][0], *(weak(entry, rng) if is_weak else group(entry, others, rng))


def groups_of(
    name: str, entries: Sequence[T], count: int, seed: int,
    draw: Callable[[T, list[T], random.Random], tuple[str, str, list[dict[str, Any]]]],
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Draw groups, each of an entry beside others; every fifth entry speaks only in those that are kept."""
    parts = {True: entries[::5], False: [it for number, it in enumerate(entries) if number % 5]}
    for number in range(count):
        rng, group_id = random.Random(f"{seed} {number}"), f"{name}-{seed}-{number}"
        mine = parts[kept(group_id)]
        entry = rng.choice(mine)
        domain, text, claims = draw(entry, [it for it in mine if it is not entry], rng)
        yield {"group": group_id, "domain": domain, "question": "", "contexts": [text], "claims": claims}


def groups(entries: list[Entry], count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Draw groups of statements."""
    return groups_of("statements", entries, count, seed, drawn)


if __name__ == "__main__":
    write_groups(__doc__, 8000, groups, read)

"""Short passages of parallel items, and claims that give one the value of another.

    python training/parallels.py training/data/parallels.toml --out GROUPS.jsonl [--groups 4000] [--seed 0]

A domain names items ("the basic plan") and attributes: how a value is made, how a table shows it, and what says it, in
words that all mean the same. A passage tells some attributes of two to five items, as sentences, a list, a table, rows
parted by commas or records. Its claims are pairs of a right one, most in other words than the passage's, and one with a
neighbour's value or one that nobody has; and claims about an attribute or an item of which nothing is told. What is
written is groups as in `training/data`; every fifth domain is kept for tests (`encoder.windows.kept`).
"""

from __future__ import annotations

import calendar
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parent))
from rowfile import write_groups

TOLD = 0.88  # share of the facts that a passage tells
NEIGHBOURS = 0.7  # share of the wrong values that are another item's
COPIED = 0.35  # share of the pairs that are in the very words of the passage
MERGED = 0.4  # share of the sentences of one item that are joined to the one before
FORMS = {"sentences": 45, "blocks": 12, "list": 8, "table": 15, "turned": 4, "commas": 5, "records": 11}
Facts = dict[tuple[str, int], str | bool]  # of an item and an attribute


def made(value: str, rng: random.Random) -> str | bool:
    """Draw a value of a kind such as "int 5 60", "choice red|blue" or "yesno"."""
    kind, _, rest = value.partition(" ")
    if kind == "choice":
        return rng.choice(rest.split("|"))
    if kind == "yesno":
        return rng.random() < 0.5
    if kind == "date":
        return f"{rng.randint(1, 28)} {rng.choice(calendar.month_name[1:])} {rng.randint(2015, 2026)}"
    low, high, *step = map(int, rest.split())
    if kind == "time":
        return f"{rng.randint(low, high):02}:{rng.choice(('00', '15', '30', '45'))}"
    if kind == "dec":
        return f"{rng.uniform(low, high):.1f}"
    number = rng.randrange(low, high + 1, step[0] if step else 1)
    return f"{number:,}" if kind == "int" else str(number)


def sentence(text: str) -> str:
    """Write what is said as a sentence."""
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")


def other_than(text: str, choice: Sequence[str], rng: random.Random) -> str:
    """Draw one of several wordings, another than `text` where there is one."""
    return rng.choice([it for it in choice if it != text] or list(choice))


def filled(template: str, item: str, value: str | bool) -> str:
    """Say of an item what a template says."""
    return template.replace("{item}", item).replace("{v}", str(value))


class Group:
    """Items of a domain with their attributes, and which of them are told."""

    def __init__(self, domain: dict[str, Any], rng: random.Random) -> None:
        self.rng, self.column = rng, domain.get("column", "Name")
        items = rng.sample(domain["items"], len(domain["items"]))
        count = rng.choice((2, 2, 3, 3, 3, 4, 5))
        self.items, self.strangers = items[:count], items[count:]
        attributes = rng.sample(domain["attributes"], len(domain["attributes"]))
        told = rng.choice((1, 2, 2, 3, 4))
        self.attributes, self.silent = attributes[:told], attributes[told:]
        self.form = rng.choices(list(FORMS), list(FORMS.values()))[0]
        is_full = self.form in {"table", "turned", "commas"}
        self.facts: Facts = {
            (item, place): made(attribute["value"], rng)
            for place, attribute in enumerate(self.attributes)
            for item in self.items
            if is_full or rng.random() < TOLD
        }
        self.used: dict[tuple[str, int], str] = {}
        self.text, self.lines = self._prose() if self.form in {"sentences", "blocks", "list"} else self._listed()

    def says(self, item: str, attribute: dict[str, Any], value: str | bool) -> str:
        """Say that an item has a value."""
        return filled(self.template(attribute, value), item, value)

    def template(self, attribute: dict[str, Any], value: str | bool, besides: str = "") -> str:
        """Draw the words for a value, other than `besides` where there are some."""
        templates = attribute["says"] if value is not False else attribute["denies"]
        return other_than(besides, templates, self.rng)

    def _listed(self) -> tuple[str, dict[tuple[str, int], list[str]]]:
        """Write a table or records; also the lines that tell each fact."""
        names = [self.column, *(it["label"] for it in self.attributes)]
        rows = [[item, *(self._cell(item, place) for place in range(len(names) - 1))] for item in self.items]
        if self.form == "records":
            records = [[f"{n}: {v}" for n, v in zip(names, row, strict=True) if v] for row in rows]
            texts = ["; ".join(record) for record in records]
            return "\n".join(texts), {(i, p): [texts[self.items.index(i)]] for i, p in self.facts}
        table = [names, *rows]
        if self.form == "turned":
            table = [list(row) for row in zip(*table, strict=True)]
        if self.form == "commas":
            lines = [",".join(cell.replace(",", "") for cell in row) for row in table]
        else:
            lines = [f"| {' | '.join(row)} |" for row in table]
        told = {
            (i, p): [lines[0], lines[1 + (p if self.form == "turned" else self.items.index(i))]] for i, p in self.facts
        }
        if self.form != "commas":
            lines.insert(1, "|" + "---|" * len(table[0]))
        return "\n".join(lines), told

    def _cell(self, item: str, place: int) -> str:
        value = self.facts.get((item, place), "")
        if isinstance(value, bool):
            return "yes" if value else "no"
        return self.attributes[place].get("shown", "{v}").replace("{v}", value) if value else ""

    def _prose(self) -> tuple[str, dict[tuple[str, int], list[str]]]:
        """Write sentences item by item, or attribute by attribute, some joined; also give what tells each fact."""
        order = [(item, place) for item in self.items for place in range(len(self.attributes))]
        if self.form == "blocks":
            order.sort(key=lambda it: it[1])
        lines: list[list[str]] = []
        places: dict[tuple[str, int], tuple[int, int]] = {}
        before = ""
        for item, place in order:
            if (item, place) not in self.facts:
                continue
            self.used[item, place] = self.template(self.attributes[place], self.facts[item, place])
            said = filled(self.used[item, place], item, self.facts[item, place])
            opening = f"{item} "
            joins = item == before and said.startswith(opening) and lines[-1][-1].startswith(sentence(opening)[:-1])
            if joins and self.rng.random() < MERGED:
                last = lines[-1].pop().removesuffix(".")
                lines[-1].append(f"{last} and {said.removeprefix(opening)}.")
            elif item == before:
                lines[-1].append(sentence(said))
            else:
                lines.append([sentence(said)])
            before = item
            places[item, place] = len(lines) - 1, len(lines[-1]) - 1
        told = {fact: [lines[line][at]] for fact, (line, at) in places.items()}
        if self.form == "list":
            return "\n".join(f"- {' '.join(line)}" for line in lines), told
        return " ".join(" ".join(line) for line in lines), told

    def _marks(self, fact: tuple[str, int]) -> list[dict[str, int]]:
        """Mark what tells a fact."""
        starts = [(self.text.index(line), len(line)) for line in self.lines[fact]]
        return [{"passage": 0, "start": start, "end": start + size} for start, size in starts]

    def claims(self) -> Iterator[dict[str, Any]]:
        """Give pairs of a right and a wrong claim, and what is not told."""
        known = self.rng.sample(sorted(self.facts), min(3, len(self.facts)))
        for pair, (item, place) in enumerate(known, start=1):
            attribute, value = self.attributes[place], self.facts[item, place]
            told = self.used.get((item, place), "")
            template = told if told and self.rng.random() < COPIED else self.template(attribute, value, told)
            other = self._other(item, place)
            if other is None:
                continue
            right = filled(template, item, value)
            wrong = self.says(item, attribute, other) if isinstance(other, bool) else filled(template, item, other)
            kind = "presence" if isinstance(other, bool) else "neighbour"
            marks = self._marks((item, place))
            yield {"text": sentence(right), "label": "SUPPORTED", "kind": kind, "pair": pair, "evidence": marks}
            yield {"text": sentence(wrong), "label": "CONTRADICTED", "kind": kind, "pair": pair, "evidence": marks}
        for item, place in self._untold():
            attribute = (self.attributes + self.silent)[place]
            values = [v for (_, p), v in self.facts.items() if p == place]
            value = self.rng.choice(values) if values else made(attribute["value"], self.rng)
            said = sentence(self.says(item, attribute, value))
            yield {"text": said, "label": "UNSUPPORTED", "kind": "absent", "pair": None, "evidence": []}

    def _other(self, item: str, place: int) -> str | bool | None:
        """Draw a wrong value: a neighbour's, or one that no item has."""
        value = self.facts[item, place]
        if isinstance(value, bool):
            return not value
        near = [v for (_, p), v in self.facts.items() if p == place and v != value]
        if near and self.rng.random() < NEIGHBOURS:
            return self.rng.choice(near)
        far = [made(self.attributes[place]["value"], self.rng) for _ in range(9)]
        return next((v for v in far if v != value and v not in near), self.rng.choice(near) if near else None)

    def _untold(self) -> Iterator[tuple[str, int]]:
        """Give up to two facts that the passage does not tell."""
        gaps = [(i, p) for i in self.items for p in range(len(self.attributes)) if (i, p) not in self.facts]
        gaps += [(self.rng.choice(self.items), len(self.attributes) + p) for p in range(len(self.silent))]
        gaps += [(i, self.rng.randrange(len(self.attributes))) for i in self.strangers[:2]]
        yield from self.rng.sample(gaps, min(2, len(gaps)))


def groups(data: dict[str, Any], count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Draw groups of claims about a short passage, domain by domain."""
    domains = data["domain"]
    for number in range(count):
        place = number % len(domains)
        group = Group(domains[place], random.Random(f"{seed} {number}"))
        claims = list(group.claims())
        name = f"{'T' if place % 5 == 4 else 'parallels'}-{seed}-{number}"
        row = {"group": name, "domain": domains[place]["name"], "question": "", "contexts": [group.text]}
        yield {**row, "claims": claims}


if __name__ == "__main__":
    write_groups(__doc__, 4000, groups)

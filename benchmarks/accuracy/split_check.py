"""Measure the check of splits: false alarms on right facts, and how many planted inventions it finds.

    python benchmarks/accuracy/split_check.py --data DIR [--show 20]

DIR holds `decompositions/answers.jsonl.xz`, answers with the facts that a careful reader wrote. A false alarm is a
sentence of which any fact is complained about. Planted are, one at a time into a fact of every sentence that allows it:
a value (a digit changed; a value of another sentence), a name (one that the answer does not have, in the place of one
that it has) and a negation (behind the first auxiliary, or in place of an article).
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from everyclaim.decompose.checked import SplitSource, inventions
from everyclaim.decompose.units import grounds
from everyclaim.text.names import names

_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w.,]*\d)")
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|can|may|must|should|will|has|have|had)\b(?! not|n't)")
_STRANGERS = ("Marlowe", "Tessaly Brandt", "Okonjo", "Varga Industries", "Lake Hestra", "Pirelhof")


def sentences(row: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Give every checkable sentence of an answer, as the check sees it, with its facts."""
    found = grounds(row["response"])
    for one in row["sentences"]:
        parts = [part.text for part in found if part.start < one["end"] and one["start"] < part.end]
        if one["facts"] and parts:
            yield " ".join(parts), one["facts"]


def planted(fact: str, row: dict[str, Any], chance: random.Random) -> Iterator[tuple[str, str]]:
    """Make wrong facts of a right one, each with what was planted."""
    if number := _NUMBER.search(fact):
        digit = chance.choice([d for d in "123456789" if d != fact[number.start()]])
        yield "value", f"{fact[: number.start()]}{digit}{fact[number.start() + 1 :]}"
        others = [one for one in _NUMBER.findall(row["response"]) if one not in fact]
        if others:
            yield "value of the answer", fact[: number.start()] + chance.choice(others) + fact[number.end() :]
    if known := [name for name in names(fact) if name.text in row["response"]]:
        name = chance.choice(known)
        yield "name", fact[: name.start] + chance.choice(_STRANGERS) + fact[name.end :]
    if verb := _AUXILIARY.search(fact):
        yield "negation", f"{fact[: verb.end()]} not{fact[verb.end() :]}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args()
    with lzma.open(options.data / "decompositions" / "answers.jsonl.xz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    chance = random.Random(1)
    alarms: list[tuple[dict[str, tuple[str, ...]], str]] = []
    all_sentences = all_facts = 0
    tried, caught = Counter[str](), Counter[str]()
    missed: list[tuple[str, str, str]] = []
    seconds = 0.0
    for row in rows:
        source = SplitSource(row["response"], row["question"] or "")
        for sentence, facts in sentences(row):
            begun = time.process_time()
            found = inventions(facts, sentence, source)
            seconds += time.process_time() - begun
            all_sentences, all_facts = all_sentences + 1, all_facts + len(facts)
            if found:
                alarms.append((found, sentence))
            for kind, wrong in planted(chance.choice(facts), row, chance):
                tried[kind] += 1
                is_caught = wrong in inventions([wrong], sentence, source)
                caught[kind] += is_caught
                if not is_caught:
                    missed.append((kind, wrong, sentence))
    print(f"right facts: {all_facts:,} in {all_sentences:,} sentences, {seconds / all_facts * 1e6:.0f} µs a fact")
    print(f"false alarms: {len(alarms)} sentences ({len(alarms) / all_sentences:.1%})")
    for kind in tried:
        print(f"planted {kind}: {caught[kind]} of {tried[kind]} found ({caught[kind] / tried[kind]:.1%})")
    print(f"planted, all: {caught.total() / tried.total():.1%}")
    for found, sentence in alarms[: options.show]:
        print("ALARM", found, "|", sentence)
    for kind, wrong, sentence in chance.sample(missed, min(options.show, len(missed))):
        print("MISSED", kind, "|", wrong, "|", sentence)


if __name__ == "__main__":
    main()

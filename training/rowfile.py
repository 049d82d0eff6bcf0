"""Writing what is made: rows with how many there are of each kind, and groups of claims about common passages."""

from __future__ import annotations

import argparse
import json
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


def write_rows(rows: Iterable[dict[str, Any]], path: Path) -> Counter[tuple[str, str]]:
    """Write rows as they come, print how many there are of each kind and label, and return these counts."""
    counts: Counter[tuple[str, str]] = Counter()
    with path.open("w", encoding="utf-8") as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            counts[row["slice"], row["label"]] += 1
    for (kind, label), count in sorted(counts.items()):
        print(f"{kind:28} {label:13} {count:7}")
    return counts


def toml(path: Path) -> dict[str, Any]:
    """Read a TOML file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def write_groups(
    about: str | None, usual: int, draw: Callable[[Any, int, int], Iterable[dict[str, Any]]],
    read: Callable[[Path], Any] = toml,
) -> None:  # fmt: skip
    """Run a script that draws groups: from a file of what they are made of, how many, and a seed."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="what the groups are made of")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--groups", type=int, default=usual)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    data = read(options.data)
    with options.out.open("w", encoding="utf-8") as file:
        for group in draw(data, options.groups, options.seed):
            file.write(json.dumps(group, ensure_ascii=False) + "\n")

"""Writing made rows: one JSON object a line, and how many there are of each kind."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
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

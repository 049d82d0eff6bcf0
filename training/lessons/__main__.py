"""Write the lessons as rows to train on: `python -m training.lessons --out FILE [--side fit|test]`."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from training.lessons.read import TEXTS, lessons
from training.lessons.rows import rows


def main() -> None:
    """Read the arguments, write the rows and say how many of each kind there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--texts", type=Path, default=TEXTS)
    parser.add_argument("--side", choices=("fit", "test"), default="fit")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chosen = [lesson for lesson in lessons(options.texts) if lesson.tested == (options.side == "test")]
    counts: Counter[tuple[str, str]] = Counter()
    with options.out.open("w", encoding="utf-8") as stream:
        for row in rows(chosen, options.seed):
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            counts[row["slice"], row["label"]] += 1
    for (kind, label), count in sorted(counts.items()):
        print(f"{kind:10} {label:13} {count:7}")
    print(f"{counts.total()} rows of {len(chosen)} lessons")


if __name__ == "__main__":
    main()

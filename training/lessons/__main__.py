"""Write the lessons as rows to train on: `python -m training.lessons --out FILE [--side fit|test]`."""

from __future__ import annotations

import argparse
from pathlib import Path

from training.lessons.read import TEXTS, lessons
from training.lessons.rows import rows
from training.rowfile import write_rows


def main() -> None:
    """Read the arguments, write the rows and say how many of each kind there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--texts", type=Path, default=TEXTS)
    parser.add_argument("--side", choices=("fit", "test"), default="fit")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chosen = [lesson for lesson in lessons(options.texts) if lesson.tested == (options.side == "test")]
    counts = write_rows(rows(chosen, options.seed), options.out)
    print(f"{counts.total()} rows of {len(chosen)} lessons")


if __name__ == "__main__":
    main()

"""Make the synthetic claims: `python -m training.synthesis --data DATA --out FILE [--size N] [--side fit|probe]`."""

from __future__ import annotations

import argparse
from pathlib import Path

from training.rowfile import write_rows
from training.synthesis.rows import made, read_mix
from training.synthesis.sources import documents


def main() -> None:
    """Read the arguments, make the rows and say how many of each kind there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--mix", type=Path, default=Path(__file__).with_name("mix.toml"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=80_000)
    parser.add_argument("--side", choices=("fit", "probe"), default="fit")
    options = parser.parse_args()
    found = documents(options.data, side=options.side)
    rows = made(found, read_mix(options.mix), size=options.size, seed=options.seed)
    counts = write_rows(rows, options.out)
    total = counts.total()
    right = sum(count for (_, label), count in counts.items() if label == "SUPPORTED")
    print(f"{total} rows of {len(found)} documents, {right / max(1, total):.1%} supported")


if __name__ == "__main__":
    main()

"""Processor time of every command to its first work: imported, its options declared, its help printed.

    python benchmarks/startup.py

The least of several processes, beside a bare interpreter and the libraries that a store needs. With `--limit` it exits
with 1 where a command takes more than so many times what the list of commands takes.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys

BESIDE = {"a bare interpreter": "pass", "numpy and SQLAlchemy": "import numpy, sqlalchemy"}


def seconds(arguments: list[str], times: int) -> float:
    """Return the least processor time of a process, of several."""
    found = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(found)


def main() -> int:
    """Measure and print."""
    from everyclaim.cli.app import COMMANDS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=7, help="processes per figure")
    parser.add_argument("--limit", type=float, help="times the list of commands")
    asked = parser.parse_args()
    for name, code in BESIDE.items():
        print(f"{seconds(['-c', code], asked.times):5.2f}  {name}")
    least = seconds(["-m", "everyclaim", "--help"], asked.times)
    print(f"{least:5.2f}  everyclaim --help")
    worst = 0.0
    for name in COMMANDS:
        taken = seconds(["-m", "everyclaim", name, "--help"], asked.times)
        worst = max(worst, taken)
        print(f"{taken:5.2f}  everyclaim {name}")
    return int(asked.limit is not None and worst > asked.limit * least)


if __name__ == "__main__":
    sys.exit(main())

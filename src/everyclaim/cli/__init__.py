"""The command line: one file per noun, over the same calls that Python users make."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    from everyclaim.cli.app import run

    sys.exit(run(sys.argv[1:]))

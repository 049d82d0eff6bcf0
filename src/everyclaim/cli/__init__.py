"""The command line: one file per noun, over the same calls that Python users make."""

from __future__ import annotations

import sys

from everyclaim._version import __version__


def main() -> None:
    """Run the command line and exit with its code."""
    if sys.argv[1:] == ["--version"]:  # asked by scripts, and answered without loading every command
        sys.stdout.write(f"everyclaim {__version__}\n")
        return
    from everyclaim.cli.app import run

    sys.exit(run(sys.argv[1:]))

"""Writes `docs/reference/cli.md` from the commands themselves; with ``--check`` only says whether it is current."""  # noqa: INP001 - a script

from __future__ import annotations

import sys
from pathlib import Path

from everyclaim.cli.reference import reference

PAGE = Path(__file__).parent / "reference" / "cli.md"


def main() -> int:
    """Write or check the page; return the exit code."""
    text = reference()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{PAGE} is not what the commands say: run python docs/commands.py\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())

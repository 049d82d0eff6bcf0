"""Writes the generated pages of the reference; with ``--check`` only says whether they are current."""  # noqa: INP001 - a script

from __future__ import annotations

import sys
from pathlib import Path

from everyclaim.cli.reference import reference as commands
from everyclaim.monitor.reference import reference as telemetry

FOLDER = Path(__file__).parent / "reference"
PAGES = {"cli.md": commands, "telemetry.md": telemetry}


def main() -> int:
    """Write or check the pages; return the exit code."""
    code = 0
    for name, made in PAGES.items():
        page, text = FOLDER / name, made()
        if "--check" not in sys.argv[1:]:
            page.write_text(text, encoding="utf-8")
        elif not page.is_file() or page.read_text(encoding="utf-8") != text:
            sys.stderr.write(f"{page} is not what the code says: run python docs/commands.py\n")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())

"""The command line: one file per noun, over the same calls that Python users make."""

from __future__ import annotations

import gc
import sys

from everyclaim._version import __version__


def main() -> None:
    """Run the command line and exit with its code."""
    if sys.argv[1:] == ["--version"]:  # asked by scripts, and answered without loading every command
        sys.stdout.write(f"everyclaim {__version__}\n")
        return
    from everyclaim.cli.exits import catch_signals, signal_code, signal_word

    catch_signals()
    gc.disable()  # what is imported stays: until a command begins, nothing can be collected
    try:
        from everyclaim.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while it was imported
        sys.stderr.write(f"{signal_word()}\n")
        code = signal_code()
    sys.exit(code)

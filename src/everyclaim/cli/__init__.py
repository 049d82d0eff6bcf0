"""The command line: one file per noun, over the same calls that Python users make."""

from __future__ import annotations

import gc
import os
import sys

from everyclaim._version import __version__


def main() -> None:
    """Run the command line and exit with its code."""
    from everyclaim.cli.exits import end_at_once, end_gently

    _fill_closed_streams()
    end_at_once()  # nothing is under way yet that would have to be left in order
    if sys.argv[1:] == ["--version"]:  # asked by scripts, and answered without loading every command
        try:
            sys.stdout.write(f"everyclaim {__version__}\n")
            sys.stdout.flush()
        except OSError as error:
            os.write(2, f"error: {error.strerror}\n".encode())
            os._exit(2)
        return
    gc.disable()  # what is imported stays: until a command begins, nothing can be collected
    from everyclaim.cli.app import run

    end_gently()
    try:
        code = run(sys.argv[1:])
    finally:
        end_at_once()  # nothing is left to be put in order
    sys.exit(code)


def _fill_closed_streams() -> None:
    """Let no file that is opened later stand in for a standard stream that was closed, and be written to as that one.

    What is written to a closed standard output fails, as it should; there is nobody to tell about standard error.
    """
    for number, name, mode, ours in (
        (0, "stdin", "r", os.O_RDONLY),
        (1, "stdout", "w", os.O_RDONLY),
        (2, "stderr", "w", os.O_WRONLY),
    ):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, ours)  # gets the lowest number that is free: this one
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115

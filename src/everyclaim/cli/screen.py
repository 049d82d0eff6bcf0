"""Where things are written: pages to standard output, everything said about the work to standard error."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

from rich.console import Console, RenderableType
from rich.text import Text

from everyclaim.core.plaintext import one_line
from everyclaim.report.clean import json_text

if TYPE_CHECKING:
    from everyclaim.io import ReadReport

BAD_ROWS_SHOWN = 5
_COMMAND = re.compile(r"(^\s*:|#)(:|#\[)", re.MULTILINE)


class _OfBuildServer:
    """A stream of a GitHub job, where a line that begins with ``::`` is a command: no text of an answer may be one."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(_COMMAND.sub("\\1\u200b\\2", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Screen(Console):
    """A console that leaves a broken pipe to the caller, and never reads data as markup."""

    def __init__(self, *, stderr: bool = False) -> None:
        stream = cast("IO[str]", _OfBuildServer(sys.stderr if stderr else sys.stdout))
        file = stream if os.environ.get("GITHUB_ACTIONS") == "true" else None
        super().__init__(file=file, stderr=stderr, markup=False, emoji=False, highlight=False)

    def on_broken_pipe(self) -> None:
        """Let the command line end as it does for every broken pipe."""
        raise BrokenPipeError


def prepare_streams() -> None:
    """Let nothing that is printed fail for want of a character in the terminal's encoding."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def show(page: RenderableType, *, stderr: bool = False) -> None:
    """Print a page."""
    _Screen(stderr=stderr).print(page)


def error_screen() -> Console:
    """Return the console of standard error."""
    return _Screen(stderr=True)


def show_json(value: Any, *, indent: int | None = 2) -> None:
    """Print a JSON document, and nothing else, to standard output."""
    sys.stdout.write(json_text(value, indent=indent) + "\n")


def warn(message: str, *, kind: str = "error") -> None:
    """Write one line to standard error; whatever is quoted in it cannot act on the terminal."""
    prefix = f"{kind}: " if kind else ""
    style = {"error": "bold red", "warning": "yellow"}.get(kind, "")
    error_screen().print(Text.assemble((prefix, style), one_line(message)), soft_wrap=True)


def tell_of_reading(report: ReadReport, *, quiet: bool = False) -> None:
    """Say which rows were kept out, and what the reader decided; quietly, only how many were kept out."""
    tell_of_bad_rows(report.good, report.bad, [str(row) for row in report.bad_rows[:BAD_ROWS_SHOWN]], quiet=quiet)
    if not quiet:
        for text in report.warnings:
            warn(text, kind="warning")


def tell_of_bad_rows(good: int, bad: int, first: Sequence[str], *, quiet: bool) -> None:
    """Say which rows were kept out: the first of them one by one, or quietly in one line."""
    if not quiet:
        for row in first:
            warn(f"{row}; left out", kind="warning")
    if bad > len(first) or (bad and quiet):
        example = f"; the first: {first[0]}" if quiet and first else ""
        warn(f"{bad:,} of {bad + good:,} rows could not be read and were left out{example}", kind="warning")

"""Where things are written: pages to standard output, everything said about the work to standard error."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from everyclaim.core.events import Event, RunStarted, SampleFinished, SampleSkipped
from everyclaim.core.plaintext import counted, json_text, one_line
from everyclaim.core.types import Outcome, Result, Usage
from everyclaim.report.style import dollars

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


class Screen(Console):
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
    Screen(stderr=stderr).print(page)


def show_json(value: Any, *, indent: int | None = 2) -> None:
    """Print a JSON document, and nothing else, to standard output."""
    sys.stdout.write(json_text(value, indent=indent) + "\n")


def show_result(
    document: Callable[[], Any], page: Callable[[], RenderableType], *, json: bool, stderr: bool = False
) -> None:
    """Print a result as JSON, or as its page."""
    if json:
        show_json(document())
    else:
        show(page(), stderr=stderr)


def warn(message: str, *, kind: str = "error") -> None:
    """Write one line to standard error; whatever is quoted in it cannot act on the terminal."""
    prefix = f"{kind}: " if kind else ""
    style = {"error": "bold red", "warning": "yellow"}.get(kind, "")
    Screen(stderr=True).print(Text.assemble((prefix, style), one_line(message)), soft_wrap=True)


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
            warn(f"{row}; skipped", kind="warning")
    if bad > len(first) or (bad and quiet):
        example = f"; first: {first[0]}" if quiet and first else ""
        warn(f"{bad:,} of {bad + good:,} rows could not be read and were skipped{example}", kind="warning")


@dataclass(slots=True)
class Progressing:
    """Counts what happens, and moves the bar when there is one. Its `hook` is for the engine."""

    bar: Progress | None = None
    run: str = ""
    done: int = 0
    skipped: int = 0
    failed: int = 0
    spent: Callable[[], Usage] | None = None  # what language models took so far

    def hook(self, event: Event) -> None:
        """Take note of an event of the engine."""
        if isinstance(event, RunStarted):
            self.run = event.run
            if self.bar is not None:
                self.bar.update(self.bar.task_ids[0], total=event.total)
        elif isinstance(event, SampleFinished):
            self.step_result(event.result)
        elif isinstance(event, SampleSkipped):
            self.skipped += 1
            self.step(failed=False)

    def step_result(self, result: Result) -> None:
        """Count a result."""
        self.step(failed=result.outcome is Outcome.FAILED)

    def step(self, *, failed: bool) -> None:
        """Count one."""
        self.done += 1
        self.failed += failed
        if self.bar is not None:
            said = f"{self.failed:,} failed  " if self.failed else ""
            if self.spent and (used := self.spent()).calls:
                cost = "" if used.cost is None else f"  {dollars(used.cost)}"
                said += f"{counted(used.calls, 'call')}  {used.prompt_tokens + used.completion_tokens:,} tokens{cost}"
            self.bar.update(self.bar.task_ids[0], advance=1, said=said)


@contextmanager
def progressing(
    *, quiet: bool = False, total: int | None = None, spent: Callable[[], Usage] | None = None
) -> Iterator[Progressing]:
    """Give something to tell about the work; the bar is gone when the block ends. `spent` is shown beside it."""
    screen = Screen(stderr=True)
    if quiet or not screen.is_terminal:
        yield Progressing()
        return
    columns = (
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[said]}"),
    )
    with Progress(*columns, console=screen, transient=True, expand=True) as bar:
        bar.add_task("", total=total, said="")
        yield Progressing(bar, spent=spent)

"""A progress bar on standard error, where that is a terminal: how many, how fast, how long still."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from everyclaim.cli.screen import error_screen
from everyclaim.core.events import Event, RunStarted, SampleFinished, SampleSkipped
from everyclaim.core.types import Outcome


class _Rate(ProgressColumn):
    """How many per second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s" if speed >= 10 else f"{speed:.1f}/s")


@dataclass(slots=True)
class Progressing:
    """Counts what happens, and moves the bar when there is one. Its `hook` is for the engine."""

    bar: Progress | None = None
    run: str = ""
    done: int = 0
    skipped: int = 0
    failed: int = 0

    def hook(self, event: Event) -> None:
        """Take note of an event of the engine."""
        if isinstance(event, RunStarted):
            self.run = event.run
            self.start(event.total)
        elif isinstance(event, SampleFinished):
            self.step(failed=event.result.outcome is Outcome.FAILED)
        elif isinstance(event, SampleSkipped):
            self.skipped += 1
            self.step(failed=False)

    def start(self, total: int | None) -> None:
        """Show the bar."""
        if self.bar is not None:
            self.bar.add_task("", total=total, said="")

    def step(self, *, failed: bool) -> None:
        """Count one."""
        self.done += 1
        self.failed += failed
        if self.bar is not None:
            said = f"{self.failed:,} failed" if self.failed else ""
            self.bar.update(self.bar.task_ids[-1], advance=1, said=said)


@contextmanager
def progressing(*, quiet: bool) -> Iterator[Progressing]:
    """Give something to tell about the work; the bar is gone when the block ends."""
    screen = error_screen()
    if quiet or not screen.is_terminal:
        yield Progressing()
        return
    columns = (
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[said]}"),
    )
    with Progress(*columns, console=screen, transient=True, expand=True) as bar:
        yield Progressing(bar)

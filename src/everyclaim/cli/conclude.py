"""What every command that has a run does with it: sum it up, write it, show it, and let the gate speak."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from everyclaim.analysis import ClusterBy, Collector, GateStatus, Summary, gate, worst
from everyclaim.api.running import Run
from everyclaim.api.settings import Settings
from everyclaim.cli.exits import OF_GATE, USAGE, gravest
from everyclaim.cli.screen import complain, show, show_json
from everyclaim.core.errors import ConfigError, OperatorError
from everyclaim.core.protocols import Kept
from everyclaim.io import WRITE_FORMATS
from everyclaim.io.files import format_of_name
from everyclaim.report.clean import json_text
from everyclaim.report.jsonreport import report_to_json
from everyclaim.report.terminal import run_page
from everyclaim.stats.intervals import Sampling
from everyclaim.store import RunRecord


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is to be done with a run."""

    out: str | None = None
    report: str | None = None
    json: bool = False
    quiet: bool = False
    worst: int = 5
    cluster_by: ClusterBy = "sample"
    confident: bool = False

    def check(self) -> None:
        """Refuse what cannot be done before anything is scored."""
        if self.out == "-" and self.json:
            raise ConfigError("--out - and --json would both write to standard output: choose one")
        if self.report is not None and not self.report.lower().endswith(".json"):
            raise ConfigError(f"--report {self.report}: only JSON reports can be written so far; end the name in .json")
        check_destination("--out", self.out)
        check_destination("--report", self.report)


def check_destination(option: str, path: str | None) -> None:
    """Refuse a file that could not be written. Hours of scoring should not end in a wrong name."""
    if path is None or path == "-":
        return
    place = Path(path).absolute()
    if format_of_name(path) not in WRITE_FORMATS:
        raise ConfigError(f"{option} {path}: the name does not say the format; end it in .{', .'.join(WRITE_FORMATS)}")
    if not place.parent.is_dir():
        raise ConfigError(f"{option} {path}: there is no folder {place.parent}")
    if place.is_dir() or not os.access(place if place.exists() else place.parent, os.W_OK):
        raise ConfigError(f"{option} {path}: cannot be written there")


def conclude(run: Run, wishes: Wishes, settings: Settings) -> int:
    """Write and show a run, and return the exit code that its gate and its input give."""
    record, summary, found = _read(run, wishes)
    for tag, groups in summary.slices.items():
        if set(groups) == {""} and not wishes.quiet:
            complain(f"no answer has a tag {tag!r}", kind="warning")
    document = report_to_json(record, summary, found) if wishes.json or wishes.report else None
    if wishes.out:
        run.write(wishes.out)
    if wishes.report:
        _write(wishes.report, json_text(document, indent=2) + "\n")
    if wishes.json:
        show_json(document, indent=None)
    elif not wishes.quiet:
        show(run_page(record, summary, found), stderr=wishes.out == "-")
    return gravest([_gate(summary, wishes, settings), _reading(run)])


def _read(run: Run, wishes: Wishes) -> tuple[RunRecord, Summary, list[Kept]]:
    """Sum up and find the worst answers in one pass over the store."""
    collector = Collector(run.slices, wishes.cluster_by, Sampling())
    found = worst(collector.watching(run.records()), wishes.worst)
    return run.record, collector.finish(), found


def _gate(summary: Summary, wishes: Wishes, settings: Settings) -> int:
    result = gate(summary, settings.fail_under, max_failed_share=settings.max_failed, confident=wishes.confident)
    if result.status is GateStatus.PASSED:
        if settings.fail_under is not None and not wishes.quiet:
            complain(result.message, kind="gate passed")
    else:
        complain(result.message, kind=f"gate {result.status.value.replace('_', ' ')}")
    return OF_GATE[result.status]


def _reading(run: Run) -> int:
    if run.read is None or not run.read.incomplete:
        return 0
    complain(f"the input could not be read to its end: {run.read.incomplete}")
    return USAGE


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OperatorError(f"cannot write {path}: {error.strerror or error}") from None

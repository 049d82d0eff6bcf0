"""``everyclaim watch``: answers scored as they come, once or for ever."""

from __future__ import annotations

import sys
import threading
from dataclasses import asdict, dataclass
from typing import Annotated, Any, cast

import typer

from everyclaim.api.components import Options
from everyclaim.api.evaluator import Evaluator
from everyclaim.api.settings import Settings
from everyclaim.api.talking import Talking
from everyclaim.api.watching import WatchingOptions
from everyclaim.cli import options as opt
from everyclaim.cli import signals
from everyclaim.cli.exits import OK, TOO_MANY_FAILURES, USAGE
from everyclaim.cli.given import SCORING, Given, for_evaluator, why_it_stopped, with_settings
from everyclaim.cli.screen import show_json, warn
from everyclaim.core.errors import BudgetExceeded, ConfigError, OptionError
from everyclaim.monitor.watching.report import Pass

_SOURCE, _WHICH, _BUDGET, _ALERTS, _RUN = "Source", "Which answers", "Budget of a day", "Alerts", "Run"
_FLAGS = {  # of Python's options that have another name here
    "slices": "--slice",
    "mapping": "--map",
    "alerts": "--alert",
    "send_back": "--no-write-back",
    "screen": "--prefilter",
    "worry": "--screen-threshold",
    "lateness": "--late-window",
    "settle": "--idle-timeout",
    "events_to": "--otlp-logs-url",
    "per": "--run-by",
    "when_spent": "--on-budget",
}


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which answers are judged."""

    rate: Annotated[float, opt.option("--rate SHARE", "Share of answers to judge.", _WHICH, min=0, max=1)] = 1.0
    min_per_slice: Annotated[
        int,
        opt.option("--min-per-slice N", "Minimum number of answers per slice value and day.", _WHICH, min=0),
    ] = 0
    screen: Annotated[
        str | None,
        opt.option("--prefilter SPEC", "Also judge what this cheap judge doubts: embedded, lexical.", _WHICH),
    ] = None
    worry: Annotated[
        float | None,
        opt.option(
            "--screen-threshold P",
            "Judge when its P(contradicted) is above this (0.5).",
            _WHICH,
            min=0,
            max=1,
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class DailyBudget:
    """What a day may cost."""

    daily_answers: Annotated[
        int | None, opt.option("--daily-answers N", "Maximum number of answers a day.", _BUDGET, min=1)
    ] = None
    daily_tokens: Annotated[int | None, opt.option("--daily-tokens N", "Maximum tokens a day.", _BUDGET, min=1)] = None
    daily_cost: Annotated[float | None, opt.option("--daily-cost DOLLARS", "Maximum cost a day.", _BUDGET, min=0)] = (
        None
    )
    when_spent: Annotated[
        str,
        opt.option(
            "--on-budget skip|wait",
            "When the daily budget is used up: skip the rest, or queue it for the next day.",
            _BUDGET,
        ),
    ] = "skip"


@dataclass(frozen=True, slots=True)
class Alerting:
    """When an alert is raised, and who is told."""

    alert_above: Annotated[
        float | None,
        opt.option(
            "--alert-above SHARE",
            "Alert when the mean share of contradicted claims is above this.",
            _ALERTS,
            min=0,
            max=1,
        ),
    ] = None
    alert_baseline: Annotated[
        str | None,
        opt.option(
            "--alert-baseline RUN",
            "Take the limit from this run, and by its labels correct for the judge's error.",
            _ALERTS,
        ),
    ] = None
    alerts: Annotated[
        list[str] | None,
        opt.option("--alert SINK", "Send alerts to webhook:URL, slack:URL or command:PROGRAM. Repeatable.", _ALERTS),
    ] = None


@dataclass(frozen=True, slots=True)
class Reading:
    """How the source is read, and whether it hears of the scores."""

    query: Annotated[str | None, opt.option("--query SELECT", "Query of sql.", _SOURCE)] = None
    watermark: Annotated[
        str | None, opt.option("--watermark COLUMN", "Column of sql with a growing time or number.", _SOURCE)
    ] = None
    key: Annotated[str | None, opt.option("--key COLUMN", "Column of sql that identifies rows (id).", _SOURCE)] = None
    since: Annotated[str | None, opt.option("--since TIME", "Start time for langfuse.", _SOURCE)] = None
    observation: Annotated[
        str | None, opt.option("--observation NAME", "Name of the root observations of langfuse.", _SOURCE)
    ] = None
    environment: Annotated[str | None, opt.option("--environment NAME", "Environment of langfuse.", _SOURCE)] = None
    settle: Annotated[
        float | None,
        opt.option(
            "--idle-timeout SECONDS",
            "Seconds without new spans before a trace is complete: langfuse (30), otlp (10).",
            _SOURCE,
            min=0,
        ),
    ] = None
    lateness: Annotated[
        float | None,
        opt.option(
            "--late-window SECONDS", "Seconds that answers of langfuse and sql may appear late (3600).", _SOURCE, min=0
        ),
    ] = None
    events_to: Annotated[
        str | None, opt.option("--otlp-logs-url URL", "OTLP logs endpoint for the results of otlp.", _SOURCE)
    ] = None
    send_back: Annotated[
        bool, opt.option("--write-back/--no-write-back", "Write scores back to the source.", _SOURCE)
    ] = True


@with_settings(*SCORING, "map", "slices", "max_failed", "store", "concurrency", "observe", models=Talking)
def watch(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A growing JSONL file or a folder of them, langfuse[:URL], otlp[:HOST:PORT], sql:URL.",
        ),
    ],
    *,
    once: Annotated[bool, opt.option("--once", "Stop after the answers there are now.", _RUN)] = False,
    given: Given,
    chosen: Chosen,
    budget: DailyBudget,
    alerting: Alerting,
    reading: Reading,
    every: Annotated[float | None, opt.option("--every SECONDS", "Time between passes (10).", _RUN, min=0.01)] = None,
    per: Annotated[str, opt.option("--run-by day|release", "Answers of one run.", _RUN)] = "day",
    name: Annotated[str | None, opt.option("--name", "Name of the watch.", _RUN)] = None,
    json: Annotated[bool, opt.option("--json", "Print a JSON line per pass on stdout.", "Output")] = False,
    quiet: opt.Quiet = False,
) -> int:
    """Score answers as they come, each once, into runs of the store: one for each day, or release.

    It goes on where it stopped, however it stopped. Ctrl-C and the other signals to end let it finish what it has
    begun; a second one cuts that off. What --min-per-slice and --prefilter add is kept in runs of its own.

    Exit codes: 0 ok, 2 bad input or usage, 3 too many failures, stopped at a limit, or scores not sent back.
    """
    settings = given.settings()
    given.check_use(settings.judge, settings.decomposer, metric=settings.metric)
    given.check_files(settings, [source], {"the store": settings.store, "standard output": "-"})
    opt.one_of("--on-budget", budget.when_spent, ("skip", "wait"))
    for flag, limit in (("--daily-cost", budget.daily_cost), ("--alert-above", alerting.alert_above)):
        if limit == 0:
            raise ConfigError(f"{flag} must be above 0")
    stop = threading.Event()
    of_watch: dict[str, Any] = {
        **asdict(chosen), **asdict(budget), **asdict(alerting), **asdict(reading),
        "slices": settings.slices,
        "mapping": settings.map,
        "send_back": None if reading.send_back else False,
        "once": once,
        "name": name,
        "per": opt.one_of("--run-by", per, ("day", "release")),
        "every": every,
        "concurrency": settings.concurrency,
        "stop": stop,
        "on_pass": _Telling(json=json, quiet=quiet),
    }  # fmt: skip
    options = cast("WatchingOptions", {name: value for name, value in of_watch.items() if value is not None})
    with Evaluator(**cast("Options", for_evaluator(settings, in_batches=False))) as evaluator, signals.asking(stop.set):
        try:
            seen = evaluator.watch(source, store=settings.store, **options)
        except BudgetExceeded as spent:
            warn(f"{why_it_stopped(spent, evaluator)}; the same command goes on from there", kind="")
            return TOO_MANY_FAILURES
        except OptionError as error:
            raise ConfigError(error.spelled(_flag)) from None
    return _end(seen, settings, once=once, quiet=quiet)


def _flag(option: str) -> str:
    """Return an option of `Evaluator.watch` as the command line spells it."""
    return _FLAGS.get(option) or f"--{option.replace('_', '-')}"


class _Telling:
    """Tells of every pass that found something, and once of what fails again and again."""

    def __init__(self, *, json: bool, quiet: bool) -> None:
        self._json = json
        self._quiet = quiet
        self._said = ""

    def __call__(self, what: Pass | Exception) -> None:
        if isinstance(what, Exception):
            if str(what) != self._said:
                warn(f"{what}; it is tried again", kind="warning")
            self._said = str(what)
            return
        self._said = ""
        for alert in what.alerts:
            warn(alert.text, kind="alert")
        if what.is_silent:
            return
        if self._json:
            show_json(what.to_json(), indent=None)
            sys.stdout.flush()  # whoever reads it may wait for it
        if not self._quiet:
            for reason in what.reasons:
                warn(reason, kind="unreadable")
            if not self._json:
                warn(str(what), kind="")


def _end(seen: Pass, settings: Settings, *, once: bool, quiet: bool) -> int:
    """Say what it came to, and how the command ends."""
    if not quiet:
        for run, name in seen.runs.items():
            warn(f"run {run} · {name}", kind="")
        if not once:
            warn(f"{signals.word()}; in all: {seen}", kind="")
    if once and seen.unreadable and seen.unreadable == seen.found:
        warn(f"nothing of what was found can be read as an answer; the first: {seen.reasons[0]}")
        return USAGE
    if seen.judged and seen.failed / seen.judged > settings.max_failed:
        warn(f"{seen.failed:,} of {seen.judged:,} judged answers failed: more than {settings.max_failed:.0%}")
        return TOO_MANY_FAILURES
    if once and (seen.not_sent_back or seen.waits_for):
        return TOO_MANY_FAILURES
    return OK

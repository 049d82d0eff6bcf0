"""``everyclaim watch``: answers scored as they come, once or for ever."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
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
from everyclaim.cli.groups import Scoring
from everyclaim.cli.screen import show_json, warn
from everyclaim.cli.talking import as_settings, check_files, check_use, for_evaluator, why_it_stopped, with_talking
from everyclaim.core.errors import BudgetExceeded, ConfigError, OptionError
from everyclaim.monitor.watching.report import Pass

_SOURCE, _WHICH, _BUDGET, _ALERTS, _RUN = "Source", "Which answers", "Budget of a day", "Alerts", "Run"
_FLAGS = {"slices": "--slice", "mapping": "--map", "alerts": "--alert", "send_back": "--keep"}  # of another name here


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which answers are judged."""

    rate: Annotated[
        float,
        typer.Option("--rate", metavar="SHARE", min=0, max=1, help="Judge this share.", rich_help_panel=_WHICH),
    ] = 1.0
    slices: opt.Slices = None
    min_per_slice: Annotated[
        int,
        typer.Option(
            "--min-per-slice",
            metavar="N",
            min=0,
            help="Judge so many of each value of a slice a day, whatever the rate.",
            rich_help_panel=_WHICH,
        ),
    ] = 0
    screen: Annotated[
        str | None,
        typer.Option(
            "--screen",
            metavar="SPEC",
            help="Judge also what worries this cheap judge: embedded, lexical.",
            rich_help_panel=_WHICH,
        ),
    ] = None
    worry: Annotated[
        float | None,
        typer.Option(
            "--worry",
            metavar="P",
            min=0,
            max=1,
            help="From which probability of a contradiction it is worried (0.5).",
            rich_help_panel=_WHICH,
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class DailyBudget:
    """What a day may cost."""

    daily_answers: Annotated[
        int | None,
        typer.Option("--daily-answers", metavar="N", min=1, help="Judge at most so many.", rich_help_panel=_BUDGET),
    ] = None
    daily_tokens: Annotated[
        int | None,
        typer.Option("--daily-tokens", metavar="N", min=1, help="Stop judging then.", rich_help_panel=_BUDGET),
    ] = None
    daily_cost: Annotated[
        float | None,
        typer.Option("--daily-cost", metavar="DOLLARS", min=0, help="Stop judging then.", rich_help_panel=_BUDGET),
    ] = None
    when_spent: Annotated[
        str,
        typer.Option(
            "--when-spent",
            metavar="skip|wait",
            help="Pass over what is beyond it, or go on with it tomorrow.",
            rich_help_panel=_BUDGET,
        ),
    ] = "skip"


@dataclass(frozen=True, slots=True)
class Alerting:
    """When an alert is raised, and who is told."""

    alert_above: Annotated[
        float | None,
        typer.Option(
            "--alert-above",
            metavar="SHARE",
            min=0,
            max=1,
            help="Alert when more of an answer's claims is contradicted, in the mean.",
            rich_help_panel=_ALERTS,
        ),
    ] = None
    alert_baseline: Annotated[
        str | None,
        typer.Option(
            "--alert-baseline",
            metavar="RUN",
            help="Take the limit from this run, and by its labels correct for the judge's error.",
            rich_help_panel=_ALERTS,
        ),
    ] = None
    alerts: Annotated[
        list[str] | None,
        typer.Option(
            "--alert",
            metavar="SINK",
            help="Send alerts to webhook:URL, slack:URL or command:PROGRAM. Repeatable.",
            rich_help_panel=_ALERTS,
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Reading:
    """How the source is read, and whether it hears of the scores."""

    mapping: opt.Mapping = None
    query: Annotated[
        str | None, typer.Option("--query", metavar="SELECT", help="Of sql: what is read.", rich_help_panel=_SOURCE)
    ] = None
    watermark: Annotated[
        str | None,
        typer.Option(
            "--watermark", metavar="COLUMN", help="Of sql: a time or number that grows.", rich_help_panel=_SOURCE
        ),
    ] = None
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="COLUMN", help="Of sql: what tells rows apart (id).", rich_help_panel=_SOURCE),
    ] = None
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="Of langfuse: where to begin.", rich_help_panel=_SOURCE),
    ] = None
    observation: Annotated[
        str | None,
        typer.Option(
            "--observation", metavar="NAME", help="Of langfuse: root observations so named.", rich_help_panel=_SOURCE
        ),
    ] = None
    environment: Annotated[
        str | None,
        typer.Option("--environment", metavar="NAME", help="Of langfuse: only this one.", rich_help_panel=_SOURCE),
    ] = None
    settle: Annotated[
        float | None,
        typer.Option(
            "--settle",
            metavar="SECONDS",
            min=0,
            help="Of langfuse (30) and otlp (10): the silence after which an answer is whole.",
            rich_help_panel=_SOURCE,
        ),
    ] = None
    lateness: Annotated[
        float | None,
        typer.Option(
            "--lateness",
            metavar="SECONDS",
            min=0,
            help="Of langfuse and sql: how late answers may appear (3600).",
            rich_help_panel=_SOURCE,
        ),
    ] = None
    events_to: Annotated[
        str | None,
        typer.Option(
            "--events-to", metavar="URL", help="Of otlp: a collector's logs, for results.", rich_help_panel=_SOURCE
        ),
    ] = None
    send_back: Annotated[
        bool,
        typer.Option("--send-back/--keep", help="Write scores back to the source.", rich_help_panel=_SOURCE),
    ] = True


@with_talking(Talking)
def watch(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A growing JSONL file or a folder of them, langfuse[:URL], otlp[:HOST:PORT], sql:URL.",
        ),
    ],
    *,
    once: Annotated[bool, typer.Option("--once", help="End with what there is now.", rich_help_panel=_RUN)] = False,
    scoring: Scoring,
    observe: opt.Observe = None,
    chosen: Chosen,
    budget: DailyBudget,
    alerting: Alerting,
    reading: Reading,
    every: Annotated[
        float | None,
        typer.Option("--every", metavar="SECONDS", min=0.01, help="Time between passes (10).", rich_help_panel=_RUN),
    ] = None,
    per: Annotated[
        str, typer.Option("--per", metavar="day|release", help="What one run holds.", rich_help_panel=_RUN)
    ] = "day",
    name: Annotated[
        str | None, typer.Option("--name", help="What the watch is known by.", rich_help_panel=_RUN)
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print a JSON line per pass on stdout.", rich_help_panel="Output")
    ] = False,
    quiet: opt.Quiet = False,
    max_failed: opt.MaxFailed = None,
    store: opt.Store = None,
    concurrency: opt.Concurrency = None,
    talking: Mapping[str, Any],
    config: opt.Config = None,
) -> int:
    """Score answers as they come, each once, into runs of the store: one for each day, or release.

    It goes on where it stopped, however it stopped. Ctrl-C and the other signals to end let it finish what it has
    begun; a second one cuts that off. What --min-per-slice and --screen add is kept in runs of its own.

    Exit codes: 0 ok, 2 bad input or usage, 3 too many failures, stopped at a limit, or scores not sent back.
    """
    settings = scoring.settings(
        config,
        observe=observe,
        store=store,
        slices=chosen.slices,
        map=reading.mapping,
        max_failed=max_failed,
        concurrency=concurrency,
        **as_settings(talking),
    )
    check_use(talking, settings.judge, settings.decomposer, metric=settings.metric)
    check_files(settings, config, [source], {"the store": settings.store, "standard output": "-"})
    opt.one_of("--when-spent", budget.when_spent, ("skip", "wait"))
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
        "per": opt.one_of("--per", per, ("day", "release")),
        "every": every,
        "concurrency": settings.concurrency,
        "stop": stop,
        "on_pass": _Telling(json=json, quiet=quiet),
    }  # fmt: skip
    given = cast("WatchingOptions", {name: value for name, value in of_watch.items() if value is not None})
    with Evaluator(**cast("Options", for_evaluator(settings, in_batches=False))) as evaluator, signals.asking(stop.set):
        try:
            seen = evaluator.watch(source, store=settings.store, **given)
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

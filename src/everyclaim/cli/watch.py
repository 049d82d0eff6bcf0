"""``everyclaim watch``: answers scored as they come; and the alert rules and dashboard that go with that."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

from everyclaim.api.options import LlmOptions, Options, StreamOptions
from everyclaim.api.settings import Settings, flag_of, options_of
from everyclaim.cli import options as opt
from everyclaim.cli.console import show_json, warn
from everyclaim.cli.exits import OK, TOO_MANY_FAILURES, USAGE, signal_word, stopping
from everyclaim.cli.options import SCORING, Given, argument, check_destination, option, why_it_stopped, with_settings
from everyclaim.core.errors import BudgetExceeded, ConfigError, OptionError
from everyclaim.core.options import declared_options
from everyclaim.core.plaintext import counted
from everyclaim.io import DASHBOARD, RULES, check_apart, check_replaced
from everyclaim.io.sinks import open_sink

if TYPE_CHECKING:
    from everyclaim.api.watch import WatchingOptions
    from everyclaim.monitor.watch.source import WatchPass

_DECLARED = declared_options(StreamOptions)
_OTHER_NAMES = {"mapping": "map", "alerts": "alert"}  # on the command line


@with_settings(
    *SCORING, "map", "slices", "max_failed", "store", "concurrency", "observe",
    models=LlmOptions, watching=StreamOptions,
)  # fmt: skip
def watch(
    source: Annotated[
        str, argument("SOURCE", "Growing JSONL file or folder, langfuse[:URL], otlp[:HOST:PORT], sql:URL.")
    ],
    *,
    given: Given,
    watching: Mapping[str, Any],
    baseline: Annotated[
        str | None,
        option(
            "--alert-baseline RUN",
            "Run that sets the alert limit; human labels correct its rate for judge errors.",
            "Alerts",
        ),
    ] = None,
    alert: Annotated[
        list[str] | None,
        option("--alert SINK", "Alert destination: webhook:URL, slack:URL, command:PROGRAM. Repeatable.", "Alerts"),
    ] = None,
    json: Annotated[bool, option("--json", "Print one JSON line per pass on stdout.", "Output")] = False,
    quiet: opt.Quiet = False,
) -> int:
    """Score production answers as they arrive, each once, into one run per day or release.

    It continues after any interruption. Ctrl-C and SIGTERM let it finish the current answers and exit; a second signal
    cancels them. Answers added by --min-per-slice and --prefilter are stored in separate runs.

    Exit codes: 0 ok (also after Ctrl-C or SIGTERM), 2 bad input or usage, 3 too many failures, stopped at a limit,
    scores not written back or alerts not delivered.
    """
    settings = given.settings()
    given.check_files(settings, [source], {"the store": settings.store, "standard output": "-"})
    once = watching.get("once", False)
    chosen = {**watching, **opt.only_given({"alert_baseline": baseline, "alerts": alert})}
    stop = threading.Event()
    chosen |= {"slices": settings.slices, "mapping": settings.map, "concurrency": settings.concurrency}
    chosen |= {"max_failed": settings.max_failed}
    if not quiet:
        chosen["on_start"] = partial(warn, kind="")
    chosen |= {"stop": stop, "on_pass": _Reporter(json=json, quiet=quiet, once=once)}
    from everyclaim.api.evaluator import Evaluator  # not for --help

    with Evaluator(**cast("Options", options_of(settings))) as evaluator, stopping(stop.set):
        try:
            seen = evaluator.watch(source, store=settings.store, **cast("WatchingOptions", chosen))
        except BudgetExceeded as spent:
            warn(f"{why_it_stopped(spent, evaluator.spent)}; repeat the command to continue", kind="")
            return TOO_MANY_FAILURES
        except OptionError as error:
            raise ConfigError(error.spelled(_flag)) from None
    return _end(seen, settings, once=once, quiet=quiet)


def _flag(option: str) -> str:
    """Return an option of `Evaluator.watch` as the command line spells it."""
    return flag_of(_OTHER_NAMES.get(option, option), _DECLARED.get(option, (None, None))[1])


@dataclass(slots=True)
class _Reporter:
    """Tells of the only pass, or of every one that found something, and once of what fails again and again."""

    json: bool
    quiet: bool
    once: bool
    last_fault: str = ""
    undelivered: list[str] = field(default_factory=list)

    def __call__(self, seen: WatchPass | Exception) -> None:
        if isinstance(seen, Exception):
            if str(seen) != self.last_fault and not self.quiet:
                warn(f"{seen}; retrying", kind="warning")
            self.last_fault = str(seen)
            return
        self.last_fault = ""
        times = Counter(alert.measure for alert in seen.alerts)
        for measure, alert in {alert.measure: alert for alert in seen.alerts}.items():  # the newest of each measure
            more = ""
            if repeated := times[measure] - 1:
                more = f" {counted(repeated, 'more alert')} since; each receiver gets one in six hours."
            warn(alert.text + more, kind="alert")
        if seen.undelivered != self.undelivered:
            for reason in seen.undelivered:
                warn(f"{reason}; the next pass tries again")
            self.undelivered = seen.undelivered
        if seen.is_silent and not self.once:
            return
        if self.json:
            show_json(seen.to_json(), indent=None)
            sys.stdout.flush()  # whoever reads it may wait for it
        if not self.quiet:
            for reason in seen.reasons:
                warn(reason, kind="unreadable")
            if not self.json:
                warn(str(seen), kind="")


def _end(seen: WatchPass, settings: Settings, *, once: bool, quiet: bool) -> int:
    from everyclaim.api.runs import Run

    if not quiet:
        for run, name in seen.runs.items():
            score = Run(run, settings.store).score
            mean = "no score" if score.value is None else f"mean score {score.value:.3f}"
            warn(f"run {run} · {name} · {counted(score.n, 'answer')} scored · {mean}", kind="")
        if not once:
            warn(f"{signal_word()}; total: {seen}", kind="")
    if once and seen.unreadable and seen.unreadable == seen.found:
        warn(f"no row can be read as an answer; first problem: {seen.reasons[0]}")
        return USAGE
    lost, tried = seen.failed + seen.unreadable, seen.judged + seen.unreadable
    if lost > settings.max_failed * tried:
        most = f"{100 * settings.max_failed:.3g} %"
        warn(f"{lost:,} of {counted(tried, 'answer')} failed or could not be read, more than {most}")
        return TOO_MANY_FAILURES
    if seen.undelivered or (once and (seen.not_sent_back or seen.waits_for)):
        return TOO_MANY_FAILURES
    return OK


@with_settings("max_failed", "store")
def rules(
    *,
    baseline: Annotated[
        str | None, option("--baseline RUN", "Run that sets the baseline rates (default: newest finished).")
    ] = None,
    rate: Annotated[
        float | None,
        option("--rate SHARE", "Acceptable share of contradicted claims (0.02 = 2 %), instead of the baseline's."),
    ] = None,
    match: Annotated[
        list[str] | None, option("--match LABEL=VALUE", "Only series with this label, as job=bot. Repeatable.")
    ] = None,
    dashboard: Annotated[bool, option("--dashboard", "Write a Grafana dashboard as JSON instead.")] = False,
    out: Annotated[str, option("--out FILE", "File to write; - is standard output.")] = "-",
    given: Given,
) -> None:
    """Write Prometheus rules: contradicted claims, score drops, a failing judge, a changed judge.

    Rates are corrected for the judge's error if claims of the run are labelled (`everyclaim calibrate`); a comment in
    the file explains its numbers. The metrics are those of `--observe prometheus:…`. With --rate no run is read and
    nothing is corrected.
    """
    from everyclaim.api.runs import find_run
    from everyclaim.api.watch import baseline as baseline_of
    from everyclaim.core.plaintext import json_text
    from everyclaim.monitor.rules import dashboard as made
    from everyclaim.monitor.rules import error_budget, rules_text

    settings = given.settings()
    check_destination("--out", out, any_name=True)
    check_apart({"the store": settings.store}, {"--out": out})
    notes: tuple[str, ...] = ()
    if dashboard:
        text = json_text(made(), indent=2) + "\n"
    else:
        usual = None
        if rate is None or baseline is not None:
            run = find_run(baseline, store=settings.store, is_finished=True)
            check_apart({"the data set of the run": run.record.dataset}, {"--out": out})
            usual = baseline_of(run)
        budget = error_budget(usual, rate)
        matchers = opt.pairs(match, "--match", "LABEL=VALUE, as in job=bot")
        text = rules_text(budget, match=matchers, max_failed=settings.max_failed)
        notes = budget.notes
    check_replaced(out, DASHBOARD if dashboard else RULES)
    with open_sink(out) as sink:
        sink.write(text.encode("utf-8"))
    for note in notes:
        warn(note, kind="")

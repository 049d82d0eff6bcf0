"""``everyclaim watch rules``: alert rules for Prometheus, or a dashboard for Grafana."""

from __future__ import annotations

from typing import Annotated

from everyclaim.api.baselines import baseline as baseline_of
from everyclaim.api.running import find_run
from everyclaim.cli import options as opt
from everyclaim.cli.finish import check_destination
from everyclaim.cli.given import Given, with_settings
from everyclaim.cli.screen import warn
from everyclaim.core.errors import ConfigError
from everyclaim.io import DASHBOARD, RULES, check_apart, check_replaced
from everyclaim.io.sinks import open_sink
from everyclaim.report.clean import json_text


@with_settings("max_failed", "store")
def rules(
    *,
    baseline: Annotated[
        str | None, opt.option("--baseline RUN", "Run to take the usual rates from (the newest).")
    ] = None,
    rate: Annotated[
        float | None,
        opt.option(
            "--rate SHARE",
            "Acceptable true share of contradicted claims (0.02 = 2 %), instead of the baseline's.",
        ),
    ] = None,
    match: Annotated[
        list[str] | None, opt.option("--match LABEL=VALUE", "Only series with this label, as job=bot. Repeatable.")
    ] = None,
    dashboard: Annotated[bool, opt.option("--dashboard", "Write the dashboard for Grafana instead, as JSON.")] = False,
    out: Annotated[str, opt.option("--out FILE", "File to write; - is standard output.")] = "-",
    given: Given,
) -> None:
    """Write rules for Prometheus: contradicted claims, lost score, a failing judge, a judge that changed.

    Rates are corrected for the judge's error where claims of the run are labelled (`everyclaim calibrate`); a note in
    the file says how its numbers came about. The metrics are those of `--observe prometheus:…`. A stated rate alone
    reads no run, and corrects nothing.
    """
    from everyclaim.monitor.baseline import error_budget
    from everyclaim.monitor.grafana import dashboard as made
    from everyclaim.monitor.rules import rules_text

    settings = given.settings()
    check_destination("--out", out, any_name=True)
    check_apart({"the store": settings.store}, {"--out": out})
    notes: tuple[str, ...] = ()
    if dashboard:
        said = {
            "--baseline": baseline,
            "--rate": rate,
            "--match": match or None,
            "--max-failed": given.values.get("max_failed"),
        }
        if name := next((name for name, value in said.items() if value is not None), ""):
            raise ConfigError(f"{name} is for rules, not for the dashboard")
        text = json_text(made(), indent=2) + "\n"
    else:
        usual = None
        if rate is None or baseline is not None:
            run = find_run(baseline, store=settings.store)
            check_apart({"the data set of the run": run.record.dataset}, {"--out": out})
            usual = baseline_of(run)
        budget = error_budget(usual, rate)
        matchers = opt.pairs(match, "--match", "a label, an equals sign and its value, as in job=bot")
        text = rules_text(budget, match=matchers, max_failed=settings.max_failed)
        notes = budget.notes
    check_replaced(out, DASHBOARD if dashboard else RULES)
    with open_sink(out) as sink:
        sink.write(text.encode("utf-8"))
    for note in notes:
        warn(note, kind="")

"""``everyclaim compare A B``: two kept runs side by side, or a series of them; no judge is called."""

from __future__ import annotations

from typing import Annotated

import typer

from everyclaim.analysis.gate import against_baseline
from everyclaim.api.compare import compare as compare_runs
from everyclaim.api.compare import trend
from everyclaim.api.running import Run, find_run
from everyclaim.cli import options as opt
from everyclaim.cli.exits import OK
from everyclaim.cli.finish import GATE_CODES, check_destination
from everyclaim.cli.given import Given, with_settings
from everyclaim.cli.screen import show, show_json, warn
from everyclaim.core.errors import ConfigError
from everyclaim.report.comparison import comparison_page, trend_page

_TWO = 2


@with_settings("store")
def compare(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN RUN…", help="Ids, beginnings of ids, or names; the oldest first.")
    ],
    *,
    by: Annotated[
        list[str] | None,
        opt.option(
            "--by TAG",
            "Compare also by this tag, or auto; TAG+TAG cuts two ways, TAG+mode by failure mode. Repeatable.",
        ),
    ] = None,
    anyway: Annotated[
        bool,
        opt.option("--allow-different-judges", "Compare runs that were not judged alike; the page says what differs."),
    ] = False,
    movers: Annotated[
        int, opt.option("--top-changes N", "Number of answers with the largest changes to show.", min=0)
    ] = 5,
    html: Annotated[str | None, opt.option("--html FILE", "Write a report as one HTML file, answers included.")] = None,
    fail: Annotated[
        bool,
        opt.option(
            "--fail-on-regression", "Exit with 1 when anything is shown to have regressed, 4 when that is unknown."
        ),
    ] = False,
    json: Annotated[bool, opt.option("--json", "Print JSON instead of the page.")] = False,
    given: Given,
) -> int:
    """Compare two runs: what improved, what regressed, and how sure that is; no judge is called.

    Samples are paired by id. Of three runs or more, in their order in time, the trend is shown: where a measure changed
    its level. Runs that were not judged alike are refused, as a difference could be the judge's.

    Exit codes: 0 ok, 1 a regression with --fail-on-regression, 2 bad input or usage, 4 answers that
    --fail-on-regression cannot compare.
    """
    if len(runs) < _TWO:
        raise ConfigError("two runs are needed at least, the older first; `everyclaim runs` lists them")
    check_destination("--html", html, any_name=True)
    if html == "-" and json:
        raise ConfigError("--html - and --json would both write to standard output: choose one")
    settings = given.settings()
    known = [find_run(run, store=settings.store) for run in runs]
    if len(known) > _TWO:
        if html:
            raise ConfigError("--html is for two runs")
        return _trend(known, by=by, anyway=anyway, fail=fail, json=json)
    comparison = compare_runs(known[0], known[1], by=by or (), anyway=anyway, movers=movers)
    if html:
        comparison.report(html)
    if json:
        show_json(comparison.to_json())
    else:
        show(comparison_page(comparison, movers=movers), stderr=html == "-")
    if fail:
        result = against_baseline(comparison, parts=True)
        warn(result.message, kind=f"gate {result.status.value}")
        return GATE_CODES[result.status]
    return OK


def _trend(runs: list[Run], *, by: list[str] | None, anyway: bool, fail: bool, json: bool) -> int:
    if fail:
        raise ConfigError("--fail-on-regression is for two runs; `release-report` holds a series against its rule")
    found = trend(runs, by=by or (), anyway=anyway)
    if json:
        show_json(found.to_json())
    else:
        show(trend_page(found))
    return OK

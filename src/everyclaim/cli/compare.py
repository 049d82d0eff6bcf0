"""``everyclaim compare``: two stored runs, a series of them, or a release with the one before; no judge is called."""

from __future__ import annotations

from typing import Annotated

import typer

from everyclaim.analysis.gate import against_baseline
from everyclaim.api.compare import check_name, trend
from everyclaim.api.compare import compare as compare_runs
from everyclaim.api.compare import release_report as report_on
from everyclaim.api.runs import Run, find_run
from everyclaim.cli import options as opt
from everyclaim.cli.console import show_result, warn
from everyclaim.cli.exits import GATE_FAILED, INCONCLUSIVE, OK
from everyclaim.cli.finish import GATE_CODES
from everyclaim.cli.options import Given, check_destination, with_settings
from everyclaim.core.errors import ConfigError
from everyclaim.report.comparison import comparison_page, release_terminal, trend_page

_TWO = 2
_AnyJudges = Annotated[
    bool,
    opt.option(
        "--allow-different-judges", "Compare runs with different judges or settings; the page lists the differences."
    ),
]


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
    anyway: _AnyJudges = False,
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
    json: opt.Json = False,
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
    show_result(comparison.to_json, lambda: comparison_page(comparison, movers=movers), json=json, stderr=html == "-")
    if fail:
        result = against_baseline(comparison, parts=True)
        warn(result.message, kind=f"gate {result.status.value}")
        return GATE_CODES[result.status]
    return OK


def _trend(runs: list[Run], *, by: list[str] | None, anyway: bool, fail: bool, json: bool) -> int:
    if fail:
        raise ConfigError("--fail-on-regression is for two runs; `release-report` holds a series against its rule")
    found = trend(runs, by=by or (), anyway=anyway)
    show_result(found.to_json, lambda: trend_page(found), json=json)
    return OK


@with_settings("store")
def release_report(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN…", help="Ids, beginnings of ids, or names; the oldest first.")
    ],
    *,
    out: Annotated[
        list[str] | None, opt.option("--out FILE", "Write a page (.html), Markdown (.md) or JSON (.json). Repeatable.")
    ] = None,
    by: Annotated[
        list[str] | None, opt.option("--by TAG", "Slices (those of the newest run, else auto). Repeatable.")
    ] = None,
    lasting: Annotated[
        int,
        opt.option("--consecutive N", "Number of consecutive parts that must be higher to roll back.", min=1, max=100),
    ] = 2,
    require: Annotated[
        bool, opt.option("--require", "Exit with 1 on roll back, with 4 on watch and on too few samples.")
    ] = False,
    anyway: _AnyJudges = False,
    json: opt.Json = False,
    given: Given,
) -> int:
    """Report on the newest release in these runs against the one before; no judge is called.

    Samples name their release; a run with several is taken apart. The report has the sentence for a decision, failure
    modes by slice, the claims that changed, and what people labelled. The rule says roll back where the rate of
    contradicted claims is shown to be higher in each of the last parts of the release: its runs, or stretches of time;
    without the judge's error, where claims are labelled.

    Exit codes: 0 ok, 2 bad input or usage; with --require 1 roll back, 4 watch or too few samples.
    """
    for place in out or ():
        check_name(place)
        check_destination("--out", place, any_name=True)
    settings = given.settings()
    found = report_on(runs, by=by or None, lasting=lasting, anyway=anyway, store=settings.store)
    for place in out or ():
        found.write(place)
        warn(f"written: {place}", kind="")
    show_result(found.to_json, lambda: release_terminal(found), json=json)
    if not require or found.rule.verdict == "keep":
        return OK
    return GATE_FAILED if found.rule.verdict == "roll back" else INCONCLUSIVE

"""``everyclaim compare``: two stored runs, a series of them, or a release with the one before; no judge is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from everyclaim.cli import options as opt
from everyclaim.cli.console import show_result, warn
from everyclaim.cli.exits import GATE_FAILED, INCONCLUSIVE, OK
from everyclaim.cli.options import Given, check_destination, with_settings
from everyclaim.core.errors import ConfigError

if TYPE_CHECKING:
    from everyclaim.api.runs import Run

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
        list[str], typer.Argument(metavar="RUN RUN…", help="Ids, starts of ids, or names of runs; the oldest first.")
    ],
    *,
    by: Annotated[
        list[str] | None,
        opt.option(
            "--by TAG",
            "Also compare by this tag, or auto; TAG+TAG crosses two tags, TAG+mode adds failure modes. Repeatable.",
        ),
    ] = None,
    anyway: _AnyJudges = False,
    movers: Annotated[
        int, opt.option("--top-changes N", "Number of answers with the largest changes to show.", min=0)
    ] = 5,
    report: Annotated[
        str | None, opt.option("--report FILE", "Write a report as one HTML file, with the answers.")
    ] = None,
    fail: Annotated[
        bool, opt.option("--fail-on-regression", "Exit with 1 on a significant regression, with 4 if inconclusive.")
    ] = False,
    json: opt.Json = False,
    given: Given,
) -> int:
    """Compare two runs: significant improvements and regressions; calls no judge.

    Samples are paired by id. With three or more runs in chronological order it shows the trend: where a measure
    changed its level. Runs with different judges or settings are rejected, because the judge could cause a difference.

    Exit codes: 0 ok, 1 a regression with --fail-on-regression, 2 bad input or usage, 4 --fail-on-regression is
    inconclusive.
    """
    from everyclaim.api.compare import compare as compare_runs  # half a second that --help does not need
    from everyclaim.api.runs import find_run
    from everyclaim.report.comparison import comparison_page

    if len(runs) < _TWO:
        raise ConfigError("at least two runs are needed, the older first; `everyclaim runs` lists them")
    check_destination("--report", report, any_name=True)
    if report == "-" and json:
        raise ConfigError("--report - and --json would both write to standard output: choose one")
    settings = given.settings()
    known = [find_run(run, store=settings.store) for run in runs]
    if len(known) > _TWO:
        if report:
            raise ConfigError("--report needs exactly two runs")
        return _trend(known, by=by, anyway=anyway, fail=fail, json=json)
    comparison = compare_runs(known[0], known[1], by=by or (), anyway=anyway, movers=movers)
    if report:
        comparison.report(report)
        if report != "-":
            warn(f"wrote {report}", kind="")
    show_result(comparison.to_json, lambda: comparison_page(comparison, movers=movers), json=json, stderr=report == "-")
    if fail:
        from everyclaim.analysis.gate import against_baseline
        from everyclaim.cli.finish import GATE_CODES

        result = against_baseline(comparison, parts=True)
        warn(result.message, kind=result.title)
        return GATE_CODES[result.status]
    return OK


def _trend(runs: list[Run], *, by: list[str] | None, anyway: bool, fail: bool, json: bool) -> int:
    from everyclaim.api.compare import trend
    from everyclaim.report.comparison import trend_page

    if fail:
        raise ConfigError("--fail-on-regression needs exactly two runs; use `compare --release` for a series")
    found = trend(runs, by=by or (), anyway=anyway)
    show_result(found.to_json, lambda: trend_page(found), json=json)
    return OK


@with_settings("store")
def release_report(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN…", help="Ids, starts of ids, or names of runs; the oldest first.")
    ],
    *,
    report: Annotated[
        list[str] | None,
        opt.option("--report FILE", "Write the report: .html, Markdown (.md) or JSON (.json). Repeatable."),
    ] = None,
    by: Annotated[
        list[str] | None, opt.option("--by TAG", "Slices (default: those of the newest run, else auto). Repeatable.")
    ] = None,
    lasting: Annotated[
        int,
        opt.option(
            "--consecutive N", "Number of consecutive parts with a higher rate that means roll back.", min=1, max=100
        ),
    ] = 2,
    require: Annotated[
        bool, opt.option("--require", "Exit with 1 on roll back, with 4 on watch or too few samples.")
    ] = False,
    anyway: _AnyJudges = False,
    json: opt.Json = False,
    given: Given,
) -> int:
    """Compare the newest release in these runs with the previous one; calls no judge.

    Samples name their release; a run with several releases is divided. The report has a recommendation, failure modes
    by slice, changed claims, and human labels. The rule says roll back if the rate of contradicted or unsupported
    claims is significantly higher in each of the last parts of the release: its runs, or periods of time. With human
    labels the rates are corrected for the judge's error.

    Exit codes: 0 ok, 2 bad input or usage; with --require 1 roll back, 4 watch or too few samples.
    """
    from everyclaim.api.compare import check_name
    from everyclaim.api.compare import release_report as report_on
    from everyclaim.report.comparison import release_terminal

    for place in report or ():
        check_name(place)
        check_destination("--report", place, any_name=True)
    settings = given.settings()
    found = report_on(runs, by=by or None, lasting=lasting, anyway=anyway, store=settings.store)
    for place in report or ():
        found.write(place)
        warn(f"written: {place}", kind="")
    show_result(found.to_json, lambda: release_terminal(found), json=json)
    if not require or found.rule.verdict == "keep":
        return OK
    return GATE_FAILED if found.rule.verdict == "roll back" else INCONCLUSIVE

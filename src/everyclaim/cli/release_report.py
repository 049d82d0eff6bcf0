"""``everyclaim compare --release RUN…``: the newest release against the one before, and whether to take it back."""

from __future__ import annotations

from typing import Annotated

import typer

from everyclaim.api.release import check_name
from everyclaim.api.release import release_report as report_on
from everyclaim.cli import options as opt
from everyclaim.cli.exits import GATE_FAILED, INCONCLUSIVE, OK
from everyclaim.cli.finish import check_destination
from everyclaim.cli.given import Given, with_settings
from everyclaim.cli.screen import show, show_json, warn
from everyclaim.report.release import release_terminal


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
    anyway: Annotated[
        bool,
        opt.option("--allow-different-judges", "Compare runs that were not judged alike; the page says what differs."),
    ] = False,
    json: Annotated[bool, opt.option("--json", "Print JSON instead of the page.")] = False,
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
    if json:
        show_json(found.to_json())
    else:
        show(release_terminal(found))
    if not require or found.rule.verdict == "keep":
        return OK
    return GATE_FAILED if found.rule.verdict == "roll back" else INCONCLUSIVE

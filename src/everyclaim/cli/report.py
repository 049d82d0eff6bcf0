"""``everyclaim report RUN``: a kept run again, as a page, as JSON, or behind a gate; no judge is called."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from everyclaim.cli import options as opt
from everyclaim.cli.console import show, show_json, tell_of_bad_rows
from everyclaim.cli.exits import OK
from everyclaim.cli.options import GATE, Given, OutputOptions, with_settings
from everyclaim.core.errors import InputError

if TYPE_CHECKING:
    from everyclaim.api.runs import Run


@with_settings("slices", *GATE, "store")
def report(
    run: Annotated[
        str | None, typer.Argument(metavar="RUN", help="Id, start of an id, or name of a run (default: the newest).")
    ] = None,
    *,
    answer: Annotated[
        str | None, opt.option("--answer ID", "Show only this answer, with the reason and evidence of every claim.")
    ] = None,
    given: Given,
    html: opt.Html = None,
    output: OutputOptions,
) -> int:
    """Show a stored run; calls no judge.

    Slices are those of the run unless --slice names others.
    """
    from everyclaim.analysis.slices import expanded  # half a second that --help does not need
    from everyclaim.api.runs import find_run
    from everyclaim.cli.finish import baseline, conclude

    output = replace(output, html=html)
    output.check()
    settings = given.settings()
    against = baseline(given, settings)
    found = find_run(run, store=settings.store)
    if answer is not None:
        _show_answer(found, answer, json=output.json)
        return OK
    reading = found.record.reading
    if reading is not None:
        tell_of_bad_rows(reading.good, reading.bad, reading.first, quiet=output.quiet)
    chosen = replace(found, slices=expanded(slices)) if (slices := given.values.get("slices")) else found
    return conclude(chosen, output, settings, against)


def _show_answer(run: Run, answer: str, *, json: bool) -> None:
    from everyclaim.core.wire import result_to_json
    from everyclaim.report.findings import answers
    from everyclaim.report.style import Page
    from everyclaim.store.store import Store

    with Store.lent(run.store_location) as store:
        records = store.find(run.id, answer)
    if not records:
        raise InputError(f"run {run.id} has no answer with the id {answer!r}")
    if json:
        show_json([result_to_json(record.result) for record in records])
    else:
        show(Page(answers(records)))

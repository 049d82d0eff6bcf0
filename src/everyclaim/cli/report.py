"""``everyclaim report RUN``: a kept run again, as a page, as JSON, or behind a gate; no judge is called."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from everyclaim.cli import options as opt
from everyclaim.cli.console import tell_of_bad_rows
from everyclaim.cli.options import GATE, Given, OutputOptions, with_settings


@with_settings("slices", *GATE, "store")
def report(
    run: Annotated[
        str | None, typer.Argument(metavar="RUN", help="Id, start of an id, or name of a run (default: the newest).")
    ] = None,
    *,
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
    reading = found.record.reading
    if reading is not None:
        tell_of_bad_rows(reading.good, reading.bad, reading.first, quiet=output.quiet)
    chosen = replace(found, slices=expanded(slices)) if (slices := given.values.get("slices")) else found
    return conclude(chosen, output, settings, against)

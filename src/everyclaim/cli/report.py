"""``everyclaim report RUN``: a kept run again, as a page, as JSON, or behind a gate; no judge is called."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, get_args

import typer

from everyclaim.analysis import ClusterBy as ClusterByWord
from everyclaim.analysis.slices import expanded
from everyclaim.api.running import find_run
from everyclaim.cli import options as opt
from everyclaim.cli.finish import OutputOptions, bars_of, conclude
from everyclaim.cli.screen import tell_of_bad_rows


def report(
    run: Annotated[
        str | None, typer.Argument(metavar="RUN", help="Id, beginning of an id, or name; the newest if left out.")
    ] = None,
    *,
    slices: opt.Slices = None,
    out: opt.Out = None,
    report_: opt.Report = None,
    html: opt.Html = None,
    junit: opt.Junit = None,
    markdown: opt.Markdown = None,
    github: opt.Github = False,
    worst: opt.Worst = 5,
    cluster_by: opt.ClusterBy = "sample",
    json: opt.Json = False,
    quiet: opt.Quiet = False,
    fail_under: opt.FailUnder = None,
    max_contradicted: opt.MaxContradicted = None,
    max_unsupported: opt.MaxUnsupported = None,
    baseline: opt.Baseline = None,
    margin: opt.Margin = 0.0,
    max_failed: opt.MaxFailed = None,
    confident: opt.Confident = False,
    store: opt.Store = None,
    config: opt.Config = None,
) -> int:
    """Show a kept run again; no judge is called.

    Slices are those of the run unless --slice names others.
    """
    wishes = OutputOptions(
        out=out,
        report=report_,
        html=html,
        json=json,
        quiet=quiet,
        worst=worst,
        cluster_by=opt.one_of("--cluster-by", cluster_by, get_args(ClusterByWord)),
        confident=confident,
        junit=junit,
        markdown=markdown,
        github=github,
    )
    wishes.check()
    settings = opt.settings(config, store=store, fail_under=fail_under, max_failed=max_failed)
    bars = bars_of(max_contradicted, max_unsupported, baseline, margin, settings.store)
    found = find_run(run, store=settings.store)
    reading = found.record.reading
    if reading is not None:
        tell_of_bad_rows(reading.good, reading.bad, reading.first, quiet=quiet)
    chosen = replace(found, slices=expanded(slices)) if slices else found
    return conclude(chosen, replace(wishes, bars=bars), settings)

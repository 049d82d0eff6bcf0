"""``everyclaim runs``: what has been scored into the store."""

from __future__ import annotations

from typing import Annotated

import typer

from everyclaim.cli import options as opt
from everyclaim.cli.screen import show, show_json
from everyclaim.report.jsonreport import run_to_json
from everyclaim.report.listings import runs_page
from everyclaim.store import Store


def runs(
    *,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Show so many of the newest.")] = 20,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON list instead of the table.")] = False,
    store: opt.Store = None,
    config: opt.Config = None,
) -> None:
    """List the runs in the store, newest first."""
    settings = opt.settings(config, store=store)
    with Store.open(settings.store) as kept:
        records, location = kept.runs(limit=limit), kept.location
    if json:
        show_json([run_to_json(record) for record in records])
    else:
        show(runs_page(records, location))

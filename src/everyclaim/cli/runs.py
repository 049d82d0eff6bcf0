"""``everyclaim runs``: what has been scored into the store, and what is to go from it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated

from everyclaim.cli import options as opt
from everyclaim.cli.console import show, show_json, warn
from everyclaim.cli.options import Given, with_settings
from everyclaim.core.errors import ConfigError, InputError, NoStoreError, StoreError
from everyclaim.core.plaintext import counted
from everyclaim.report.style import Page, data


@with_settings("store")
def runs(
    *,
    limit: Annotated[int, opt.option("--limit N", "Maximum number of runs to list.", min=1)] = 20,
    json: Annotated[bool, opt.option("--json", "Print a JSON list instead of the table.")] = False,
    delete: Annotated[
        list[str] | None,
        opt.option("--delete RUN", "Delete this run, by id or unique name; human labels stay. Repeatable."),
    ] = None,
    upgrade: Annotated[bool, opt.option("--upgrade", "Upgrade a store of an older version in place.")] = False,
    given: Given,
) -> None:
    """List the runs in the store, newest first.

    Listing needs only read access. Runs whose process died are shown as interrupted; scoring the same file again
    continues them.
    """
    from everyclaim.api.runs import Run  # half a second that --help does not need
    from everyclaim.report.findings import runs_page
    from everyclaim.store.store import Store

    if delete and (json or upgrade):
        raise ConfigError("--delete cannot be combined with listing or --upgrade")
    settings = given.settings()
    if delete:
        _delete(settings.store, delete)
        return
    if upgrade:
        _upgrade(settings.store)
    try:
        with Store.lent(settings.store) as kept:
            records, location = kept.runs(limit=min(limit, sys.maxsize)), kept.location
    except NoStoreError as error:
        if json:
            show_json([])
        else:
            show(Page(data(f"no runs yet: {error}")))
        return
    scores = [Run(record.id, settings.store).score for record in records]
    if json:
        listed = zip(records, scores, strict=True)
        show_json([record.to_json() | {"score": asdict(score)} for record, score in listed])
    else:
        show(runs_page(records, scores, location))


def _upgrade(location: str) -> None:
    from everyclaim.store.store import Store

    try:
        Store.open_to_read(location).close()
    except NoStoreError:
        raise  # opening would make one
    except StoreError:
        Store.open(location).close()  # whatever else is wrong, it says


def _delete(location: str, wanted: list[str]) -> None:
    """Delete runs: all of them, or none when one of them cannot be."""
    from everyclaim.store.store import Store

    Store.open_to_read(location).close()  # opening to write would make a store, or change one of an older version
    with Store.open(location) as kept:
        found = {record.id: record for record in (kept.run(one, is_unique=True) for one in wanted)}
        for record in found.values():
            if record.status == "running":
                raise InputError(f"run {record.id} is being scored: stop it first")
        for record in found.values():
            labels = len(kept.labels(record.id))
            kept.delete_run(record.id)
            and_labels = (
                f"; {counted(labels, 'human label')} of its texts {'stays' if labels == 1 else 'stay'}"
                if labels
                else ""
            )
            warn(f"run {record.id} deleted, with {counted(record.kept, 'sample')}{and_labels}", kind="")

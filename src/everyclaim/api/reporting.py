"""Reports as files: what a run or a comparison has to say, written where the caller wants it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from everyclaim.analysis import Summary, worst
from everyclaim.analysis.comparison import Comparison
from everyclaim.api.calibration import Trust, trust_of
from everyclaim.api.stored import StoredRun
from everyclaim.core.errors import ConfigError
from everyclaim.core.protocols import Kept
from everyclaim.io import DOCUMENT, PAGE, check_apart, check_replaced, open_sink
from everyclaim.report.clean import json_text
from everyclaim.report.jsonreport import report_to_json
from everyclaim.store import Store

WORST = 5  # answers in a report as JSON
HTML, JSON = (".html", ".htm"), (".json",)


def check_report(destination: str | os.PathLike[str]) -> None:
    """Refuse a name that does not say what to write."""
    name = os.fspath(destination)
    if not name.lower().endswith((*HTML, *JSON)):
        raise ConfigError(f"a report is HTML or JSON, by the end of its name: {name} ends in neither .html nor .json")


def write_run_report(
    run: StoredRun,
    destination: str | os.PathLike[str],
    *,
    summary: Summary | None = None,
    found: Sequence[Kept] | None = None,
    trust: Trust | None = None,
    as_html: bool | None = None,
) -> None:
    """Write the report of a run: a page, or the JSON document that `score --json` prints, by the suffix.

    Summary, worst answers and what is known of the judge are found where they are not given. The file appears whole or
    not at all. Raises `ConfigError` when it is the data set of the run or its store.
    """
    if as_html is None:
        check_report(destination)
        as_html = os.fspath(destination).lower().endswith(HTML)
    check_apart({"the data set": run.record.dataset, "the store": run.store_location}, {"the report": destination})
    summary, trust = summary or run.summary, trust or trust_of(run)
    check_replaced(destination, PAGE if as_html else DOCUMENT)
    if as_html:
        content = run_html(run, summary, trust)
    else:
        found = worst(run.records(), WORST) if found is None else found
        content = json_text(run_document(run, summary, found, trust), indent=2).encode() + b"\n"
    with open_sink(destination) as sink:
        sink.write(content)


def run_document(run: StoredRun, summary: Summary, found: Sequence[Kept], trust: Trust) -> dict[str, Any]:
    """Return the JSON document of a run."""
    labelled = trust.beside(summary)
    known = None if labelled else trust.known
    return report_to_json(run.record, summary, found, labelled.to_json() if labelled else None, known)


def run_html(run: StoredRun, summary: Summary, trust: Trust) -> bytes:
    """Write the page of a run."""
    from everyclaim.report.html.run import run_report

    def read(places: Sequence[int] | None) -> Iterator[Kept]:
        with Store.lent(run.store_location) as store:
            yield from store.records(run.id) if places is None else store.records_at(run.id, places)

    return run_report(run.record, summary, read, calibration=trust.beside(summary), known_error=trust.line)


def write_comparison_report(
    comparison: Comparison, runs: tuple[StoredRun, StoredRun], destination: str | os.PathLike[str]
) -> None:
    """Write the page of a comparison: its numbers, and the answers that moved as they were and as they are."""
    from everyclaim.report.html.comparison import comparison_report

    reads: dict[str, str] = {}
    for name, run in zip(("the older run", "the newer run"), runs, strict=True):
        reads |= {f"the data set of {name}": run.record.dataset, f"the store of {name}": run.store_location}
    check_apart(reads, {"the report": destination})
    check_replaced(destination, PAGE)
    before, after = (
        answers_at(run, (moved.mover.places[side] for moved in comparison.moved)) for side, run in enumerate(runs)
    )
    page = comparison_report(comparison, before, after)
    with open_sink(destination) as sink:
        sink.write(page)


def answers_at(run: StoredRun, places: Iterable[int]) -> dict[int, Kept]:
    """Return the answers of a run at these places."""
    with Store.lent(run.store_location) as store:
        return {kept.position: kept for kept in store.records_at(run.id, places)}

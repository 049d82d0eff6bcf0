"""``everyclaim runs``, ``report``, ``compare``: stored runs, listed, deleted, shown, compared; no judge is called."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from itertools import islice
from typing import TYPE_CHECKING, Annotated

from everyclaim.cli import options as opt
from everyclaim.cli.console import show, show_json, show_result, tell_of_bad_rows, warn
from everyclaim.cli.exits import GATE_FAILED, INCONCLUSIVE, OK
from everyclaim.cli.options import GATE, Given, OutputOptions, argument, check_destination, option, with_settings
from everyclaim.core.errors import ConfigError, InputError, NoStoreError
from everyclaim.core.plaintext import counted, did_you_mean
from everyclaim.report.style import Page, data

if TYPE_CHECKING:
    from everyclaim.api.runs import Run


@with_settings("store")
def runs(
    *,
    limit: Annotated[int, option("--limit N", "Maximum number of runs to list.", min=1)] = 20,
    json: Annotated[bool, option("--json", "Print a JSON list instead of the table.")] = False,
    delete: Annotated[
        list[str] | None,
        option("--delete RUN", "Delete this run, by id or unique name; human labels stay. Repeatable."),
    ] = None,
    given: Given,
) -> None:
    """List the runs in the store, newest first.

    Listing needs only read access. Runs whose process died are shown as interrupted; scoring the same file again
    continues them.
    """
    from everyclaim.api.runs import Run  # half a second that --help does not need
    from everyclaim.report.findings import runs_page
    from everyclaim.store.store import Store

    if delete and json:
        raise ConfigError("--delete cannot be combined with listing")
    settings = given.settings()
    if delete:
        _delete(settings.store, delete)
        return
    try:
        with Store.open_to_read(settings.store) as kept:
            records, location = kept.runs(limit=min(limit, sys.maxsize)), kept.location
    except NoStoreError as error:
        page = Page(data(f"no runs yet: {error}"))
        show_result(list, lambda: page, json=json)
        return
    scores = [Run(record.id, settings.store).score for record in records]
    if json:
        listed = zip(records, scores, strict=True)
        show_json([record.to_json() | {"score": asdict(score)} for record, score in listed])
    else:
        show(runs_page(records, scores, location))


def _delete(location: str, wanted: list[str]) -> None:
    """Delete runs: all of them, or none when one of them cannot be."""
    from everyclaim.store.store import Store

    Store.open_to_read(location).close()  # opening to write would make a store
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


@with_settings("slices", *GATE, "store")
def report(
    run: Annotated[str | None, argument("RUN", "Id, start of an id, or name of a run (default: the newest).")] = None,
    *,
    answer: Annotated[
        str | None, option("--answer ID", "Show only this answer, with the reason and evidence of every claim.")
    ] = None,
    given: Given,
    output: OutputOptions,
) -> int:
    """Show a stored run; calls no judge.

    Slices are those of the run unless --slice names others.

    Exit codes: 0 ok, 1 gate failed, 2 bad input or usage, 3 too many failures, 4 inconclusive.
    """
    from everyclaim.analysis.slices import expanded  # half a second that --help does not need
    from everyclaim.api.runs import find_run
    from everyclaim.cli.finish import baseline, conclude

    output.check()
    settings = given.settings()
    found = find_run(run, store=settings.store)
    against = baseline(given, settings, found.record.provenance)
    if answer is not None:
        if asked := [name for name, place in output.files.items() if place]:
            raise ConfigError(f"--answer shows one answer in the terminal: leave out {', '.join(asked)}")
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

    with Store.open_to_read(run.store_location) as store:
        records = store.find(run.id, answer)
    if not records:
        ids = list(islice((kept.result.id for kept in run.records()), 1_000))
        near = (
            did_you_mean(answer, ids) or f"; its ids are {', '.join(map(repr, ids[:3]))}{', …' if len(ids) > 3 else ''}"
        )
        raise InputError(f"run {run.id} has no answer with the id {answer!r}{near}")
    show_result(lambda: [result_to_json(one.result) for one in records], lambda: Page(answers(records)), json=json)


_TWO = 2
_AnyJudges = Annotated[
    bool,
    option("--allow-different-judges", "Compare runs with different judges or other settings, which the output lists."),
]


@with_settings("store")
def compare(
    runs: Annotated[
        list[str] | None,
        argument("[RUN…]", "Ids, starts of ids, or names, the oldest first (default: newest two of the same data)."),
    ] = None,
    *,
    by: Annotated[
        list[str] | None,
        option(
            "--by TAG",
            "Also compare by a tag, automatic slices (auto), TAG+TAG pairs or TAG+mode (failure modes). Repeatable.",
        ),
    ] = None,
    anyway: _AnyJudges = False,
    movers: Annotated[int, option("--top-changes N", "Number of answers with the largest changes to show.", min=0)] = 5,
    report: Annotated[str | None, option("--report FILE", "Write a report as one HTML file, with the answers.")] = None,
    fail: Annotated[
        bool, option("--fail-on-regression", "Exit with 1 on a significant regression, with 4 if inconclusive.")
    ] = False,
    json: opt.Json = False,
    given: Given,
) -> int:
    """Compare two runs: significant improvements and regressions; calls no judge.

    Samples are paired by id. Three or more runs in chronological order show the trend, with significant changes marked.
    Runs with different judges or other settings are rejected, because these could cause a difference.
    With --release it compares the newest release with the previous one; see compare --release --help.

    Exit codes: 0 ok, 1 a regression with --fail-on-regression, 2 bad input or usage, 4 --fail-on-regression is
    inconclusive.
    """
    from everyclaim.api.compare import compare as compare_runs  # half a second that --help does not need
    from everyclaim.api.runs import find_run
    from everyclaim.report.comparison import comparison_page

    check_destination("--report", report, any_name=True)
    if report == "-" and json:
        raise ConfigError("--report - and --json would both write to standard output: choose one")
    settings = given.settings()
    known = [find_run(run, store=settings.store) for run in runs or ()]
    if len(known) < _TWO:
        known = _comparable(settings.store, known)
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


def _comparable(store: str, named: list[Run]) -> list[Run]:
    """Return the newest two runs of the same data and settings, one of them the named one."""
    from everyclaim.api.compare import comparable_runs
    from everyclaim.api.runs import find_run
    from everyclaim.store import browsing
    from everyclaim.store.store import Store

    find_run(store=store)  # raises if nothing was scored yet
    wanted = named[0].id if named else ""
    with Store.open_to_read(store) as kept:
        pair = comparable_runs(kept.runs(), lambda record: browsing.asked(kept, record.id), wanted)
    if pair is None:
        pairs = f"no other run has the data and settings of run {wanted}"
        which = pairs if wanted else "no two runs have the same data and settings"
        raise ConfigError(f"{which}: name two runs, the older first (`everyclaim runs` lists them)")
    return [find_run(run, store=store) for run in pair]


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
    runs: Annotated[list[str], argument("RUN…", "Ids, starts of ids, or names of runs; the oldest first.")],
    *,
    report: Annotated[
        list[str] | None,
        option("--report FILE", "Write the report: .html, Markdown (.md) or JSON (.json). Repeatable."),
    ] = None,
    by: Annotated[
        list[str] | None, option("--by TAG", "Slices (default: those of the newest run, else auto). Repeatable.")
    ] = None,
    lasting: Annotated[
        int,
        option("--consecutive N", "Roll back if this many consecutive parts have a higher rate.", min=1, max=100),
    ] = 2,
    require: Annotated[
        bool, option("--require", "Exit with 1 on roll back, with 4 on watch or too few samples.")
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

    Exit codes: 0 ok, 2 bad input or usage; with --require: 1 for roll back, 4 for watch or too few samples.
    """
    from everyclaim.api.compare import release_report as report_on
    from everyclaim.api.runs import kind_of_report
    from everyclaim.report.comparison import release_terminal

    for place in report or ():
        kind_of_report(place, is_of_release=True)
        check_destination("--report", place, any_name=True)
    settings = given.settings()
    found = report_on(runs, by=by or None, lasting=lasting, anyway=anyway, store=settings.store)
    for place in report or ():
        found.write(place)
        warn(f"wrote {place}", kind="")
    show_result(found.to_json, lambda: release_terminal(found), json=json)
    if not require or found.rule.verdict == "keep":
        return OK
    return GATE_FAILED if found.rule.verdict == "roll back" else INCONCLUSIVE

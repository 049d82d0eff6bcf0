"""What every command that has a run does with it: sum it up, write it, show it, and let the gate speak."""

from __future__ import annotations

import sys

from everyclaim.analysis.comparison import provenance_differences
from everyclaim.analysis.gate import (
    NO_BAR,
    GateResult,
    GateStatus,
    against_baseline,
    answers_against_bar,
    gate,
    probabilities_against_bar,
    together,
    unread_against_limit,
    worst,
)
from everyclaim.analysis.slices import without_answers
from everyclaim.analysis.summary import Collector, Summary
from everyclaim.api.compare import compare
from everyclaim.api.runs import Run, find_run, run_document, trust_of, write_run_report
from everyclaim.api.settings import Settings
from everyclaim.cli.console import show, show_json, warn
from everyclaim.cli.exits import GATE_FAILED, INCONCLUSIVE, OK, TOO_MANY_FAILURES, USAGE, gravest
from everyclaim.cli.options import Given, OutputOptions
from everyclaim.core.errors import ConfigError, OperatorError
from everyclaim.core.types import Provenance, Result
from everyclaim.io import check_apart, open_sink
from everyclaim.report.terminal import github_lines, junit, run_markdown, run_page
from everyclaim.store.records import RunRecord

GATE_CODES = {
    GateStatus.PASSED: OK,
    GateStatus.FAILED: GATE_FAILED,
    GateStatus.TOO_MANY_FAILURES: TOO_MANY_FAILURES,
    GateStatus.INCONCLUSIVE: INCONCLUSIVE,
}


def baseline(given: Given, settings: Settings, made_by: Provenance) -> Run | None:
    """Return the run to compare with. Raises `ConfigError` if it was not scored with the settings `made_by`."""
    named = settings.fail_on_regression
    if named is None:
        if given.values.get("margin"):
            raise ConfigError("--margin needs --fail-on-regression RUN")
        return None
    found = find_run(named, store=settings.store)
    if differs := provenance_differences(found.record.provenance, made_by):
        raise ConfigError(f"the baseline {named} was scored with other settings: {'; '.join(differs)}; score it again")
    return found


def conclude(run: Run, output: OutputOptions, settings: Settings, against: Run | None = None) -> int:
    """Write and show a run, and return the exit code that its gate and its input give.

    `against` is the run that it may not be worse than.
    """
    record = run.record
    check_apart({"the data set of the run": record.dataset, "the store": run.store_location}, output.outputs)
    output.check_replaced()
    collector = Collector(run.slices, bad_rows=record.bad_rows)
    found = worst(collector.watching(run.records()), output.worst)  # in one pass over the store
    summary = collector.finish()
    for tag in () if output.quiet else without_answers(summary.slices):
        warn(f"no answer has a tag {tag!r}", kind="warning")
    trust = trust_of(run)
    try:
        if output.out:
            run.write(output.out)
        if output.report:
            write_run_report(run, output.report, summary=summary, found=found, trust=trust)
            if not output.quiet:
                warn(f"wrote {output.report}", kind="")
    except OperatorError as error:
        advice = f"the run is stored: write it with `everyclaim report {run.id} --out FILE`"
        raise OperatorError(f"{error}; {advice}") from None
    if output.json:
        show_json(run_document(run, summary, found, trust), indent=None)
    elif not output.quiet:
        page = run_page(record, summary, found, trust.beside(summary), trust.line)
        show(page, stderr=output.out == "-")
    result = _gate(run, record, summary, settings, against)
    for part in result.gates:
        if part.status is not GateStatus.PASSED or not (part.message == NO_BAR or output.quiet):
            warn(part.message, kind=part.title)
    _tell_build_server(run, summary, [kept.result for kept in found], result, output, settings)
    incomplete = record.reading.incomplete if record.reading else ""
    if incomplete:
        warn(f"input incomplete: it could not be read to the end: {incomplete}")
    return gravest([GATE_CODES[result.status], USAGE if incomplete else OK])


def _tell_build_server(
    run: Run, summary: Summary, found: list[Result], result: GateResult, output: OutputOptions, bars: Settings
) -> None:
    name = run.record.name or run.record.dataset
    if output.junit:
        with open_sink(output.junit) as sink:
            sink.write(junit(run.results(), result, name, bars.fail_answer_under, bars.min_probability))
    if output.markdown:
        with open_sink(output.markdown) as sink:
            sink.write(run_markdown(summary, found, result, name).encode("utf-8", "replace"))
    if output.github:
        sys.stdout.writelines(line + "\n" for line in github_lines(found, result))


def _gate(run: Run, record: RunRecord, summary: Summary, settings: Settings, against: Run | None) -> GateResult:
    parts = {name: getattr(settings, f"min_{name}") for name in ("citation_precision", "citation_recall")}
    found = [
        gate(
            summary,
            settings.fail_under,
            max_contradicted=settings.max_contradicted,
            max_unsupported=settings.max_unsupported,
            least={name: bar for name, bar in parts.items() if bar is not None},
            max_failed_share=settings.max_failed,
            confident=settings.confident,
        )
    ]
    if settings.fail_answer_under is not None:
        found.append(answers_against_bar(run.results(), settings.fail_answer_under))
    if settings.min_probability is not None:
        found.append(probabilities_against_bar(run.results(), settings.min_probability))
    if settings.max_unread is not None:
        found.append(unread_against_limit(summary, settings.max_unread))
    if against is not None:
        margin = settings.margin or 0.0
        found.append(against_baseline(compare(against, run), margin=margin, confident=settings.confident))
    result = together(found)
    if result.status is GateStatus.PASSED and result.message != NO_BAR and record.status != "finished":
        what = f"the run is {record.status}: unscored answers may change the result"
        result = together([GateResult(GateStatus.INCONCLUSIVE, what, name="gate"), result])
    return result

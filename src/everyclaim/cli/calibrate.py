"""``everyclaim calibrate RUN [LABELS]``: how far to trust the judge of a run."""

from __future__ import annotations

from typing import Annotated

import typer

from everyclaim.api.labels import calibrate as compare_with_people
from everyclaim.cli import options as opt
from everyclaim.cli.console import show_result, tell_of_reading
from everyclaim.cli.exits import GATE_FAILED, INCONCLUSIVE, OK
from everyclaim.cli.options import Given, with_settings
from everyclaim.core.errors import ConfigError
from everyclaim.io import ReadReport, open_sink
from everyclaim.report.clean import json_text
from everyclaim.report.judge import calibration_page


@with_settings("map", "slices", "store")
def calibrate(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id, beginning of an id, or name.")],
    labels: Annotated[
        str | None, typer.Argument(metavar="[LABELS]", help="A file of labels, kept in the store; else those it holds.")
    ] = None,
    *,
    given: Given,
    format_: opt.Format = None,
    risk: Annotated[
        float | None,
        opt.option("--risk SHARE", "Fit the threshold of a guard: share of shown claims that may be wrong."),
    ] = None,
    save: Annotated[str | None, opt.option("--save FILE", "Write the fitted risk, for Guard(risk=FILE).")] = None,
    require: Annotated[
        bool, opt.option("--require", "Exit with 1 when 90 % is missed, with 4 when labels are too few.")
    ] = False,
    json: opt.Json = False,
) -> int:
    """Compare a run with people's labels: the judge's error, and the rate without it.

    True positive rate (supported claims called so) and true negative rate (failing claims called so) stand against
    90 % each; the share of supported claims is corrected for the judge's error, beside the raw one. Labels are rows of
    sample_id, claim and label, and optionally span, annotator, failure_mode and note: JSONL, JSON or CSV.
    Exit codes: 0 ok, 2 bad input or usage; with --require 1 a rate is missed, 4 too few labels to tell.
    """
    settings = given.settings()
    if save is not None and risk is None:
        raise ConfigError("--save writes the risk that --risk fits")
    report = ReadReport()
    found = compare_with_people(
        run,
        labels,
        slices=given.values.get("slices"),
        mapping=settings.map or None,
        format=format_,
        report=report,
        store=settings.store,
        risk=risk,
    )
    if save is not None and found.promise is not None:
        with open_sink(save) as sink:
            sink.write(json_text(found.promise.to_json(), indent=2).encode())
    tell_of_reading(report)
    show_result(found.to_json, lambda: calibration_page(found), json=json)
    if not require:
        return OK
    if "missed" in found.standing:
        return GATE_FAILED
    return OK if set(found.standing) == {"met"} else INCONCLUSIVE

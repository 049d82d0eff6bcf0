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
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id, start of an id, or name of a run.")],
    labels: Annotated[
        str | None,
        typer.Argument(
            metavar="[LABELS]", help="File of labels, which are stored; without it, the labels in the store are used."
        ),
    ] = None,
    *,
    given: Given,
    format_: opt.Format = None,
    risk: Annotated[
        float | None,
        opt.option("--risk SHARE", "Fit the threshold of a guard: maximum share of shown claims that may be wrong."),
    ] = None,
    save: Annotated[str | None, opt.option("--save FILE", "Write the fitted risk for Guard(risk=FILE).")] = None,
    require: Annotated[
        bool, opt.option("--require", "Exit with 1 if a rate is below 90 %, with 4 if there are too few labels.")
    ] = False,
    json: opt.Json = False,
) -> int:
    """Measure the judge against human labels and correct the score for its errors.

    The true positive rate (supported claims recognised) and true negative rate (failing claims recognised) are
    compared with 90 % each; the share of supported claims is shown raw and corrected. Labels are rows of sample_id,
    claim and label, and optionally span, annotator, failure_mode and note: JSONL, JSON or CSV. Exit codes: 0 ok, 2 bad
    input or usage; with --require 1 a rate is below 90 %, 4 too few labels.
    """
    settings = given.settings()
    if save is not None and risk is None:
        raise ConfigError("--save needs --risk")
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

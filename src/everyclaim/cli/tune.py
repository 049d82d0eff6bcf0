"""``everyclaim judge tune``: the embedded judge, fitted to a team's own labels."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from everyclaim.analysis.tuning import tuning_fit_to_json
from everyclaim.api.settings import options_of
from everyclaim.api.talking import Judging
from everyclaim.api.tuning import ANSWERS
from everyclaim.api.tuning import tune as fit_to
from everyclaim.cli import options as opt
from everyclaim.cli.exits import GATE_FAILED, INCONCLUSIVE, OK
from everyclaim.cli.finish import check_destination
from everyclaim.cli.given import Given, with_settings
from everyclaim.cli.progress import progressing
from everyclaim.cli.screen import show, show_json, tell_of_reading, warn
from everyclaim.core.errors import ConfigError
from everyclaim.io import ReadReport
from everyclaim.report.judge import tuning_page, why_not


@with_settings("map", "store", "concurrency", models=Judging)
def tune(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A file of claims with contexts and label, with --from-judge of answers; - is stdin."
        ),
    ],
    *,
    out: Annotated[str | None, opt.option("--out FILE.json", "Write the fit, if it helps.", "Output")] = None,
    answers: Annotated[
        str | None,
        opt.option(
            "--answers FILE|N",
            "The answers with the contexts, where rows of labels name one by sample_id; "
            f"with --from-judge how many answers to ask about ({ANSWERS}).",
            "Input",
        ),
    ] = None,
    from_judge: Annotated[
        str | None,
        opt.option("--from-judge SPEC", "Take the verdicts of this judge on a sample of answers as labels.", "Judging"),
    ] = None,
    given: Given,
    format_: opt.Format = None,
    limit: opt.Limit = None,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Fit the embedded judge to your own labels.

    Rows hold claim, contexts and label, or with --answers claim, sample_id and label, as for `band`. What the fit
    gains is measured on documents that it did not see; where it gains nothing, nothing is written. The file that is
    written is used as --judge 'embedded?tuned=FILE.json'; it holds numbers, and none of the texts.
    Exit codes: 0 ok, 1 it does not help, 2 bad input or usage, 4 too few labels to tell.
    """
    if out is not None and not out.lower().endswith(".json"):
        raise ConfigError(f"--out {out}: what is written is a file of JSON; end the name in .json")
    check_destination("--out", out)
    settings = given.settings()
    given.check_use(from_judge)
    wanted: Any = answers
    if from_judge and answers is not None:
        if not (answers.isascii() and answers.isdigit() and int(answers) >= 1):
            raise ConfigError(f"--answers {answers}: with --from-judge say how many answers to ask about, as in 200")
        wanted = int(answers)
    inputs = [file, *([answers] if answers and not from_judge else [])]
    given.check_files(settings, inputs, {"--out": out, "standard output": "-"})
    reading = ReadReport()
    with progressing(quiet=quiet) as progress:
        progress.start(None)
        tuned = fit_to(
            file,
            from_judge=from_judge,
            mapping=settings.map,
            format=format_,
            limit=limit,
            concurrency=settings.concurrency,
            report=reading,
            on_claim=lambda failed: progress.step(failed=failed),
            **({} if wanted is None else {"answers": wanted}),
            **(options_of(settings, Judging, from_judge) if from_judge else {}),
        )
    tell_of_reading(reading, quiet=quiet)
    if tuned.failed:
        warn(f"{tuned.failed:,} answers could not be judged, and are no labels", kind="")
    if tuned.stopped:
        warn(f"stopped at {tuned.stopped}: fitted to what was judged until then", kind="")
    if tuned.helps and out:
        tuned.write(out)
    if json:
        found = {"written": out if tuned.helps else None, "failed": tuned.failed, "stopped": tuned.stopped or None}
        show_json(tuning_fit_to_json(tuned.fit) | found | {"bad_rows": reading.bad})
    elif not quiet:
        show(tuning_page(tuned.fit, out if tuned.helps else None))
    elif not tuned.helps:
        warn(why_not(tuned.fit), kind="")
    if tuned.fit.outcome == "too_few":
        return INCONCLUSIVE
    return OK if tuned.helps else GATE_FAILED

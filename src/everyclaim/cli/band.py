"""``everyclaim judge cascade``: where the first judge of a cascade may decide alone, fitted to labels."""

from __future__ import annotations

from typing import Annotated

import typer

from everyclaim.analysis.deferral import band_fit_to_json
from everyclaim.api.deferral import cascade_spec, fit_band
from everyclaim.api.settings import options_of
from everyclaim.api.talking import Judging
from everyclaim.cli import options as opt
from everyclaim.cli.exits import INCONCLUSIVE, OK
from everyclaim.cli.given import Given, with_settings
from everyclaim.cli.progress import progressing
from everyclaim.cli.screen import show, show_json, tell_of_reading
from everyclaim.core.spec import Spec
from everyclaim.io import ReadReport
from everyclaim.report.judge import band_page

_FIT = "Fit"


@with_settings("judge", "map", "concurrency", models=Judging)
def band(
    labels: Annotated[
        str, typer.Argument(metavar="LABELS", help="A file of claims with contexts and label; - is stdin.")
    ],
    *,
    answers: Annotated[
        str | None,
        opt.option(
            "--answers FILE", "The answers with the contexts, where rows of labels name one by sample_id.", "Input"
        ),
    ] = None,
    given: Given,
    then: Annotated[
        str, opt.option("--escalate-to SPEC", "Judge of what is in doubt, for the spec that is printed.")
    ] = "openai:gpt-5-mini",
    error: Annotated[
        float, opt.option("--max-error SHARE", "Maximum share of what it settles that may be wrong.", _FIT)
    ] = 0.1,
    confidence: Annotated[float, opt.option("--confidence SHARE", "Confidence in that share.", _FIT)] = 0.95,
    each_side: Annotated[
        bool,
        opt.option("--per-label", "Hold the error for supported and for not supported separately.", _FIT),
    ] = False,
    format_: opt.Format = None,
    limit: opt.Limit = None,
    json: opt.Json = False,
) -> int:
    """Fit the deferral zone of a cascade to labels.

    Rows hold claim, contexts and label: SUPPORTED, UNSUPPORTED, CONTRADICTED or NOT_SUPPORTED; they may hold
    id, question and sentence. With --answers they hold sample_id instead of contexts. The judge judges them,
    and what it may settle alone is found: the most claims with at most the stated error. Rows without a label
    are passed over.

    Exit codes: 0 ok, 2 bad input or usage, 4 nothing can be settled.
    """
    settings = given.settings()
    given.check_use(settings.judge)
    given.check_files(settings, [labels, *([answers] if answers else [])], {"standard output": "-"})
    reading = ReadReport()
    spec = settings.judge
    with progressing(quiet=False) as progress:
        progress.start(None)
        fit = fit_band(
            labels,
            spec,
            error=error,
            confidence=confidence,
            each_side=each_side,
            answers=answers,
            mapping=settings.map,
            format=format_,
            limit=limit,
            concurrency=settings.concurrency,
            report=reading,
            on_verdict=lambda found: progress.step(failed=found.verdict is None),
            **options_of(settings, Judging, spec),
        )
    tell_of_reading(reading)
    cascade = Spec.parse(cascade_spec(fit, spec, then)).shown
    if json:
        spec_found = cascade if fit.settled.claims else None
        show_json(band_fit_to_json(fit) | {"spec": spec_found, "bad_rows": reading.bad})
    else:
        show(band_page(fit, spec, cascade))
    return OK if fit.settled.claims else INCONCLUSIVE

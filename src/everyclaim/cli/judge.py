"""``everyclaim judge``: a judge tested, evaluated on labels, tuned to them, or put first in a cascade."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from everyclaim.analysis.deferral import band_fit_to_json
from everyclaim.analysis.judge_eval import MAX_FLIPS, MAX_UNJUDGED, MOST_UNJUDGED
from everyclaim.analysis.tuning import tuning_fit_to_json
from everyclaim.api.fitting import ANSWERS, cascade_spec, fit_band
from everyclaim.api.fitting import tune as fit_to
from everyclaim.api.judge_eval import CASES, HISTORY, KINDS, check_judge, try_judge
from everyclaim.api.options import LlmJudgingOptions
from everyclaim.api.settings import options_of
from everyclaim.cli import options as opt
from everyclaim.cli.console import progressing, show, show_json, show_result, tell_of_reading, warn
from everyclaim.cli.exits import GATE_FAILED, INCONCLUSIVE, OK, TOO_MANY_FAILURES
from everyclaim.cli.options import Given, check_destination, with_settings
from everyclaim.core.errors import ConfigError
from everyclaim.core.spec import Spec
from everyclaim.io import ReadReport
from everyclaim.report.judge import band_page, judge_check_page, judge_test_page, tuning_page


@with_settings("judge", "strategy", "strict", "store", models=LlmJudgingOptions)
def judge_test(*, given: Given, json: opt.Json = False) -> int:
    """Try a judge before paying for it.

    90 short labelled claims of fifteen kinds go to it, on 30 sets that ship with the package: about 30 calls
    of a language model, small ones. The page has the accuracy by kind beside that of the offline judge, tokens and
    cost, and whether the model is fit to judge, by a rule that is stated. The claims tell a judge that can judge from
    one that cannot; for how good it is on your data label some, see calibration.
    Exit codes: 0 fit to judge, 1 not fit, 2 bad usage, 3 too many claims without a verdict, or stopped at a limit.
    """
    settings = given.settings()
    given.check_use(settings.judge)
    given.check_files(settings, [], {"standard output": "-"})
    with progressing(quiet=False) as progress:
        progress.start(CASES)
        test = try_judge(
            settings.judge,
            on_case=progress.step_result,
            strategy=settings.strategy,
            strict=settings.strict,
            **options_of(settings, LlmJudgingOptions, settings.judge),
        )
    show_result(test.to_json, lambda: judge_test_page(test, KINDS), json=json)
    if test.unjudged > MOST_UNJUDGED:
        return TOO_MANY_FAILURES
    return OK if test.is_fit else GATE_FAILED


@with_settings("judge", "strategy", "strict", "store", models=LlmJudgingOptions)
def judge_check(
    run: Annotated[
        str | None,
        typer.Argument(metavar="[RUN]", help="Whose labelled claims are judged; else 90 that ship with the package."),
    ] = None,
    *,
    given: Given,
    times: Annotated[int, opt.option("--trials N", "Number of times that every claim is judged.", min=1, max=20)] = 3,
    against: Annotated[str | None, opt.option("--against SPEC", "Another judge for the same claims.")] = None,
    max_flips: Annotated[
        float, opt.option("--max-flips SHARE", "Maximum share of claims that change their label.", min=0, max=1)
    ] = MAX_FLIPS,
    history: Annotated[
        str | None, opt.option("--history FILE.jsonl", f"File of earlier checks ({HISTORY} beside the store).")
    ] = None,
    json: opt.Json = False,
) -> int:
    """Check a judge on labelled claims that stay the same.

    Every claim is judged several times and once with the passages in the opposite order: does it repeat itself, does it
    mind order, does it mind length. The check is kept, and the next one of this judge is compared with the first: does
    it drift. However many checks are made, all together raise a false alarm of drift in at most 5 %.

    Exit codes: 0 no instability, bias or drift is shown, 1 it is, 2 bad input or usage, 3 too many claims without a
    verdict, or stopped at a limit.
    """
    settings = given.settings()
    if "cache" in given.values:
        raise ConfigError("--cache: a check of a judge takes no reply from a cache")
    given.check_use(settings.judge, against)
    given.check_files(settings, [], {"standard output": "-", "--history": history})
    options = dict(options_of(settings, LlmJudgingOptions, settings.judge, against))
    options.pop("cache", None)  # a reply that was kept says nothing of the judge today
    with progressing(quiet=False) as progress:
        progress.start(None)
        found = check_judge(
            settings.judge,
            run=run,
            times=times,
            against=against,
            history=history,
            max_flips=max_flips,
            on_case=progress.step_result,
            strategy=settings.strategy,
            strict=settings.strict,
            store=settings.store,
            **cast("LlmJudgingOptions", options),
        )
    show_result(found.to_json, lambda: judge_check_page(found), json=json)
    if found.unjudged > MAX_UNJUDGED:
        return TOO_MANY_FAILURES
    return GATE_FAILED if found.findings else OK


@with_settings("map", "store", "concurrency", models=LlmJudgingOptions)
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
            **(options_of(settings, LlmJudgingOptions, from_judge) if from_judge else {}),
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
        warn(tuned.fit.why_not, kind="")
    if tuned.fit.outcome == "too_few":
        return INCONCLUSIVE
    return OK if tuned.helps else GATE_FAILED


_FIT = "Fit"


@with_settings("judge", "map", "concurrency", models=LlmJudgingOptions)
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
        str, opt.option("--escalate-to SPEC", "Second judge, for uncertain claims, in the printed spec.")
    ] = "openai:gpt-5-mini",
    error: Annotated[
        float, opt.option("--max-error SHARE", "Maximum share of what it settles that may be wrong.", _FIT)
    ] = 0.1,
    confidence: Annotated[float, opt.option("--confidence SHARE", "Confidence in that share.", _FIT)] = 0.95,
    each_side: Annotated[
        bool,
        opt.option("--per-label", "Apply the error to supported and not supported claims separately.", _FIT),
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
            **options_of(settings, LlmJudgingOptions, spec),
        )
    tell_of_reading(reading)
    cascade = Spec.parse(cascade_spec(fit, spec, then)).shown
    more = {"spec": cascade if fit.settled.claims else None, "bad_rows": reading.bad}
    show_result(lambda: band_fit_to_json(fit) | more, lambda: band_page(fit, spec, cascade), json=json)
    return OK if fit.settled.claims else INCONCLUSIVE

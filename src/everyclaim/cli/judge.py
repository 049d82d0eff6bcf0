"""``everyclaim judge``: a judge tested, evaluated on labels, tuned to them, or put first in a cascade."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from everyclaim.api.options import DEFAULT_JUDGE, LlmJudgingOptions, StabilityOptions
from everyclaim.api.settings import options_of
from everyclaim.api.specs import talks
from everyclaim.cli import options as opt
from everyclaim.cli.console import progressing, show, show_json, show_result, tell_of_reading, warn
from everyclaim.cli.exits import GATE_FAILED, INCONCLUSIVE, OK, TOO_MANY_FAILURES
from everyclaim.cli.options import Given, argument, check_destination, option, with_settings
from everyclaim.core.errors import ConfigError
from everyclaim.core.spec import Spec
from everyclaim.io import ReadReport
from everyclaim.io.fields import CLAIM_FIELDS, SAMPLE_FIELDS


@with_settings("judge", "strategy", "strict", "store", models=LlmJudgingOptions)
def judge_test(*, given: Given, json: opt.Json = False) -> int:
    """Test a judge on 144 labelled claims before paying for it.

    144 short claims of 24 kinds on 48 sets of passages ship with the package; a language model needs about 48 small
    calls. The output compares accuracy by kind with the offline judge, shows tokens and cost, and says whether the
    model is fit to judge and by which rule. The test separates usable judges from unusable ones; to measure accuracy
    on your data, label claims and run calibrate. Exit codes: 0 fit to judge, 1 not fit, 2 bad usage,
    3 too many claims without a verdict, or stopped at a limit.
    """
    from everyclaim.analysis.judge_eval import MOST_UNJUDGED  # not for --help
    from everyclaim.api.judge_eval import CASES, TryOptions, smoke_test_judge
    from everyclaim.report.judge import judge_test_page

    settings = given.settings()
    given.check_files(settings, [], {"standard output": "-"})
    with progressing(total=CASES) as progress:
        test = smoke_test_judge(
            settings.judge,
            on_case=progress.step_result,
            **options_of(settings, TryOptions, settings.judge),
        )
    show_result(test.to_json, lambda: judge_test_page(test), json=json)
    if test.unjudged > MOST_UNJUDGED:
        return TOO_MANY_FAILURES
    return OK if test.is_fit else GATE_FAILED


@with_settings("judge", "strategy", "strict", "store", models=LlmJudgingOptions, check=StabilityOptions)
def judge_check(
    run: Annotated[
        str | None,
        argument("RUN", "Run whose labelled claims are judged (default: 144 claims that ship with the package)."),
    ] = None,
    *,
    given: Given,
    check: Mapping[str, Any],
    json: opt.Json = False,
) -> int:
    """Measure repeatability, drift, order bias and length bias of a judge.

    Every claim is judged several times, and once with the passages in reverse order. The check is stored; later checks
    of the same judge are compared with the first. All checks together raise a false drift alarm with at most 5 %
    probability.

    Exit codes: 0 no instability, bias or drift found, however accurate the judge is, 1 found, 2 bad input or usage,
    3 too many claims without a verdict, or stopped at a limit.
    """
    from everyclaim.analysis.judge_eval import MAX_UNJUDGED
    from everyclaim.api.judge_eval import CheckJudgeOptions, evaluate_judge
    from everyclaim.report.judge import judge_check_page

    settings = given.settings()
    if "cache" in given.values:
        raise ConfigError("--cache: this check always calls the judge; leave the option out")
    against = check.get("against")
    given.check_files(settings, [], {"standard output": "-", "--history": check.get("history")})
    options: Any = options_of(settings, CheckJudgeOptions, settings.judge, against) | dict(check)
    options.pop("cache", None)  # a reply that was kept says nothing of the judge today
    with progressing() as progress:
        found = evaluate_judge(
            settings.judge,
            run=run,
            on_case=progress.step_result,
            **options,
        )
    show_result(found.to_json, lambda: judge_check_page(found), json=json)
    if found.unjudged > MAX_UNJUDGED:
        return TOO_MANY_FAILURES
    return GATE_FAILED if found.findings else OK


@with_settings("map", "store", "concurrency", models=LlmJudgingOptions)
def tune(
    file: Annotated[
        str, argument("FILE", "File of claims with contexts and label, or of answers (--from-judge); - is stdin.")
    ],
    *,
    judge: Annotated[
        str, option("--judge SPEC", "Judge to tune: embedded, or a language model.", "Judging")
    ] = DEFAULT_JUDGE,
    out: Annotated[
        str | None,
        option("--out FILE", "Write the fit, if it improves the judge: FILE.json, a rubric FILE.toml.", "Output"),
    ] = None,
    answers: Annotated[
        str | None,
        option(
            "--answers FILE|N",
            (
                "Answers with contexts, for labels that have a sample_id; with --from-judge the number of "
                "answers to judge (default 200)."
            ),
            "Input",
        ),
    ] = None,
    from_judge: Annotated[
        str | None,
        option("--from-judge SPEC", "Use this judge's verdicts on a sample of answers as labels.", "Judging"),
    ] = None,
    given: Given,
    format_: opt.Format = None,
    limit: opt.Limit = None,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Fit a judge to your own labels.

    Rows have claim, contexts and label, or with --answers claim, sample_id and label, as for `judge cascade`. The gain
    is measured on held-out documents; without a gain nothing is written. Use the file as --judge
    'embedded?tuned=FILE.json'; it contains numbers and no texts. For a language model, the fit selects worked examples
    from the labels, and a rule if it helps; use that file as --rubric FILE.toml. Each claim is judged about 11 times.
    Exit codes: 0 ok, 1 no improvement, 2 bad input or usage, 4 too few labels.
    """
    from everyclaim.api.fitting import check_fit_name
    from everyclaim.api.fitting import tune as fit_to
    from everyclaim.report.judge import tuning_page

    if out is not None:
        check_fit_name(out, is_rubric=talks(judge) and not from_judge)
    check_destination("--out", out, any_name=True)
    settings = given.settings(SAMPLE_FIELDS if from_judge else CLAIM_FIELDS)
    asked = from_judge or judge
    wanted: Any = int(answers) if from_judge and answers and answers.isdecimal() else answers
    inputs = [file, *([answers] if answers and not from_judge else [])]
    given.check_files(settings, inputs, {"--out": out, "standard output": "-"})
    reading = ReadReport()
    with progressing(quiet=quiet) as progress:
        tuned = fit_to(
            file,
            judge,
            from_judge=from_judge,
            mapping=settings.map,
            format=format_,
            limit=limit,
            concurrency=settings.concurrency,
            report=reading,
            on_claim=lambda failed: progress.step(failed=failed),
            **({} if wanted is None else {"answers": wanted}),
            **options_of(settings, LlmJudgingOptions, asked),
        )
    tell_of_reading(reading, quiet=quiet)
    if tuned.failed:
        warn(f"{tuned.failed:,} answers could not be judged and give no labels", kind="")
    if tuned.stopped:
        warn(f"stopped at {tuned.stopped}: fitted to the answers judged before", kind="")
    if tuned.helps and out:
        tuned.write(out)
    if json:
        found = {"written": out if tuned.helps else None, "failed": tuned.failed, "stopped": tuned.stopped or None}
        show_json(tuned.fit.to_json() | found | {"bad_rows": reading.bad})
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
    labels: Annotated[str, argument("LABELS", "File of claims with contexts and label; - is stdin.")],
    *,
    answers: Annotated[
        str | None, option("--answers FILE", "Answers with contexts, for labels that have a sample_id.", "Input")
    ] = None,
    given: Given,
    then: Annotated[
        str, option("--escalate-to SPEC", "Second judge for uncertain claims, written into the printed spec.")
    ] = "openai:gpt-5-mini",
    error: Annotated[
        float, option("--max-error SHARE", "Maximum error rate among the claims that the first judge settles.", _FIT)
    ] = 0.1,
    confidence: Annotated[
        float, option("--confidence SHARE", "Confidence that the error rate stays below --max-error.", _FIT)
    ] = 0.95,
    each_side: Annotated[
        bool, option("--per-label", "Apply --max-error to supported and not supported claims separately.", _FIT)
    ] = False,
    format_: opt.Format = None,
    limit: opt.Limit = None,
    json: opt.Json = False,
) -> int:
    """Fit the deferral zone of a cascade to labels.

    Rows have claim, contexts and label: SUPPORTED, UNSUPPORTED, CONTRADICTED or NOT_SUPPORTED; optionally id, question
    and sentence. With --answers they have sample_id instead of contexts. The command finds the largest share of
    claims that the judge can settle alone within the maximum error. No second judge is proposed if it would get fewer
    than 2 % of the claims. Rows without a label are skipped.

    Exit codes: 0 ok, 2 bad input or usage, 4 no claim can be settled.
    """
    from everyclaim.api.fitting import cascade_spec, fit_cascade
    from everyclaim.report.judge import band_page

    settings = given.settings(CLAIM_FIELDS)
    given.check_files(settings, [labels, *([answers] if answers else [])], {"standard output": "-"})
    reading = ReadReport()
    spec = settings.judge
    with progressing() as progress:
        fit = fit_cascade(
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
            on_claim=lambda failed: progress.step(failed=failed),
            **options_of(settings, LlmJudgingOptions, spec),
        )
    tell_of_reading(reading)
    cascade = Spec.parse(cascade_spec(fit, spec, then)).shown
    more = {"spec": cascade if fit.needs_second else None, "bad_rows": reading.bad}
    show_result(lambda: fit.to_json() | more, lambda: band_page(fit, spec, cascade), json=json)
    return OK if fit.settled.claims else INCONCLUSIVE

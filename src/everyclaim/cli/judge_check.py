"""``everyclaim judge evaluate``: whether a judge repeats itself, drifts, or minds order and length."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from everyclaim.analysis.judge_eval import MAX_FLIPS, MAX_UNJUDGED
from everyclaim.api.judge_eval import HISTORY, check_judge
from everyclaim.api.settings import options_of
from everyclaim.api.talking import Judging
from everyclaim.cli import options as opt
from everyclaim.cli.exits import GATE_FAILED, OK, TOO_MANY_FAILURES
from everyclaim.cli.given import Given, with_settings
from everyclaim.cli.progress import progressing
from everyclaim.cli.screen import show, show_json
from everyclaim.core.errors import ConfigError
from everyclaim.core.types import Outcome
from everyclaim.report.judge import judge_check_page


@with_settings("judge", "strategy", "strict", "store", models=Judging)
def judge_check(
    run: Annotated[
        str | None,
        typer.Argument(metavar="[RUN]", help="Whose labelled claims are judged; else 60 that ship with the package."),
    ] = None,
    *,
    given: Given,
    times: Annotated[int, opt.option("--trials N", "Number of times that every claim is judged.", min=1, max=20)] = 3,
    against: Annotated[str | None, opt.option("--against SPEC", "Another judge for the same claims.")] = None,
    max_flips: Annotated[
        float, opt.option("--max-flips SHARE", "Maximum share of claims that change their label.", min=0, max=1)
    ] = MAX_FLIPS,
    history: Annotated[
        str | None, opt.option("--history FILE.jsonl", f"File of former checks ({HISTORY} beside the store).")
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
    options = dict(options_of(settings, Judging, settings.judge, against))
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
            on_case=lambda result: progress.step(failed=result.outcome is Outcome.FAILED),
            strategy=settings.strategy,
            strict=settings.strict,
            store=settings.store,
            **cast("Judging", options),
        )
    if json:
        show_json(found.to_json())
    else:
        show(judge_check_page(found))
    if found.unjudged > MAX_UNJUDGED:
        return TOO_MANY_FAILURES
    return GATE_FAILED if found.findings else OK

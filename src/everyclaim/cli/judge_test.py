"""``everyclaim judge smoke``: whether a model is fit to judge, on claims that ship with the package."""

from __future__ import annotations

from everyclaim.analysis.judge_test import MOST_UNJUDGED
from everyclaim.api.judge_eval import CASES, KINDS, try_judge
from everyclaim.api.settings import options_of
from everyclaim.api.talking import Judging
from everyclaim.cli import options as opt
from everyclaim.cli.exits import GATE_FAILED, OK, TOO_MANY_FAILURES
from everyclaim.cli.given import Given, with_settings
from everyclaim.cli.progress import progressing
from everyclaim.cli.screen import show, show_json
from everyclaim.core.types import Outcome
from everyclaim.report.judge import judge_test_page


@with_settings("judge", "strategy", "strict", "store", models=Judging)
def judge_test(
    *,
    given: Given,
    json: opt.Json = False,
) -> int:
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
            on_case=lambda result: progress.step(failed=result.outcome is Outcome.FAILED),
            strategy=settings.strategy,
            strict=settings.strict,
            **options_of(settings, Judging, settings.judge),
        )
    if json:
        show_json(test.to_json())
    else:
        show(judge_test_page(test, KINDS))
    if test.unjudged > MOST_UNJUDGED:
        return TOO_MANY_FAILURES
    return OK if test.is_fit else GATE_FAILED

"""Whether a run is good enough: a bar for the mean score, and a limit for what failed or could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from everyclaim.analysis.summary import Summary
from everyclaim.core.errors import ConfigError
from everyclaim.core.types import Outcome

MAX_FAILED_SHARE = 0.05
_ROUNDING = 1e-9


class GateStatus(StrEnum):
    """What the gate says."""

    PASSED = "passed"
    FAILED = "failed"
    TOO_MANY_FAILURES = "too_many_failures"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class GateResult:
    """The gate's word, and one sentence that says why."""

    status: GateStatus
    message: str


def gate(
    summary: Summary,
    fail_under: float | None = None,
    *,
    max_failed_share: float = MAX_FAILED_SHARE,
    confident: bool = False,
) -> GateResult:
    """Check a summary. Too many failures come first: a mean over what was left proves nothing.

    What failed is a sample without a result or a row that could not be read as a sample; the share is of all rows.

    Without `fail_under` only failures are checked. The mean decides; with `confident` its whole
    interval must lie on one side of the bar, and what is in between is inconclusive. A bar over
    nothing scored is inconclusive. Raises `ConfigError` when a bar or limit lies outside [0, 1].
    """
    for name, value in (("fail-under", fail_under), ("max-failed", max_failed_share)):
        if value is not None and not 0 <= value <= 1:
            raise ConfigError(f"{name} is {value:g}, but must lie between 0 and 1, as in 0.9")
    if fault := too_many_failed(
        summary.overall.outcomes[Outcome.FAILED], summary.overall.total, summary.bad_rows, max_failed_share, "sample"
    ):
        return GateResult(GateStatus.TOO_MANY_FAILURES, fault)
    if fail_under is None:
        return GateResult(GateStatus.PASSED, "no bar was set")
    return _against_bar(summary, fail_under, confident=confident)


def too_many_failed(failed: int, total: int, bad_rows: int, limit: float, what: str) -> str:
    """Say that more than a share of all rows came to nothing, or nothing when not.

    `failed` of the `total` things judged (`what`) failed; `bad_rows` more were never judged. The share is of them all.
    """
    rows = total + bad_rows
    if not rows or (failed + bad_rows) / rows <= limit + _ROUNDING:
        return ""
    share = f"({(failed + bad_rows) / rows:.1%}), more than the limit of {limit:.1%}"
    if not bad_rows:
        return f"{failed} of {total} {what}s failed {share}"
    failures = f" and {failed} failed" if failed else ""
    return f"{bad_rows} of {rows} rows could not be read{failures} {share}"


def _against_bar(summary: Summary, bar: float, *, confident: bool) -> GateResult:
    score = summary.overall.score
    if score.value is None or score.low is None or score.high is None:
        return GateResult(GateStatus.INCONCLUSIVE, f"nothing was scored, so nothing stands against the bar of {bar:g}")
    found = f"mean score {score.value:.3f} [{score.low:.3f}, {score.high:.3f}]"
    crosses = score.low < bar - _ROUNDING and score.high >= bar - _ROUNDING
    if crosses and confident:
        return GateResult(
            GateStatus.INCONCLUSIVE, f"{found}: the interval holds the bar of {bar:g}; score more samples to tell"
        )
    doubt = "; the interval holds the bar, so chance may have decided" if crosses else ""
    if score.value < bar - _ROUNDING:
        return GateResult(GateStatus.FAILED, f"{found} is under the bar of {bar:g}{doubt}")
    return GateResult(GateStatus.PASSED, f"{found} reaches the bar of {bar:g}{doubt}")

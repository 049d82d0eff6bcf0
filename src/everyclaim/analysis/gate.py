"""Whether a run is good enough: bars for the mean score and rates, limits for what failed; and the worst answers."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from everyclaim.analysis import percent
from everyclaim.analysis.comparison import Comparison
from everyclaim.analysis.deltas import CONTRADICTED, SCORE, SUPPORTED, UNSUPPORTED, Delta, DeltaFinding
from everyclaim.analysis.summary import Summary
from everyclaim.core.errors import ConfigError
from everyclaim.core.limits import MAX_FAILED
from everyclaim.core.plaintext import counted, one_line
from everyclaim.core.protocols import Kept
from everyclaim.core.types import Label, Outcome, Result
from everyclaim.stats.intervals import Estimate

NO_BAR = "no threshold set"
_ROUNDING = 1e-9
_NAMED = 3  # regressions in a message


class GateStatus(StrEnum):
    """What the gate says."""

    PASSED = "passed"
    FAILED = "failed"
    TOO_MANY_FAILURES = "too_many_failures"
    INCONCLUSIVE = "inconclusive"


_GATED = (SCORE, SUPPORTED, UNSUPPORTED, CONTRADICTED)  # shares of whole answers move further, under one margin
_GRAVITY = (GateStatus.PASSED, GateStatus.INCONCLUSIVE, GateStatus.FAILED, GateStatus.TOO_MANY_FAILURES)


@dataclass(frozen=True, slots=True)
class GateResult:
    """The gate's word, and why. Of several, `parts` and the lines of `message` are those of each, the gravest first."""

    status: GateStatus
    message: str
    parts: tuple[GateResult, ...] = ()
    name: str = "threshold gate"

    @property
    def gates(self) -> tuple[GateResult, ...]:
        """The result of each gate, the gravest first."""
        return self.parts or (self,)

    @property
    def title(self) -> str:
        """Name the result, as in "threshold gate failed"; failures count also where no gate is set."""
        word = self.status.value.replace("_", " ")
        return word if self.status is GateStatus.TOO_MANY_FAILURES else f"{self.name} {word}"


def gate(
    summary: Summary,
    fail_under: float | None = None,
    *,
    max_contradicted: float | None = None,
    max_unsupported: float | None = None,
    least: Mapping[str, float] | None = None,
    max_failed_share: float = MAX_FAILED,
    confident: bool = False,
) -> GateResult:
    """Check a summary. Too many failures come first: a mean over what was left proves nothing.

    What failed is a sample without a result or a row that could not be read as a sample; the share is of all rows.

    Where 0 is the best score, `fail_under` is what the mean may not be above. `max_contradicted` and `max_unsupported`
    are bars for the rates over all claims, which may not be above them, and `least` has bars for the means of parts
    of the score, such as `citation_recall`.

    Without bars only failures are checked. The value decides; with `confident` its whole interval must lie on one side
    of the bar, and what is in between is inconclusive. A bar over nothing scored is inconclusive. Of several bars the
    gravest word holds. Raises `ConfigError` for a part that the metric does not have.
    """
    if fault := too_many_failed(
        summary.overall.outcomes[Outcome.FAILED], summary.overall.total, summary.bad_rows, max_failed_share, "sample"
    ):
        example = f"; for example {one_line(summary.failed_example, 240)}" if summary.failed_example else ""
        return GateResult(GateStatus.TOO_MANY_FAILURES, fault + example)
    whole = summary.overall
    bars = [("mean score", whole.score, fail_under, whole.lower_is_better)]
    for part, bar in (least or {}).items():
        if part not in whole.components:
            raise ConfigError(f"min-{part.replace('_', '-')}: this metric has no {part}; metric='attribution' does")
        bars.append((f"mean {part.replace('_', ' ')}", whole.components[part], bar, False))
    bars.append(("contradicted claims", whole.rates[Label.CONTRADICTED], max_contradicted, True))
    bars.append(("unsupported claims", whole.rates[Label.UNSUPPORTED], max_unsupported, True))
    found = [
        _held(what, rate, bar, is_ceiling=is_ceiling, confident=confident)
        for what, rate, bar, is_ceiling in bars
        if bar is not None
    ]
    return together(found) if found else GateResult(GateStatus.PASSED, NO_BAR)


def answers_against_bar(results: Iterable[Result], bar: float) -> GateResult:
    """Check that no answer scores worse than a bar."""
    scored = [result for result in results if result.outcome is Outcome.SCORED]
    worse = sum(is_worse(result, bar) for result in scored)
    side = "above" if any(result.provenance.lower_is_better for result in scored) else "below"
    told = f"{worse} of {len(scored)} scored answers are {side} the threshold {bar:g} per answer"
    return GateResult(GateStatus.FAILED if worse else GateStatus.PASSED, told)


def probabilities_against_bar(results: Iterable[Result], bar: float) -> GateResult:
    """Check that no answer is less likely than a bar to be free of unsupported claims, as its judge sees it."""
    stated = [result for result in results if result.probability is not None]
    if not stated:
        told = f"no answer has a probability, so there is nothing to compare with the threshold {bar:g}"
        return GateResult(GateStatus.INCONCLUSIVE, told)
    less = sum(is_less_likely(result, bar) for result in stated)
    told = f"{less} of {len(stated)} answers have a probability below the threshold {bar:g}"
    return GateResult(GateStatus.FAILED if less else GateStatus.PASSED, told)


def is_less_likely(result: Result, bar: float | None) -> bool:
    """Whether an answer's probability is below a bar; one without a probability or a bar is not."""
    return bar is not None and result.probability is not None and result.probability < bar - _ROUNDING


def is_worse(result: Result, bar: float) -> bool:
    """Whether an answer scores worse than a bar; one without a score does not."""
    if result.score is None:
        return False
    return result.score > bar + _ROUNDING if result.provenance.lower_is_better else result.score < bar - _ROUNDING


def together(results: Sequence[GateResult]) -> GateResult:
    """Join what several bars say: the gravest word, and what each says, the gravest first."""
    parts = [part for result in results for part in result.parts or (result,) if part.message != NO_BAR]
    if len(parts) < 2:
        return parts[0] if parts else results[0]
    parts.sort(key=lambda part: -_GRAVITY.index(part.status))
    told = [f"{part.status.value.replace('_', ' ')}: {part.message}" for part in parts]
    return GateResult(parts[0].status, "\n".join(told), tuple(parts), "gate")


def too_many_failed(failed: int, total: int, bad_rows: int, limit: float, what: str) -> str:
    """Say that more than a share of all rows came to nothing, or nothing when not.

    `failed` of the `total` things judged (`what`) failed; `bad_rows` more were never judged. The share is of them all.
    """
    rows = total + bad_rows
    if not rows or (failed + bad_rows) / rows <= limit + _ROUNDING:
        return ""
    share = f"({percent((failed + bad_rows) / rows)}), more than the limit of {percent(limit)}"
    if not bad_rows:
        return f"{failed} of {total} {what}s failed {share}"
    failures = f" and {failed} failed" if failed else ""
    return f"{bad_rows} of {rows} rows could not be read{failures} {share}"


def unread_against_limit(summary: Summary, limit: float) -> GateResult:
    """Check that no more than a share of the answers is in a language that the judge does not read."""
    unread, total = summary.overall.outcomes[Outcome.UNREAD], summary.overall.total
    is_above = unread > (limit + _ROUNDING) * total
    found = (
        f"{unread} of {total} answers ({percent(unread / total if total else 0.0)}) are in a language that the judge"
    )
    told = f"{found} cannot read, which is {'above' if is_above else 'within'} the limit of {percent(limit)}"
    return GateResult(GateStatus.FAILED if is_above else GateStatus.PASSED, told)


def _held(what: str, rate: Estimate, bar: float, *, is_ceiling: bool, confident: bool) -> GateResult:
    """Hold a mean score, or a rate of claims, with its interval against a bar that it may not be under, or above."""
    is_score = what.startswith("mean ")
    shown = f"{bar:g}" if is_score else percent(bar)
    named = f"threshold {shown}" if is_score else f"limit of {shown}"
    if rate.value is None or rate.low is None or rate.high is None:
        nothing = "answer was scored" if is_score else "claim was judged"
        return GateResult(GateStatus.INCONCLUSIVE, f"no {nothing}, so there is nothing to compare with the {named}")
    value, low, high = (f"{one:.3f}" if is_score else percent(one) for one in (rate.value, rate.low, rate.high))
    found = f"{what} {value} [{low}, {high}]"
    if is_ceiling:
        crosses, is_worse, side = rate.low <= bar + _ROUNDING < rate.high, rate.value > bar + _ROUNDING, "above"
    else:
        crosses, is_worse, side = rate.low < bar - _ROUNDING <= rate.high, rate.value < bar - _ROUNDING, "below"
    if crosses and confident:
        told = f"{found}: the interval includes the {named}; score more answers"
        return GateResult(GateStatus.INCONCLUSIVE, told)
    doubt = f"; with {counted(rate.n, 'answer' if is_score else 'claim')} this may be chance" if crosses else ""
    where = side if is_worse else "within" if is_ceiling else "at or above"
    told = f"{found} {'is' if is_score else 'are'} {where} the {named}{doubt}"
    return GateResult(GateStatus.FAILED if is_worse else GateStatus.PASSED, told)


def against_baseline(
    comparison: Comparison, *, margin: float = 0.0, confident: bool = False, parts: bool = False
) -> GateResult:
    """Check that neither mean score nor rates of claims are worse than a baseline by more than `margin`, a share.

    It fails where a regression is shown whose whole interval lies beyond the margin; with `parts`, that of a failure
    mode or slice counts, too. With `confident` every interval of the mean score and of the contradicted claims must lie
    within the margin to pass, and what is in between is inconclusive. Nothing passes that the comparison does not cover
    (`Comparison.doubts`): it is inconclusive.
    """
    result = partial(GateResult, name="regression gate")
    gated = comparison.deltas if parts else comparison.numbers.whole
    deltas = [delta for delta in gated if (parts or delta.measure in _GATED) and delta.low is not None]
    if not deltas:
        return result(GateStatus.INCONCLUSIVE, f"nothing to compare with {comparison.before.title}")
    than = f", compared with {comparison.titles[0]}"
    allowed = f" of more than {100 * margin:g} points" if margin else ""
    worse = [one for one in deltas if one.finding is DeltaFinding.REGRESSED and _worsening(one)[0] > margin]
    if worse:
        where = f"`everyclaim compare {comparison.before.id} {comparison.after.id}` shows the answers that changed"
        told = f"{'; '.join(one.clause for one in worse[:_NAMED])}{than}: a significant regression{allowed}; {where}"
        return result(GateStatus.FAILED, told)
    primary = comparison.numbers.of(SCORE).clause + than
    if comparison.doubts:
        return result(GateStatus.INCONCLUSIVE, f"{primary}, but {'; '.join(comparison.doubts)}")
    if confident:
        watched = [delta for delta in deltas if delta.measure in (SCORE, CONTRADICTED)]
        if possible := [delta for delta in watched if _worsening(delta)[1] > margin + _ROUNDING]:
            told = f"{possible[0].clause}{than}: a regression{allowed} is possible; score more answers"
            return result(GateStatus.INCONCLUSIVE, told)
    return result(GateStatus.PASSED, f"{primary}: no significant regression{allowed}")


def _worsening(delta: Delta) -> tuple[float, float]:
    """By how much it got worse, at least and at most, as far as the interval says."""
    low, high = delta.low or 0.0, delta.high or 0.0
    return (-high, -low) if delta.more_is_better else (low, high)


# ---- the answers to look at first


def worst(records: Iterable[Kept], k: int) -> list[Kept]:
    """Return the `k` worst scored answers in the order of `badness`.

    Answers with the best score whose every claim is supported, without conflict, are never among them. Holds `k`
    records at a time. All records are read, whatever `k` is: the caller may be watching them go by.
    """
    findings = (record for record in records if has_finding(record.result))
    found = heapq.nsmallest(k, findings, key=badness)
    for _ in findings:  # nsmallest reads nothing when nothing is wanted
        pass
    return found


def has_finding(result: Result) -> bool:
    """Whether a scored answer is worth a look: its score is not the best, or a claim fails or is in conflict."""
    if result.outcome is not Outcome.SCORED:
        return False
    if result.quality is not None and result.quality < 1:  # also of a metric that has no claims
        return True
    return any(
        claim.verdict.label is not Label.SUPPORTED or claim.verdict.conflict
        for claim in (*result.claims, *result.reference_claims)
    )


def badness(record: Kept) -> tuple[float, ...]:
    """Return what scored answers are ordered by, the worst lowest, as pages of a store order them too.

    The score; then the probability that the whole answer is faithful; then contradicted claims; then the input.
    """
    result = record.result
    ranks = (1.0 if rank is None else rank for rank in (result.quality, result.probability))
    return *ranks, -result.count(Label.CONTRADICTED), record.position

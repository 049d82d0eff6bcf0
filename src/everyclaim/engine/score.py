"""One sample through a metric: always a result, never a score where something went wrong.

A judge's failure, a fault in a component and a result that cannot be right all become
the outcome `failed` with a reason ``code: explanation``. What concerns the run and not the sample
(a wrong setting, a full disk, a spent budget) is raised.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from dataclasses import replace

from everyclaim.core.errors import EveryclaimError, InputError, JudgeError, UnreachableError
from everyclaim.core.events import Purpose, ScoringEnded, ScoringStarted, tallied, tell
from everyclaim.core.protocols import Scorer
from everyclaim.core.spec import where_it_failed
from everyclaim.core.types import Outcome, Result, Sample, Usage

MANY_CLAIMS = 200  # an answer of more of them is a document, and says so


async def score_sample(
    metric: Scorer, sample: Sample, *, purpose: Purpose = "answer", is_of_many: bool = False
) -> Result:
    """Score one sample, or say why it could not be scored; observers are told.

    Raises the library's own errors other than `JudgeError` and `InputError`: they would befall every sample alike. So
    would an `UnreachableError`, which is raised where the sample `is_of_many`.

    The result's usage is what all judge calls took that were made for it, also for a sample that failed.
    """
    tell(ScoringStarted(sample, purpose))
    begun = time.perf_counter()
    result: Result | None = None
    try:
        with tallied() as tally:
            result = await _score(metric, sample, is_of_many=is_of_many)
        if tally.usage != Usage():
            result = replace(result, usage=tally.usage)
        if warnings := _left_unsaid(result):
            result = replace(result, warnings=(*result.warnings, *warnings))
        return result
    finally:
        tell(ScoringEnded(sample, result, time.perf_counter() - begun, purpose))


def _left_unsaid(result: Result) -> list[str]:
    """Say what of an answer was not judged, in words that many answers share, so that they can be counted."""
    from everyclaim.text.citations import is_mark

    warnings = []
    if result.is_all_skipped:
        warnings.append("every sentence was skipped, so no claim was checked")
    marks = [piece for piece in result.unchecked if is_mark(piece.text) or piece.text.startswith("](")]  # a link
    if marks:
        warnings.append("a citation refers to no passage")
    unchecked = {piece.reason for piece in result.unchecked if piece not in marks} - {Outcome.UNREAD.value}
    if "bare_answer" in unchecked:
        warnings.append("a yes or no could not be read with the question and was not checked")
    if unchecked := unchecked - {"bare_answer"}:
        reasons = " or ".join(sorted(repr(reason.replace("_", " ")) for reason in unchecked))
        warnings.append(f"a sentence skipped as {reasons} contains a number or a name and was not checked")
    if len(result.claims) > MANY_CLAIMS:
        warnings.append(f"more than {MANY_CLAIMS} claims in one answer: the score hides single wrong ones")
    return warnings


async def _score(metric: Scorer, sample: Sample, *, is_of_many: bool) -> Result:
    try:
        result = await metric.score(sample)
    except JudgeError as error:
        if is_of_many and isinstance(error, UnreachableError):
            raise
        return _failed(metric, sample, str(error))
    except InputError as error:
        return _failed(metric, sample, f"bad_input: {error}")
    except EveryclaimError:
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        # Nobody asked us to stop: a component let its own cancellation escape.
        return _failed(metric, sample, f"component_error: {where_it_failed(error)}")
    except Exception as error:  # noqa: BLE001 - a component may raise anything, and must not take the run with it
        return _failed(metric, sample, f"component_error: {where_it_failed(error)}")
    fault = _fault(sample, result)
    return _failed(metric, sample, fault) if fault else result


def _failed(metric: Scorer, sample: Sample, reason: str) -> Result:
    return Result.of(sample, metric.provenance, Outcome.FAILED, reason=reason)


def _fault(sample: Sample, result: object) -> str:
    """Say what makes this impossible as the sample's result, an empty text when nothing does."""
    if not isinstance(result, Result):
        return f"bad_result: the metric returned {type(result).__name__}, not a Result"
    if result.id != sample.id:
        return "bad_result: the metric returned the result of another sample"
    score = result.score
    if result.outcome is Outcome.SCORED and not (score is not None and math.isfinite(score) and 0 <= score <= 1):
        return f"bad_score: the metric returned the score {score!r}, not a number from 0 to 1"
    if result.outcome is Outcome.FAILED and score is not None:
        return f"bad_score: the metric returned the score {score!r} for a failed sample"
    for claims in (result.claims, result.reference_claims):
        ids = [claim.id for claim in claims]
        if len(set(ids)) < len(ids) or any(claim.verdict.claim_id != claim.id for claim in claims):
            return "misaligned_verdicts: verdicts do not match the claims"
    for name, part in result.components.items():
        if part is not None and not (math.isfinite(part) and 0 <= part <= 1):
            return f"bad_score: the metric returned {part!r} for {name}, neither a number from 0 to 1 nor None"
    if result.details:
        try:
            json.dumps(dict(result.details), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            return f"bad_result: the metric returned details that are not JSON ({type(error).__name__})"
    return ""

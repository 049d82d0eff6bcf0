"""A guarded answer as plain JSON values, and its way back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everyclaim.core.cited import CitationFinding
from everyclaim.core.types import JudgedClaim, Label, Usage
from everyclaim.core.wire import from_json, result_from_json, result_to_json, to_json
from everyclaim.guard.answers import Attempt, GuardedAnswer, Removed


def guarded_to_json(answer: GuardedAnswer) -> dict[str, Any]:
    """Write an answer with everything that was tried on the way."""
    return {
        "text": answer.text,
        "annotated": answer.annotated,
        "validated": answer.validated,
        "checked": answer.checked,
        "promise": answer.promise,
        "blocked": answer.blocked,
        "score": answer.score,
        "best": answer.best.number,
        "attempts": [_attempt_to_json(attempt) for attempt in answer.attempts],
        "noted": sorted(label.value for label in answer.noted),
        "warnings": list(answer.warnings),
        "usage": to_json(answer.usage),
    }


def guarded_from_json(row: Mapping[str, Any]) -> GuardedAnswer:
    """Read what `guarded_to_json` wrote."""
    attempts = tuple(_attempt_from_json(attempt) for attempt in row["attempts"])
    return GuardedAnswer(
        text=row["text"],
        best=next(attempt for attempt in attempts if attempt.number == row["best"]),
        attempts=attempts,
        validated=row["validated"],
        checked=row.get("checked", row["validated"]),
        promise=row.get("promise", ""),
        blocked=row["blocked"],
        warnings=tuple(row["warnings"]),
        usage=Usage(**row["usage"]),
        noted=frozenset(Label(label) for label in row["noted"]),
    )


def _attempt_to_json(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "made": attempt.made,
        "text": attempt.text,
        "result": result_to_json(attempt.result),
        "removed": [{"claim": to_json(removed.claim), "how": removed.how} for removed in attempt.removed],
        "guidance": attempt.guidance,
        **({"recited": [finding.to_json() for finding in attempt.recited]} if attempt.recited else {}),
    }


def _attempt_from_json(row: Mapping[str, Any]) -> Attempt:
    removed = tuple(Removed(from_json(JudgedClaim, one["claim"]), one["how"]) for one in row["removed"])
    recited = tuple(CitationFinding.from_json(finding) for finding in row.get("recited", ()))
    result = result_from_json(row["result"])
    return Attempt(row["number"], row["made"], row["text"], result, removed, row["guidance"], recited)

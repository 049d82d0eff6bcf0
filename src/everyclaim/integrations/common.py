"""What the integrations share: an evaluator, rows from what a framework hands over, and a result in few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everyclaim.api.evaluator import Evaluator
from everyclaim.core.cited import failing_lines
from everyclaim.core.errors import ConfigError, JudgeError
from everyclaim.core.types import Outcome, Result
from everyclaim.io.fields import PASSAGES
from everyclaim.monitor.watch.traces import decoded, documents_in

_LONGEST = 2_000


def evaluator_of(evaluator: Evaluator | None, options: Mapping[str, Any]) -> Evaluator:
    """Return the evaluator that is given, or one made of options; not of both."""
    if evaluator is None:
        return Evaluator(**options)
    if options:
        raise ConfigError(f"{min(options)} is an option of the evaluator: set it there")
    return evaluator


def contexts_in(*places: Any) -> list[Any]:
    """Return the documents under a usual name (`contexts`, `documents`, …) in the first place that has some."""
    for place in places:
        held = decoded(place)
        for name in PASSAGES if isinstance(held, Mapping) else ():
            if found := documents_in(held.get(name)):
                return found
    return []


def score_of(result: Result) -> float | None:
    """Return the score of an answer that was scored, None for every other."""
    return result.score if result.outcome is Outcome.SCORED else None


def number_of(result: Result) -> float | None:
    """Return what `score_of` does. Raises `JudgeError` for an answer on which the judge failed."""
    if result.outcome is Outcome.FAILED:
        raise JudgeError.from_reason(result.reason)
    return score_of(result)


def plain(value: Any) -> Any:
    """Return a framework's messages, prompts and documents as mappings and lists."""
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if hasattr(value, "content") and hasattr(value, "type"):  # a message of LangChain
        return {"role": value.type, "content": value.content}
    if hasattr(value, "to_messages"):  # the value of a prompt
        return [plain(message) for message in value.to_messages()]
    return value.to_dict() if hasattr(value, "to_dict") else value


def explained(result: Result) -> str:
    """Say what is wrong with an answer, or why there is no score."""
    without = "" if result.outcome is Outcome.SCORED else result.reason or result.outcome.display_name
    return ("\n".join(failing_lines(result)) or without)[:_LONGEST]

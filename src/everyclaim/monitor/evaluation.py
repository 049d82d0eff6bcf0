"""The event `gen_ai.evaluation.result`: what it says of a result, whoever sends it.

The names are written here as the GenAI conventions have them (status development); the constants of the Python package
are marked as deprecated.
"""

from __future__ import annotations

from everyclaim.core.plaintext import counted, one_line, words
from everyclaim.core.types import Label, Outcome, Result

EVENT = "gen_ai.evaluation.result"
ERROR_TYPE = "error.type"
_SHOWN = 10  # failing claims in an explanation
_LONGEST = 200  # characters of an id


def attributes_of(result: Result, *, response_id: str = "", with_texts: bool = False) -> dict[str, str | float]:
    """Return the attributes of the event. Texts of the users are in it only `with_texts`."""
    said: dict[str, str | float] = {
        "gen_ai.evaluation.name": result.provenance.metric.partition("?")[0],
        "gen_ai.evaluation.score.label": label_of(result),
        "gen_ai.evaluation.explanation": explanation(result, with_texts=with_texts),
    }
    if result.outcome is Outcome.SCORED and result.score is not None:
        said["gen_ai.evaluation.score.value"] = float(result.score)
    if result.outcome is Outcome.FAILED:
        said[ERROR_TYPE] = code_of(result)
    if response_id:
        said["gen_ai.response.id"] = one_line(response_id, _LONGEST)
    return said


def label_of(result: Result) -> str:
    """Return the one word for an answer: that of its worst claim, else the outcome.

    `contradicted`, `unsupported`, `supported`, `no_claims`, `abstained`, `failed`.
    """
    if result.outcome is not Outcome.SCORED:
        return result.outcome.value
    worst = (Label.CONTRADICTED, Label.UNSUPPORTED)
    return next((label.value.lower() for label in worst if result.count(label)), Label.SUPPORTED.value.lower())


def explanation(result: Result, *, with_texts: bool = False) -> str:
    """Say why in a line or a few: what was found by label and failure mode; with texts also the claims that fail."""
    if result.outcome is Outcome.FAILED:
        return f"{words(result.outcome.value)}: {one_line(result.reason, 500) if with_texts else code_of(result)}"
    if result.outcome is not Outcome.SCORED:
        return words(result.outcome.value)
    found = [f"{count:,} {label.value.lower()}" for label, count in result.counts.items() if count]
    modes: dict[str, int] = {}
    for claim in result.failing:
        if mode := claim.verdict.failure_mode:
            modes[words(mode.value)] = modes.get(words(mode.value), 0) + 1
    why = [f"{count:,} {mode}" for mode, count in modes.items()]
    head = f"{counted(len(result.claims), 'claim')}: {', '.join(found) or 'none'}"
    lines = [f"{head} ({', '.join(why)})" if why else head]
    if with_texts:
        for claim in result.failing[:_SHOWN]:
            reason = f": {one_line(claim.verdict.rationale, 240)}" if claim.verdict.rationale else ""
            lines.append(f"{claim.verdict.label.value.lower()}: «{one_line(claim.text, 240)}»{reason}")
    return "\n".join(lines)


def code_of(result: Result) -> str:
    """Return the code of a failure, which is one of few words, without what is said behind it."""
    return one_line(result.reason.partition(":")[0], 60) or "_OTHER"

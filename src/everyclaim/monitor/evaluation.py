"""The event `gen_ai.evaluation.result`: the span that it is about, and what it says of a result, whoever sends it.

The names are written here as the GenAI conventions have them (status development); the constants of the Python package
are marked as deprecated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from everyclaim.core.cited import citation_counts, failing_lines
from everyclaim.core.errors import InputError
from everyclaim.core.kinds import described
from everyclaim.core.plaintext import counted, one_line, words
from everyclaim.core.types import Label, Outcome, Result

EVENT = "gen_ai.evaluation.result"
ERROR_TYPE = "error.type"
_SHOWN = 10  # failing claims in an explanation
_LONGEST = 200  # characters of an id
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class EvaluatedSpan:
    """The span of the operation that made an answer, as W3C Trace Context has it; 0: not known."""

    trace: int = 0
    span: int = 0
    flags: int = 0
    response_id: str = ""  # `gen_ai.response.id` of it


_HERE: ContextVar[EvaluatedSpan | None] = ContextVar("everyclaim_evaluated", default=None)


@contextmanager
def evaluating(traceparent: str = "", *, response_id: str = "") -> Iterator[None]:
    """Let what is scored inside be the answer of this span and this response.

    `traceparent` is as in W3C's header: ``00-<trace id>-<span id>-<flags>``. Without, it is the span that is active
    where the scoring begins. Raises `InputError` for what is no traceparent.

        with evaluating("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", response_id="chatcmpl-1"):
            evaluator.score(row)
    """
    token = _HERE.set(_read(traceparent, response_id))
    try:
        yield
    finally:
        _HERE.reset(token)


def evaluated_here() -> EvaluatedSpan | None:
    """Return what `evaluating` said of the block around, if there is one."""
    return _HERE.get()


def _read(traceparent: str, response_id: str) -> EvaluatedSpan:
    if traceparent == "":
        return EvaluatedSpan(response_id=response_id)
    found = _TRACEPARENT.fullmatch(traceparent) if isinstance(traceparent, str) else None
    trace, span, flags = (int(part, 16) for part in found.groups()) if found else (0, 0, 0)
    if not trace or not span:
        raise InputError(
            "traceparent must be like 00-<32 hexadecimal digits>-<16 of them>-01, neither id all zeros; "
            f"got {described(traceparent, may_be_shown=True)}"
        )
    return EvaluatedSpan(trace, span, flags, response_id)


def attributes_of(result: Result, *, response_id: str = "", with_texts: bool = False) -> dict[str, str | float]:
    """Return the attributes of the event. Texts of the users are in it only `with_texts`."""
    said: dict[str, str | float] = {
        "gen_ai.evaluation.name": result.provenance.metric.partition("?")[0],
        "gen_ai.evaluation.score.label": _label_of(result),
        "gen_ai.evaluation.explanation": _explanation(result, with_texts=with_texts),
    }
    if result.outcome is Outcome.SCORED and result.score is not None:
        said["gen_ai.evaluation.score.value"] = float(result.score)
    if result.outcome is Outcome.FAILED:
        said[ERROR_TYPE] = code_of(result)
    if response_id:
        said["gen_ai.response.id"] = one_line(response_id, _LONGEST)
    return said


def _label_of(result: Result) -> str:
    """Return the one word for an answer: that of its worst claim, else the outcome.

    `contradicted`, `unsupported`, `supported`, `no_claims`, `abstained`, `failed`, `unread`.
    """
    if result.outcome is not Outcome.SCORED:
        return result.outcome.value
    worst = (Label.CONTRADICTED, Label.UNSUPPORTED)
    return next((label.value.lower() for label in worst if result.count(label)), Label.SUPPORTED.value.lower())


def _explanation(result: Result, *, with_texts: bool = False) -> str:
    """Say why in a line or a few: what was found by label and failure mode; with texts also the claims that fail."""
    if result.outcome is Outcome.FAILED:
        return f"{words(result.outcome.value)}: {one_line(result.reason, 500) if with_texts else code_of(result)}"
    if result.outcome is not Outcome.SCORED:
        return words(result.outcome.value)
    found = [f"{count:,} {label.value.lower()}" for label, count in result.counts.items() if count]
    modes = Counter(words(claim.verdict.failure_mode.value) for claim in result.failing if claim.verdict.failure_mode)
    why = [f"{count:,} {mode}" for mode, count in modes.items()]
    head = f"{counted(len(result.claims), 'claim')}: {', '.join(found) or 'none'}"
    lines = [f"{head} ({', '.join(why)})" if why else head]
    if cited := citation_counts(result):
        lines.append(f"citations: {', '.join(f'{count:,} {name}' for name, count in cited.items())}")
    if with_texts:
        lines += failing_lines(result)[:_SHOWN]
    return "\n".join(lines)


def code_of(result: Result) -> str:
    """Return the code of a failure, which is one of few words, without what is said behind it."""
    return one_line(result.reason.partition(":")[0], 60) or "_OTHER"

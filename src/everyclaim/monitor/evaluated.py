"""Which span is being evaluated: said by whoever reads traces, for the event that goes back to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from everyclaim.core.errors import InputError
from everyclaim.core.kinds import described

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The span of the operation that made an answer, as W3C Trace Context has it; 0: not known."""

    trace: int = 0
    span: int = 0
    flags: int = 0
    response_id: str = ""  # `gen_ai.response.id` of it


_HERE: ContextVar[Evaluated | None] = ContextVar("everyclaim_evaluated", default=None)


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


def evaluated_here() -> Evaluated | None:
    """Return what `evaluating` said of the block around, if there is one."""
    return _HERE.get()


def _read(traceparent: str, response_id: str) -> Evaluated:
    if traceparent == "":
        return Evaluated(response_id=response_id)
    found = _TRACEPARENT.fullmatch(traceparent) if isinstance(traceparent, str) else None
    trace, span, flags = (int(part, 16) for part in found.groups()) if found else (0, 0, 0)
    if not trace or not span:
        raise InputError(
            "traceparent must be like 00-<32 hexadecimal digits>-<16 of them>-01, neither id all zeros; "
            f"got {described(traceparent, may_be_shown=True)}"
        )
    return Evaluated(trace, span, flags, response_id)

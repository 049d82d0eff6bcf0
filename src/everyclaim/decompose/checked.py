"""The border between a decomposer and the rest: claims are identified and placed, or the sample fails."""

from __future__ import annotations

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import Decomposer
from everyclaim.core.types import Decomposition


async def decomposed(decomposer: Decomposer, response: str, *, question: str = "") -> Decomposition:
    """Decompose a response and check what comes back; a blank response needs no decomposer.

    Raises `JudgeError` for claims without text, with repeated ids, or with spans outside the response.
    """
    if not response.strip():
        return Decomposition(claims=())
    parts = await decomposer.decompose(response, question=question)
    if not isinstance(parts, Decomposition):
        raise JudgeError("bad_decomposition", f"{decomposer.spec} returned {type(parts).__name__}")
    if len({claim.id for claim in parts.claims}) < len(parts.claims):
        raise JudgeError("bad_decomposition", f"{decomposer.spec} gave two claims the same id")
    for claim in parts.claims:
        if not claim.text.strip():
            raise JudgeError("bad_decomposition", f"{decomposer.spec} gave claim {claim.id} no text")
        if not 0 <= claim.span.start <= claim.span.end <= len(response):
            raise JudgeError("bad_decomposition", f"{decomposer.spec} placed claim {claim.id} outside the response")
    return parts

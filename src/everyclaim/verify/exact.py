"""Exact things in verdicts of the offline judges: what no passage holds to the letter is not supported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from everyclaim.core.types import (
    Claim,
    Difference,
    FailureMode,
    JudgedClaim,
    Label,
    Passage,
    Probabilities,
    Span,
    Verdict,
)
from everyclaim.text.exact import absent_things
from everyclaim.text.replaced_numbers import replaced_number

_SURE = Probabilities(0.03, 0.92, 0.05)
_SURE_OF_ANOTHER = Probabilities(0.02, 0.06, 0.92)
_EXACT_MODES = frozenset({FailureMode.NUMERIC_MISMATCH, FailureMode.TEMPORAL})


def compared_exactly(claim: Claim, verdict: Verdict, passages: Sequence[Passage]) -> Verdict:
    """Return the verdict; of a supported claim that holds what no passage holds to the letter, another one."""
    if verdict.label is not Label.SUPPORTED:
        return verdict
    code = claim.sentence if _is_whole(claim) else ""
    absent = absent_things(claim.text, (f"{one.title}\n{one.text}" for one in passages), code)
    if not absent:
        return verdict
    thing, nearest = absent[0]
    mode = FailureMode.ENTITY_SWAP if nearest else FailureMode.INVENTION
    return _replaced(verdict, Label.UNSUPPORTED, mode, claim.text, thing, nearest)


def contradicted_exactly(claim: JudgedClaim, passages: Sequence[Passage]) -> JudgedClaim | None:
    """Return a claim in a language that its judge does not read as CONTRADICTED; None where nothing exact differs.

    Values, dates, addresses and codes are compared in every language.
    """
    if claim.verdict.label is Label.CONTRADICTED and claim.verdict.failure_mode in _EXACT_MODES:
        return claim
    texts = [passage.text for passage in passages]
    number = replaced_number(claim.text, texts)
    thing = number or next((pair for pair in absent_things(claim.text, texts) if pair[1]), None)
    if thing is None:
        return None
    mode = FailureMode.NUMERIC_MISMATCH if number else FailureMode.ENTITY_SWAP
    return replace(claim, verdict=_replaced(claim.verdict, Label.CONTRADICTED, mode, claim.text, *thing))


def _replaced(verdict: Verdict, label: Label, mode: FailureMode, text: str, thing: str, nearest: str) -> Verdict:
    """Return the verdict on a claim of which something is not as in the passages, or not there at all."""
    reason = f"the passages say {nearest}, the claim says {thing}" if nearest else f"{thing} is in no passage"
    start = text.find(thing)
    return replace(
        verdict,
        label=label,
        probabilities=_SURE_OF_ANOTHER if label is Label.CONTRADICTED else _SURE,
        rationale=reason,
        failure_mode=mode,
        difference=Difference(reason, Span(start, start + len(thing)) if start >= 0 else None),
        flags=tuple(flag for flag in verdict.flags if flag != "unsure"),
    )


def _is_whole(claim: Claim) -> bool:
    """Whether a claim says all of its sentence, so that the code in that is its own."""
    return len(claim.text) > 0.7 * len(claim.sentence)

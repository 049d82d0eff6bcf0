"""Exact things in verdicts of the offline judges: what no passage holds to the letter is not supported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from everyclaim.core.types import Claim, Difference, FailureMode, Label, Passage, Probabilities, Span, Verdict
from everyclaim.text.exact import absent_things

_SURE = Probabilities(0.03, 0.92, 0.05)


def compared_exactly(claim: Claim, verdict: Verdict, passages: Sequence[Passage]) -> Verdict:
    """Return the verdict; of a supported claim that holds what no passage holds to the letter, another one."""
    if verdict.label is not Label.SUPPORTED:
        return verdict
    code = claim.sentence if _is_whole(claim) else ""
    absent = absent_things(claim.text, (f"{one.title}\n{one.text}" for one in passages), code)
    if not absent:
        return verdict
    thing, nearest = absent[0]
    reason = f"the passages say {nearest}, the claim says {thing}" if nearest else f"{thing} is in no passage"
    start = claim.text.find(thing)
    place = Span(start, start + len(thing)) if start >= 0 else None
    mode = FailureMode.ENTITY_SWAP if nearest else FailureMode.INVENTION
    return replace(
        verdict,
        label=Label.UNSUPPORTED,
        probabilities=_SURE,
        rationale=reason,
        failure_mode=mode,
        difference=Difference(reason, place),
        flags=tuple(flag for flag in verdict.flags if flag != "unsure"),
    )


def _is_whole(claim: Claim) -> bool:
    """Whether a claim says all of its sentence, so that the code in that is its own."""
    return len(claim.text) > 0.7 * len(claim.sentence)

"""Why a claim fails, and where it differs from its passages.

The offline judges name both as they go. A chat model names the failure mode, and nothing is added to its verdicts when
they are scored: `difference` finds the two places when somebody looks at the claim. Judges that give labels alone (an
NLI classifier, a function) get both from the offline classifier.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from everyclaim.core.errors import JudgeError
from everyclaim.core.types import Claim, Difference, FailureMode, JudgedClaim, Label, Passage, Verdict

if TYPE_CHECKING:
    from everyclaim.verify.lexical.shortlist import Shortlist


def with_mode(verdict: Verdict) -> Verdict:
    """Return a failing verdict with a failure mode: the judge's own, else `other`."""
    if verdict.label is Label.SUPPORTED or verdict.failure_mode:
        return verdict
    return replace(verdict, failure_mode=FailureMode.OTHER)


def difference(claim: JudgedClaim, passages: Sequence[Passage], *, question: str = "") -> Difference | None:
    """Find where a failing claim and its passages differ, by comparing words; None where nothing can be compared."""
    verdict = claim.verdict
    if verdict.label is Label.SUPPORTED or verdict.difference or not any(one.text.strip() for one in passages):
        return verdict.difference
    from everyclaim.verify.lexical.modes.classify import classify, plausible
    from everyclaim.verify.lexical.shortlist import Shortlist
    from everyclaim.verify.lexical.verifier import failure

    try:
        found = failure(claim, verdict.label, Shortlist.of(passages), question)
    except JudgeError:  # too long to be compared
        return None
    if found is None:
        return None
    mode = verdict.failure_mode
    return classify(found, passages, mode if mode and plausible(mode, found) else FailureMode.OTHER).difference


async def classified(
    verdicts: Sequence[Verdict], claims: Sequence[Claim], passages: Sequence[Passage], question: str
) -> list[Verdict]:
    """Complete the verdicts on claims that fail and have no difference yet, in order. Labels stay as they are."""
    if all(verdict.label is Label.SUPPORTED or verdict.difference for verdict in verdicts):
        return list(verdicts)
    return await asyncio.to_thread(_completed, verdicts, claims, passages, question)


def _completed(
    verdicts: Sequence[Verdict], claims: Sequence[Claim], passages: Sequence[Passage], question: str
) -> list[Verdict]:
    from everyclaim.verify.lexical.shortlist import Shortlist

    shortlist = Shortlist.of(passages)
    return [
        verdict
        if verdict.label is Label.SUPPORTED or verdict.difference
        else _classified(verdict, claim, passages, shortlist, question)
        for verdict, claim in zip(verdicts, claims, strict=True)
    ]


def _classified(
    verdict: Verdict, claim: Claim, passages: Sequence[Passage], shortlist: Shortlist, question: str
) -> Verdict:
    """Classify one claim. One that is too long to be compared keeps the mode that its judge named, or is `other`."""
    # Both judges are loaded only where a claim fails: a run that needs neither does not wait for them.
    from everyclaim.verify.embedded.verifier import EmbeddedVerifier
    from everyclaim.verify.lexical.modes.classify import classify, plausible
    from everyclaim.verify.lexical.verifier import failure

    given = verdict.failure_mode
    try:
        found = failure(claim, verdict.label, shortlist, question)
        if found is not None and (given is None or not plausible(given, found)):
            found, given = EmbeddedVerifier().failing([claim], [verdict.label], passages, question)[0], None
    except JudgeError:
        found = None
    if found is None:
        return with_mode(verdict)
    mode, differing = classify(found, passages, given)
    return replace(verdict, failure_mode=mode, difference=differing)

"""A mode and a difference for every failing claim, whichever judge found it.

The offline judges name both as they go. A language model names a mode only: the places that differ are found here by
the words, and the mode by the network where the model named none, or one that cannot be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from everyclaim.core.errors import JudgeError
from everyclaim.core.types import Claim, FailureMode, Label, Passage, Verdict

if TYPE_CHECKING:
    from everyclaim.verify.lexical.shortlist import Shortlist


async def with_differences(
    verdicts: Sequence[Verdict], claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
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
        return replace(verdict, failure_mode=given or FailureMode.OTHER)
    mode, difference = classify(found, passages, given)
    return replace(verdict, failure_mode=mode, difference=difference)

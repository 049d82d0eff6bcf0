"""What a guard lets pass, what it repairs, and which of several answers it thinks best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from everyclaim.core.cited import refusal_of
from everyclaim.core.types import JudgedClaim, Label, Outcome, Result
from everyclaim.guard.answers import Attempt
from everyclaim.text.citations import is_mark

Action = Literal["block", "annotate", "pass"]
Repair = Literal["rewrite", "drop", "none"]
OnFailure = Literal["return", "raise"]
REFUSAL = "I cannot answer this from the sources I have."
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Rules:
    """When an answer is good enough, and what is done when it is not.

    threshold: the least score, within [0, 1].
    max_retries: how often the generator is asked again, for another answer or for better sentences.
    repair: what is tried first on an answer that is not good enough: `rewrite` the sentences that failed, `drop` the
        claims that failed, or `none`.
    contradicted, unsupported: `block` (the answer is not shown with such a claim), `annotate` or `pass`.
    on_failure: whether an answer that the judge could not check is returned with a warning, or `JudgeError` raised.
    keep: the least share of the claims that must be left when some are dropped.
    refusal: the text when all that was seen is blocked.
    shown_from: the least probability of support with which a claim is shown, of a calibrated risk; 0: any.
    """

    threshold: float = 0.8
    max_retries: int = 2
    repair: Repair = "drop"
    contradicted: Action = "block"
    unsupported: Action = "annotate"
    on_failure: OnFailure = "return"
    keep: float = 0.5
    refusal: str = REFUSAL
    shown_from: float = 0.0

    def labels(self, action: Action) -> frozenset[Label]:
        """Return the labels with which this is done."""
        chosen = {Label.CONTRADICTED: self.contradicted, Label.UNSUPPORTED: self.unsupported}
        return frozenset(label for label, done in chosen.items() if done == action)

    def blocked(self, result: Result) -> list[JudgedClaim]:
        """Return the claims with which an answer is not shown."""
        return [one for one in result.claims if one.verdict.label in self.labels("block") or self._is_unsure(one)]

    def _is_unsure(self, claim: JudgedClaim) -> bool:
        """Whether a claim is below the threshold of a calibrated risk, or has no probability to hold against it."""
        chances = claim.verdict.probabilities
        return self.shown_from > 0 and (chances is None or chances.supported < self.shown_from)

    def failed(self, result: Result) -> list[JudgedClaim]:
        """Return the claims to repair: those not supported, without those that may pass unless it is all of them."""
        wrong = [one for one in result.claims if one.verdict.label is not Label.SUPPORTED or self._is_unsure(one)]
        return [claim for claim in wrong if claim.verdict.label not in self.labels("pass")] or wrong

    def accepts(self, result: Result) -> bool:
        """Whether an answer is good enough, and all of it was checked: no sentence that may contain a claim skipped."""
        return self.likes(result) and not result.unchecked and not _denies_wrongly(result)

    def likes(self, result: Result) -> bool:
        """Whether what was checked is good enough; who declines to answer states nothing that could be wrong."""
        if result.outcome is Outcome.ABSTAINED:
            return True
        score = result.score if result.outcome is Outcome.SCORED else None
        return score is not None and score >= self.threshold - _ROUNDING and not self.blocked(result)

    def best(self, attempts: Sequence[Attempt]) -> Attempt:
        """Return the best of the attempts (at least one).

        Good enough before not; checked before not; without blocked claims before with; then by score, by the number
        of supported claims, and the first.
        """
        return max(attempts, key=lambda attempt: (*self._merit(attempt.result), -attempt.number))

    def _merit(self, result: Result) -> tuple[bool, int, bool, float, int]:
        checked = {Outcome.SCORED: 2, Outcome.ABSTAINED: 2, Outcome.NO_CLAIMS: 1}.get(result.outcome, 0)
        score = result.score if result.outcome is Outcome.SCORED and result.score is not None else -math.inf
        return self.accepts(result), checked, not self.blocked(result), score, result.count(Label.SUPPORTED)

    def complaint(self, result: Result) -> str:
        """Say why an answer is not good enough; empty when it is."""
        if self.accepts(result):
            return ""
        if self.likes(result) and _denies_wrongly(result):
            return f"the answer says that no passage states this, but one does: {result.details['refusal']['denied']!r}"
        if self.likes(result):
            piece = result.unchecked[0]
            if is_mark(piece.text):
                return f"a citation refers to no passage: {piece.text!r}"
            return f"a sentence was skipped as {piece.display_name} and not checked: {piece.text!r}"
        if result.outcome is not Outcome.SCORED:
            return f"the answer was not checked: {result.reason or result.outcome}"
        if blocked := self.blocked(result):
            return f"{len(blocked)} of {len(result.claims)} claims would be blocked: {blocked[0].text!r}"
        return f"the score {result.score:.3g} is below the threshold {self.threshold:g}"


def _denies_wrongly(result: Result) -> bool:
    """Whether an answer says that the passages do not tell something that they tell."""
    refusal = refusal_of(result) or {}
    return refusal.get("finding") == "wrong" and "denied" in refusal

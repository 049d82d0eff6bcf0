"""Faithfulness: the share of the response's claims that the passages support."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from everyclaim.core.protocols import Decomposer, Verifier
from everyclaim.core.types import Decomposition, JudgedClaim, Label, Outcome, Provenance, Result, Sample
from everyclaim.decompose.checked import decomposed
from everyclaim.verify import Policy, judged
from everyclaim.verify.families import same_family_warning
from everyclaim.verify.languages import unread_language_warning

Empty = Literal["exclude", "one", "zero", "nan"]
NO_PASSAGES = "no passages were given, so nothing in the response could be supported"
_NUMBER_WHEN_EMPTY: dict[Empty, float | None] = {"exclude": None, "one": 1.0, "zero": 0.0, "nan": float("nan")}


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """Score a response by supported claims / claims (Es et al., Ragas, arXiv 2309.15217).

    Range [0, 1], best 1. Unsupported and contradicted claims weigh the same here; their counts stay
    apart in the result. A response without claims has the outcome `no_claims`, one that declines to
    answer `abstained`; neither has a score unless `empty` asks for another tool's number.

    >>> import everyclaim as ec
    >>> result = ec.score(
    ...     response="The Eiffel Tower was built in 1889. It is the tallest tower in the world.",
    ...     passages=["The Eiffel Tower was built in 1889 in Paris."],
    ... )
    >>> result.score
    0.5
    """

    decomposer: Decomposer
    verifier: Verifier
    provenance: Provenance
    policy: Policy = field(default_factory=Policy)
    empty: Empty = "exclude"

    async def score(self, sample: Sample) -> Result:
        """Decompose, verify, and divide. Raises `JudgeError` when a claim has no usable verdict."""
        parts = await decomposed(self.decomposer, sample.response, question=sample.question)
        if not parts.claims:
            return unscored(sample, parts, self.provenance, self.empty)
        claims = await judged(
            self.verifier, parts.claims, sample.passages, question=sample.question, policy=self.policy
        )
        whole = getattr(self.verifier, "answer_probability", None)  # of verifiers that are fitted to whole answers
        probability = whole([claim.verdict for claim in claims]) if whole else None
        return replace(scored(sample, parts, claims, self.provenance), probability=probability)


def scored(sample: Sample, parts: Decomposition, claims: tuple[JudgedClaim, ...], provenance: Provenance) -> Result:
    """Divide: the share of the claims (at least one) that are supported."""
    supported = sum(claim.verdict.label is Label.SUPPORTED for claim in claims)
    return Result.of(
        sample,
        provenance,
        Outcome.SCORED,
        supported / len(claims),
        claims=claims,
        skipped=parts.skipped,
        warnings=(*judge_warnings(sample, provenance), *passage_warnings(sample)),
    )


def unscored(sample: Sample, parts: Decomposition, provenance: Provenance, empty: Empty, *, reason: str = "") -> Result:
    """Say that there was nothing to check, or that the response declines to answer."""
    usual = "the response declines to answer" if parts.abstained else "the response holds no checkable claim"
    return Result.of(
        sample,
        provenance,
        Outcome.ABSTAINED if parts.abstained else Outcome.NO_CLAIMS,
        _NUMBER_WHEN_EMPTY[empty],
        reason=reason or usual,
        skipped=parts.skipped,
        warnings=judge_warnings(sample, provenance),
    )


def judge_warnings(sample: Sample, provenance: Provenance) -> tuple[str, ...]:
    """Warn of a judge of the same family as the model whose answer it judges, or that does not read its language."""
    warnings = (
        same_family_warning(sample.model, provenance.verifier),
        unread_language_warning(sample.response, provenance.verifier),
    )
    return tuple(warning for warning in warnings if warning)


def passage_warnings(sample: Sample) -> tuple[str, ...]:
    """Warn where there is nothing to judge against: a score of 0 then says nothing about the response."""
    return () if any(passage.text.strip() for passage in sample.passages) else (NO_PASSAGES,)

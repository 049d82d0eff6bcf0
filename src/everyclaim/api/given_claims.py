"""Claims that are given, judged as the metric of a sample: what goes wrong is treated as in a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from everyclaim._version import __version__
from everyclaim.api.session import Session
from everyclaim.core.protocols import Verifier
from everyclaim.core.types import Claim, Label, Outcome, Provenance, Result, Sample
from everyclaim.engine import score_sample
from everyclaim.verify import Policy, judged


@dataclass(frozen=True, slots=True)
class GivenClaims:
    """A session's judge and policy, for claims that need no decomposition."""

    judge: Verifier
    policy: Policy
    provenance: Provenance
    labels_only: bool = False

    @classmethod
    def of(cls, session: Session, name: str, *, labels_only: bool = False) -> Self:
        """Take over what a session judges by; results store `name` as their metric.

        `labels_only` where nothing but labels is looked at: why a claim fails is not looked for.
        """
        judge, strict = session.judge, session.options.get("strict", False)
        provenance = Provenance(
            metric=name,
            decomposer="",
            verifier=judge.alone.spec,
            strategy=judge.strategy,
            version=__version__,
            parameters={"policy": "strict" if strict else "lenient", **judge.parameters},
        )
        return cls(judge.verifier, Policy.strict() if strict else Policy(), provenance, labels_only)

    async def result(self, sample: Sample, claims: Sequence[Claim]) -> Result:
        """Judge a sample's claims, at least one, against its passages; a judge's failure is an outcome.

        Raises `UnreachableError` where the judge's address has never answered.
        """
        return await score_sample(_Judging(self, claims), sample, purpose="claims", is_of_many=True)


@dataclass(frozen=True, slots=True)
class _Judging:
    by: GivenClaims
    claims: Sequence[Claim]

    @property
    def provenance(self) -> Provenance:
        return self.by.provenance

    async def score(self, sample: Sample) -> Result:
        by = self.by
        found = await judged(
            by.judge,
            self.claims,
            sample.passages,
            question=sample.question,
            policy=by.policy,
            labels_only=by.labels_only,
        )
        share = sum(one.verdict.label is Label.SUPPORTED for one in found) / len(found)
        return Result(sample.id, Outcome.SCORED, share, by.provenance, claims=found)

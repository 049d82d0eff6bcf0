"""A cheap judge first, a dear one where the cheap one is in doubt, and an audit of what the cheap one settled."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from everyclaim.core.errors import ConfigError
from everyclaim.core.protocols import ChatModel, Verifier, chat_of
from everyclaim.core.types import Claim, Passage, Verdict
from everyclaim.verify.composed import composed, numbered
from everyclaim.verify.verdicts import collect_verdicts

AUDITED = "audited"
DISAGREED = "audit_disagreed"


@dataclass(frozen=True, slots=True)
class Deferral:
    """The deferral zone, in the first judge's probability of SUPPORTED: strictly between `low` and `high`.

    At or below `low` its verdict stands as not supported, at or above `high` as supported; a `low` of 0 or a
    `high` of 1 settles nothing on that side. In the usual zone the embedded judge settles a quarter of the claims
    of its development data, 7 % of them wrongly; `everyclaim.fit_cascade` finds the zone for your own.
    """

    low: float = 0.15
    high: float = 0.85

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high <= 1:
            raise ConfigError(f"a deferral zone needs 0 <= low <= high <= 1, got low={self.low:g}, high={self.high:g}")

    def settles(self, verdict: Verdict) -> bool:
        """Whether a verdict lies outside the zone; one without probabilities is always deferred."""
        if verdict.probabilities is None:
            return False
        supported = verdict.probabilities.supported
        return (supported <= self.low and self.low > 0) or (supported >= self.high and self.high < 1)


DEFERRAL = Deferral()
AUDIT = 0.05


@dataclass(frozen=True, slots=True)
class Cascade:
    """Let `first` settle what it is sure of and `second` judge the rest.

    `audit` is the share of the settled claims that goes to `second` all the same, chosen by a hash of claim
    and passages: the same claims in every run. An audited claim gets the second judge's verdict and the flag
    `audited`, with `audit_disagreed` where the labels differ; `Verdict.judge` says who decided. So the share
    settled, and how often the first judge was wrong in it, can be counted from stored verdicts.
    """

    first: Verifier
    second: Verifier
    deferral: Deferral = DEFERRAL
    audit: float = AUDIT

    def __post_init__(self) -> None:
        if not 0 <= self.audit <= 1:
            raise ConfigError(f"the audit share of a cascade must be between 0 and 1, got {self.audit:g}")

    @property
    def spec(self) -> str:
        """Both specs, cheap one first."""
        plain = {
            "low": self.deferral.low != DEFERRAL.low,
            "high": self.deferral.high != DEFERRAL.high,
            "audit": self.audit != AUDIT,
        }
        own = {key: value for key, value in self._own.items() if plain[key]}
        return composed("cascade", ">", (self.first, self.second), own)

    @property
    def chat(self) -> ChatModel | None:
        """The second judge's chat model, else the first one's."""
        return chat_of(self.second, self.first)

    @property
    def parameters(self) -> Mapping[str, str]:
        """The deferral zone, the audit share, and both judges' own parameters by their place."""
        return self._own | numbered((self.first, self.second))

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        """Judge every claim by the first judge, and by the second where needed or drawn.

        Raises `JudgeError` when either has no usable verdict.
        """
        verdicts = {v.claim_id: v for v in await collect_verdicts(self.first, claims, passages, question=question)}
        settled = {claim.id for claim in claims if self.deferral.settles(verdicts[claim.id])}
        drawn = {claim.id for claim in claims if claim.id in settled and self._is_drawn(claim, passages, question)}
        open_claims = [claim for claim in claims if claim.id not in settled or claim.id in drawn]
        for verdict in await collect_verdicts(self.second, open_claims, passages, question=question):
            before = verdicts[verdict.claim_id]
            verdicts[verdict.claim_id] = verdict
            if verdict.claim_id in drawn:
                flags = (AUDITED,) if before.label is verdict.label else (AUDITED, DISAGREED)
                verdicts[verdict.claim_id] = replace(verdict, flags=(*verdict.flags, *flags))
        return [verdicts[claim.id] for claim in claims]

    @property
    def _own(self) -> dict[str, str]:
        return {"low": f"{self.deferral.low:g}", "high": f"{self.deferral.high:g}", "audit": f"{self.audit:g}"}

    def _is_drawn(self, claim: Claim, passages: Sequence[Passage], question: str) -> bool:
        """Draw by content alone, so that order, ids and concurrency play no part."""
        content = [claim.text, claim.sentence, question, [passage.text for passage in passages]]
        digest = hashlib.sha256(json.dumps(content).encode("ascii")).digest()
        return int.from_bytes(digest[:8]) < self.audit * 2**64

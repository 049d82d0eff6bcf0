"""Judges made of judges: one asked of each passage, a cheap one before a dear one, several that vote, one calibrated.

`joint` is the judge itself: all passages in one check. `Each` asks about every passage alone. `Ranked` asks about the
most relevant passage first and stops at the first support, the SAFE pattern, for judges that cost money. Both combine
the passages' verdicts by one rule: supported by any → SUPPORTED; else contradicted by any → CONTRADICTED; else
UNSUPPORTED. A claim that no single passage settles is tried once more against the best passages together.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from everyclaim.core.errors import ConfigError
from everyclaim.core.lifetime import gather
from everyclaim.core.protocols import ChatModel, Ranker, Verifier, chat_of
from everyclaim.core.spec import Spec
from everyclaim.core.types import Claim, Label, Passage, PassageVerdict, Probabilities, Verdict
from everyclaim.verify.grading import average, of_vote
from everyclaim.verify.verdicts import collect_verdicts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from everyclaim.stats.types import Floats

Alone = list[tuple[Passage, Verdict]]  # what each passage alone says about one claim, in the order asked
_TOGETHER = 4  # of the best passages in one check, when none alone settles a claim


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A judge inside another: its spec and its chat model are those of the judge inside."""

    verifier: Verifier

    @property
    def spec(self) -> str:
        """The spec of the judge inside; what is around it is stored beside it."""
        return self.verifier.spec

    @property
    def chat(self) -> ChatModel | None:
        """The chat model of the judge inside."""
        return chat_of(self.verifier)


@dataclass(frozen=True, slots=True)
class Calibrated(Wrapped):
    """A judge inside a fitted mapping of its probability of SUPPORTED, such as `stats.calibration.fit_platt` returns.

    Labels stay as they are, and the other two share the rest as before; verdicts without probabilities pass.
    """

    mapping: Callable[[ArrayLike], Floats]

    @property
    def parameters(self) -> dict[str, str]:
        """The judge's own, with the mapping."""
        return {**getattr(self.verifier, "parameters", {}), "calibration": repr(self.mapping)}

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        """Judge, and map. Raises `ConfigError` for a mapping that leaves [0, 1]."""
        verdicts = await self.verifier.verify(claims, passages, question=question)
        return [self._mapped(verdict) for verdict in verdicts]

    def _mapped(self, verdict: Verdict) -> Verdict:
        before = verdict.probabilities
        if before is None:
            return verdict
        supported = float(self.mapping([before.supported])[0])
        if not 0 <= supported <= 1:
            raise ConfigError(f"a calibration must map into [0, 1], got {supported!r} for {before.supported!r}")
        return replace(verdict, probabilities=before.with_support(supported))


@dataclass(frozen=True, slots=True)
class _Strategy(Wrapped):
    ranker: Ranker

    async def settled(
        self, claims: Sequence[Claim], passages: Sequence[Passage], alone: Mapping[str, Alone], question: str
    ) -> list[Verdict]:
        """Combine each claim's verdicts; put the best passages together where no single one settles it."""
        first = {claim.id: self._undisputed(claim, alone[claim.id], question) for claim in claims}
        open_claims = [claim for claim in claims if first[claim.id].label is Label.UNSUPPORTED]
        if len(passages) > 1:
            seconds = await gather(self._together(claim, passages, first[claim.id], question) for claim in open_claims)
            first |= {verdict.claim_id: verdict for verdict in seconds}
        return [first[claim.id] for claim in claims]

    def _undisputed(self, claim: Claim, alone: Alone, question: str) -> Verdict:
        """Combine a claim's verdicts; a network's contradiction from a passage about another thing is no conflict."""
        verdict = combined(alone)
        if not verdict.conflict or self.chat is not None:
            return verdict
        from everyclaim.verify.lexical.verifier import is_of_same  # loads the parser, for few claims

        support = [one for _, other in alone if other.label is Label.SUPPORTED for one in other.evidence]
        against = [(passage, other.evidence) for passage, other in alone if other.label is Label.CONTRADICTED]
        is_disputed = any(
            not evidence or any(is_of_same(claim.text, question, support, one.quote, passage) for one in evidence)
            for passage, evidence in against
        )
        return replace(verdict, conflict=is_disputed)

    async def _together(self, claim: Claim, passages: Sequence[Passage], first: Verdict, question: str) -> Verdict:
        best = self.ranker.rank(claim.text, passages)[:_TOGETHER]
        chosen = [passages[i] for i in sorted(best)]
        verdict = (await collect_verdicts(self.verifier, [claim], chosen, question=question))[0]
        if verdict.label is Label.UNSUPPORTED:
            return first
        return replace(verdict, per_passage=first.per_passage, flags=(*verdict.flags, "spread_evidence"))


@dataclass(frozen=True, slots=True)
class Each(_Strategy):
    """Judge every passage alone. Sees every conflict; costs one check per claim and passage."""

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        """Judge every claim against every passage, combine, and retry what is spread."""
        rounds = await gather(
            collect_verdicts(self.verifier, claims, [passage], question=question) for passage in passages
        )
        alone = {
            claim.id: [(passage, verdicts[i]) for passage, verdicts in zip(passages, rounds, strict=True)]
            for i, claim in enumerate(claims)
        }
        return await self.settled(claims, passages, alone, question)


@dataclass(frozen=True, slots=True)
class Ranked(_Strategy):
    """Judge passages in order of relevance and stop a claim at its first support.

    A conflict is seen only among the passages that were asked.
    """

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        """Judge in rounds: the n-th passage of every claim still open, claims that share one asked together."""
        orders = {claim.id: self.ranker.rank(claim.text, passages) for claim in claims}
        alone: dict[str, Alone] = {claim.id: [] for claim in claims}
        waiting = list(claims)
        for turn in range(len(passages)):
            groups: dict[int, list[Claim]] = defaultdict(list)
            for claim in waiting:
                groups[orders[claim.id][turn]].append(claim)
            answers = await gather(
                collect_verdicts(self.verifier, group, [passages[i]], question=question) for i, group in groups.items()
            )
            for (i, group), verdicts in zip(groups.items(), answers, strict=True):
                for claim, verdict in zip(group, verdicts, strict=True):
                    alone[claim.id].append((passages[i], verdict))
            waiting = [claim for claim in waiting if alone[claim.id][-1][1].label is not Label.SUPPORTED]
            if not waiting:
                break
        return await self.settled(claims, passages, alone, question)


def combined(alone: Alone) -> Verdict:
    """Combine what single passages say about one claim (at least one). Keeps every passage's verdict.

    The verdict shown is that of the passage that decides: the surest support, else the surest
    contradiction, else the passage that comes closest to supporting.
    """
    labels = {verdict.label for _, verdict in alone}
    label = next((one for one in (Label.SUPPORTED, Label.CONTRADICTED) if one in labels), Label.UNSUPPORTED)
    deciding = [verdict for _, verdict in alone if verdict.label is label]
    best = max(deciding, key=lambda verdict: _probability(verdict, label))
    return replace(
        best,
        conflict=best.conflict or {Label.SUPPORTED, Label.CONTRADICTED} <= labels,
        per_passage=tuple(
            PassageVerdict(passage.id, verdict.label, verdict.probabilities) for passage, verdict in alone
        ),
    )


def _probability(verdict: Verdict, label: Label) -> float:
    if verdict.probabilities is None:
        return 0.0
    if label is Label.CONTRADICTED:
        return verdict.probabilities.contradicted
    return verdict.probabilities.supported


def composed(name: str, mark: str, verifiers: Sequence[Verifier], own: Mapping[str, str]) -> str:
    """Write ``name:first<mark>second?option=value``; a part's own options: ``2.claims_per_call=4``."""
    parts = [Spec.parse(verifier.spec) for verifier in verifiers]
    options = {f"{place}.{key}": value for place, part in enumerate(parts, 1) for key, value in part.options.items()}
    return str(Spec(name, mark.join(str(Spec(part.name, part.argument)) for part in parts), options | dict(own)))


def taken_apart(spec: Spec, mark: str) -> tuple[list[Spec], dict[str, str]]:
    """Return the specs of the parts, with the options that carry their place, and the options of the whole."""
    texts = spec.argument.split(mark) if mark != ">" else spec.argument.split(mark, 1)
    own = dict(spec.options)
    parts = []
    for place, text in enumerate(texts, start=1):
        part = Spec.parse(text)
        prefix = f"{place}."
        options = {key.removeprefix(prefix): own.pop(key) for key in list(own) if key.startswith(prefix)}
        parts.append(Spec(part.name, part.argument, options))
    return parts, own


def numbered(verifiers: Sequence[Verifier]) -> dict[str, str]:
    """Return the parameters of several verifiers in one mapping: ``1.repeats``, ``2.judge_prompt``, ..."""
    return {
        f"{place}.{key}": value
        for place, verifier in enumerate(verifiers, start=1)
        for key, value in getattr(verifier, "parameters", {}).items()
    }


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


@dataclass(frozen=True, slots=True)
class Panel:
    """A verifier that asks two or more verifiers at the same time.

    A verdict's probabilities are the mean of the judges', a vote without any counted as sure; the label is that of
    most votes, and a tie is never SUPPORTED. Where they do not all
    agree the verdict has the flag `disagreement`, and its rationale says who voted how. Evidence and
    rationale are those of the first judge on the winning side. A judge that fails is a failure of the panel.
    """

    verifiers: tuple[Verifier, ...]

    @property
    def spec(self) -> str:
        """The specs of all, with bars between."""
        return composed("panel", "|", self.verifiers, {})

    @property
    def chat(self) -> ChatModel | None:
        """The chat model of the first judge that has one."""
        return chat_of(*self.verifiers)

    @property
    def parameters(self) -> Mapping[str, str]:
        """The judges' own parameters, by their place."""
        return numbered(self.verifiers)

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        """Let every judge judge every claim, and count. Raises `JudgeError` when one has no usable verdict."""
        rounds = await gather(
            collect_verdicts(verifier, claims, passages, question=question) for verifier in self.verifiers
        )
        return [self._counted([verdicts[i] for verdicts in rounds]) for i in range(len(claims))]

    def _counted(self, verdicts: Sequence[Verdict]) -> Verdict:
        votes = Counter(verdict.label for verdict in verdicts)
        shares = Probabilities(*(votes[label] / len(verdicts) for label in Label))
        winner = next(verdict for verdict in verdicts if verdict.label is shares.label)
        counted = replace(
            winner,
            probabilities=average([verdict.probabilities or of_vote(verdict.label) for verdict in verdicts]),
            judge=self.spec,
            conflict=any(verdict.conflict for verdict in verdicts),
        )
        if len(votes) == 1:
            return counted
        ballot = "; ".join(
            f"{verifier.spec}: {verdict.label}" for verifier, verdict in zip(self.verifiers, verdicts, strict=True)
        )
        rationale = f"{winner.rationale} ({ballot})" if winner.rationale else ballot
        return replace(counted, rationale=rationale, flags=(*winner.flags, "disagreement"))

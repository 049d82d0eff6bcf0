"""Ways to put several passages to one judge. Each is a verifier around a verifier.

`joint` is the judge itself: all passages in one check. `Each` asks about every passage alone.
`Ranked` asks about the most relevant passage first and stops at the first support, the SAFE pattern,
for judges that cost money. Both then combine the passages' verdicts by one rule:
supported by any → SUPPORTED; else contradicted by any → CONTRADICTED; else UNSUPPORTED. A claim that
no single passage settles is tried once more against the best passages together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from everyclaim.core.gather import gather
from everyclaim.core.protocols import ChatModel, Ranker, Verifier, chat_of
from everyclaim.core.types import Claim, Label, Passage, PassageVerdict, Verdict
from everyclaim.verify.verdicts import collect_verdicts

Alone = list[tuple[Passage, Verdict]]  # what each passage alone says about one claim, in the order asked


@dataclass(frozen=True, slots=True)
class _Strategy:
    verifier: Verifier
    ranker: Ranker

    @property
    def spec(self) -> str:
        """The spec of the judge inside; the strategy is stored beside it."""
        return self.verifier.spec

    @property
    def chat(self) -> ChatModel | None:
        """The chat model of the judge inside."""
        return chat_of(self.verifier)


@dataclass(frozen=True, slots=True)
class Each(_Strategy):
    """Judge every passage alone. Sees every conflict; costs one check per claim and passage.

    `together` is how many of the best passages are put in one check when no passage alone settles a claim.
    """

    together: int = 4

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
        return await _settle(self, claims, passages, alone, question)


@dataclass(frozen=True, slots=True)
class Ranked(_Strategy):
    """Judge passages in order of relevance and stop a claim at its first support.

    `at_most` bounds the passages asked per claim (None: all). A conflict is seen only among the passages
    that were asked.
    """

    at_most: int | None = None
    together: int = 4

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        """Judge in rounds: the n-th passage of every claim still open, claims that share one asked together."""
        orders = {claim.id: self.ranker.rank(claim.text, passages)[: self.at_most] for claim in claims}
        alone: dict[str, Alone] = {claim.id: [] for claim in claims}
        waiting = list(claims)
        for turn in range(len(passages) if self.at_most is None else min(self.at_most, len(passages))):
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
        return await _settle(self, claims, passages, alone, question)


def combined(alone: Alone) -> Verdict:
    """Combine what single passages say about one claim (at least one). Keeps every passage's verdict.

    The verdict shown is that of the passage that decides: the surest support, else the surest
    contradiction, else the passage that comes closest to supporting.
    """
    label = _label([verdict.label for _, verdict in alone])
    deciding = [verdict for _, verdict in alone if verdict.label is label]
    best = max(deciding, key=lambda verdict: _probability(verdict, label))
    labels = {verdict.label for _, verdict in alone}
    return replace(
        best,
        conflict=best.conflict or {Label.SUPPORTED, Label.CONTRADICTED} <= labels,
        per_passage=tuple(
            PassageVerdict(passage.id, verdict.label, verdict.probabilities) for passage, verdict in alone
        ),
    )


def _label(labels: Sequence[Label]) -> Label:
    for label in (Label.SUPPORTED, Label.CONTRADICTED):
        if label in labels:
            return label
    return Label.UNSUPPORTED


def _probability(verdict: Verdict, label: Label) -> float:
    if verdict.probabilities is None:
        return 0.0
    if label is Label.CONTRADICTED:
        return verdict.probabilities.contradicted
    return verdict.probabilities.supported


async def _settle(
    strategy: Each | Ranked,
    claims: Sequence[Claim],
    passages: Sequence[Passage],
    alone: dict[str, Alone],
    question: str,
) -> list[Verdict]:
    """Combine each claim's verdicts; put the best passages together where no single one settles it."""
    first = {claim.id: _undisputed(strategy, claim, alone[claim.id], question) for claim in claims}
    open_claims = [claim for claim in claims if first[claim.id].label is Label.UNSUPPORTED]
    if len(passages) > 1 and strategy.together > 1:
        seconds = await gather(_together(strategy, claim, passages, first[claim.id], question) for claim in open_claims)
        first |= {verdict.claim_id: verdict for verdict in seconds}
    return [first[claim.id] for claim in claims]


def _undisputed(strategy: Each | Ranked, claim: Claim, alone: Alone, question: str) -> Verdict:
    """Combine a claim's verdicts; a network's contradiction from a passage about another thing is no conflict."""
    verdict = combined(alone)
    if not verdict.conflict or strategy.chat is not None:
        return verdict
    from everyclaim.verify.lexical.conflicts import is_of_same  # loads the parser, for few claims

    support = [one for _, other in alone if other.label is Label.SUPPORTED for one in other.evidence]
    against = [(passage, other.evidence) for passage, other in alone if other.label is Label.CONTRADICTED]
    is_disputed = any(
        not evidence or any(is_of_same(claim.text, question, support, one.quote, passage) for one in evidence)
        for passage, evidence in against
    )
    return replace(verdict, conflict=is_disputed)


async def _together(
    strategy: Each | Ranked, claim: Claim, passages: Sequence[Passage], first: Verdict, question: str
) -> Verdict:
    best = strategy.ranker.rank(claim.text, passages)[: strategy.together]
    chosen = [passages[i] for i in sorted(best)]
    verdict = (await collect_verdicts(strategy.verifier, [claim], chosen, question=question))[0]
    if verdict.label is Label.UNSUPPORTED:
        return first
    return replace(verdict, per_passage=first.per_passage, flags=(*verdict.flags, "spread_evidence"))

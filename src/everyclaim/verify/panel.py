"""Several judges, one verdict: each judges every claim, the majority decides, and disagreement is said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from everyclaim.core.gather import gather
from everyclaim.core.protocols import ChatModel, Verifier, chat_of
from everyclaim.core.types import Claim, Label, Passage, Probabilities, Verdict
from everyclaim.verify.composed import composed, numbered
from everyclaim.verify.grading import average, of_vote
from everyclaim.verify.verdicts import collect_verdicts


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

"""The verifier that is a MiniCheck model behind a chat endpoint: one claim per call, Yes or No."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from everyclaim.core.errors import JudgeError
from everyclaim.core.gather import gather
from everyclaim.core.protocols import ChatModel
from everyclaim.core.types import Claim, Label, Passage, Verdict
from everyclaim.models.chat.structured_call import Asking
from everyclaim.prompts import minicheck
from everyclaim.verify.lexical.evidence import point
from everyclaim.verify.lexical.shortlist import Piece


@dataclass(frozen=True, slots=True)
class MiniCheckChat:
    """Judge claims with Bespoke-MiniCheck-7B or a model trained like it. Never CONTRADICTED; no probabilities.

    It names no evidence: that of a supported claim is where the passages match its words best. `name` is the spec it
    was built from.
    """

    chat: ChatModel
    name: str = ""

    @property
    def spec(self) -> str:
        """Provider, model and options."""
        return self.name or self.chat.spec

    @property
    def parameters(self) -> Mapping[str, str]:
        """What else made the verdicts."""
        return {"judge_prompt": minicheck.VERSION, "claims_per_call": "1"}

    async def verify(
        self,
        claims: Sequence[Claim],
        passages: Sequence[Passage],
        *,
        question: str = "",  # noqa: ARG002 - the model was not trained to read one
    ) -> list[Verdict]:
        """Judge every claim against all the passages together; one verdict per claim, in order.

        Raises `JudgeError` when the model cannot be reached, or twice answers neither Yes nor No.
        """
        return await gather(self._verdict(claim, passages) for claim in claims)

    async def _verdict(self, claim: Claim, passages: Sequence[Passage]) -> Verdict:
        asked = minicheck.messages(claim.text, [passage.text for passage in passages])
        asking = Asking(self.chat)
        content = ""
        for tag in (minicheck.VERSION, f"{minicheck.VERSION}#2"):
            content = await asking.for_words(asked, tag=tag)
            is_supported = minicheck.is_supported(content)
            if is_supported is not None:
                pieces = [Piece(i, 0, passage.text) for i, passage in enumerate(passages)]
                return Verdict(
                    claim_id=claim.id,
                    label=Label.SUPPORTED if is_supported else Label.UNSUPPORTED,
                    evidence=point(claim.text, pieces, passages) if is_supported else (),
                    judge=self.spec,
                )
        asking.evict()
        raise JudgeError("bad_reply", f"{self.spec} answered {content[:60]!r} about {claim.id}, not Yes or No")

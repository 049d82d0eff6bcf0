"""The verifier that is a MiniCheck model behind a chat endpoint: one claim per call, Yes or No."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from everyclaim.core.protocols import ChatModel
from everyclaim.core.types import Claim, Label, Passage, Verdict
from everyclaim.models.chat.reask import Inquiry, ask_for_each, portions
from everyclaim.prompts.minicheck import MiniCheckPrompt
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
    prompt: MiniCheckPrompt = field(default_factory=MiniCheckPrompt)

    @property
    def spec(self) -> str:
        """Provider, model and options."""
        return self.name or self.chat.spec

    @property
    def parameters(self) -> Mapping[str, str]:
        """What else made the verdicts."""
        return {"judge_prompt": self.prompt.version, "claims_per_call": "1"}

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
        texts = [passage.text for passage in passages]
        inquiry: Inquiry[str, bool] = Inquiry(
            self.chat, self.prompt, lambda asked, _: self.prompt.messages(asked, texts)
        )
        supported = await ask_for_each(inquiry, portions({claim.id: claim.text for claim in claims}, 1))
        pieces = [Piece(i, 0, text) for i, text in enumerate(texts)]
        return [
            Verdict(
                claim_id=claim.id,
                label=Label.SUPPORTED if supported[claim.id] else Label.UNSUPPORTED,
                evidence=point(claim.text, pieces, passages) if supported[claim.id] else (),
                judge=self.spec,
            )
            for claim in claims
        ]

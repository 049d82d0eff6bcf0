"""What Bespoke-MiniCheck-7B is asked, in the words it was trained on (arXiv 2404.10774); it answers Yes or No."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from everyclaim.core.protocols import Message
from everyclaim.prompts.reply_schemas import bad_reply

_SYSTEM = (
    "Determine whether the provided claim is consistent with the corresponding document. Consistency in this context "
    "implies that all information presented in the claim is substantiated by the document. If not, it should be "
    "considered inconsistent. Please assess the claim's consistency with the document by responding with either "
    '"Yes" or "No".'
)


_ANSWERS = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class MiniCheckPrompt:
    """One claim beside all passages, answered in a word."""

    version = "minicheck-1"
    schema = None  # a reply is plain words

    def messages(self, claims: Mapping[str, str], passages: Sequence[str]) -> list[Message]:
        """Write the request about one claim; it comes last, so a provider can keep what is before it."""
        (claim,) = claims.values()
        text = "\n".join(passages)
        return [Message("system", _SYSTEM), Message("user", f"Document: {text}\nClaim: {claim}")]

    def parse(self, reply: Mapping[str, Any], asked: Sequence[str]) -> dict[str, bool]:
        """Return whether the claim is supported. Raises `JudgeError` (`bad_reply`) for anything but yes or no."""
        (claim,) = asked
        word = reply["words"].strip().strip(".!\"'*").casefold()
        if word not in _ANSWERS:
            raise bad_reply(f"it answers {reply['words'][:60]!r} about {claim}, not Yes or No")
        return {claim: _ANSWERS[word]}

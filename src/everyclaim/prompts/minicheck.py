"""What Bespoke-MiniCheck-7B is asked, in the words it was trained on (arXiv 2404.10774); it answers Yes or No."""

from __future__ import annotations

from collections.abc import Sequence

from everyclaim.core.protocols import Message

VERSION = "minicheck-1"
_SYSTEM = (
    "Determine whether the provided claim is consistent with the corresponding document. Consistency in this context "
    "implies that all information presented in the claim is substantiated by the document. If not, it should be "
    "considered inconsistent. Please assess the claim's consistency with the document by responding with either "
    '"Yes" or "No".'
)


def messages(claim: str, passages: Sequence[str]) -> list[Message]:
    """Ask about one claim beside all passages. The claim comes last, so a provider can keep what is before it."""
    text = "\n".join(passages)
    return [Message("system", _SYSTEM), Message("user", f"Document: {text}\nClaim: {claim}")]


def is_supported(reply: str) -> bool | None:
    """Read the answer; None when it is neither Yes nor No."""
    word = reply.strip().strip(".!\"'*").casefold()
    return {"yes": True, "no": False}.get(word)

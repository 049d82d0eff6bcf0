"""The names of decomposers and verifiers, and what makes them.

Ours are listed here by import path, so that naming one imports only that one. Third parties add theirs
through the entry-point groups `everyclaim.decomposers`, `everyclaim.verifiers` and `everyclaim.metrics`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from everyclaim.core.protocols import Verifier
from everyclaim.core.spec import Registry, Spec
from everyclaim.models.chat.providers import provider_names
from everyclaim.verify.functions import as_verifier

if TYPE_CHECKING:
    from everyclaim.api.pool import ChatPool

DECOMPOSERS = Registry(
    "decomposers",
    {
        "embedded": "everyclaim.decompose.embedded:from_spec",
        "python": "everyclaim.core.spec:imported",
    },
    others=lambda: dict.fromkeys(provider_names(), "everyclaim.api.judges:llm_decomposer"),
)
VERIFIERS = Registry(
    "verifiers",
    {
        "embedded": "everyclaim.verify.embedded:from_spec",
        "lexical": "everyclaim.verify.lexical:from_spec",
        "cascade": "everyclaim.api.judges:cascade",
        "panel": "everyclaim.api.judges:panel",
        "hf": "everyclaim.api.huggingface:hf_verifier",
        "python": "everyclaim.core.spec:imported",
    },
    others=lambda: dict.fromkeys(provider_names(), "everyclaim.api.judges:llm_verifier"),
)


def create_verifier(judge: str | Spec, chats: ChatPool | None = None) -> Verifier:
    """Return the judge a spec names; judges that are language models talk through `chats`."""
    return as_verifier(VERIFIERS.create(judge, chats))

"""Is the judge of the same family as the model whose answer it judges?

Judges prefer their own family's text (arXiv 2502.01534), so such a run says more support than there is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# How a family's models are called, as parts of a model's name. Distilled and merged models belong to several.
_FAMILIES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(rf"(?<![a-z]){pattern}", re.IGNORECASE)
    for name, pattern in {
        "GPT": r"(?:gpt|chatgpt|text-davinci|codex|(?<![0-9])o[1-9](?:-(?:mini|pro|preview|deep)|(?![a-z0-9.])))",
        "Claude": r"claude",
        "Gemini": r"(?:gemini|gemma|palm-?2)",
        "Llama": r"(?:code-?)?llama",
        "Mistral": r"(?:open-)?(?:mistral|mixtral|ministral|magistral|codestral|devstral|pixtral)",
        "Qwen": r"(?:qwen|qwq)",
        "DeepSeek": r"deepseek",
        "Phi": r"phi[-_]?\d",
        "Command": r"(?:command-(?:a|r|light|nightly|\d)|c4ai|aya-)",
        "Granite": r"granite",
        "Grok": r"grok",
    }.items()
}


def families(model: str) -> frozenset[str]:
    """Return the families that a model's name, or a judge's spec, speaks of; empty when none is known."""
    return frozenset(name for name, pattern in _FAMILIES.items() if pattern.search(model))


def same_family_warning(generator: str | None, judge: str) -> str:
    """Return the warning for an answer of `generator` judged by the spec `judge`; empty when there is no need."""
    if not generator:
        return ""
    shared = sorted(families(generator) & families(judge.partition("?")[0]))
    if not shared:
        return ""
    return (
        f"the answer's model {generator!r} belongs to the same family as the judge ({', '.join(shared)}): "
        "such judges overestimate faithfulness (arXiv 2502.01534)"
    )

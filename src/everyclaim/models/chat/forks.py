"""Where a model might have gone on otherwise: chances of tokens, in OpenAI's format, which vLLM shares."""

from __future__ import annotations

import math
from codecs import getincrementaldecoder
from typing import Any

from everyclaim.core.protocols import Fork

_SURE = 0.9995  # a token with such a chance is no fork


def read_forks(content: str, told: Any) -> tuple[Fork, ...] | None:
    """Return the forks of a reply; None where what is told is not about this text, byte for byte."""
    if not isinstance(told, list) or not all(isinstance(token, dict) for token in told):
        return None
    parts = [_bytes(token) for token in told]
    if b"".join(parts) != content.encode("utf-8", "surrogatepass"):
        return None
    forks: list[Fork] = []
    reader = getincrementaldecoder("utf-8")("surrogatepass")  # a token may be a part of a character
    start = 0
    for token, part in zip(told, parts, strict=True):
        words = reader.decode(part)
        others = token.get("top_logprobs")
        if words.encode("utf-8", "surrogatepass") == part and isinstance(others, list) and 0 < _chance(token) < _SURE:
            chances = {_bytes(one).decode("utf-8", "ignore"): _chance(one) for one in others if isinstance(one, dict)}
            forks.append(Fork(start, start + len(words), tuple(({words: _chance(token)} | chances).items())))
        start += len(words)
    return tuple(forks)


def forks_from_json(value: Any) -> tuple[Fork, ...] | None:
    """Read what a cache kept; None for anything else."""
    try:
        return tuple(
            Fork(int(start), int(end), tuple((str(text), float(chance)) for text, chance in chances))
            for start, end, chances in value
        )
    except (TypeError, ValueError):
        return None


def _bytes(token: dict[str, Any]) -> bytes:
    given = token.get("bytes")
    if isinstance(given, list) and all(isinstance(one, int) and 0 <= one < 256 for one in given):
        return bytes(given)
    text = token.get("token")
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else b""


def _chance(token: dict[str, Any]) -> float:
    value = token.get("logprob")
    if not isinstance(value, int | float) or isinstance(value, bool) or math.isnan(value):
        return 0.0
    return math.exp(min(float(value), 0.0))

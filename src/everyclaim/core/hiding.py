"""Keep secrets out of whatever is shown, stored or logged.

Whoever has a secret names the option that holds it, and never its value. `hidden` is the net below that: every
error's message goes through it.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256

HIDDEN = "***"

# What repeats is bounded, so that no text makes a search long.
# A user and a password before a host; a password may hold any mark, so it ends at the last @ of the word.
_USER = re.compile(r"(?<=://)(?![\w.-]{0,100}:\*\*\*@)[^\s'\"<>]{0,500}@")
_KEYS = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|tvly|hf|ghp|gho|xox[abp])[-_](?=[\w*.-]{0,100}\d)[\w*.-]{8,}"
    r"|\bBearer\s+(?=[\w.~+/=*-]{0,200}[\d*]|[\w.~+/=*-]{24})[\w.~+/=*-]{8,}",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?i)\b((?:[\w.-]{0,40}[._-])?(?:api-?_?key|key|token|secret|password|passwd|pwd|authorization))=(?!\*\*\*)[^\s&'\",;)]+"
)
_VARIABLE = re.compile(r"\$\w+")
_PLACE = re.compile(r"(?:\d+\.)+")  # of a judge among several, before an option of its own


def hidden(text: str) -> str:
    """Return a text without what looks like a key, and without user and password of an address."""
    text = _USER.sub(f"{HIDDEN}@", text)
    return _NAMED.sub(rf"\1={HIDDEN}", _KEYS.sub(HIDDEN, text))


def shown_option(name: str, value: str) -> str:
    """Return the value of a spec's option as it may be shown and stored.

    Headers and query parameters are hidden, unless they name an environment variable. Texts in a request's body are
    told apart by a digest, since they may change a verdict. Numbers and the rest stand as they are.
    """
    kind = _PLACE.sub("", name, count=1).partition(".")[0]
    if kind in {"header", "query"}:
        return value if _VARIABLE.fullmatch(value) else HIDDEN
    if kind == "body":
        return value if _is_plain(value) else HIDDEN + sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    if _NAMED.match(f"{name}=x"):
        return HIDDEN
    return hidden(value)


def _is_plain(value: str) -> bool:
    try:
        return isinstance(json.loads(value), int | float | None)
    except (ValueError, RecursionError):
        return value == HIDDEN

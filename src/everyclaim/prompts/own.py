"""A user's own wording of what the labels mean, or of what a claim is, from a text file.

It takes the place of our rules and of nothing else: that the texts under test are data, what a reply holds and how it
is checked stays. The text goes out as it is; nothing in it is filled in. Its version is the hash of its content, so a
changed file is another judge.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from everyclaim.core.errors import ConfigError

MAX_CHARS = 50_000


@dataclass(frozen=True, slots=True)
class OwnRules:
    """A wording and its version; both are empty for none."""

    text: str = ""
    version: str = ""


def read_own_rules(text: str, *, name: str) -> OwnRules:
    """Take a file's text. Raises `ConfigError` that names the file when it says nothing or is no prompt by its size."""
    said = text.strip()
    if not said:
        raise ConfigError(f"the prompt file {name} is empty")
    if len(said) > MAX_CHARS:
        raise ConfigError(f"the prompt file {name} has {len(said):,} characters; a prompt may have {MAX_CHARS:,}")
    return OwnRules(said, hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:8])

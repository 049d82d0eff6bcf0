"""Who serves chat models: one table of ours, and whoever registers under the entry-point group `everyclaim.providers`.

    [project.entry-points."everyclaim.providers"]
    acme = "acme_everyclaim:ACME"            # ACME = Provider("https://api.acme.example/v1", "ACME_API_KEY")

From then on ``acme:model`` is a judge, a decomposer and a generator, in Python and on the command line.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Literal

from everyclaim.core.errors import ConfigError
from everyclaim.core.plaintext import did_you_mean

Format = Literal["chat", "responses", "messages"]
_GROUP = "everyclaim.providers"
_TAKEN = frozenset({"embedded", "lexical", "hf", "cascade", "panel", "python"})  # components that are no chat models
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Provider:
    """One that serves chat models.

    `address` is where, unless a spec or the variable `address_variable` says otherwise; `key_variable` holds the key.
    `formats`: OpenAI's chat completions (`chat`) or responses (`responses`), Anthropic's messages (`messages`); the
    first is the usual one. `batches`: whether there is the batch API that belongs to the format. `output_limit` is how
    the limit of a reply is called in `chat`, at its own address. `prices` names its table in price files, its own name
    when empty; `extra` is what to install.
    """

    address: str
    key_variable: str
    formats: tuple[Format, ...] = ("chat",)
    address_variable: str = ""
    batches: bool = False
    output_limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    prices: str = ""
    extra: str = "openai"


OURS: Mapping[str, Provider] = {
    "openai": Provider(
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        ("chat", "responses"),
        "OPENAI_BASE_URL",
        batches=True,
        output_limit="max_completion_tokens",
    ),
    "anthropic": Provider(
        "https://api.anthropic.com",
        "ANTHROPIC_API_KEY",
        ("messages",),
        "ANTHROPIC_BASE_URL",
        batches=True,
        extra="anthropic",
    ),
}


def is_provider(name: str) -> bool:
    """Whether specs such as ``name:model`` are chat models."""
    return name in OURS or name in _registered(tuple(sys.path))


def provider_names() -> list[str]:
    """Return every provider's name, ours first."""
    return [*OURS, *sorted(_registered(tuple(sys.path)))]


def find_provider(name: str) -> Provider:
    """Return what is known of a provider. Raises `ConfigError` for an unknown one, or one that cannot be loaded."""
    if name in OURS:
        return OURS[name]
    point = _registered(tuple(sys.path)).get(name)
    if point is None:
        known = provider_names()
        raise ConfigError(f"unknown provider {name!r}; known: {', '.join(known)}{did_you_mean(name, known)}")
    try:
        provider = point.load()
    except Exception as error:  # whatever a module of others raises
        raise ConfigError(f"the provider {name!r} ({point.value}) cannot be loaded: {error}") from error
    if not isinstance(provider, Provider):
        raise ConfigError(
            f"the provider {name!r} ({point.value}) is a {type(provider).__name__}, not an everyclaim.models.Provider"
        )
    return provider


@lru_cache(maxsize=1)
def _registered(path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    """Look for others' once; `path` is where packages are looked for. A name that is taken is passed over, and said."""
    del path
    points = {point.name: point for point in entry_points(group=_GROUP)}
    for name in points.keys() & (OURS.keys() | _TAKEN):
        _log.warning(
            "the provider %r (%s) has a name that is already taken and is ignored", name, points.pop(name).value
        )
    return points

"""Who serves chat models, where their API keys come from, and how keys are kept out of sight.

Providers are one table of ours, and whoever registers under the entry-point group `everyclaim.providers`:

    [project.entry-points."everyclaim.providers"]
    acme = "acme_everyclaim:ACME"            # ACME = Provider("https://api.acme.example/v1", "ACME_API_KEY")

From then on ``acme:model`` is a judge, a decomposer and a generator, in Python and on the command line.

A key is looked for in this order: the key given in code; the environment variable named by `key_env`; the
provider's own variable; the keys file, a TOML file with one line per provider (``openai = "…"``) at
``$EVERYCLAIM_KEYS`` or ``~/.config/everyclaim/keys.toml``. A key is never part of a spec.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from everyclaim.core.errors import ConfigError
from everyclaim.core.plaintext import HIDDEN, did_you_mean, hidden

Format = Literal["chat", "messages"]
_GROUP = "everyclaim.providers"
_TAKEN = frozenset({"embedded", "lexical", "hf", "cascade", "panel", "python"})  # components that are no chat models
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Provider:
    """One that serves chat models.

    `address` is where, unless a spec or the variable `address_variable` says otherwise; `key_variable` holds the key.
    `formats`: OpenAI's chat completions (`chat`) or Anthropic's messages (`messages`); the first is the usual one.
    `batches`: whether there is the batch API that belongs to the format. `output_limit` is how the limit of a reply is
    called in `chat`, at its own address. `extra` is what to install.
    """

    address: str
    key_variable: str
    formats: tuple[Format, ...] = ("chat",)
    address_variable: str = ""
    batches: bool = False
    output_limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    extra: str = "openai"


OURS: Mapping[str, Provider] = {
    "openai": Provider(
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        address_variable="OPENAI_BASE_URL",
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


SEARCH_VARIABLES: Mapping[str, str] = {"serper": "SERPER_API_KEY", "tavily": "TAVILY_API_KEY", "brave": "BRAVE_API_KEY"}

_LOOKS_LIKE_A_KEY = re.compile(  # a word behind "key" is none
    r"\b(?:(?:sk|pk|rk|Bearer)[-_ ]|key[-_ ](?=[\w*.-]{0,200}[\d*]))[\w*.-]{6,}", re.IGNORECASE
)
_SHORTEST_KEY = 16  # characters; local servers are given words such as "EMPTY"
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")  # as variables are called that hold keys
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class Secret:
    """A text that shows itself only when asked to: not in `repr`, not in `str`, not when pickled."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the secret, for the one place that sends it."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return HIDDEN

    def __reduce__(self) -> str:
        raise TypeError("a secret cannot be pickled")


def find_key(provider: str, *, given: str | None = None, variable: str = "", required: bool = True) -> Secret:
    """Return the key for a provider, empty when there is none and none is `required`.

    Raises `ConfigError` that says where a key can be put.
    """
    if given:
        return checked_secret(given, "the API key given in code")
    if variable:
        if value := os.environ.get(variable):
            return checked_secret(value, f"the API key from {variable}")
        if not _VARIABLE.fullmatch(variable):  # a key, by mistake, is not repeated
            raise ConfigError("key_env must be the name of an environment variable that contains the key")
        raise ConfigError(f"key_env names the environment variable {variable}, which is not set")
    usual = key_variable(provider)
    if value := os.environ.get(usual, "") or _from_file(provider):
        return checked_secret(value, f"the API key from {usual}")
    if required:
        raise ConfigError(f"no API key for {provider}: set {usual}, or write '{provider} = \"…\"' into {keys_file()}")
    return Secret("")


def where_key_is(provider: str) -> str:
    """Return the name of the variable or the file that holds a provider's key, empty when there is none.

    The key itself is not shown. Raises `ConfigError` for a key or a file that cannot be read.
    """
    if not find_key(provider, required=False):
        return ""
    variable = key_variable(provider)
    return variable if os.environ.get(variable) else str(keys_file())


def key_variable(name: str) -> str:
    """Return the environment variable that contains the key of a provider or search engine."""
    return SEARCH_VARIABLES[name] if name in SEARCH_VARIABLES else find_provider(name).key_variable


def keys_file() -> Path:
    """Return where the keys file is looked for."""
    if given := os.environ.get("EVERYCLAIM_KEYS"):
        return Path(given)
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "everyclaim" / "keys.toml"


def scrub(text: str, secrets: tuple[Secret, ...] = ()) -> str:
    """Return a text on one line, at most 300 characters, without these secrets and what looks like a key."""
    text = hidden(without(text, secrets)[:4000])
    text = _LOOKS_LIKE_A_KEY.sub(HIDDEN, _CONTROLS.sub(" ", text)).strip()
    return text if len(text) <= 300 else text[:299] + "…"


def without(text: str, secrets: Iterable[Secret]) -> str:
    """Return a text without these secrets, as they are and as they are written in JSON and in addresses."""
    for value in sorted({secret.reveal() for secret in secrets if secret}, key=len, reverse=True):
        for written in {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], quote(value, "")}:
            text = text.replace(written, HIDDEN)
    return text


def without_key(text: str, key: Secret) -> str:
    """Return a model's words without the key, which a gateway may repeat; one that could be a word of theirs stays."""
    value = key.reveal()
    is_no_word = len(value) >= _SHORTEST_KEY and any(letter.isdigit() for letter in value)
    return without(text, [key]) if is_no_word and value in text else text


def _from_file(provider: str) -> str:
    path = keys_file()
    try:
        rows = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return ""
    except (OSError, ValueError):
        # What the parser says may quote the line, and with it the key.
        raise ConfigError(f'the keys file {path} is not valid TOML; its lines are like: openai = "…"') from None
    value = rows.get(provider, "")
    if not isinstance(value, str):
        raise ConfigError(f'the keys file {path} must have one text per provider, as in: openai = "…"')
    return value


def checked_secret(value: str, what: str) -> Secret:
    """Return a key or token. Raises `ConfigError` for characters that it cannot have."""
    value = value.strip()
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ConfigError(f"{what} contains an invalid character; was it copied completely?")
    return Secret(value)

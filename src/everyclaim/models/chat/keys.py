"""Where API keys come from, and how they are kept out of sight.

Looked for in this order: the key given in code; the environment variable named by `key_env`; the
provider's own variable; the keys file, a TOML file with one line per provider (``openai = "…"``) at
``$EVERYCLAIM_KEYS`` or ``~/.config/everyclaim/keys.toml``. A key is never part of a spec.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from everyclaim.core.errors import ConfigError
from everyclaim.core.plaintext import HIDDEN, hidden
from everyclaim.models.chat.providers import find_provider

SEARCH_VARIABLES: Mapping[str, str] = {
    "serper": "SERPER_API_KEY",
    "tavily": "TAVILY_API_KEY",
    "brave": "BRAVE_API_KEY",
}

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
        return _checked(given, "the key given in code")
    if variable:
        if value := os.environ.get(variable):
            return _checked(value, variable)
        if not _VARIABLE.fullmatch(variable):  # a key, by mistake, is not repeated
            raise ConfigError("key_env must be the name of an environment variable that contains the key")
        raise ConfigError(f"key_env names the environment variable {variable}, which is not set")
    usual = key_variable(provider)
    if value := os.environ.get(usual, "") or _from_file(provider):
        return _checked(value, usual)
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


def _checked(value: str, source: str) -> Secret:
    value = value.strip()
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ConfigError(f"the API key from {source} contains an invalid character; was it copied completely?")
    return Secret(value)

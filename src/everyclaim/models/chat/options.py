"""What a chat model's spec may say: ``openai:gpt-5-mini?base_url=…&max_tokens=…&header.X=…``.

| option | meaning |
| --- | --- |
| `base_url` | another endpoint that speaks the same format: vLLM, Ollama, a gateway; a user and password in it \
are sent as basic authentication, for OpenAI's format in the place of the key |
| `api` | the format, where a provider has several: OpenAI `chat` (default) or `responses` |
| `transport` | `direct` (default) or `sdk`, the provider's own client; see `transport` |
| `max_tokens` | most tokens of a reply |
| `temperature`, `top_p`, `seed`, `reasoning_effort` | sent as given; where refused dropped, with a warning in the log |
| `top_logprobs` | ask for the chances of so many tokens at each place; OpenAI's formats; where refused left out |
| `thinking_tokens` | most tokens of a model's thoughts before it answers, 1,024 at least; Anthropic |
| `structured` | `schema`, `tool` or `plain`, instead of finding out |
| `timeout` | seconds for one whole answer, 120 |
| `max_reply_mb` | megabytes of one whole answer, decompressed, 16 |
| `key_env` | name of the environment variable that holds the key |
| `header.X`, `query.X` | another header or query parameter; ``$NAME`` is read from the environment |
| `body.X` | another field of the request's body, as JSON |
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast
from urllib.parse import unquote, urlsplit

from everyclaim.core.errors import ConfigError
from everyclaim.core.hiding import HIDDEN, hidden
from everyclaim.core.nearest import did_you_mean
from everyclaim.core.spec import Spec
from everyclaim.models.chat.bounded import MAX_REPLY_MB, MB
from everyclaim.models.chat.keys import Secret
from everyclaim.models.chat.providers import Format, find_provider

Mode = Literal["schema", "tool", "plain"]
SAMPLING = ("temperature", "top_p", "seed", "reasoning_effort", "top_logprobs", "thinking_tokens")
_OPENAI_ONLY, _ANTHROPIC_ONLY = ("top_logprobs", 1), ("thinking_tokens", 1024)  # by format, with the least value
_PLAIN_ADDRESS = re.compile(r"[\w.:/\[\]-]*")  # nothing in it can be a password
_HEADER = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_SHORTEST_SECRET = 6  # characters of a text in a request's body that is kept out of messages


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """A chat model's spec, checked. `spec` names it without secrets; `identity` is all that can change a reply."""

    provider: str
    model: str
    base_url: str = field(repr=False)
    api: Format
    transport: Literal["direct", "sdk"]
    spec: str
    identity: str = field(repr=False)
    max_tokens: int | None = None
    extra: str = "openai"  # what has to be installed
    sampling: Mapping[str, Any] = field(default_factory=dict)
    structured: Mode | None = None
    timeout: float = 120.0
    max_reply_mb: float = MAX_REPLY_MB
    key_env: str = ""
    headers: Mapping[str, Secret] = field(default_factory=dict)
    query: Mapping[str, Secret] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def is_home(self) -> bool:
        """Whether this is the provider's own endpoint, where its prices and habits hold."""
        return urlsplit(self.base_url).hostname == urlsplit(find_provider(self.provider).address).hostname

    @property
    def max_reply(self) -> int:
        """How many bytes an answer may have, decompressed."""
        return int(self.max_reply_mb * MB)

    @property
    def where(self) -> str:
        """The endpoint's address as it may be shown."""
        return without_password(self.base_url)

    @property
    def address(self) -> str:
        """The endpoint's address without user and password, which go into a header: see `basic`."""
        return _plain_address(self.base_url)

    @property
    def basic(self) -> Secret:
        """The Authorization header that user and password in the address make; empty without."""
        parts = urlsplit(self.base_url)
        if parts.username is None:
            return Secret("")
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        return Secret(f"Basic {b64encode(pair.encode()).decode('ascii')}")

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Everything here that must not be shown."""
        password = urlsplit(self.base_url).password or ""
        of_address = (Secret(password), Secret(unquote(password)), self.basic)
        of_body = (Secret(text) for text in _texts(self.body) if len(text) >= _SHORTEST_SECRET)
        return (*self.headers.values(), *self.query.values(), *of_address, *of_body)


def read_options(spec: Spec | str) -> EndpointOptions:
    """Check a spec. Raises `ConfigError` that names the option, the value and what it may be."""
    spec = Spec.parse(spec) if isinstance(spec, str) else spec
    provider = find_provider(spec.name)
    if not spec.argument:
        raise ConfigError(f"which model of {spec.name}? write '{spec.name}:model-name'")
    given = dict(spec.options)
    variable = provider.address_variable
    said = given.pop("base_url", "")
    moved = os.environ.get(variable, "") if variable else ""
    base_url = checked_address(said or moved or provider.address, name="base_url" if said or not moved else variable)
    named = {kind: _named(given, f"{kind}.") for kind in ("header", "query", "body")}
    structured = _choice(given, "structured", ("schema", "tool", "plain")) if "structured" in given else None
    options = EndpointOptions(
        provider=spec.name,
        model=spec.argument,
        base_url=base_url,
        api=_choice(given, "api", provider.formats),
        transport=_choice(given, "transport", ("direct", "sdk")),
        spec=spec.shown,
        identity=_identity(spec, base_url, named),
        max_tokens=_number(given, "max_tokens", int, at_least=1),
        extra=provider.extra,
        sampling=_sampling(given, provider.formats[0]),
        structured=cast("Mode | None", structured),
        timeout=_number(given, "timeout", float, at_least=0.001) or 120.0,
        max_reply_mb=_number(given, "max_reply_mb", float, at_least=0.001) or MAX_REPLY_MB,
        key_env=given.pop("key_env", ""),
        headers={name: _secret(f"header.{name}", value) for name, value in named["header"].items()},
        query={name: _secret(f"query.{name}", value) for name, value in named["query"].items()},
        body={name: _json(name, value) for name, value in named["body"].items()},
    )
    if given:
        name = min(given)
        meant = did_you_mean(name, _KNOWN)
        if "key" in name.lower() or "token" in name.lower():
            meant = f"; a key goes into the environment variable {provider.key_variable}, or the one that key_env names"
        raise ConfigError(
            f"unknown option {name!r} of '{spec.name}:{spec.argument}'; known: {', '.join(_KNOWN)}{meant}"
        )
    return options


_KNOWN = (
    *("api", "base_url", "body.X", "header.X", "key_env", "max_reply_mb", "max_tokens", "query.X", "structured"),
    *SAMPLING,
    *("timeout", "transport"),
)


def checked_address(text: str, *, name: str = "base_url") -> str:
    """Return an endpoint's address without a slash at its end.

    `name` is the option that holds it. Raises `ConfigError` for what is none; it repeats only what can hold no secret.
    """
    text = text.strip()
    user, at, _ = text.partition("://")[2].rpartition("@")
    if at and (not user.isprintable() or any(mark in user for mark in "/?#<>'\" ")):
        raise ConfigError(
            f"{name}: '/', '?', '#', spaces, quotes and the like in a user name or password must be written as %2F, "
            "%3F, %23, … (in a spec, where options are decoded once, as %252F, …)"
        )
    try:
        parts = urlsplit(text)
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # its message quotes the host or the port, and with them perhaps a password
        is_address = False
    if not is_address or "?" in text or "#" in text:
        shown = f" {text!r}" if _PLAIN_ADDRESS.fullmatch(text) else ""
        raise ConfigError(
            f"{name}{shown} is not an address such as 'http://localhost:8000/v1' "
            "(query parameters go into 'query.NAME=value')"
        )
    return text.rstrip("/")


def without_password(url: str) -> str:
    """Return an address as it may be shown."""
    scheme, mark, rest = url.partition("://")
    _, at, place = rest.rpartition("@")
    return hidden(f"{scheme}{mark}{HIDDEN}@{place}" if at else url)


def _plain_address(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _named(given: dict[str, str], prefix: str) -> dict[str, str]:
    found = {name: given.pop(name) for name in sorted(given) if name.startswith(prefix)}
    return {name.removeprefix(prefix): value for name, value in found.items()}


def _choice(given: dict[str, str], name: str, allowed: tuple[str, ...]) -> Any:
    value = given.pop(name, allowed[0])
    if value not in allowed:
        raise ConfigError(f"option {name}={value!r}: choose one of {', '.join(allowed)}")
    return value


def _number(given: dict[str, str], name: str, kind: Callable[[str], Any], *, at_least: float | None = None) -> Any:
    text = given.pop(name, None)
    if text is None:
        return None
    try:
        value = kind(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or (at_least is not None and value < at_least):
        wanted = f"a number of at least {at_least:g}" if at_least is not None else "a number"
        raise ConfigError(f"option {name}={text!r} must be {wanted}")
    return value


def _of_format(given: dict[str, str], form: Format) -> dict[str, Any]:
    """Read what only one format has. Raises `ConfigError` for what the other would not understand."""
    own, other = (_ANTHROPIC_ONLY, _OPENAI_ONLY) if form == "messages" else (_OPENAI_ONLY, _ANTHROPIC_ONLY)
    if other[0] in given:
        raise ConfigError(f"option {other[0]!r} has no meaning in this provider's format")
    return {own[0]: _number(given, own[0], int, at_least=own[1])}


def _sampling(given: dict[str, str], form: Format) -> dict[str, Any]:
    found = {
        "temperature": _number(given, "temperature", float, at_least=0),
        "top_p": _number(given, "top_p", float, at_least=0),
        "seed": _number(given, "seed", int),
        "reasoning_effort": given.pop("reasoning_effort", None),
        **_of_format(given, form),
    }
    return {name: value for name, value in found.items() if value is not None}


def _secret(name: str, value: str) -> Secret:
    if value.startswith("$"):
        variable = value[1:]
        if variable not in os.environ:
            shown = f" {variable}" if variable.isupper() and variable.isidentifier() else ""
            raise ConfigError(f"option {name} names an environment variable{shown} that is not set")
        value = os.environ[variable]
    if not value.isprintable():
        raise ConfigError(f"option {name} holds a line break or another control character")
    kind, _, header = name.partition(".")
    if kind == "header" and not (value.isascii() and _HEADER.fullmatch(header)):
        raise ConfigError(f"option {name} is no header: its name or its value holds a character that none has")
    return Secret(value)


def _json(name: str, value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        raise ConfigError(f"the value of option body.{name} is not JSON; a text needs quotes") from None


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _identity(spec: Spec, base_url: str, named: Mapping[str, Mapping[str, str]]) -> str:
    """Return what tells this endpoint from every other; values that may be secret only as digests."""
    # How a reply is fetched, not what it says.
    skipped = {"timeout", "max_reply_mb", "key_env", "transport", "base_url"}
    options = {k: v for k, v in spec.options.items() if k not in skipped and not k.startswith(("header.", "query."))}
    for kind in ("header", "query"):
        for name, value in named[kind].items():
            told = _secret(f"{kind}.{name}", value).reveal()
            options[f"{kind}.{name.lower()}"] = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
    options["base_url"] = hashlib.sha256(_plain_address(base_url).encode()).hexdigest()
    return json.dumps([spec.name, spec.argument, sorted(options.items())])

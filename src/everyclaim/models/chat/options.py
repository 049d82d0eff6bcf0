"""What a chat model's spec may say: ``openai:gpt-5-mini?base_url=…&reply_tokens=…&header.X=…``.

See `ChatOptions`.
"""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.limits import MB
from everyclaim.core.options import read, wrong_value
from everyclaim.core.plaintext import HIDDEN, digest, hidden
from everyclaim.core.spec import Spec
from everyclaim.models.chat.providers import Format, Secret, find_key, find_provider

Mode = Literal["schema", "tool", "plain"]
MAX_REPLY_MB = 16.0  # no reply of a model, search engine or batch API comes near it
SAMPLING = ("temperature", "top_p", "seed", "reasoning_effort", "top_logprobs", "thinking_tokens")
_Amount = Annotated[float, Range(0)]
_PLAIN_ADDRESS = re.compile(r"[\w.:/\[\]-]*")  # nothing in it can be a password
_SHORTEST_SECRET = 6  # characters of a text in a request's body that is kept out of messages
_HEADER = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What a spec may say of a chat model."""

    # Another endpoint with the same format: vLLM, Ollama, a gateway; a user and password in it are sent as basic
    # authentication, with OpenAI's format instead of the key.
    base_url: str = ""
    api: Format | None = None  # of the request, for providers with several (default: the first)
    reply_tokens: Annotated[int, Range(1)] | None = None  # at most, of a reply
    temperature: _Amount | None = None  # sent as is; if rejected, dropped with a warning; so are the next five
    top_p: _Amount | None = None
    seed: int | None = None
    reasoning_effort: str | None = None
    top_logprobs: Annotated[int, Range(1)] | None = None  # alternative tokens per position; OpenAI formats
    thinking_tokens: Annotated[int, Range(1024)] | None = None  # at most; Anthropic
    structured: Mode | None = None  # how replies are restricted to a schema (default: detected)
    timeout: Annotated[float, Range(0.001)] = 120.0  # seconds for one answer
    max_reply_mb: Annotated[float, Range(0.001)] = MAX_REPLY_MB  # of one answer, decompressed
    key_env: str = ""  # environment variable with the key
    header: Mapping[str, str] = field(default_factory=dict)  # extra ones; `$NAME` is read from the environment
    query: Mapping[str, str] = field(default_factory=dict)  # extra parameters, in the same way
    body: Mapping[str, str] = field(default_factory=dict)  # extra fields of the request, as JSON


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """A chat model's spec, checked. `spec` names it without secrets; `identity` is all that can change a reply."""

    provider: str
    model: str
    base_url: str = field(repr=False)
    api: Format
    spec: str
    identity: str = field(repr=False)
    said: ChatOptions = field(default_factory=ChatOptions, repr=False)
    extra: str = "openai"  # what has to be installed
    sampling: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, Secret] = field(default_factory=dict)
    query: Mapping[str, Secret] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def is_home(self) -> bool:
        """Whether this is the provider's own endpoint, where its prices and habits hold."""
        return urlsplit(self.base_url).hostname == urlsplit(find_provider(self.provider).address).hostname

    def find_key(self, given: str | None = None) -> Secret:
        """Return the key; empty where a server at another address, or one with a header for it, may need none.

        Raises `ConfigError` for a missing one.
        """
        is_in_header = {name.lower() for name in self.headers} & {"authorization", "x-api-key", "api-key"}
        required = self.is_home and not is_in_header
        return find_key(self.provider, given=given, variable=self.said.key_env, required=required)

    @property
    def max_reply(self) -> int:
        """How many bytes an answer may have, decompressed."""
        return int(self.said.max_reply_mb * MB)

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
        of_body = (
            Secret(text) for text in self.body.values() if isinstance(text, str) and len(text) >= _SHORTEST_SECRET
        )
        return (*self.headers.values(), *self.query.values(), *of_address, *of_body)


def read_options(spec: Spec | str) -> EndpointOptions:
    """Check a spec. Raises `ConfigError` that names the option, the value and what it may be."""
    spec = Spec.parse(spec) if isinstance(spec, str) else spec
    provider = find_provider(spec.name)
    if not spec.argument:
        raise ConfigError(f"{spec.name} needs a model name: '{spec.name}:model-name'")
    owner = f"'{spec.name}:{spec.argument}'"
    said = read(spec, ChatOptions, owner)
    if said.api is not None and said.api not in provider.formats:
        raise wrong_value("api", owner, f"one of {', '.join(provider.formats)}", said.api)
    variable = provider.address_variable
    moved = os.environ.get(variable, "") if variable else ""
    base_url = checked_address(
        said.base_url or moved or provider.address, name="base_url" if said.base_url or not moved else variable
    )
    return EndpointOptions(
        provider=spec.name,
        model=spec.argument,
        base_url=base_url,
        api=said.api or provider.formats[0],
        spec=spec.shown,
        identity=_identity(spec, base_url, said),
        extra=provider.extra,
        sampling=_sampling(said, spec, provider.formats[0]),
        said=said,
        headers={name: _secret(f"header.{name}", value) for name, value in said.header.items()},
        query={name: _secret(f"query.{name}", value) for name, value in said.query.items()},
        body={name: _json(name, value) for name, value in said.body.items()},
    )


def checked_address(text: str, *, name: str = "base_url") -> str:
    """Return an endpoint's address without a slash at its end.

    `name` is the option that holds it. Raises `ConfigError` for what is none; it repeats only what can hold no secret.
    """
    text = text.strip()
    user, at, _ = text.partition("://")[2].rpartition("@")
    if at and (not user.isprintable() or any(mark in user for mark in "/?#<>'\" ")):
        raise ConfigError(
            f"{name}: '/', '?', '#', spaces and quotes in a user name or password must be written as %2F, "
            "%3F, %23, … (in a spec as %252F, …)"
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


def _sampling(said: ChatOptions, spec: Spec, form: Format) -> dict[str, Any]:
    """Return what is sent as given. Raises `ConfigError` for what this format would not understand."""
    other = "top_logprobs" if form == "messages" else "thinking_tokens"
    if other in spec.options:
        raise ConfigError(f"option {other!r} is not supported by this provider's format")
    return {name: value for name in SAMPLING if (value := getattr(said, name)) is not None}


def _secret(name: str, value: str) -> Secret:
    if value.startswith("$"):
        variable = value[1:]
        if variable not in os.environ:
            shown = f" {variable}" if variable.isupper() and variable.isidentifier() else ""
            raise ConfigError(f"option {name} names an environment variable{shown} that is not set")
        value = os.environ[variable]
    if not value.isprintable():
        raise ConfigError(f"option {name} contains a line break or another control character")
    kind, _, header = name.partition(".")
    if kind == "header" and not (value.isascii() and _HEADER.fullmatch(header)):
        raise ConfigError(f"option {name} is not a valid header: it contains an invalid character")
    return Secret(value)


def _json(name: str, value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        raise ConfigError(f"the value of option body.{name} is not JSON; texts need quotes") from None


def _identity(spec: Spec, base_url: str, said: ChatOptions) -> str:
    """Return what tells this endpoint from every other; values that may be secret only as digests."""
    # How a reply is fetched, not what it says.
    skipped = {"timeout", "max_reply_mb", "key_env", "base_url"}
    options = {k: v for k, v in spec.options.items() if k not in skipped and not k.startswith(("header.", "query."))}
    for kind, named in (("header", said.header), ("query", said.query)):
        for name, value in named.items():
            options[f"{kind}.{name.lower()}"] = digest(_secret(f"{kind}.{name}", value).reveal())
    options["base_url"] = digest(_plain_address(base_url))
    return json.dumps([spec.name, spec.argument, sorted(options.items())])

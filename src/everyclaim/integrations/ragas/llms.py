"""From the client that a Ragas user has to a judge of ours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from everyclaim.api.options import public
from everyclaim.core.errors import ConfigError
from everyclaim.core.protocols import ChatModel
from everyclaim.core.spec import Spec
from everyclaim.models import build_chat_model
from everyclaim.models.chat.options import SAMPLING
from everyclaim.models.chat.providers import find_provider, is_provider, provider_names

_OWN = {name: name for name in (*SAMPLING, "timeout")} | {"max_tokens": "reply_tokens"}


@public
def llm_factory(
    model: str, provider: str = "openai", client: Any = None, *, base_url: str | None = None, **model_args: Any
) -> ChatModel:
    """Make a judge's chat model the way Ragas' `llm_factory` is called.

    Of a `client` (`openai.AsyncOpenAI`, `anthropic.AsyncAnthropic`, synchronous ones as well) only the address and
    the key are used: requests go out by our own transport, with its retries and limits. `model_args` are
    `temperature`, `max_tokens` and other fields of the request; none is sent unless it is given.
    Raises `ConfigError` for an unknown provider or a missing key.
    """
    if not is_provider(provider):
        known = ", ".join(provider_names())
        raise ConfigError(
            f"unknown provider {provider!r}; known: {known}. For other OpenAI-compatible providers use "
            "provider='openai' with base_url=…"
        )
    options = dict(_as_options(model_args))
    address = base_url or _address(client)
    if address and address.rstrip("/").removesuffix("/v1") != find_provider(provider).address.removesuffix("/v1"):
        options["base_url"] = address
    key = getattr(client, "api_key", None)
    return build_chat_model(Spec(provider, model, options), key=key if isinstance(key, str) else None)


def _address(client: Any) -> str:
    address = getattr(client, "base_url", None)
    return "" if address is None else str(address).rstrip("/")


def _as_options(given: Mapping[str, Any]) -> dict[str, str]:
    return {
        _OWN.get(name, f"body.{name}"): str(value) if name in _OWN else json.dumps(value)
        for name, value in given.items()
    }

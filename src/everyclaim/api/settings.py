"""Settings: `everyclaim.toml` found upward from the working directory, then `EVERYCLAIM_*` variables over it.

Whatever a call or a command-line option says goes over both. Lists and tables in variables are JSON:
``EVERYCLAIM_SLICES='["source"]'``.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from everyclaim.api.components import DEFAULT_JUDGE, Strategy
from everyclaim.api.talking import DEFAULT_STORE, Talking
from everyclaim.core.errors import ConfigError
from everyclaim.core.nearest import did_you_mean
from everyclaim.metrics.assembled import Empty

FILE_NAME = "everyclaim.toml"
PREFIX = "EVERYCLAIM_"
_MAY_HOLD_SECRETS = frozenset(
    {"base_url", "headers", "judge", "decomposer", "metric", "store"}
)  # not repeated in errors


# Options whose names are not their settings'.
OPTIONS = {
    "slices": "--slice",
    "headers": "--header",
    "provider_batch": "--batch",
    "strict": "--strict",
}
_AS_JSON = {"slices": '["domain"]', "map": '{"answer_text": "response"}', "headers": '{"X-Team": "$TEAM"}'}


class Settings(BaseSettings):
    """Everything that can be set once for a project."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid")

    metric: str = "faithfulness"
    judge: str = DEFAULT_JUDGE
    decomposer: str | None = None  # the judge's own model where it is one, else `embedded`
    strategy: Strategy | None = None
    strict: bool = False
    empty: Empty = "exclude"
    store: str = DEFAULT_STORE  # a path, or a PostgreSQL URL
    concurrency: int | None = Field(
        default=None, ge=1, le=10_000
    )  # samples in flight; None: 8, language models 32, batches 5,000
    fail_under: float | None = Field(default=None, ge=0, le=1)
    max_failed: float = Field(default=0.05, ge=0, le=1)  # share of failed samples that a run may have
    slices: list[str] = Field(default_factory=list)
    map: dict[str, str] = Field(default_factory=dict)  # theirs = ours

    # How large what is scored may be; see `core.limits`.
    max_row_mb: float | None = Field(default=None, gt=0)
    max_answer_chars: int | None = Field(default=None, ge=1)
    max_passage_chars: int | None = Field(default=None, ge=1)
    max_passages: int | None = Field(default=None, ge=1)
    max_claims: int | None = Field(default=None, ge=1)

    # Of language models; see `Talking`.
    base_url: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    claims_per_call: int | None = Field(default=None, ge=1, le=1000)
    repeats: int | None = Field(default=None, ge=1, le=1000)
    rubric: str | None = None
    evidence: Literal["flag", "required"] | None = None
    inference: Literal["allowed", "explicit"] | None = None
    numbers: Literal["rounded", "exact"] | None = None
    hedges: Literal["flag", "strict"] | None = None
    reasons: Literal["failing", "all"] | None = None
    probabilities: Literal["scale", "tokens", "none"] | None = None
    judge_prompt: str | None = None
    split_prompt: str | None = None
    one_call: bool = False
    max_cost: float | None = Field(default=None, ge=0)  # US dollars
    max_calls: int | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=0)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    cache: str | None = None  # a file; None: `replies.db` beside the store; "off": none
    prices: str | None = None
    provider_batch: bool = False  # runs go through the provider's batch API; not the option `batch` of a judge's spec

    @property
    def talking(self) -> Talking:
        """What is set about language models and sizes."""
        chosen = {name: value for name in Talking.__annotations__ if (value := getattr(self, name)) not in (None, {})}
        return cast("Talking", chosen)


def find_settings_file(start: Path | None = None) -> Path | None:
    """Return the nearest `everyclaim.toml` in `start` (the working directory) or a folder above it."""
    folder = (start or Path.cwd()).resolve()
    for place in (folder, *folder.parents):
        if (place / FILE_NAME).is_file():
            return place / FILE_NAME
    return None


def load_settings(file: Path | None = None, **given: Any) -> Settings:
    """Read the settings; `given` goes over file and variables, its None values count as not given.

    Raises `ConfigError` naming the setting and the value that is wrong.
    """
    source = file or find_settings_file()
    if file and not file.is_file():
        raise ConfigError(f"no settings file at {file}")
    rows = _read(source) if source else {}
    said = {key: value for key, value in given.items() if value is not None}

    class FromFile(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  (the signature is given)
            file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            """Read arguments, then variables, then the file; `.env` files are never read."""
            return init_settings, env_settings, InitSettingsSource(settings_cls, rows)

    try:
        return FromFile(**said)
    except SettingsError:
        raise ConfigError(_no_json()) from None
    except ValidationError as error:
        raise ConfigError(_first_fault(error, said, source)) from None


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8-sig"))  # Windows' editors write the mark
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text (byte {error.start}): save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not valid TOML: {error}") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror or error}") from None


def _no_json() -> str:
    """Say which variable should hold JSON and does not, never with its value: headers may be secret."""
    for name, example in _AS_JSON.items():
        variable = next((one for one in os.environ if one.upper() == PREFIX + name.upper()), None)
        if variable is not None:
            try:
                json.loads(os.environ[variable])
            except ValueError:
                return f"{variable} is not JSON: write it as in {variable}='{example}'"
    return "a setting in the environment cannot be read"


def _first_fault(error: ValidationError, said: Mapping[str, Any], source: Path | None) -> str:
    """Say what is wrong with a setting, and where it was said."""
    fault = error.errors()[0]
    path = [str(part) for part in fault["loc"]]
    name, whole = path[0], ".".join(path)
    variable = next((one for one in os.environ if one.upper() == PREFIX + name.upper()), None)
    place = OPTIONS.get(name, f"--{name.replace('_', '-')}") if name in said else variable or str(source)
    if fault["type"] == "extra_forbidden":
        return f"unknown setting {whole!r} in {place}{did_you_mean(name, Settings.model_fields)}"
    got = "" if name in _MAY_HOLD_SECRETS else f", got {fault['input']!r}"
    where = place if name in said or variable else f"setting {whole!r} in {place}"
    hint = " (a share: 60 % is 0.6)" if name in {"fail_under", "max_failed"} else ""
    return f"{where}: {fault['msg'].lower()}{got}{hint}"

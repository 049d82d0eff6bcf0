"""What a call costs. An unknown price is None, never zero.

Ours are in `prices.toml`, dated, and hold only at the providers' own endpoints. A user's file of the same
form (TOML or JSON) goes over them and holds everywhere: ``[openai.models]`` and one line per model.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from everyclaim.core.errors import ConfigError
from everyclaim.core.types import Usage

_DATED = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$")
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens, and when that was so."""

    input: float
    output: float
    cached: float
    cache_write: float
    as_of: str = ""

    def cost(self, usage: Usage) -> float:
        """Return what tokens cost, in US dollars."""
        fresh = usage.prompt_tokens - usage.cache_read_tokens - usage.cache_write_tokens
        dollars = (
            max(0, fresh) * self.input
            + usage.cache_read_tokens * self.cached
            + usage.cache_write_tokens * self.cache_write
            + usage.completion_tokens * self.output
        )
        return dollars / _MILLION

    def at_most(self, prompt: float, reply: float) -> float:
        """Return what so many tokens cost at most, in US dollars: all of the prompt at its dearest."""
        return (prompt * max(self.input, self.cached, self.cache_write) + reply * self.output) / _MILLION

    def times(self, share: float) -> Price:
        """Return the price at a discount: a share of 0.5 is half."""
        return Price(self.input * share, self.output * share, self.cached * share, self.cache_write * share, self.as_of)


def find_price(provider: str, model: str, *, is_home: bool, file: Path | None = None) -> Price | None:
    """Return the price of a model, None when nobody says it.

    A dated name (``gpt-5-mini-2025-08-07``) has the price of the name before the date unless it has its own.
    Raises `ConfigError` when the user's file cannot be read as prices.
    """
    if file and (price := _look_up(_read(file), provider, model, str(file))):
        return price
    if not is_home:
        return None
    ours = files("everyclaim.models").joinpath("prices.toml").read_text("utf-8")
    return _look_up(tomllib.loads(ours), provider, model, "prices.toml")


def _read(file: Path) -> Mapping[str, Any]:
    try:
        text = file.read_text("utf-8")
        rows = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise ConfigError(f"the price file {file} cannot be read: {error}") from None
    if not isinstance(rows, dict):
        raise ConfigError(f"the price file {file} must contain one table per provider")
    return rows


def _look_up(rows: Mapping[str, Any], provider: str, model: str, source: str) -> Price | None:
    table = rows.get(provider, {})
    models = table.get("models", {}) if isinstance(table, dict) else None
    if not isinstance(models, dict):
        raise ConfigError(f"{source}: '{provider}' must be a table with a table 'models' in it")
    name = next((name for name in (model, _DATED.sub("", model)) if name in models), None)
    if name is None:
        return None
    row = models[name]
    if not isinstance(row, dict) or not {"input", "output"} <= set(row) <= {"input", "output", "cached", "cache_write"}:
        raise ConfigError(f"{source}: {name!r} needs 'input' and 'output', and may have 'cached' and 'cache_write'")
    if not all(isinstance(v, int | float) and math.isfinite(v) and v >= 0 for v in row.values()):
        raise ConfigError(f"{source}: the prices of {name!r} must be numbers of at least 0, got {row}")
    full = {"cached": row["input"], "cache_write": row["input"], **row}
    return Price(**{key: float(value) for key, value in full.items()}, as_of=str(table.get("as_of", "")))

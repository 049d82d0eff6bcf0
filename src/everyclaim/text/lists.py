"""The word lists of `words.toml`, by room."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

WORDS: dict[str, Any] = tomllib.loads(files("everyclaim.text").joinpath("words.toml").read_text("utf-8"))

"""The words of the prompts: one TOML file each, for people to read and change."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def template(name: str) -> Mapping[str, Any]:
    """Read the template `name`; the white space around its texts is dropped."""
    tables = tomllib.loads(files("everyclaim.prompts").joinpath(f"{name}.toml").read_text("utf-8"))
    return {key: value.strip() if isinstance(value, str) else value for key, value in tables.items()}


def filled(words: str, **values: str) -> str:
    """Put values in the places that ``{name}`` holds."""
    for name, value in values.items():
        words = words.replace(f"{{{name}}}", value)
    return words

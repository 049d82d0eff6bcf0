"""The word lists and English abbreviations of `words.toml` and `abbreviations.toml`."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

WORDS: dict[str, Any] = tomllib.loads(files("everyclaim.text").joinpath("words.toml").read_text("utf-8"))


LISTS: dict[str, Any] = tomllib.loads(files("everyclaim.text").joinpath("abbreviations.toml").read_text("utf-8"))
"""The lists of `abbreviations.toml`, of all languages."""

_ENGLISH = {name: "|".join(words.split()) for name, words in LISTS["english"].items()}
PEOPLE = _ENGLISH["people"]
PLACES_AND_KIN = _ENGLISH["places_and_kin"]
COMPANIES = _ENGLISH["companies"]
MONTHS = _ENGLISH["months"]
NAMED = f"{PEOPLE}|{PLACES_AND_KIN}|{COMPANIES}|vs|No"  # before or behind a name or a number
OPENING_ADVERBS = _ENGLISH["opening_adverbs"]  # with a comma behind them; not any in "-ly", for Emily is a person
LETTERED = (  # a letter that numbers something: "Annex B. Meals are paid"
    r"\b(?i:annex|appendix|schedule|exhibit|section|part|type|vitamin|plan|group|class|grade|hepatitis|option|phase|"
    r"category|level|column|item)\s[A-Z]"
)

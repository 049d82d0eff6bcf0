"""Data files of this room: the word lists of `words.toml`, the abbreviations of `abbreviations.toml`, tables."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any


def data_file(name: str) -> str:
    """Read a file of data of this room."""
    return files("everyclaim.text").joinpath(name).read_text("utf-8")


def rows(name: str) -> list[str]:
    """Return the lines of a table that are no comments; one that begins with "+" goes on with the line before."""
    return [row for row in data_file(name).replace("\n+", "").splitlines() if row and not row.startswith("#")]


WORDS: dict[str, Any] = tomllib.loads(data_file("words.toml"))
LISTS: dict[str, Any] = tomllib.loads(data_file("abbreviations.toml"))  # of all languages

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

"""A user's own rules and worked examples for a domain, from one TOML file:

    [decompose]
    rules = "Keep a drug together with its dose and route."
    [[decompose.examples]]
    sentence = "Take 5 mg twice a day, but not with alcohol."
    claims = ["Take 5 mg twice a day.", "Do not take it with alcohol."]

    [verify]
    rules = "A dose without its route does not support a claim that names one."
    [[verify.examples]]
    passage = "Adults: 5 mg by mouth."
    claim = "Adults take 10 mg by mouth."
    why = "The dose is 5 mg."
    label = "CONTRADICTED"

Its version is the hash of its content, so a changed file is a changed judge.

Or a user's own wording of what the labels mean, or of what a claim is, from a text file. It takes the place of our
rules and of nothing else: that the texts under test are data, what a reply holds and how it is checked stays. The text
goes out as it is; nothing in it is filled in.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import kind_of
from everyclaim.core.plaintext import digest
from everyclaim.prompts.forms import document

MAX_CHARS = 50_000  # of an own wording
_EXAMPLES: Mapping[str, Mapping[str, Any]] = {  # what an example of a section holds
    "decompose": {"sentence": str, "claims": Sequence[str]},
    "verify": {"passage": str, "claim": str, "why": str, "label": Literal["SUPPORTED", "UNSUPPORTED", "CONTRADICTED"]},
}


@dataclass(frozen=True, slots=True)
class Domain:
    """What is added to the instructions of the two prompts; `version` is empty for none."""

    version: str = ""
    decompose: str = ""
    verify: str = ""
    splits: bool = False  # whether there are worked examples of splitting


def read_domain(text: str, *, name: str) -> Domain:
    """Read a domain file's text. Raises `ConfigError` that names the file, the place and what is wrong."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"domain file {name} is not valid TOML: {error}") from None
    tables = _table(tables, dict.fromkeys(_EXAMPLES, Any), f"domain file {name}")
    split_rules, splits = _section(tables, "decompose", name)
    judge_rules, verdicts = _section(tables, "verify", name)
    return Domain(digest(text, 8), _added(split_rules, splits), _added(judge_rules, verdicts), splits=bool(splits))


def toml_string(text: str) -> str:
    """Write a text as a domain file has it.

    A basic string of TOML is one of JSON, but for the delete character; half of a pair fits into no file.
    """
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(whole, ensure_ascii=False).replace("\x7f", "\\u007f")


def _section(tables: Mapping[str, Any], key: str, name: str) -> tuple[str, list[str]]:
    """Return the rules and the examples of a section, these as data."""
    known = {"rules": str, "examples": Sequence[Mapping[str, Any]]}
    section = _table(tables.get(key, {}), known, f"domain file {name}: [{key}]")
    return section.get("rules", "").strip(), [_example(row, key, name) for row in section.get("examples", ())]


def _example(row: Mapping[str, Any], key: str, name: str) -> str:
    missing = dict.fromkeys(_EXAMPLES[key])
    return document(_table(missing | dict(row), _EXAMPLES[key], f"domain file {name}: an example of [{key}]"))


def _added(rules: str, examples: list[str]) -> str:
    return "\n".join([*([rules] if rules else []), *(["Examples:", *examples] if examples else [])])


def _table(given: Any, known: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return a table that holds nothing but these keys, each with a value of its type."""
    table = kind_of(Mapping[str, Any]).check(given, where)
    if unknown := sorted(table.keys() - set(known)):
        raise ConfigError(f"{where}: unknown key {unknown[0]!r}; known: {', '.join(sorted(known))}")
    return {key: kind_of(known[key]).check(value, f"{where}: {key!r}") for key, value in table.items()}


@dataclass(frozen=True, slots=True)
class OwnRules:
    """A wording and its version; both are empty for none."""

    text: str = ""
    version: str = ""


def read_own_rules(text: str, *, name: str) -> OwnRules:
    """Take a file's text. Raises `ConfigError` that names the file when it says nothing or is no prompt by its size."""
    said = text.strip()
    if not said:
        raise ConfigError(f"the prompt file {name} is empty")
    if len(said) > MAX_CHARS:
        raise ConfigError(f"the prompt file {name} has {len(said):,} characters; a prompt may have {MAX_CHARS:,}")
    return OwnRules(said, digest(said, 8))

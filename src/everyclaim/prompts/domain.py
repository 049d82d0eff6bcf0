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
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from everyclaim.core.errors import ConfigError
from everyclaim.core.plaintext import digest
from everyclaim.core.types import Label
from everyclaim.prompts.forms import document

MAX_CHARS = 50_000  # of an own wording
_EXAMPLES: Mapping[str, Mapping[str, type]] = {  # what an example of a section holds
    "decompose": {"sentence": str, "claims": list},
    "verify": dict.fromkeys(("passage", "claim", "why", "label"), str),
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
    _only(tables, _EXAMPLES, f"domain file {name}")
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
    section = tables.get(key, {})
    if not isinstance(section, Mapping):
        raise ConfigError(f"domain file {name}: '{key}' must be a table with 'rules' and 'examples'")
    _only(section, {"rules", "examples"}, f"domain file {name}, [{key}]")
    if not isinstance(section.get("rules", ""), str):
        raise ConfigError(f"domain file {name}, [{key}]: 'rules' must be a text, got {section['rules']!r}")
    examples = section.get("examples", [])
    if not isinstance(examples, list) or not all(isinstance(row, Mapping) for row in examples):
        raise ConfigError(f"domain file {name}: 'examples' must be a list of tables")
    return section.get("rules", "").strip(), [_example(row, key, name) for row in examples]


def _example(row: Mapping[str, Any], key: str, name: str) -> str:
    fields = _EXAMPLES[key]
    _only(row, fields, f"domain file {name}, an example of [{key}]")
    if not all(isinstance(row.get(field), kind) for field, kind in fields.items()):
        wanted = ", ".join(f"{'a list' if kind is list else 'a text'} {field!r}" for field, kind in fields.items())
        raise ConfigError(f"domain file {name}: an example of [{key}] needs {wanted}")
    if row.get("label", Label.SUPPORTED) not in set(Label):
        raise ConfigError(f"domain file {name}: label {row['label']!r} is not one of {', '.join(Label)}")
    return document(
        {field: row[field] if kind is str else list(map(str, row[field])) for field, kind in fields.items()}
    )


def _added(rules: str, examples: list[str]) -> str:
    return "\n".join([*([rules] if rules else []), *(["Examples:", *examples] if examples else [])])


def _only(table: Mapping[str, Any], known: Collection[str], where: str) -> None:
    if unknown := sorted(table.keys() - set(known)):
        raise ConfigError(f"{where}: unknown key {unknown[0]!r}; known: {', '.join(sorted(known))}")


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

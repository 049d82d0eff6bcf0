"""What all prompts share: their words in TOML files, text under test as JSON, and replies, asked for and read.

JSON's own escapes keep quotes, backslashes, line breaks and control characters of a text under test from ending its
string. What some servers would read as a marker of their own even there (``<|im_end|>``, ``</s>``, ``[INST]``), what
nobody can see (direction marks, tag characters) and what no encoding carries (lone surrogates) is written
as an escape as well: the document parses back to exactly the text that was given.

Of replies, ids and what is essential are read strictly, the dress around them as small models write it. What a row
answers to must be beyond doubt: unknown ids and ids that come twice are faults. Where the rows stand (in the list
asked for, as a list of their own, in one more object, by their ids) changes nothing about them.
"""

from __future__ import annotations

import json
import re
import tomllib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, ClassVar, Generic, TypeVar

from everyclaim.core.errors import JudgeError
from everyclaim.core.protocols import Message


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


_ESCAPED = re.compile(  # begins with one set of characters: so `re` passes over all others at once
    r"[<\[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U000e0000-\U000e01ff]"
    r"(?:(?<![<\[])"
    r"|(?<=<)(?=[^\s\d=])"  # could open a marker; "p < 0.05" and "a <= b" stay readable
    r"|(?<=\[)(?=/?[A-Z_]{3,}\]))"
)


def document(value: Any) -> str:
    """Write a value as one line of JSON that a judge reads as data."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _ESCAPED.sub(lambda one: json.dumps(one[0])[1:-1] if one[0] > "\x7f" else f"\\u{ord(one[0]):04x}", text)


def request(system: str, *documents: Any, shared: bool = False) -> list[Message]:
    """Write a request: instructions, then data. `shared`: others follow that differ in the last document alone."""
    *before, last = [Message("system", system), *(Message("user", document(one)) for one in documents)]
    before[-1] = replace(before[-1], cache=shared)
    return [*before, last]


_DIGITS = 9  # of a number that is read; a longer one is as far out of range
_WORD_CHARS = 100  # of a field that holds one word; a longer one holds none
_WRAPPERS = 5  # objects and lists around the rows that are opened at most
_ID = re.compile(r"\s*[a-zA-Z]\d{1,9}\s*")
T = TypeVar("T")


def bad_reply(why: str) -> JudgeError:
    """Make the error for a reply that is JSON but not what was asked for."""
    return JudgeError("bad_reply", f"the reply does not have the form asked for: {why}")


def rows(reply: Mapping[str, Any], name: str, field: str = "label") -> list[Any]:
    """Return the rows of a reply: the list under `name`, wherever it stands, or what was written in its place.

    That is one row alone, rows by their ids, what one `field` of them holds by their ids, or the only list or object
    in a reply. Raises `JudgeError`.
    """
    value: Any = reply
    for _ in range(_WRAPPERS):
        if isinstance(value, list):
            return value
        if not isinstance(value, Mapping):
            break
        if name in value:
            value = value[name]
        elif "id" in value:
            return [value]
        elif value and all(map(_ID.fullmatch, value)):
            found = {key: row if isinstance(row, Mapping) else {field: row} for key, row in value.items()}
            # A row that says another id than it stands under answers to neither.
            return [{**row, "id": key if row.get("id", key) == key else None} for key, row in found.items()]
        else:
            inside = [one for one in value.values() if isinstance(one, Mapping | list)]
            value = inside[0] if len(inside) == 1 else None
    raise bad_reply(f"{name!r} is not a list but {shown(reply[name])}" if name in reply else f"{name!r} is missing")


def by_id(found: Sequence[Any], asked: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Sort a reply's rows by the ids they answer to. A row that is no object or an id that comes twice is left out.

    A number is no id: models count from 0 and from 1, over what was asked and over what is left, so that a verdict
    could come to stand under another claim. Raises `JudgeError` for ids that were never given: such a reply does not
    speak of what was asked.
    """
    known = {one.casefold(): one for one in asked}
    ids = [(given_id(row.get("id")), row) for row in found if isinstance(row, Mapping)]
    named = [(known.get(given, given), row) for given, row in ids if given is not None]
    seen = Counter(row_id for row_id, _ in named)
    if unknown := sorted(seen.keys() - set(asked)):
        raise bad_reply(f"it answers for {shown(unknown[0])}, which was not asked")
    return {row_id: row for row_id, row in named if seen[row_id] == 1}


def given_id(given: Any) -> str | None:
    """Read an id, in brackets and capitals as well; None when it is none."""
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    return given.strip(" []\n").casefold() if isinstance(given, str) else None


def text(row: Mapping[str, Any], name: str) -> str | None:
    """Return a text field, stripped; None when it is missing or not a text."""
    value = row.get(name)
    return value.strip() if isinstance(value, str) else None


def whole_number(row: Mapping[str, Any], name: str) -> int | None:
    """Return a field that holds a whole number, also as digits or with a fraction of zero; None for anything else."""
    value = row.get(name)
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        value = int(value[:_DIGITS])
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def word(row: Mapping[str, Any], name: str, words: Collection[str]) -> str | None:
    """Return a field that holds one of these words, in whatever case and spacing; None when it holds anything else."""
    given = text(row, name)
    if not given or len(given) > _WORD_CHARS:
        return None
    return given if given in words else _by_spelling(tuple(words)).get(_closed_up(given))


@lru_cache(maxsize=64)
def _by_spelling(words: tuple[str, ...]) -> Mapping[str, str]:
    return {_closed_up(one): one for one in words}


def _closed_up(given: str) -> str:
    return re.sub(r"[\s_-]+", "", given).casefold()


def shown(value: Any) -> str:
    """Show a value of a reply in a message, shortened."""
    told = repr(value)
    return told if len(told) <= 60 else f"{told[:57]}..."


def closed(title: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object in the form that strict modes take: closed, everything required, in order."""
    schema: dict[str, Any] = {"title": title} if title else {}
    return schema | {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def listed(items: Mapping[str, Any], meaning: str = "") -> dict[str, Any]:
    """Return the schema of a list."""
    return _with_meaning({"type": "array", "items": dict(items)}, meaning)


def one_of(values: tuple[str, ...], meaning: str = "") -> dict[str, Any]:
    """Return the schema of a text that is one of these."""
    return _with_meaning({"type": "string", "enum": list(values)}, meaning)


def described(meaning: str) -> dict[str, Any]:
    """Return the schema of a text that means this."""
    return _with_meaning({"type": "string"}, meaning)


def _with_meaning(schema: dict[str, Any], meaning: str) -> dict[str, Any]:
    return {**schema, "description": meaning} if meaning else schema


TEXT: Mapping[str, Any] = {"type": "string"}


class RowPrompt(ABC, Generic[T]):
    """A prompt whose reply is one list, with a row for each id: `rows_name` names the list, `row` its fields."""

    __slots__ = ()
    title: ClassVar[str]
    rows_name: ClassVar[str]
    row: ClassVar[Mapping[str, Any]]

    @property
    def schema(self) -> Mapping[str, Any]:
        """The form of a reply."""
        return closed(self.title, {self.rows_name: listed(closed("", {"id": TEXT, **self.row}))})

    def parse(self, reply: Mapping[str, Any], asked: Sequence[str]) -> dict[str, T]:
        """Return what a reply says, by id; rows that cannot be used are left out.

        Raises `JudgeError` (`bad_reply`) when it has another form or answers for ids that were not given.
        """
        found = {key: self.read(row) for key, row in by_id(self.rows_of(reply), asked).items()}
        return {key: value for key, value in found.items() if value is not None}

    def rows_of(self, reply: Mapping[str, Any]) -> list[Any]:
        """Return the rows of a reply. Raises `JudgeError` when it has another form."""
        return rows(reply, self.rows_name)

    @abstractmethod
    def read(self, row: Mapping[str, Any]) -> T | None:
        """Read one row; None when it says nothing usable."""

"""Rows as a source has them, rows that were kept out, and which field of a row is which.

A bad row never stops the others and is never guessed at: it is a `BadRow` with its place and its reason. A `ReadReport`
collects them, with counts, in bounded memory. `Fields` answers `get(row, "response")` for rows of any shape: by the
recognised names, and by the caller's own mapping, which is theirs → ours and beats these; their name may be dotted
(``meta.model``, ``messages.0.content``). Passages may stand in numbered columns, one each: ``passage_1``,
``passage_1_title``, ``passage_2``, …; several names may be mapped to the contexts.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.limits import MB
from everyclaim.core.plaintext import did_you_mean

KEPT_BAD_ROWS = 100


class RawRow(NamedTuple):
    """A row as the file has it. `number` is its line or row number, from 1."""

    number: int
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BadRow:
    """One row that was kept out.

    `line` is the physical line where the row starts (JSONL, CSV) or the row's number (everything
    else, see `unit`), counted from 1. `rest_lost`: nothing after it could be read either.
    """

    line: int
    reason: str
    unit: Literal["line", "row"] = "line"
    rest_lost: bool = False

    def __str__(self) -> str:
        return f"{self.unit} {self.line}: {self.reason}"


def row_too_large(limit: int) -> str:
    """Say that a row is larger than it may be."""
    return f"the row is larger than max_row_mb={limit / MB:g}"


@dataclass(slots=True)
class ReadReport:
    """What became of the rows of one source.

    `good` and `bad` count all rows; `bad_rows` keeps the first `KEPT_BAD_ROWS` of the bad ones.
    `incomplete` says why the source could not be read to its end, and is empty when it could.
    """

    good: int = 0
    bad: int = 0
    bad_rows: list[BadRow] = field(default_factory=list)
    incomplete: str = ""
    _warnings: dict[str, tuple[int, str]] = field(default_factory=dict)  # how often, and the first example

    @property
    def warnings(self) -> tuple[str, ...]:
        """One line per kind of warning, with how many rows it concerns and the first example."""
        lines = []
        for text, (count, example) in self._warnings.items():
            rows = f"{count} times; " if count > 1 else ""
            lines.append(f"{text} ({rows}first: {example})" if example else text)
        return tuple(lines)

    @property
    def first_fault(self) -> str:
        """The first bad row, to stand at the end of a message; empty where there is none."""
        return f"; {self.bad_rows[0]}" if self.bad_rows else ""

    def add_bad(self, row: BadRow) -> None:
        """Count a bad row."""
        self.bad += 1
        if len(self.bad_rows) < KEPT_BAD_ROWS:
            self.bad_rows.append(row)
        if row.rest_lost:
            self.incomplete = str(row)

    def warn(self, text: str, example: str = "") -> None:
        """Count a warning; `text` names the kind and is the same for all rows of that kind."""
        count, first = self._warnings.get(text, (0, example))
        self._warnings[text] = (count + 1, first)


PASSAGES = (
    "contexts", "retrieved_contexts", "passages", "documents", "retrieval_context", "source_documents", "context",
)  # fmt: skip

SAMPLE_FIELDS: Mapping[str, tuple[str, ...]] = {
    "response": ("response", "answer", "output", "actual_output", "result"),
    "contexts": PASSAGES,
    "question": ("question", "user_input", "query", "input"),
    "reference": ("reference", "ground_truth", "expected_output"),
    "id": ("id",),
    "tags": ("tags",),
    "model": ("model",),
    "release": ("release",),
    "timestamp": ("timestamp",),
    "messages": ("messages", "conversation"),
    "history": ("history",),
    "citations": ("citations",),
}
CLAIM_FIELDS: Mapping[str, tuple[str, ...]] = {
    "claim": ("claim", "text", "statement", "hypothesis"),
    "contexts": (*PASSAGES, "premise"),
    "question": SAMPLE_FIELDS["question"],
    "sentence": ("sentence",),
    "id": ("id",),
    "label": ("label",),
    "sample_id": ("sample_id",),
}
DOCUMENT_FIELDS: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "contents", "content", "page_content", "body", "document"),
    "title": ("title", "name"),
    "id": ("id", "_id", "docid"),
}
LABEL_FIELDS: Mapping[str, tuple[str, ...]] = {
    "label": ("label", "human_label"),
    "sample_id": ("sample_id",),
    "claim": ("claim", "statement"),
    "span": ("span",),
    "annotator": ("annotator", "annotator_id"),
    "note": ("note", "comment"),
    "failure_mode": ("failure_mode",),
    "chosen": ("chosen",),
}
MARK_FIELDS: Mapping[str, tuple[str, ...]] = {
    "mark": ("mark", "split_mark"),
    "sentence": ("sentence",),
    "better": ("better",),
    **{name: LABEL_FIELDS[name] for name in ("sample_id", "claim", "span", "annotator", "note", "chosen")},
}

_KEPT_PLANS = 256  # row shapes remembered; rows of one source have few,
_KEPT_COLUMNS = 256  # and of so many columns at most
_SHOWN_COLUMNS = 30
_SHOWN_CHARACTERS = 60
_ABSENT = object()
_PART = "text|title|id"
_NUMBERED = re.compile(rf"([a-z_]*?[a-z])(?:_({_PART}))?(?:_?(\d{{1,4}}))?(?:_({_PART}))?")
_ALONE = 0  # the number of a passage that has none, as in ``context`` and ``context_title``


class Fields:
    """Finds our fields in their rows.

    `known` are the recognised names per field, its first key the one field a row cannot do without.
    Raises `ConfigError` for a mapping that names no field of ours, or the same one twice.
    """

    def __init__(
        self,
        known: Mapping[str, tuple[str, ...]],
        mapping: Mapping[str, str] | None = None,
        slices: Sequence[str] | Mapping[str, bool] = (),
        *,
        others: bool = False,
    ) -> None:
        self.required = next(iter(known))
        self.slices = tuple(slices)
        self.needed_slices = {name for name in slices if not isinstance(slices, Mapping) or slices[name]}
        self.mapped = _ours_to_theirs(known, mapping or {})
        self.named = {theirs for names in self.mapped.values() for theirs in names}  # by the mapping
        self.conversations: Mapping[str, Any] | None = None  # how rows of messages are read; None: they are not
        self._known = known
        self._keeps_others = others
        self._plans: dict[tuple[str, ...], _Plan] = {}
        self._names = {name for names in known.values() for name in names}
        self._roots = {part for name in (*self.named, *self.slices) for part in (name, name.split(".")[0])}

    def get(self, row: Mapping[str, Any], ours: str) -> Any:
        """Return the row's value for a field of ours, None when it has none."""
        if ours in self.mapped:
            values = [look_up(row, theirs) for theirs in self.mapped[ours]]
            return values[0] if len(values) == 1 else [value or None for value in values]
        plan = self._plan(row)
        value = next((row[theirs] for theirs in plan.columns.get(ours, ()) if row[theirs] is not None), None)
        if ours != "contexts" or not (plan.beside or plan.passages):
            return value
        if value is None:
            return [
                {part: row[column] for part, column in parts.items()} if row[parts["text"]] else None
                for parts in plan.passages
            ] or None
        if not isinstance(value, str) or not value or value.lstrip()[:1] in {"[", "{"}:
            return value
        return [{part: row[column] for part, column in plan.beside.items()} | {"text": value}]

    def has(self, row: Mapping[str, Any], ours: str) -> bool:
        """Whether the row has a column for a field of ours, whatever it holds."""
        if ours in self.mapped:
            return has_path(row, self.mapped[ours][0])
        plan = self._plan(row)
        return ours in plan.columns or (ours == "contexts" and bool(plan.passages))

    def has_required(self, row: Mapping[str, Any]) -> bool:
        """Whether the row has a column for the required field, or for messages that hold it, whatever that holds."""
        return self.has(row, self.required) or ("messages" in self._known and self.has(row, "messages"))

    def columns(self, row: Mapping[str, Any], fields: Iterable[str]) -> set[str]:
        """Return the row's columns that are recognised as these fields; what the mapping names is not among them."""
        plan = self._plan(row)
        numbered = {column for parts in plan.passages for column in parts.values()}
        return numbered.union(*(plan.columns.get(ours, ()) for ours in fields)) - self.named

    def rivals(self, row: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Return pairs of columns that both claim one field of ours: the one used, the one ignored."""
        return self._plan(row).rivals

    def others(self, row: Mapping[str, Any]) -> list[str]:
        """Return the columns that are to be tags, as no field, mapping or slice uses them."""
        return self._plan(row).others if self._keeps_others else []

    def wanted(self, columns: Iterable[str], scalars: Iterable[str] = ()) -> list[str]:
        """Keep the columns that any field, mapping or slice can use, in their order; of `scalars` what can be a tag."""
        used = self._roots | ({*scalars} if self._keeps_others else set())
        return [
            column
            for column in columns
            if column in used or _plain_name(column) in self._names or self._place_of_passage(column)
        ]

    def missing_required(self, columns: Iterable[str]) -> InputError:
        """Build the error for a source in which nothing is the required field."""
        names = list(columns)
        if self.required in self.mapped:
            return self.missing_mapped(self.mapped[self.required][0], names)
        known = self._known[self.required]
        close = (difflib.get_close_matches(name, names, n=1, cutoff=0.8) for name in known)
        likely = next((shown(found[0]) for found in close if found), "THEIRS")
        return InputError(
            f"no field for the {self.required} ({'|'.join(known)}); the fields are: {listed(names)}. Map one: "
            f"--map {likely}={self.required}"
        )

    def missing_mapped(self, theirs: str, columns: Iterable[str]) -> InputError:
        """Build the error for a mapped or sliced column that no row has."""
        names = list(columns)
        meant = did_you_mean(theirs, names)
        return InputError(f"there is no field {theirs!r}; the fields are: {listed(names)}{meant}")

    def _plan(self, row: Mapping[str, Any]) -> _Plan:
        shape = tuple(row)
        plan = self._plans.get(shape)
        if plan is None:
            plan = self._make_plan(shape)
            if len(self._plans) < _KEPT_PLANS and len(shape) <= _KEPT_COLUMNS:
                self._plans[shape] = plan
        return plan

    def _make_plan(self, columns: tuple[str, ...]) -> _Plan:
        present: dict[str, list[str]] = {}
        passages: dict[int, dict[str, str]] = {}
        for column in columns:
            name = _plain_name(column)
            same = present.setdefault(name, [])
            same.insert(0 if column == name else len(same), column)  # an exact name beats one in another case
            if place := self._place_of_passage(column):
                passages.setdefault(place[0], {}).setdefault(place[1], column)
        found = {
            ours: [column for name in names for column in present.get(name, ())] for ours, names in self._known.items()
        }
        numbered = [parts for _, parts in sorted(passages.items()) if "text" in parts]
        used = self._roots.union(*found.values(), *(parts.values() for parts in passages.values()))
        rivals = [
            (theirs[0], other)
            for ours, theirs in found.items()
            if ours not in self.mapped
            for other in theirs[1:]
            if other not in self.named
        ]
        first = [*self.mapped.get("contexts", ()), *found.get("contexts", ())][:1]
        texts = [parts["text"] for parts in numbered if parts["text"] not in {*first, *self.mapped.get("contexts", ())}]
        return _Plan(
            columns={ours: theirs for ours, theirs in found.items() if theirs},
            passages=numbered,
            beside=passages.get(_ALONE, {}),
            others=[column for column in columns if column not in used],
            rivals=rivals + ([(first[0], texts[0])] if first and texts else []),
        )

    def _place_of_passage(self, column: str) -> tuple[int, str] | None:
        """Return which passage a numbered column is of, and what of it: ``text``, ``title`` or ``id``."""
        match = _NUMBERED.fullmatch(_plain_name(column)) if "contexts" in self._known else None
        if match is None or not {match[1], f"{match[1]}s"} & {*self._known["contexts"]}:
            return None
        part = match[2] or match[4]
        return (int(match[3] or _ALONE), part or "text") if match[3] or part else None


class _Plan(NamedTuple):
    """What the columns of a row are: those of each field, of numbered passages, beside a single one, and the others."""

    columns: dict[str, list[str]]
    passages: list[dict[str, str]]
    beside: dict[str, str]
    others: list[str]
    rivals: list[tuple[str, str]]


def look_up(row: Any, path: str) -> Any:
    """Return the value at a name or dotted path (``a.b``, ``a.0.b``), None when it is not there."""
    value = _find(row, path)
    return None if value is _ABSENT else value


def has_path(row: Any, path: str) -> bool:
    """Whether a name or dotted path exists in the row."""
    return _find(row, path) is not _ABSENT


def _find(row: Any, path: str) -> Any:
    if isinstance(row, Mapping) and path in row:
        return row[path]
    value = row
    for part in path.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, (list, tuple)) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return _ABSENT
    return value


def _ours_to_theirs(known: Mapping[str, tuple[str, ...]], mapping: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the mapped names of each field of ours that is mapped: several for the contexts alone."""
    found: dict[str, list[str]] = {}
    for theirs, given in mapping.items():
        ours = next((field for field, names in known.items() if given == field or given in names), None)
        if ours is None:
            meant = did_you_mean(given, [name for names in known.values() for name in names])
            raise ConfigError(f"cannot map {theirs!r} to {given!r}: no such field; known: {', '.join(known)}{meant}")
        if ours in found and ours != "contexts":
            raise ConfigError(f"both {found[ours][0]!r} and {theirs!r} are mapped to {ours!r}; keep one")
        found.setdefault(ours, []).append(theirs)
    return found


def _plain_name(column: str) -> str:
    return column.strip().casefold().replace(" ", "_").replace("-", "_")


def listed(columns: Iterable[Any], most: int = _SHOWN_COLUMNS) -> str:
    """Name some columns in one printable line, whatever they are called."""
    names = list(columns)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(shown(name) for name in names[:most]) or "none") + more


def shown(name: Any) -> str:
    """Write a name so that it cannot break a line or a terminal."""
    text = str(name)
    return text if text.isprintable() and 0 < len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]!r}"

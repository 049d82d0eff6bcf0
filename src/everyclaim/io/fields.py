"""Which field of a row is which: the recognised names, and the caller's own mapping.

`Fields` answers `get(row, "response")` for rows of any shape. A mapping is theirs → ours and beats
the recognised names; their name may be dotted (``meta.model``, ``messages.0.content``).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.nearest import did_you_mean

_PASSAGES = (
    "contexts", "retrieved_contexts", "passages", "documents", "retrieval_context", "source_documents", "context",
)  # fmt: skip

SAMPLE_FIELDS: Mapping[str, tuple[str, ...]] = {
    "response": ("response", "answer", "output", "actual_output", "result"),
    "contexts": _PASSAGES,
    "question": ("question", "user_input", "query", "input"),
    "reference": ("reference", "ground_truth", "expected_output"),
    "id": ("id",),
    "tags": ("tags",),
    "model": ("model",),
    "release": ("release",),
    "timestamp": ("timestamp",),
}
CLAIM_FIELDS: Mapping[str, tuple[str, ...]] = {
    "claim": ("claim", "text", "statement", "hypothesis"),
    "contexts": (*_PASSAGES, "premise"),
    "question": SAMPLE_FIELDS["question"],
    "sentence": ("sentence",),
    "id": ("id",),
    "tags": ("tags",),
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
    ) -> None:
        self.required = next(iter(known))
        self.slices = tuple(slices)
        self.needed_slices = {name for name in slices if not isinstance(slices, Mapping) or slices[name]}
        self.mapped = _ours_to_theirs(known, mapping or {})
        self._known = known
        self._plans: dict[tuple[str, ...], dict[str, list[str]]] = {}

    def get(self, row: Mapping[str, Any], ours: str) -> Any:
        """Return the row's value for a field of ours, None when it has none."""
        if ours in self.mapped:
            return look_up(row, self.mapped[ours])
        for theirs in self._plan(row).get(ours, ()):
            value = row[theirs]
            if value is not None:
                return value
        return None

    def has_required(self, row: Mapping[str, Any]) -> bool:
        """Whether the row has a column for the required field, whatever it holds."""
        return self.has(row, self.required)

    def has(self, row: Mapping[str, Any], ours: str) -> bool:
        """Whether the row has a column for a field of ours, whatever it holds."""
        if ours in self.mapped:
            return has_path(row, self.mapped[ours])
        return ours in self._plan(row)

    def rivals(self, row: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Return pairs of columns that both claim one field of ours: the one used, the one ignored."""
        plan = self._plan(row)
        return [
            (theirs[0], other)
            for ours, theirs in plan.items()
            if ours not in self.mapped
            for other in theirs[1:]
            if other not in self.mapped.values()
        ]

    def wanted(self, columns: Iterable[str]) -> list[str]:
        """Keep the columns that any field, mapping or slice can use, in their order."""
        roots = {part for name in (*self.mapped.values(), *self.slices) for part in (name, name.split(".")[0])}
        names = {name for names in self._known.values() for name in names}
        return [column for column in columns if column in roots or _plain_name(column) in names]

    def missing_required(self, columns: Iterable[str]) -> InputError:
        """Build the error for a source in which nothing is the required field."""
        names = list(columns)
        if self.required in self.mapped:
            return self.missing_mapped(self.mapped[self.required], names)
        expected = "|".join(self._known[self.required])
        likely = self._guess(names)
        return InputError(
            f"no field for the {self.required} ({expected}); the fields are: {listed(names)}. "
            f"Name it with a mapping: --map {shown(likely) if likely else 'THEIRS'}={self.required}"
        )

    def missing_mapped(self, theirs: str, columns: Iterable[str]) -> InputError:
        """Build the error for a mapped or sliced column that no row has."""
        names = list(columns)
        meant = did_you_mean(theirs, names)
        return InputError(f"there is no field {theirs!r}; the fields are: {listed(names)}{meant}")

    def _guess(self, columns: list[str]) -> str:
        """Suggest the one column whose name is close to a recognised name."""
        for name in self._known[self.required]:
            close = difflib.get_close_matches(name, columns, n=1, cutoff=0.8)
            if close:
                return close[0]
        return ""

    def _plan(self, row: Mapping[str, Any]) -> dict[str, list[str]]:
        shape = tuple(row)
        plan = self._plans.get(shape)
        if plan is None:
            plan = self._make_plan(shape)
            if len(self._plans) < _KEPT_PLANS and len(shape) <= _KEPT_COLUMNS:
                self._plans[shape] = plan
        return plan

    def _make_plan(self, columns: tuple[str, ...]) -> dict[str, list[str]]:
        present: dict[str, list[str]] = {}
        for column in columns:
            name = _plain_name(column)
            same = present.setdefault(name, [])
            same.insert(0 if column == name else len(same), column)  # an exact name beats one in another case
        found = {
            ours: [column for name in names for column in present.get(name, ())] for ours, names in self._known.items()
        }
        return {ours: theirs for ours, theirs in found.items() if theirs}


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


def _ours_to_theirs(known: Mapping[str, tuple[str, ...]], mapping: Mapping[str, str]) -> dict[str, str]:
    ours_to_theirs: dict[str, str] = {}
    for theirs, given in mapping.items():
        ours = next((field for field, names in known.items() if given == field or given in names), None)
        if ours is None:
            meant = did_you_mean(given, [name for names in known.values() for name in names])
            raise ConfigError(f"cannot map {theirs!r} to {given!r}: no such field; ours are: {', '.join(known)}{meant}")
        if ours in ours_to_theirs:
            raise ConfigError(f"both {ours_to_theirs[ours]!r} and {theirs!r} are mapped to {ours!r}; keep one")
        ours_to_theirs[ours] = theirs
    return ours_to_theirs


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

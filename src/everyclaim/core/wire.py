"""Samples and results as plain JSON values: the public schema, and its way back.

The shape is documented in `docs/reference/schema.md` and versioned by `SCHEMA`. Reading accepts
exactly what writing produces, so a stored result can be rescored without calling a model.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from everyclaim.core import types
from everyclaim.core.plaintext import digest

SCHEMA = 1
T = TypeVar("T")

# What of each type is written, in this order; what stands behind | only where it is not None, False or empty.
_FIELDS = {
    types.Claim: "id text span sentence | citations",
    types.JudgedClaim: "id text span sentence | citations | verdict",
    types.Citation: "span sources",
    types.Decomposition: "abstained claims skipped",
    types.Difference: "reason claim passage_id passage",
    types.Evidence: "passage_id start end quote",
    types.Passage: "id text | title kind",
    types.PassageVerdict: "passage_id label probabilities",
    types.Probabilities: "supported unsupported contradicted",
    types.Provenance: "metric decomposer verifier strategy version parameters",
    types.Result: (
        "id outcome score reason question claims skipped warnings tags usage provenance"
        " | model release timestamp components reference_claims details probability"
    ),
    types.Skipped: "text span reason | unchecked",
    types.Source: "number name page address",
    types.Usage: "calls prompt_tokens completion_tokens cache_hits cost | cache_read_tokens cache_write_tokens",
    types.Verdict: "label probabilities evidence rationale conflict failure_mode judge flags | difference per_passage",
}
SHAPES: dict[type, tuple[tuple[str, bool], ...]] = {}  # names, and whether each may be left out


def declare(shapes: Mapping[type, str]) -> None:
    """Declare what is written of some types: names in their order; behind | only where it is not empty."""
    SHAPES.update(
        (kind, tuple((name, number % 2 == 1) for number, part in enumerate(names.split("|")) for name in part.split()))
        for kind, names in shapes.items()
    )


declare(_FIELDS)
_AS_IT_IS = frozenset({str, int, float, bool, type(None)})


class RepeatedKeyError(ValueError):
    """A key appears twice in one object: which of its values is meant nobody knows."""


def json_object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object for a decoder of JSON. Raises `RepeatedKeyError`."""
    made = dict(members)
    if len(made) < len(members):
        twice = Counter(name for name, _ in members).most_common(1)[0][0]
        raise RepeatedKeyError(f"the key {twice[:60]!r} appears twice in one object")
    return made


def fingerprint(sample: types.Sample) -> str:
    """Return 32 hexadecimal digits that change with anything that can change the sample's result."""
    body = json.dumps(sample_to_json(sample), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return digest(body, 32)


def sample_to_json(sample: types.Sample) -> dict[str, Any]:
    """Write a sample with the field names of the input format."""
    row: dict[str, Any] = {
        "id": sample.id,
        "question": sample.question or None,
        "response": sample.response,
        "contexts": [to_json(passage) for passage in sample.passages],
        "reference": sample.reference,
        "tags": tags_to_json(sample.tags) or None,
        "model": sample.model,
        "release": sample.release,
        "timestamp": sample.timestamp,
        **conversation_to_json(sample),
    }
    return {key: value for key, value in row.items() if value is not None}


def conversation_to_json(sample: types.Sample) -> dict[str, Any]:
    """Write what a sample has of its conversation and its provider; nothing where it has neither."""
    history = [{"role": turn.role, "content": turn.text} for turn in sample.history]
    citations = [to_json(one) for one in sample.citations]
    return ({"history": history} if history else {}) | ({"citations": citations} if citations else {})


def sample_from_json(row: Mapping[str, Any]) -> types.Sample:
    """Read what `sample_to_json` wrote."""
    texts = ("id", "response", "question", "reference", "model", "release", "timestamp")
    return types.Sample(
        **{name: row[name] for name in texts if name in row},
        passages=tuple(from_json(types.Passage, passage) for passage in row["contexts"]),
        tags=_tags_from_json(row.get("tags", {})),
        history=tuple(types.Turn(turn["role"], turn["content"]) for turn in row.get("history") or ()),
        citations=tuple(from_json(types.Citation, one) for one in row.get("citations") or ()),
    )


def result_to_json(result: types.Result) -> dict[str, Any]:
    """Write a result as one JSON object, the public output of `score`."""
    row: dict[str, Any] = {"schema": SCHEMA}
    for name, value in _row(result).items():
        row[name] = value
        if name == "skipped":
            row["counts"] = {label.value.lower(): count for label, count in result.counts.items()}
    row["score"] = _finite(result.score)
    if result.components:
        row["components"] = {name: _finite(part) for name, part in result.components.items()}
    return row


def result_from_json(row: Mapping[str, Any]) -> types.Result:
    """Read what `result_to_json` wrote; `counts` are counted anew."""
    score, is_unscored = row["score"], row["outcome"] in {types.Outcome.NO_CLAIMS, types.Outcome.ABSTAINED}
    if score is None and is_unscored and row["provenance"]["parameters"].get("empty") == "nan":
        score = math.nan  # the number of this policy, which JSON does not have
    return _read(types.Result, row, {"tags": _tags_from_json(row["tags"]), "score": score})


def tags_to_json(tags: Mapping[str, types.Tag]) -> dict[str, str | list[str]]:
    """Write tags: text, or a list of texts where a tag has several values."""
    return {name: tag if isinstance(tag, str) else list(tag) for name, tag in tags.items()}


def to_json(value: Any) -> dict[str, Any]:
    """Write a value of a declared type; a verdict without its claim id, which belongs around it."""
    return result_to_json(value) if type(value) is types.Result else _row(value)


def _row(value: Any) -> dict[str, Any]:
    row = {}
    for name, may_be_left_out in SHAPES[type(value)]:
        part = getattr(value, name)
        if may_be_left_out and (part is None or part is False or part in ((), {}, "")):
            continue
        row[name] = part if type(part) in _AS_IT_IS else _plain(part)
    return row


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind is types.Span:
        return list(value)
    if kind is tuple:
        return [part if type(part) in _AS_IT_IS else _plain(part) for part in value]
    if kind in SHAPES:
        return to_json(value)
    if kind is frozenset:
        return sorted(map(_plain, value))
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {name: list(part) if isinstance(part, tuple) else part for name, part in value.items()}
    return value


def from_json(kind: type[T], row: Mapping[str, Any], **known: Any) -> T:
    """Read what `to_json` wrote, also in a former version; `known` are fields that are not written."""
    if kind is types.Result:
        return cast("T", result_from_json(row))
    if kind is types.JudgedClaim:
        known["verdict"] = from_json(types.Verdict, row["verdict"], claim_id=row["id"])
    return _read(kind, row, known)


def _read(kind: type[T], row: Mapping[str, Any], known: dict[str, Any]) -> T:
    for name, read in _readers(cast("Any", kind)):
        if name not in known and name in row:
            known[name] = row[name] if read is None else read(row[name])
    return kind(**known)


@cache
def _readers(kind: type) -> list[tuple[str, Callable[[Any], Any] | None]]:
    hints = get_type_hints(kind)
    return [(name, _reader(hints[name])) for name, _ in SHAPES[kind] if name in hints]


def _reader(hint: Any) -> Callable[[Any], Any] | None:
    """Return how a value of a type is read; None where JSON holds it as it is."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        read = _reader(arguments[0])
        return read and (lambda value: read(value) if value else None)
    if origin in (tuple, frozenset):
        each = _reader(arguments[0])
        return (lambda values: origin(map(each, values))) if each else origin
    if origin is Mapping:
        return dict
    if hint is types.Span:
        return lambda value: types.Span(*value)
    if hint in SHAPES:
        return lambda value: from_json(cast("type", hint), value)
    return hint if isinstance(hint, type) and issubclass(hint, Enum) else None


def _tags_from_json(row: Mapping[str, str | list[str]]) -> dict[str, types.Tag]:
    return {name: tag if isinstance(tag, str) else tuple(tag) for name, tag in row.items()}


def _finite(score: float | None) -> float | None:
    """Write NaN, which JSON does not have, as null; the policy that asked for it is in the provenance."""
    return score if score is None or math.isfinite(score) else None

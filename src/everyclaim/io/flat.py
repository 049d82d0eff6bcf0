"""Results as flat rows, one per claim, for tables: CSV, Parquet, spreadsheets.

The parts of a score are columns of their own beside it, `component.precision`, as many as the metric has:
they are known once the first result with a score is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, repeat
from typing import Any, Literal

from everyclaim.core.types import Outcome, Result, tag_values
from everyclaim.core.wire import result_to_json, tags_to_json, to_json
from everyclaim.io.files import format_of_name
from everyclaim.io.writing import write_rows

Column = tuple[type, Callable[[Any], Any]]  # what its cells hold, and the way to a cell


def _json(value: Any) -> str | None:
    return json.dumps(value, ensure_ascii=False) if value else None


def _probability(name: str) -> Column:
    return float, lambda claim: getattr(claim.verdict.probabilities, name, None)


def _quote(kind: type, name: str) -> Column:
    """Return a column of the first evidence."""
    return kind, lambda claim: getattr(next(iter(claim.verdict.evidence), None), name, None)


_OF_ANSWER: dict[str, Column] = {
    "id": (str, lambda result: result.id),
    "outcome": (str, lambda result: result.outcome.value),
    "score": (float, lambda result: result.score),
    "probability": (float, lambda result: result.probability),
    "reason": (str, lambda result: result.reason),
    "question": (str, lambda result: result.question),
    "model": (str, lambda result: result.model),
    "release": (str, lambda result: result.release),
    "timestamp": (str, lambda result: result.timestamp),
    "tags": (str, lambda result: _json(tags_to_json(result.tags))),
    "warnings": (str, lambda result: "; ".join(result.warnings)),
    "metric": (str, lambda result: result.provenance.metric),
}
_OF_CLAIM: dict[str, Column] = {
    "claim_id": (str, lambda claim: claim.id),
    "claim": (str, lambda claim: claim.text),
    "start": (int, lambda claim: claim.span.start),
    "end": (int, lambda claim: claim.span.end),
    "sentence": (str, lambda claim: claim.sentence),
    "label": (str, lambda claim: claim.verdict.label.value),
    "p_supported": _probability("supported"),
    "p_unsupported": _probability("unsupported"),
    "p_contradicted": _probability("contradicted"),
    "conflict": (bool, lambda claim: claim.verdict.conflict),
    "failure_mode": (str, lambda claim: claim.verdict.failure_mode and claim.verdict.failure_mode.value),
    "difference": (str, lambda claim: claim.verdict.difference and _json(to_json(claim.verdict.difference))),
    "rationale": (str, lambda claim: claim.verdict.rationale),
    "judge": (str, lambda claim: claim.verdict.judge),
    "flags": (str, lambda claim: "; ".join(claim.verdict.flags)),
    "passage_id": _quote(str, "passage_id"),
    "quote_start": _quote(int, "start"),
    "quote_end": _quote(int, "end"),
    "quote": _quote(str, "quote"),
    "evidence": (str, lambda claim: _json([to_json(one) for one in claim.verdict.evidence])),
}
_CLAIM_OF = "claim_of"
RESULT_COLUMNS: dict[str, type] = {
    name: kind for name, (kind, _) in (_OF_ANSWER | {_CLAIM_OF: (str, str)} | _OF_CLAIM).items()
}


def flatten_result(result: Result) -> list[dict[str, Any]]:
    """Return one row per claim with the fields of its sample, columns as in `RESULT_COLUMNS`, and one per component.

    `claim_of` is `response`, or `reference` for a claim of the reference answer, whose evidence is in the
    response. A result without claims is one row whose claim columns are None, so that no sample is lost.
    `passage_id`, `quote_start`, `quote_end` and `quote` are the first evidence, `evidence` is all of
    it as JSON text; so are `tags` and `difference`. `warnings` and `flags` are joined by ``; ``.
    """
    sample = dict.fromkeys(RESULT_COLUMNS) | _sample_columns(result)
    claims = [("response", claim) for claim in result.claims]
    claims += [("reference", claim) for claim in result.reference_claims]
    return [sample | {_CLAIM_OF: of} | _cells(_OF_CLAIM, claim) for of, claim in claims] or [sample]


def flat_table(results: Iterable[Result]) -> tuple[dict[str, type], Iterator[dict[str, Any]]]:
    """Return the columns of these results, and their rows as they come, every row with all of the columns."""
    stream = iter(results)
    first: list[Result] = []
    for result in stream:
        first.append(result)
        if result.outcome is Outcome.SCORED:
            break
    parts = dict.fromkeys((f"component.{name}" for result in first for name in result.components), float)
    names = list(RESULT_COLUMNS)
    place = names.index("probability") + 1
    columns = {name: RESULT_COLUMNS[name] for name in names[:place]} | parts | RESULT_COLUMNS
    empty = dict.fromkeys(columns)
    return columns, (empty | row for result in chain(first, stream) for row in flatten_result(result))


def flat_answers(results: Iterable[Result]) -> Iterator[dict[str, Any]]:
    """Yield one row per answer: the columns of `flatten_result` that are of the sample, and its claims by label."""
    for result in results:
        counts = {label.value.lower(): count for label, count in result.counts.items()}
        yield _sample_columns(result) | {"claims": len(result.claims)} | counts | {"skipped": len(result.skipped)}


def tagged(results: Iterable[Result], rows: Literal["claims", "answers"]) -> list[dict[str, Any]]:
    """Return flat rows with a column of its own for each tag, ``tag.domain``; several values are joined by ``; ``."""
    kept = list(results)
    empty = {f"tag.{name}": None for result in kept for name in result.tags}
    table = flat_table(kept)[1] if rows == "claims" else flat_answers(kept)
    texts = [{f"tag.{name}": "; ".join(tag_values(tag)) for name, tag in result.tags.items()} for result in kept]
    sizes = [max(1, len(result.claims) + len(result.reference_claims)) if rows == "claims" else 1 for result in kept]
    tags = chain.from_iterable(map(repeat, texts, sizes))
    return [row | empty | tag for row, tag in zip(table, tags, strict=True)]


def write_results(
    results: Iterable[Result],
    destination: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - as `write_rows`
) -> int:
    """Write results: the public JSON objects, or flat rows to CSV and Parquet. Return how many rows.

    Parameters and errors are those of `write_rows`.
    """
    if (format or format_of_name(os.fspath(destination))) in {"csv", "tsv", "parquet"}:
        columns, rows = flat_table(results)
        return write_rows(rows, destination, format=format, columns=columns)
    return write_rows(map(result_to_json, results), destination, format=format)


def _sample_columns(result: Result) -> dict[str, Any]:
    return _cells(_OF_ANSWER, result) | {f"component.{name}": part for name, part in result.components.items()}


def _cells(columns: Mapping[str, Column], row: Any) -> dict[str, Any]:
    return {name: read(row) for name, (_, read) in columns.items()}

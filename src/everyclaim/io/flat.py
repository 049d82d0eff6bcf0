"""Results as flat rows, one per claim, for tables: CSV, Parquet, spreadsheets.

The parts of a score are columns of their own beside it, `component.precision`, as many as the metric has:
they are known once the first result with a score is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from typing import Any, Literal

from everyclaim.core.types import JudgedClaim, Outcome, Result, tag_values
from everyclaim.core.wire import difference_to_json, result_to_json, tags_to_json
from everyclaim.io.files import format_of_name
from everyclaim.io.writing import write_rows

RESULT_COLUMNS: dict[str, type] = {
    "id": str,
    "outcome": str,
    "score": float,
    "probability": float,
    "reason": str,
    "question": str,
    "model": str,
    "release": str,
    "timestamp": str,
    "tags": str,
    "warnings": str,
    "metric": str,
    "claim_of": str,
    "claim_id": str,
    "claim": str,
    "start": int,
    "end": int,
    "sentence": str,
    "label": str,
    "p_supported": float,
    "p_unsupported": float,
    "p_contradicted": float,
    "conflict": bool,
    "failure_mode": str,
    "difference": str,
    "rationale": str,
    "judge": str,
    "flags": str,
    "passage_id": str,
    "quote_start": int,
    "quote_end": int,
    "quote": str,
    "evidence": str,
}


def flatten_result(result: Result) -> list[dict[str, Any]]:
    """Return one row per claim with the fields of its sample, columns as in `RESULT_COLUMNS`, and one per component.

    `claim_of` is `response`, or `reference` for a claim of the reference answer, whose evidence is in the
    response. A result without claims is one row whose claim columns are None, so that no sample is lost.
    `passage_id`, `quote_start`, `quote_end` and `quote` are the first evidence, `evidence` is all of
    it as JSON text; so are `tags` and `difference`. `warnings` and `flags` are joined by ``; ``.
    """
    sample = _sample_columns(result)
    empty = dict.fromkeys(RESULT_COLUMNS)
    claims = [
        *(_claim_columns(claim, "response") for claim in result.claims),
        *(_claim_columns(claim, "reference") for claim in result.reference_claims),
    ]
    return [empty | sample | claim for claim in claims or [{}]]


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
    return {
        "id": result.id,
        "outcome": result.outcome.value,
        "score": result.score,
        "probability": result.probability,
        **{f"component.{name}": part for name, part in result.components.items()},
        "reason": result.reason,
        "question": result.question,
        "model": result.model,
        "release": result.release,
        "timestamp": result.timestamp,
        "tags": json.dumps(tags_to_json(result.tags), ensure_ascii=False) if result.tags else None,
        "warnings": "; ".join(result.warnings),
        "metric": result.provenance.metric,
    }


def _claim_columns(claim: JudgedClaim, of: str) -> dict[str, Any]:
    verdict = claim.verdict
    columns: dict[str, Any] = {
        "claim_of": of,
        "claim_id": claim.id,
        "claim": claim.text,
        "start": claim.span.start,
        "end": claim.span.end,
        "sentence": claim.sentence,
        "label": verdict.label.value,
        "conflict": verdict.conflict,
        "failure_mode": verdict.failure_mode.value if verdict.failure_mode else None,
        "rationale": verdict.rationale,
        "judge": verdict.judge,
        "flags": "; ".join(verdict.flags),
    }
    if verdict.probabilities:
        columns |= {f"p_{name}": value for name, value in verdict.probabilities._asdict().items()}
    if verdict.difference:
        columns["difference"] = json.dumps(difference_to_json(verdict.difference), ensure_ascii=False)
    if verdict.evidence:
        first = verdict.evidence[0]
        columns |= {
            "passage_id": first.passage_id,
            "quote_start": first.start,
            "quote_end": first.end,
            "quote": first.quote,
            "evidence": json.dumps(
                [
                    {"passage_id": e.passage_id, "start": e.start, "end": e.end, "quote": e.quote}
                    for e in verdict.evidence
                ],
                ensure_ascii=False,
            ),
        }
    return columns

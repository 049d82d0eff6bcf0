"""Results as flat rows, one per claim, for tables: CSV, Parquet, spreadsheets."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from everyclaim.core.types import JudgedClaim, Result
from everyclaim.core.wire import result_to_json
from everyclaim.io.files import format_of_name
from everyclaim.io.writing import write_rows

RESULT_COLUMNS: dict[str, type] = {
    "id": str,
    "outcome": str,
    "score": float,
    "reason": str,
    "question": str,
    "model": str,
    "release": str,
    "timestamp": str,
    "tags": str,
    "warnings": str,
    "metric": str,
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
    """Return one row per claim with the fields of its sample, columns as in `RESULT_COLUMNS`.

    A result without claims is one row whose claim columns are None, so that no sample is lost.
    `passage_id`, `quote_start`, `quote_end` and `quote` are the first evidence, `evidence` is all of
    it as JSON text; so are `tags`. `warnings` and `flags` are joined by ``; ``.
    """
    sample: dict[str, Any] = {
        "id": result.id,
        "outcome": result.outcome.value,
        "score": result.score,
        "reason": result.reason,
        "question": result.question,
        "model": result.model,
        "release": result.release,
        "timestamp": result.timestamp,
        "tags": json.dumps(dict(result.tags), ensure_ascii=False) if result.tags else None,
        "warnings": "; ".join(result.warnings),
        "metric": result.provenance.metric,
    }
    empty = dict.fromkeys(RESULT_COLUMNS)
    return [empty | sample | _claim_columns(claim) for claim in result.claims] or [empty | sample]


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
        rows = (row for result in results for row in flatten_result(result))
        return write_rows(rows, destination, format=format, columns=RESULT_COLUMNS)
    return write_rows(map(result_to_json, results), destination, format=format)


def _claim_columns(claim: JudgedClaim) -> dict[str, Any]:
    verdict = claim.verdict
    columns: dict[str, Any] = {
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

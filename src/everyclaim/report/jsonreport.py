"""A run as one JSON document: ``{schema, run, summary, calibration, known_error, worst}``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from everyclaim.analysis.summary import Summary, summary_to_json
from everyclaim.core.protocols import Kept
from everyclaim.core.wire import result_to_json, sample_to_json, to_json
from everyclaim.store.records import RunRecord

REPORT_SCHEMA = 1


def report_to_json(
    record: RunRecord,
    summary: Summary,
    worst: Sequence[Kept],
    calibration: Mapping[str, Any] | None = None,
    known_error: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write a run with its summary and its worst answers, each with the sample it belongs to.

    `calibration` is what labels say of the judge, `known_error` what was measured of it elsewhere.
    """
    return {
        "schema": REPORT_SCHEMA,
        "run": run_to_json(record),
        "summary": summary_to_json(summary),
        "calibration": calibration,
        "known_error": known_error,
        "worst": [
            {"position": kept.position, "sample": sample_to_json(kept.sample), "result": result_to_json(kept.result)}
            for kept in worst
        ],
    }


def run_to_json(record: RunRecord) -> dict[str, Any]:
    """Write what is known of a run beside its results."""
    return {
        "id": record.id,
        "name": record.name,
        "created": record.created,
        "finished": record.finished,
        "status": record.status,
        "dataset": record.dataset,
        "total": record.total,
        "counts": {outcome.value: count for outcome, count in record.counts.items()},
        "rows": asdict(record.reading) if record.reading else None,
        "provenance": to_json(record.provenance),
    }

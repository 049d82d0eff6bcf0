"""Between the types of `core` and the rows of the tables. Pure functions, both ways."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from everyclaim.core.protocols import Kept
from everyclaim.core.types import Outcome, Provenance, Sample, tag_values
from everyclaim.core.wire import result_from_json, result_to_json, sample_from_json, sample_to_json, tags_to_json
from everyclaim.store.labels import answer_key
from everyclaim.store.records import Reading, RunRecord, Status

Row = dict[str, Any]


def rows_of(run: str, batch: Sequence[Kept]) -> tuple[list[Row], list[Row], list[Row]]:
    """Return the rows of `samples`, `claims` and `tags` that keep this batch."""
    samples: list[Row] = []
    claims: list[Row] = []
    tags: list[Row] = []
    for kept in batch:
        place = {"run_id": run, "position": kept.position}
        written = result_to_json(kept.result)
        samples.append(place | _sample_row(kept, written))
        for ordinal, claim in enumerate(written["claims"]):
            claims.append(place | {"ordinal": ordinal} | _claim_row(claim))
        named = [(name, value) for name, tag in kept.sample.tags.items() for value in tag_values(tag)]
        for ordinal, (name, value) in enumerate(named):
            tags.append(place | {"ordinal": ordinal, "name": name, "value": value})
    return samples, claims, tags


def kept_from(row: sa.RowMapping) -> Kept:
    """Read a row of `samples`."""
    return Kept(row["position"], row["fingerprint"], sample_from(row), result_from_json(row["result"]))


def sample_from(row: sa.RowMapping) -> Sample:
    """Read the sample of a row of `samples`."""
    return sample_from_json({"id": row["sample_id"], **row})


def run_from(row: sa.RowMapping, counts: dict[Outcome, int], status: Status) -> RunRecord:
    """Read a row of `runs`; `status` is what has become of it."""
    return RunRecord(
        id=row["id"],
        name=row["name"],
        created=row["created"],
        finished=row["finished"],
        status=status,
        provenance=Provenance(
            metric=row["metric"],
            decomposer=row["decomposer"],
            verifier=row["verifier"],
            strategy=row["strategy"],
            version=row["version"],
            parameters=row["parameters"],
        ),
        config=row["config"],
        config_fingerprint=row["config_fingerprint"],
        dataset=row["dataset"],
        dataset_fingerprint=row["dataset_fingerprint"],
        total=row["total"],
        counts=counts,
        reading=Reading(**row["reading"]) if row["reading"] else None,
    )


def _sample_row(kept: Kept, written: Row) -> Row:
    sample = kept.sample
    score = kept.result.score
    return {
        "fingerprint": kept.fingerprint,
        "sample_id": sample.id,
        "question": sample.question,
        "response": sample.response,
        "contexts": sample_to_json(sample)["contexts"],
        "reference": sample.reference,
        "tags": tags_to_json(sample.tags),
        "model": sample.model,
        "release": sample.release,
        "timestamp": sample.timestamp,
        "outcome": kept.result.outcome.value,
        # SQLite would make NULL of NaN and PostgreSQL would keep it: NULL on both.
        "score": score if score is not None and math.isfinite(score) else None,
        "reason": kept.result.reason,
        "result": written,
        "answer_key": answer_key(sample.response, [passage.text for passage in sample.passages]),
    }


def _claim_row(claim: Row) -> Row:
    verdict = claim["verdict"]
    probabilities = verdict["probabilities"] or {"supported": None, "unsupported": None, "contradicted": None}
    return {
        "claim_id": claim["id"],
        "text": claim["text"],
        "span_start": claim["span"][0],
        "span_end": claim["span"][1],
        "sentence": claim["sentence"],
        "label": verdict["label"],
        **probabilities,
        "conflict": verdict["conflict"],
        "failure_mode": verdict["failure_mode"],
        "judge": verdict["judge"],
        "evidence": verdict["evidence"],
    }

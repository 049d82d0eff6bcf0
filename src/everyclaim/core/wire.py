"""Samples and results as plain JSON values: the public schema, and its way back.

The shape is documented in `docs/reference/schema.md` and versioned by `SCHEMA`. Reading accepts
exactly what writing produces, so a stored result can be rescored without calling a model.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from everyclaim.core.types import (
    Citation,
    Claim,
    Decomposition,
    Difference,
    Evidence,
    FailureMode,
    JudgedClaim,
    Label,
    Outcome,
    Passage,
    PassageVerdict,
    Probabilities,
    Provenance,
    Result,
    Sample,
    Skipped,
    Source,
    Span,
    Tag,
    Usage,
    Verdict,
)

SCHEMA = 1


def fingerprint(sample: Sample) -> str:
    """Return 32 hexadecimal digits that change with anything that can change the sample's result."""
    body = json.dumps(sample_to_json(sample), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(body.encode("ascii")).hexdigest()[:32]


def sample_to_json(sample: Sample) -> dict[str, Any]:
    """Write a sample with the field names of the input format."""
    row: dict[str, Any] = {"id": sample.id}
    if sample.question:
        row["question"] = sample.question
    row["response"] = sample.response
    row["contexts"] = [_passage_to_json(passage) for passage in sample.passages]
    optional = {
        "reference": sample.reference,
        "tags": tags_to_json(sample.tags) or None,
        "model": sample.model,
        "release": sample.release,
        "timestamp": sample.timestamp,
    }
    return row | {key: value for key, value in optional.items() if value is not None}


def sample_from_json(row: Mapping[str, Any]) -> Sample:
    """Read what `sample_to_json` wrote."""
    return Sample(
        id=row["id"],
        response=row["response"],
        passages=tuple(Passage(p["id"], p["text"], p.get("title", "")) for p in row["contexts"]),
        question=row.get("question", ""),
        reference=row.get("reference"),
        tags=_tags_from_json(row.get("tags", {})),
        model=row.get("model"),
        release=row.get("release"),
        timestamp=row.get("timestamp"),
    )


def result_to_json(result: Result) -> dict[str, Any]:
    """Write a result as one JSON object, the public output of `score`."""
    row: dict[str, Any] = {
        "schema": SCHEMA,
        "id": result.id,
        "outcome": result.outcome.value,
        "score": _finite(result.score),
        "reason": result.reason,
        "question": result.question,
        "claims": [claim_to_json(claim) for claim in result.claims],
        "skipped": [skipped_to_json(piece) for piece in result.skipped],
        "counts": {label.value.lower(): result.count(label) for label in Label},
        "warnings": list(result.warnings),
        "tags": tags_to_json(result.tags),
        "usage": usage_to_json(result.usage),
        "provenance": provenance_to_json(result.provenance),
    }
    optional = {
        "model": result.model,
        "release": result.release,
        "timestamp": result.timestamp,
        "components": {name: _finite(part) for name, part in result.components.items()} or None,
        "reference_claims": [claim_to_json(claim) for claim in result.reference_claims] or None,
        "details": dict(result.details) or None,
        "probability": result.probability,
    }
    return row | {key: value for key, value in optional.items() if value is not None}


def result_from_json(row: Mapping[str, Any]) -> Result:
    """Read what `result_to_json` wrote; `counts` are counted anew."""
    return Result(
        id=row["id"],
        outcome=Outcome(row["outcome"]),
        score=_score_from(row),
        provenance=provenance_from_json(row["provenance"]),
        reason=row["reason"],
        claims=tuple(claim_from_json(claim) for claim in row["claims"]),
        skipped=tuple(skipped_from_json(piece) for piece in row["skipped"]),
        warnings=tuple(row["warnings"]),
        usage=Usage(**row["usage"]),
        question=row["question"],
        tags=_tags_from_json(row["tags"]),
        model=row.get("model"),
        release=row.get("release"),
        timestamp=row.get("timestamp"),
        components=dict(row.get("components", {})),
        reference_claims=tuple(claim_from_json(claim) for claim in row.get("reference_claims", ())),
        details=dict(row.get("details", {})),
        probability=row.get("probability"),
    )


def decomposition_to_json(found: Decomposition) -> dict[str, Any]:
    """Write what a response was split into."""
    return {
        "abstained": found.abstained,
        "claims": [_plain_claim_to_json(claim) for claim in found.claims],
        "skipped": [skipped_to_json(piece) for piece in found.skipped],
    }


def decomposition_from_json(row: Mapping[str, Any]) -> Decomposition:
    """Read what `decomposition_to_json` wrote."""
    claims = tuple(
        Claim(one["id"], one["text"], Span(*one["span"]), one["sentence"], citations=_citations_from_json(one))
        for one in row["claims"]
    )
    return Decomposition(claims, tuple(skipped_from_json(piece) for piece in row["skipped"]), row["abstained"])


def tags_to_json(tags: Mapping[str, Tag]) -> dict[str, str | list[str]]:
    """Write tags: text, or a list of texts where a tag has several values."""
    return {name: tag if isinstance(tag, str) else list(tag) for name, tag in tags.items()}


def _tags_from_json(row: Mapping[str, str | list[str]]) -> dict[str, Tag]:
    return {name: tag if isinstance(tag, str) else tuple(tag) for name, tag in row.items()}


def skipped_to_json(piece: Skipped) -> dict[str, Any]:
    """Write a piece of the response that is not a claim."""
    row: dict[str, Any] = {"text": piece.text, "span": list(piece.span), "reason": piece.reason}
    return row | {"unchecked": True} if piece.unchecked else row


def skipped_from_json(row: Mapping[str, Any]) -> Skipped:
    """Read what `skipped_to_json` wrote."""
    return Skipped(row["text"], Span(*row["span"]), row["reason"], row.get("unchecked", False))


def usage_to_json(usage: Usage) -> dict[str, int | float | None]:
    """Write what language models took."""
    return {
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cache_hits": usage.cache_hits,
        "cost": usage.cost,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
    }


def provenance_to_json(provenance: Provenance) -> dict[str, Any]:
    """Write which components made a number."""
    return {
        "metric": provenance.metric,
        "decomposer": provenance.decomposer,
        "verifier": provenance.verifier,
        "strategy": provenance.strategy,
        "version": provenance.version,
        "parameters": dict(provenance.parameters),
    }


def provenance_from_json(row: Mapping[str, Any]) -> Provenance:
    """Read what `provenance_to_json` wrote."""
    return Provenance(
        metric=row["metric"],
        decomposer=row["decomposer"],
        verifier=row["verifier"],
        strategy=row["strategy"],
        version=row["version"],
        parameters=dict(row["parameters"]),
    )


def verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    """Write a verdict without its claim id, which belongs to the object around it."""
    row: dict[str, Any] = {
        "label": verdict.label.value,
        "probabilities": _probabilities_to_json(verdict.probabilities),
        "evidence": [
            {"passage_id": e.passage_id, "start": e.start, "end": e.end, "quote": e.quote} for e in verdict.evidence
        ],
        "rationale": verdict.rationale,
        "conflict": verdict.conflict,
        "failure_mode": verdict.failure_mode.value if verdict.failure_mode else None,
        "judge": verdict.judge,
        "flags": list(verdict.flags),
    }
    if verdict.difference:
        row["difference"] = difference_to_json(verdict.difference)
    if verdict.per_passage:
        row["per_passage"] = [
            {
                "passage_id": p.passage_id,
                "label": p.label.value,
                "probabilities": _probabilities_to_json(p.probabilities),
            }
            for p in verdict.per_passage
        ]
    return row


def verdict_from_json(claim_id: str, row: Mapping[str, Any]) -> Verdict:
    """Read what `verdict_to_json` wrote."""
    return Verdict(
        claim_id=claim_id,
        label=Label(row["label"]),
        probabilities=_probabilities_from_json(row["probabilities"]),
        evidence=tuple(Evidence(e["passage_id"], e["start"], e["end"], e["quote"]) for e in row["evidence"]),
        rationale=row["rationale"],
        judge=row["judge"],
        conflict=row["conflict"],
        failure_mode=FailureMode(row["failure_mode"]) if row["failure_mode"] else None,
        per_passage=tuple(
            PassageVerdict(p["passage_id"], Label(p["label"]), _probabilities_from_json(p["probabilities"]))
            for p in row.get("per_passage", ())
        ),
        flags=tuple(row["flags"]),
        difference=_difference_from_json(row.get("difference")),
    )


def _finite(score: float | None) -> float | None:
    """Write NaN, which JSON does not have, as null; the policy that asked for it is in the provenance."""
    return score if score is None or math.isfinite(score) else None


def _passage_to_json(passage: Passage) -> dict[str, str]:
    row = {"id": passage.id, "text": passage.text}
    return row | {"title": passage.title} if passage.title else row


def claim_to_json(claim: JudgedClaim) -> dict[str, Any]:
    """Write a claim with its verdict."""
    return _plain_claim_to_json(claim) | {"verdict": verdict_to_json(claim.verdict)}


def _plain_claim_to_json(claim: Claim) -> dict[str, Any]:
    row: dict[str, Any] = {"id": claim.id, "text": claim.text, "span": list(claim.span), "sentence": claim.sentence}
    if claim.citations:
        row["citations"] = [
            {"span": list(one.span), "sources": [s._asdict() for s in one.sources]} for one in claim.citations
        ]
    return row


def _citations_from_json(row: Mapping[str, Any]) -> tuple[Citation, ...]:
    return tuple(
        Citation(Span(*one["span"]), tuple(Source(**source) for source in one["sources"]))
        for one in row.get("citations", ())
    )


def claim_from_json(row: Mapping[str, Any]) -> JudgedClaim:
    """Read what `claim_to_json` wrote."""
    return JudgedClaim(
        id=row["id"],
        text=row["text"],
        span=Span(*row["span"]),
        sentence=row["sentence"],
        verdict=verdict_from_json(row["id"], row["verdict"]),
        citations=_citations_from_json(row),
    )


def difference_to_json(difference: Difference) -> dict[str, Any]:
    """Write where a failing claim and its passages part."""
    return {
        "reason": difference.reason,
        "claim": list(difference.claim) if difference.claim else None,
        "passage_id": difference.passage_id,
        "passage": list(difference.passage) if difference.passage else None,
    }


def _difference_from_json(row: Mapping[str, Any] | None) -> Difference | None:
    if row is None:
        return None
    claim, passage = (Span(*row[name]) if row[name] else None for name in ("claim", "passage"))
    return Difference(row["reason"], claim, row["passage_id"], passage)


def _probabilities_to_json(probabilities: Probabilities | None) -> dict[str, float] | None:
    return probabilities._asdict() if probabilities else None


def _probabilities_from_json(row: Mapping[str, float] | None) -> Probabilities | None:
    return Probabilities(**row) if row else None


def _score_from(row: Mapping[str, Any]) -> float | None:
    """Give the `nan` policy its number back, which JSON could not hold."""
    score: float | None = row["score"]
    unscored = row["outcome"] in {Outcome.NO_CLAIMS, Outcome.ABSTAINED}
    if score is None and unscored and row["provenance"]["parameters"].get("empty") == "nan":
        return float("nan")
    return score

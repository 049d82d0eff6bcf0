"""The shapes of what goes over the wire, for OpenAPI: those of files, with the same names.

What comes in is read by the readers of files (`requests`), and what goes out is written by `core.wire`; these models
say how it looks, and the tests hold every answer against them.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from everyclaim.core.cited import Finding
from everyclaim.core.types import FailureMode, Label, Outcome
from everyclaim.io.fields import CLAIM_FIELDS, SAMPLE_FIELDS


class Out(BaseModel):
    """Something that is answered; nothing else is in it."""

    model_config = ConfigDict(extra="forbid")


class ProbabilitiesOut(Out):
    """One per label, summing to 1."""

    supported: float
    unsupported: float
    contradicted: float


class EvidenceOut(Out):
    """A place in a passage; `quote` is its text. Offsets are Unicode code points."""

    passage_id: str
    start: int
    end: int
    quote: str


class PassageVerdictOut(Out):
    """What one passage alone says."""

    passage_id: str
    label: Label
    probabilities: ProbabilitiesOut | None


class DifferenceOut(Out):
    """Where a failing claim and its passages part."""

    reason: str
    claim: tuple[int, int] | None
    passage_id: str | None
    passage: tuple[int, int] | None


class VerdictOut(Out):
    """A judge's finding on one claim."""

    label: Label
    probabilities: ProbabilitiesOut | None
    evidence: list[EvidenceOut]
    rationale: str
    conflict: bool
    failure_mode: FailureMode | None
    judge: str
    flags: list[str]
    difference: DifferenceOut | None = None
    per_passage: list[PassageVerdictOut] | None = None


class SourceOut(Out):
    """What a citation says of a source."""

    number: int
    name: str
    page: str
    address: str


class CitationOut(Out):
    """A mark in the response that names sources."""

    span: tuple[int, int]
    sources: list[SourceOut]


class ClaimOut(Out):
    """One claim of the response."""

    id: str
    text: str
    span: tuple[int, int]
    sentence: str
    citations: list[CitationOut] | None = None


class JudgedClaimOut(ClaimOut):
    """A claim with its verdict."""

    verdict: VerdictOut


class SkippedOut(Out):
    """A piece of the response that is no claim."""

    text: str
    span: tuple[int, int]
    reason: str
    unchecked: bool | None = None


class CountsOut(Out):
    """How many claims have each label."""

    supported: int
    unsupported: int
    contradicted: int


class UsageOut(Out):
    """What language models took; `cost` in US dollars, null where a price is unknown."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cache_hits: int
    cost: float | None
    cache_read_tokens: int
    cache_write_tokens: int


class ProvenanceOut(Out):
    """Which components made a number."""

    metric: str
    decomposer: str
    verifier: str
    strategy: str
    version: str
    parameters: dict[str, str]


class ResultOut(Out):
    """One answer, scored. `score` is null unless the outcome is `scored`; a failure is never a score."""

    schema_: int = Field(alias="schema")
    id: str
    outcome: Outcome
    score: float | None
    reason: str
    question: str
    claims: list[JudgedClaimOut]
    skipped: list[SkippedOut]
    counts: CountsOut
    warnings: list[str]
    tags: dict[str, str | list[str]]
    usage: UsageOut
    provenance: ProvenanceOut
    model: str | None = None
    release: str | None = None
    timestamp: str | None = None
    components: dict[str, float | None] | None = None
    reference_claims: list[JudgedClaimOut] | None = None
    details: dict[str, Any] | None = None
    probability: float | None = None


class VerdictsOut(Out):
    """Given claims, judged, in their order."""

    claims: list[JudgedClaimOut]


class DecompositionOut(Out):
    """What a response was split into."""

    claims: list[ClaimOut]
    skipped: list[SkippedOut]
    abstained: bool


class RemovedOut(Out):
    """A claim that was taken out of the answer."""

    claim: JudgedClaimOut
    how: Literal["rewritten", "dropped"]


class CitationFindingOut(Out):
    """What a citation does for a claim, and the passages to cite instead; nothing is cited where that is missing."""

    claim: str
    finding: Finding
    span: tuple[int, int] | None = None
    source: SourceOut | None = None
    passage: str | None = None
    instead: list[str] | None = None


class AttemptOut(Out):
    """One answer that was checked."""

    number: int
    made: Literal["given", "generated", "rewritten", "dropped", "recited"]
    text: str
    result: ResultOut
    removed: list[RemovedOut]
    guidance: str
    recited: list[CitationFindingOut] | None = None


class GuardedOut(Out):
    """What may be shown of an answer. `best` is the number of the attempt whose text it is, unless it is blocked."""

    text: str
    annotated: str
    validated: bool
    blocked: bool
    score: float | None
    best: int
    attempts: list[AttemptOut]
    noted: list[Label]
    warnings: list[str]
    usage: UsageOut


JobState = Literal["queued", "running", "cancelling", "finished", "failed", "cancelled"]


class JobOut(Out):
    """A job: a run over a data set that was sent. `done` counts results that are kept, `total` the rows, if known."""

    id: str
    name: str
    state: JobState
    reason: str
    created: str
    ended: str | None
    run: str | None = Field(description="The run in the store, once it has begun")
    done: int
    total: int | None
    outcomes: dict[Outcome, int]
    bad_rows: int


class JobsOut(Out):
    """Jobs, newest first."""

    jobs: list[JobOut]


class PageOut(Out):
    """Results in the order of the rows. `next`: what to give as `after` for more; null when there are no more."""

    results: list[ResultOut]
    next: int | None


class HealthOut(Out):
    """The process answers."""

    status: Literal["ok"]


class ReadyOut(Out):
    """The service takes requests, and what it has to do."""

    status: Literal["ready"]
    working: int
    waiting: int
    places: int
    queue: int
    jobs_waiting: int


class VersionOut(Out):
    """What answers here."""

    version: str
    schema_: int = Field(alias="schema")
    provenance: ProvenanceOut


class ProblemOut(Out):
    """Problem details (RFC 9457). `code` stays; `detail` is for people."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    instance: str | None = None


_TEXT = {"type": "string"}
_SAYING = {"type": "string", "pattern": r"\S"}
_SCALAR = {"type": ["string", "number", "boolean", "null"]}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_ACTION = {"enum": ["block", "annotate", "pass"]}
_PASSAGE = {
    "type": "object",
    "properties": {"text": _TEXT, "id": _SCALAR, "title": _SCALAR},
    "required": ["text"],
    "additionalProperties": False,
}
_SHAPES: dict[str, dict[str, Any]] = {
    "response": _TEXT,
    "contexts": {"anyOf": [_TEXT, {"type": "array", "items": {"anyOf": [_TEXT, _PASSAGE]}}, {"type": "null"}]},
    "question": {"type": ["string", "null"]},
    "reference": {"type": ["string", "null"]},
    "id": _SCALAR,
    "tags": {
        "type": ["object", "null"],
        "additionalProperties": {"anyOf": [_SCALAR, {"type": "array", "items": _SCALAR}]},
    },
    "model": _SCALAR,
    "release": _SCALAR,
    "timestamp": _SCALAR,
    "claims": {"anyOf": [_SAYING, {"type": "array", "items": _SAYING}]},
    "rules": {
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {
            "threshold": _SHARE,
            "keep": _SHARE,
            "repair": {"enum": ["drop", "none"]},
            "contradicted": _ACTION,
            "unsupported": _ACTION,
            "refusal": _TEXT,
        },
    },
}
REQUESTS = {
    "score": (*SAMPLE_FIELDS,),
    "verify": ("claims", "contexts", "question"),
    "claims": ("response", "question"),
    "guard": ("response", "contexts", "question", "rules"),
}
NAMES = {**SAMPLE_FIELDS, "claims": ("claims", *CLAIM_FIELDS["claim"]), "rules": ("rules",)}


def request_schema(kind: str) -> dict[str, Any]:
    """Return the JSON schema of a request; by which other names a field is known, its description says."""
    properties: dict[str, Any] = {}
    for ours in REQUESTS[kind]:
        others = ", ".join(f"`{name}`" for name in NAMES[ours] if name != ours)
        properties[ours] = _SHAPES[ours] | ({"description": f"Also known as {others}"} if others else {})
    needed = REQUESTS[kind][0]
    return {"type": "object", "properties": properties, "required": [needed], "additionalProperties": False}

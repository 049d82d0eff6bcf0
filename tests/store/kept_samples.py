"""Samples and results for the tests of stores and engine."""

from collections.abc import Mapping

from everyclaim.core.protocols import Kept
from everyclaim.core.types import (
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
    Span,
    Usage,
    Verdict,
)
from everyclaim.core.wire import fingerprint
from everyclaim.store.records import Annotation, answer_key_of, claim_key
from everyclaim.store.store import Store

PROVENANCE = Provenance("faithfulness", "embedded", "lexical", "ranked", "0.1.0", {"empty": "exclude"})


def a_sample(number: int = 0, *, tags: Mapping[str, str] | None = None, text: str = "Tea is hot.") -> Sample:
    """Make one sample; different numbers give different content."""
    return Sample(
        id=f"s{number}",
        response=f"{text} Milk is white. ({number})",
        passages=(Passage("p1", text), Passage("p2", "Milk is black.", "On milk")),
        question=f"What about {number}?",
        reference="Tea is hot.",
        tags=tags or {"source": "kitchen"},
        model="writer-1",
        release="v1",
        timestamp="2026-01-02T03:04:05Z",
    )


def a_result(sample: Sample, score: float = 0.5) -> Result:
    """Make a result with one supported and one contradicted claim, every field filled."""
    quote = sample.passages[0].text
    start = len(quote) + 1
    claims = (
        JudgedClaim(
            "c1",
            quote,
            Span(0, len(quote)),
            quote,
            Verdict("c1", Label.SUPPORTED, Probabilities(0.9, 0.07, 0.03), (Evidence("p1", 0, len(quote), quote),)),
        ),
        JudgedClaim(
            "c2",
            "Milk is white.",
            Span(start, start + 14),
            "Milk is white.",
            Verdict(
                "c2",
                Label.CONTRADICTED,
                Probabilities(0.1, 0.2, 0.7),
                (Evidence("p2", 8, 13, "black"),),
                "the colour differs",
                "lexical",
                conflict=True,
                failure_mode=FailureMode.ENTITY_SWAP,
                per_passage=(PassageVerdict("p2", Label.CONTRADICTED, Probabilities(0.1, 0.2, 0.7)),),
                flags=("hedge_mismatch",),
            ),
        ),
    )
    return Result(
        id=sample.id,
        outcome=Outcome.SCORED,
        score=score,
        provenance=PROVENANCE,
        claims=claims,
        skipped=(Skipped("Well!", Span(1, 2), "greeting"),),
        warnings=("short",),
        usage=Usage(1, 20, 3, 0, 0.1 + 0.2),
        question=sample.question,
        tags=sample.tags,
        model=sample.model,
        release=sample.release,
        timestamp=sample.timestamp,
        components={"precision": 1 / 3, "recall": None},
        reference_claims=(
            JudgedClaim("r1", "Tea is hot.", Span(0, 11), "Tea is hot.", Verdict("r1", Label.UNSUPPORTED)),
        ),
        details={"queries": [{"text": "tea", "found": 2}], "settled": True},
    )


def a_failure(sample: Sample) -> Result:
    """Make the result of a sample whose judge failed."""
    return Result(sample.id, Outcome.FAILED, None, PROVENANCE, "missing_verdict: none for c1")


def keep(store: Store, run: str, *numbers: int, text: str = "Tea is hot.", failed: bool = False) -> None:
    """Keep the samples of these numbers at their places."""
    samples = {number: a_sample(number, text=text) for number in numbers}
    results = {number: a_failure(sample) if failed else a_result(sample) for number, sample in samples.items()}
    store.save_all(run, [Kept(n, fingerprint(sample), sample, results[n]) for n, sample in samples.items()])


def say(store: Store, run: str, sample: str, claim: str, label: Label, who: str = "Ada", note: str = "") -> None:
    """Label a claim, as a file of labels would."""
    [kept] = store.find(run, sample)
    [judged] = [judged for judged in kept.result.claims if judged.id == claim]
    answer = answer_key_of(kept.sample)
    store.add_labels(run, [Annotation(label, who, answer, claim_key(answer, judged.text), judged.span, note)])

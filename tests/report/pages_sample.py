"""A small made-up run of a kettle shop's support bot, with a finding of every kind."""

from dataclasses import replace

from everyclaim import Probabilities
from everyclaim.analysis.gate import worst
from everyclaim.analysis.summary import Collector
from everyclaim.core.protocols import Kept
from everyclaim.core.types import Evidence, FailureMode, Outcome, Passage, PassageVerdict, Provenance, Result, Sample
from everyclaim.store.records import RunRecord
from scored_runs import C, S, U, claim, evidence, lettered

PROVENANCE = Provenance(
    "faithfulness", "embedded", "lexical", "each", "1.2.3", {"policy": "lenient", "empty": "exclude"}
)
RETURNS = Passage(
    "returns",
    "Thank you for shopping with us. Unopened kettles can be returned within 30 days of delivery, "
    "provided that the seal is intact. Opened kettles are repaired free of charge for two years.",
)
OLD = Passage("returns-2019", "Kettles can be returned within 60 days.")


def kept(position, result, passages=()):
    return Kept(position, "", Sample(result.id, "a response", tuple(passages), result.question), result)


def plain(position, labels, source):
    """An answer with one claim per letter, without detail."""
    tags = {"source": source} if source else {}
    return kept(position, replace(lettered(labels, f"t-{position}", tags=tags), provenance=PROVENANCE))


def detailed(position):
    """An answer with a contradicted, a disputed and two unsupported claims."""
    claims = (
        claim(
            1,
            "Unopened kettles can be returned within 60 days.",
            S,
            Probabilities(0.71, 0.09, 0.2),
            conflict=True,
            evidence=(evidence(OLD, "within 60 days"), evidence(RETURNS, "within 30 days")),
            per_passage=(
                PassageVerdict("returns-2019", S),
                PassageVerdict("returns", C),
            ),
        ),
        claim(
            2,
            "Opened kettles are repaired free of charge for three years.",
            C,
            Probabilities(0.02, 0.05, 0.93),
            evidence=(evidence(RETURNS, "for two years"),),
            failure_mode=FailureMode.NUMERIC_MISMATCH,
            rationale="three years is not two years",
        ),
        claim(3, "The repair takes about a week.", U, Probabilities(0.1, 0.8, 0.1)),
        claim(4, "Postage is free.", U, flags=("quote_not_found",), failure_mode=FailureMode.OTHER),
    )
    result = Result(
        "ticket-017",
        Outcome.SCORED,
        0.25,
        PROVENANCE,
        claims=claims,
        question="How long can I return a kettle, and what if it breaks?",
        tags={"source": "multi", "needs": "arithmetic"},
        warnings=("the response is long",),
    )
    return kept(position, result, (RETURNS, OLD))


def without_score(position, outcome, reason=""):
    return kept(position, Result(f"x-{position}", outcome, None, PROVENANCE, reason=reason, tags={"source": "faq"}))


def example():
    """Return the run's record, its summary and its two worst answers."""
    patterns = ["ssss", "sss", "ssssu", "ss", "ssc", "sssss", "s", "ssss", "su"]
    records = [plain(i, patterns[i % 9], ["faq", "manual", "multi"][i % 3]) for i in range(36)]
    records += [detailed(36), without_score(37, Outcome.ABSTAINED), without_score(38, Outcome.NO_CLAIMS)]
    records += [without_score(39, Outcome.FAILED, "missing_verdict: no verdict for c3"), plain(40, "su", "")]
    return page_parts(records, slices=["source"], name="nightly")


def in_parts(position):
    """An answer compared with its reference: one claim of it is wrong, one of the reference's is left out."""
    reference = "Kettles are repaired free of charge for two years. The repair takes five days."
    quote = Evidence("reference", 0, 50, reference[:50])
    claims = (
        claim(1, "Kettles are repaired free of charge.", S, Probabilities(0.9, 0.05, 0.05)),
        claim(2, "Repairs are free for three years.", C, evidence=(quote,)),
    )
    left_out = claim(1, "The repair takes five days.", U)
    covered = claim(2, "Kettles are repaired free of charge for two years.", S)
    result = Result(
        "ticket-018",
        Outcome.SCORED,
        0.5,
        Provenance("factual_correctness?beta=1", "embedded", "lexical", "joint", "1.2.3"),
        claims=claims,
        components={"precision": 0.5, "recall": 0.5, "f1": 0.5, "context_precision": None},
        reference_claims=(left_out, covered),
    )
    return Kept(position, "", Sample(result.id, "a response", (), "How long are repairs free?", reference), result)


def page_parts(records, *, slices=(), name="", dataset="answers.jsonl", k=2, **collector):
    """Return what a run's page is made of, from its records."""
    collected = Collector(slices, **collector)
    found = worst(collected.watching(records), k)
    summary = collected.finish()
    record = RunRecord(
        id="3f2a91c0de11",
        name=name,
        created="2026-03-01T12:40:07.000000+00:00",
        finished="2026-03-01T12:41:00.000000+00:00",
        status="finished",
        provenance=records[0].result.provenance,
        config={},
        config_fingerprint="",
        dataset=dataset,
        dataset_fingerprint="",
        total=len(records),
        counts=summary.overall.outcomes,
    )
    return record, summary, found

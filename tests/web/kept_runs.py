"""Runs in a store, as scoring would have left them, without a judge: whatever a test wants to see on a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

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
    Span,
    Verdict,
)
from everyclaim.core.wire import fingerprint
from everyclaim.store.records import Annotation, answer_key_of, claim_key
from everyclaim.store.store import Store

PROVENANCE = Provenance("faithfulness", "embedded", "embedded:5", "joint", "0.1.0", {"empty": "exclude"})
_LIKELY = {
    Label.SUPPORTED: Probabilities(0.9, 0.07, 0.03),
    Label.UNSUPPORTED: Probabilities(0.2, 0.7, 0.1),
    Label.CONTRADICTED: Probabilities(0.1, 0.2, 0.7),
}
_MODES = {Label.UNSUPPORTED: FailureMode.INVENTION, Label.CONTRADICTED: FailureMode.NUMERIC_MISMATCH}
S, U, C = Label


def answered(
    sentences: Sequence[str],
    labels: Sequence[Label],
    *,
    name: str = "a",
    question: str = "What holds?",
    passages: Sequence[Passage] = (),
    **more: object,
) -> tuple[Sample, Result]:
    """Return an answer of these sentences, each a claim with this label, and evidence in the passage of its number."""
    given = tuple(passages) or tuple(Passage(f"p{place}", text) for place, text in enumerate(sentences, 1))
    sample = Sample(name, " ".join(sentences), given, question, **more)  # type: ignore[arg-type]
    starts = [0]
    for sentence in sentences:
        starts.append(starts[-1] + len(sentence) + 1)
    claims = []
    for place, ((start, after), sentence, label) in enumerate(zip(pairwise(starts), sentences, labels, strict=True), 1):
        source = given[(place - 1) % len(given)]
        evidence = Evidence(source.id, 0, len(source.text), source.text)
        verdict = Verdict(
            f"c{place}",
            label,
            _LIKELY[label],
            (evidence,),
            rationale="" if label is S else f"claim {place} is not what its passage says",
            judge="embedded:5",
            failure_mode=_MODES.get(label),
            per_passage=(PassageVerdict(source.id, label, _LIKELY[label]),),
        )
        claims.append(JudgedClaim(f"c{place}", sentence, Span(start, after - 1), sentence, verdict))
    result = Result.of(
        sample, PROVENANCE, Outcome.SCORED, sum(label is S for label in labels) / len(labels), claims=tuple(claims)
    )
    return sample, result


def failed(name: str = "f", reason: str = "missing_verdict: none for c1") -> tuple[Sample, Result]:
    """Return an answer whose judge failed."""
    sample = Sample(name, "An answer that nobody judged.", (Passage("p1", "A passage."),))
    return sample, Result.of(sample, PROVENANCE, Outcome.FAILED, reason=reason)


def some_answers(count: int, wrong: int, *, release: str = "v1") -> Iterator[tuple[Sample, Result]]:
    """Yield answers of three claims about towns; in so many of them, spread evenly, one claim is not supported."""
    step = count / wrong if wrong else count + 1
    bad = {int(place * step) for place in range(wrong)}
    for number in range(count):
        year = 1800 + number
        sentences = (
            f"Town {number} was founded in {year}.",
            f"It has {number + 3} bridges.",
            "Its river is the Aller.",
        )
        labels = (S, (C if number % 4 else U) if number in bad else S, S)
        tags = {"source": "single" if number % 3 else "multi"}
        question = f"What is known of town {number}?"
        yield answered(sentences, labels, name=f"t{number:03}", question=question, release=release, tags=tags)


def keep(
    store: Store,
    answers: Sequence[tuple[Sample, Result]] | Iterator[tuple[Sample, Result]],
    *,
    name: str = "",
    is_finished: bool = True,
    total: int | None = None,
    **config: object,
) -> str:
    """Keep answers as a run and return its id; one that is not finished is held until the store is closed."""
    kept = [Kept(place, fingerprint(sample), sample, result) for place, (sample, result) in enumerate(answers)]
    dataset = f"{name or 'answers'}.jsonl"
    run = store.create_run(PROVENANCE, name=name, dataset=dataset, config=config, total=total or len(kept))
    store.save_all(run.id, kept)
    if is_finished:
        store.finish_run(run.id, "finished")
    return run.id


def say(store: Store, run: str, sample: str, claim: str, label: Label, who: str = "Ada", note: str = "") -> None:
    """Label a claim, as a file of labels would."""
    [kept] = store.find(run, sample)
    [judged] = [judged for judged in kept.result.claims if judged.id == claim]
    answer = answer_key_of(kept.sample)
    store.add_labels(run, [Annotation(label, who, answer, claim_key(answer, judged.text), judged.span, note)])

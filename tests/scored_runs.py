"""Answers and runs as scoring would have left them, without a judge: for stores, the engine, pages and reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import everyclaim as ec
from everyclaim.core.protocols import Kept
from everyclaim.core.types import PassageVerdict, Provenance, Skipped, Span, Usage
from everyclaim.core.wire import fingerprint
from everyclaim.store.records import Annotation, answer_key_of, claim_key
from everyclaim.store.store import Store

PROVENANCE = Provenance("faithfulness", "embedded", "lexical", "ranked", "0.1.0", {"empty": "exclude"})
S, U, C = ec.Label
LETTERS = {"s": S, "u": U, "c": C}
LIKELY = {S: ec.Probabilities(0.9, 0.07, 0.03), U: ec.Probabilities(0.2, 0.7, 0.1), C: ec.Probabilities(0.1, 0.2, 0.7)}
Answer = tuple[ec.Sample, ec.Result]


def evidence(passage: ec.Passage, quote: str) -> ec.Evidence:
    start = passage.text.index(quote)
    return ec.Evidence(passage.id, start, start + len(quote), quote)


def claim(
    number: int, text: str, label: ec.Label, likely: ec.Probabilities | None = None, start: int = 0, **verdict: Any
) -> ec.JudgedClaim:
    """Return a claim that is a sentence of its answer."""
    found = ec.Verdict(f"c{number}", label, likely, **{"judge": "lexical"} | verdict)
    return ec.JudgedClaim(f"c{number}", text, Span(start, start + len(text)), text, found)


def answered(
    sentences: Sequence[str],
    labels: Sequence[ec.Label],
    *,
    name: str = "a",
    question: str = "What holds?",
    passages: Sequence[ec.Passage] = (),
    **more: Any,
) -> Answer:
    """Return an answer of these sentences, each a claim with this label, and evidence in the passage of its number."""
    given = tuple(passages) or tuple(ec.Passage(f"p{place}", text) for place, text in enumerate(sentences, 1))
    sample = ec.Sample(name, " ".join(sentences), given, question, **more)
    starts = accumulate((len(sentence) + 1 for sentence in sentences), initial=0)
    modes = {U: ec.FailureMode.INVENTION, C: ec.FailureMode.NUMERIC_MISMATCH}
    claims = []
    for place, (start, sentence, label) in enumerate(zip(starts, sentences, labels, strict=False), 1):
        source = given[(place - 1) % len(given)]
        more = {"rationale": "" if label is S else f"claim {place} is not what its passage says"}
        more |= {"evidence": (evidence(source, source.text),), "failure_mode": modes.get(label)}
        more |= {"per_passage": (PassageVerdict(source.id, label, LIKELY[label]),)}
        claims.append(claim(place, sentence, label, LIKELY[label], start, **more))
    score = sum(label is S for label in labels) / len(labels)
    return sample, ec.Result.of(sample, PROVENANCE, ec.Outcome.SCORED, score, claims=tuple(claims))


def lettered(labels: str, name: str = "a", **fields: Any) -> ec.Result:
    """Return a scored answer with a claim per letter, s, u or c, and no more said of each."""
    claims = tuple(claim(n, f"Claim number {n}.", LETTERS[letter]) for n, letter in enumerate(labels, 1))
    score = labels.count("s") / len(labels)
    return ec.Result(name, ec.Outcome.SCORED, score, PROVENANCE, claims=claims, **fields)


def unscored(outcome: ec.Outcome, name: str = "x", reason: str = "", **fields: Any) -> ec.Result:
    return ec.Result(name, outcome, fields.pop("score", None), PROVENANCE, reason=reason, **fields)


def failed(name: str = "f", reason: str = "missing_verdict: none for c1") -> Answer:
    """Return an answer whose judge failed."""
    sample = ec.Sample(name, "An answer that nobody judged.", (ec.Passage("p1", "A passage."),))
    return sample, a_failure(sample, reason)


def a_failure(sample: ec.Sample, reason: str = "missing_verdict: none for c1") -> ec.Result:
    return ec.Result.of(sample, PROVENANCE, ec.Outcome.FAILED, reason=reason)


def a_sample(number: int = 0, *, text: str = "Tea is hot.", tags: dict[str, str] | None = None) -> ec.Sample:
    """Return a sample with every field filled; different numbers give different content."""
    return ec.Sample(
        id=f"s{number}",
        response=f"{text} Milk is white. ({number})",
        passages=(ec.Passage("p1", text), ec.Passage("p2", "Milk is black.", "On milk")),
        question=f"What about {number}?",
        reference="Tea is hot.",
        tags=tags or {"source": "kitchen"},
        model="writer-1",
        release="v1",
        timestamp="2026-01-02T03:04:05Z",
    )


def a_result(sample: ec.Sample, score: float = 0.5) -> ec.Result:
    """Return the result of such a sample: a supported and a contradicted claim, every field filled."""
    tea, milk = sample.passages
    black = {"evidence": (evidence(milk, "black"),), "per_passage": (PassageVerdict("p2", C, LIKELY[C]),)}
    black |= {"failure_mode": ec.FailureMode.ENTITY_SWAP, "conflict": True, "flags": ("certainty_differs",)}
    claims = (
        claim(1, tea.text, S, LIKELY[S], judge="", evidence=(evidence(tea, tea.text),)),
        claim(2, "Milk is white.", C, LIKELY[C], len(tea.text) + 1, rationale="the colour differs", **black),
    )
    return ec.Result.of(
        sample,
        PROVENANCE,
        ec.Outcome.SCORED,
        score,
        claims=claims,
        skipped=(Skipped("Well!", Span(1, 2), "greeting"),),
        warnings=("short",),
        usage=Usage(1, 20, 3, 0, 0.1 + 0.2),
        components={"precision": 1 / 3, "recall": None},
        reference_claims=(claim(1, "Tea is hot.", U),),
        details={"queries": [{"text": "tea", "found": 2}], "settled": True},
    )


def some_answers(count: int, wrong: int, *, release: str = "v1") -> Iterator[Answer]:
    """Yield answers of three claims about towns; in so many of them, spread evenly, one claim is not supported."""
    bad = {int(place * count / wrong) for place in range(wrong)}
    for number in range(count):
        sentences = (
            f"Town {number} was founded in {1800 + number}.",
            f"It has {number + 3} bridges.",
            "Its river is the Aller.",
        )
        labels = (S, (C if number % 4 else U) if number in bad else S, S)
        tags = {"source": "single" if number % 3 else "multi"}
        question = f"What is known of town {number}?"
        yield answered(sentences, labels, name=f"t{number:03}", question=question, release=release, tags=tags)


def keep(store: Store, run: str, *numbers: int, text: str = "Tea is hot.") -> None:
    """Keep the samples of these numbers at their places."""
    samples = {number: a_sample(number, text=text) for number in numbers}
    store.save_all(run, [Kept(n, fingerprint(one), one, a_result(one)) for n, one in samples.items()])


def keep_run(
    store: Store,
    answers: Iterable[Answer],
    *,
    name: str = "",
    is_finished: bool = True,
    total: int | None = None,
    **config: Any,
) -> str:
    """Keep answers as a run and return its id; one that is not finished is held until the store is closed."""
    kept = [Kept(place, fingerprint(sample), sample, result) for place, (sample, result) in enumerate(answers)]
    dataset = f"{name or 'answers'}.jsonl"
    run = store.create_run(PROVENANCE, name=name, dataset=dataset, config=config, total=total or len(kept))
    store.save_all(run.id, kept)
    if is_finished:
        store.finish_run(run.id, "finished")
    return run.id


def say(store: Store, run: str, sample: str, claim: str, label: ec.Label, who: str = "Ada", note: str = "") -> None:
    """Label a claim, as a file of labels would."""
    [kept] = store.find(run, sample)
    [judged] = [judged for judged in kept.result.claims if judged.id == claim]
    answer = answer_key_of(kept.sample)
    store.add_labels(run, [Annotation(label, who, answer, claim_key(answer, judged.text), judged.span, note)])

"""One answer at a time: score it, judge given claims, or only decompose it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack, cast

from everyclaim.api.components import (
    DEFAULT_JUDGE,
    Options,
    Strategy,
    build_decomposer,
    build_judge,
    build_metric,
    in_talks,
)
from everyclaim.api.talking import TalkingOfSize
from everyclaim.core.errors import InputError
from everyclaim.core.limits import Limits, within
from everyclaim.core.protocols import Decomposer, Verifier
from everyclaim.core.scope import scope
from everyclaim.core.types import Claim, Decomposition, JudgedClaim, Passage, Result, Sample, Span
from everyclaim.decompose.checked import decomposed
from everyclaim.engine import score_sample, wait
from everyclaim.io import read_samples
from everyclaim.verify import Policy, judged

Passages = str | Sequence[str | Passage | Mapping[str, Any]]


async def ascore(
    *,
    response: str,
    passages: Passages = (),
    question: str = "",
    reference: str | None = None,
    model: str | None = None,
    **options: Unpack[Options],
) -> Result:
    """Score one answer; see `score`."""
    with within(Limits.of(options)):
        sample = read_sample(response, passages, question, reference, model)
    with in_talks(options) as chosen:
        async with scope():
            return await score_sample(build_metric(chosen), sample)


def score(
    *,
    response: str,
    passages: Passages = (),
    question: str = "",
    reference: str | None = None,
    model: str | None = None,
    **options: Unpack[Options],
) -> Result:
    """Score one answer against its passages, offline unless a judge that lives elsewhere is named.

    `passages` are strings, `Passage`s, or mappings with `text` and optionally `id` and `title`; passages
    without an id are `p1`, `p2`, … `model` names the one that wrote the answer: a judge of its family is warned of.

    Options: `judge`, `decomposer`, `metric` (specs, or for the first two
    components of your own), `strategy` (`joint`, `each`, `ranked`), `strict`, `empty`, and for language models
    `base_url`, `headers`, `claims_per_call`, `repeats`, `rubric`, `max_cost`, `cache` and the others of the settings;
    `max_answer_chars`, `max_passage_chars`, `max_passages`, `max_claims`, `max_row_mb` say how large all may be.

    A judge's failure does not raise: the result's `outcome` is then `failed`, with the reason and without
    a score. Raises `InputError` for what is not text or is too large, and `ConfigError` for a wrong option. Works
    inside a running event loop, too.
    """
    scoring = ascore(
        response=response, passages=passages, question=question, reference=reference, model=model, **options
    )
    return wait(scoring)


async def averify_claims(
    claims: str | Sequence[str],
    passages: Passages,
    *,
    question: str = "",
    judge: str | Verifier = DEFAULT_JUDGE,
    strategy: Strategy | None = None,
    strict: bool = False,
    **talking: Unpack[TalkingOfSize],
) -> tuple[JudgedClaim, ...]:
    """Judge given claims; see `verify_claims`."""
    texts = [claims] if isinstance(claims, str) else list(claims)
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"a claim must be a text that says something, got {text!r}")
    given = [Claim(f"c{i}", text, Span(0, len(text)), text) for i, text in enumerate(texts, start=1)]
    with within(Limits.of(talking)) as limits:
        limits.check_claims(len(given), "claims")
        sample = read_sample(max(texts, key=len, default=""), passages, question, None)
    policy = Policy.strict() if strict else Policy()
    with in_talks(_options(talking, judge=judge, strategy=strategy)) as chosen:
        verifier = build_judge(chosen).verifier
        async with scope():
            return await judged(verifier, given, sample.passages, question=question, policy=policy)


def verify_claims(
    claims: str | Sequence[str],
    passages: Passages,
    *,
    question: str = "",
    judge: str | Verifier = DEFAULT_JUDGE,
    strategy: Strategy | None = None,
    strict: bool = False,
    **talking: Unpack[TalkingOfSize],
) -> tuple[JudgedClaim, ...]:
    """Judge given claims against passages, one verdict per claim, in order; nothing is decomposed.

    `talking` are the options of language models, as for `score`. Raises `JudgeError` when the judge gives no usable
    verdict, `InputError` for an empty claim.
    """
    judging = averify_claims(
        claims, passages, question=question, judge=judge, strategy=strategy, strict=strict, **talking
    )
    return wait(judging)


def extract_claims(
    response: str,
    *,
    question: str = "",
    decomposer: str | Decomposer | None = None,
    **talking: Unpack[TalkingOfSize],
) -> Decomposition:
    """Split a response into claims, and say what was skipped and why; `talking` is as for `score`."""
    if not isinstance(response, str):
        raise InputError(f"the response must be a text, got {type(response).__name__}")
    with within(Limits.of(talking)) as limits, in_talks(_options(talking, decomposer=decomposer)) as chosen:
        if fault := limits.fault({"response": response, "question": question}, ()):
            raise InputError(fault)
        return wait(decomposed(build_decomposer(chosen), response, question=question))


def _options(talking: TalkingOfSize, **others: Any) -> Options:
    return cast("Options", {**talking, **others})


def read_sample(
    response: str, passages: Passages, question: str, reference: str | None, model: str | None = None
) -> Sample:
    """Read one sample the way a row of a file is read, so that both accept the same."""
    if not isinstance(response, str):
        raise InputError(f"the response must be a text, got {type(response).__name__}")
    shelf: list[Any] = [passages] if isinstance(passages, str) else list(passages)
    row = {
        "id": "1",
        "question": question,
        "response": response,
        "contexts": [_plain(passage) for passage in shelf],
        "reference": reference,
        "model": model,
    }

    def refuse(bad: Any) -> None:
        raise InputError(bad.reason)

    return next(iter(read_samples([row], on_bad_row=refuse)))


def _plain(passage: Any) -> Any:
    if isinstance(passage, Passage):
        return {"id": passage.id, "text": passage.text, "title": passage.title}
    return passage

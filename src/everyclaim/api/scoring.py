"""One answer at a time: score it, judge given claims, or only decompose it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Unpack, cast

from everyclaim.api.components import (
    DecomposerSpec,
    JudgeOptions,
    Options,
    build_decomposer,
    build_judge,
    build_metric,
    in_talks,
)
from everyclaim.api.door import public
from everyclaim.api.talking import Reaching
from everyclaim.core.errors import InputError
from everyclaim.core.limits import Limits, within
from everyclaim.core.protocols import Decomposer
from everyclaim.core.scope import scope
from everyclaim.core.types import Claim, Decomposition, JudgedClaim, Passage, Result, Sample, Span
from everyclaim.core.validation import UNDER_TEST, Text
from everyclaim.decompose.checked import decomposed
from everyclaim.engine import score_sample, wait
from everyclaim.io import read_samples
from everyclaim.verify import Policy, judged

Passages = Annotated[
    str | Passage | Mapping[str, Any] | Sequence[str | Passage | Mapping[str, Any]],
    "a text, a mapping with a text, or a list of these",
    UNDER_TEST,
]
Claims = Annotated[str | Sequence[str], "a text that says something, or a list of such texts", UNDER_TEST]


@public
async def ascore(
    *,
    response: Text,
    passages: Passages = (),
    question: Text = "",
    reference: Annotated[str | None, UNDER_TEST] = None,
    model: Annotated[str | None, UNDER_TEST] = None,
    **options: Unpack[Options],
) -> Result:
    """Score one answer; see `score`."""
    with within(Limits.of(options)):
        sample = read_sample(response, passages, question, reference, model)
    with in_talks(options) as chosen:
        async with scope():
            return await score_sample(build_metric(chosen), sample)


@public
def score(
    *,
    response: Text,
    passages: Passages = (),
    question: Text = "",
    reference: Annotated[str | None, UNDER_TEST] = None,
    model: Annotated[str | None, UNDER_TEST] = None,
    **options: Unpack[Options],
) -> Result:
    """Score one answer against its passages, offline unless a judge that lives elsewhere is named.

    `passages` are strings, `Passage`s, or mappings with `text` and optionally `id` and `title`, or one of these alone;
    passages without an id are `p1`, `p2`, … Where there are none, every claim is unsupported, and the result's
    `warnings` say so. `model` names the one that wrote the answer: a judge of its family is warned of. Options:
    `judge`, `decomposer`, `metric` (specs, or for the first two components of your own), `strategy` (`joint`, `each`,
    `ranked`), `strict`, `empty`, and for language models `base_url`, `headers`, `claims_per_call`, `repeats`, `rubric`,
    `max_cost`, `cache` and the others of the settings; `max_answer_chars`, `max_passage_chars`, `max_passages`,
    `max_claims`, `max_row_mb` say how large all may be.

    Limits (`max_cost`, `max_calls`, `max_tokens`) and rates are of this one call and begin anew with the next: three
    calls with ``max_calls=2`` may make six requests. For one limit over many answers take `score_file` or a `Guard`.

    A judge's failure does not raise: the result's `outcome` is then `failed`, with the reason and without
    a score; a limit that is reached raises `BudgetExceeded`. Raises `InputError` for what is not text or is too large,
    and `ConfigError` for an option that is unknown, wrong or would do nothing. Works inside a running event loop, too.
    """
    scoring = ascore(
        response=response, passages=passages, question=question, reference=reference, model=model, **options
    )
    return wait(scoring)


@public
async def averify_claims(
    claims: Claims,
    passages: Passages,
    *,
    question: Text = "",
    **options: Unpack[JudgeOptions],
) -> tuple[JudgedClaim, ...]:
    """Judge given claims; see `verify_claims`."""
    texts = [claims] if isinstance(claims, str) else claims
    if not all(text.strip() for text in texts):
        raise InputError("a claim must be a text that says something, got an empty one")
    given = [Claim(f"c{i}", text, Span(0, len(text)), text) for i, text in enumerate(texts, start=1)]
    with within(Limits.of(options)) as limits:
        limits.check_claims(len(given), "claims")
        sample = read_sample(max(texts, key=len, default=""), passages, question, None)
    policy = Policy.strict() if options.get("strict") else Policy()
    with in_talks(options) as chosen:
        verifier = build_judge(chosen).verifier
        async with scope():
            return await judged(verifier, given, sample.passages, question=question, policy=policy)


@public
def verify_claims(
    claims: Claims,
    passages: Passages,
    *,
    question: Text = "",
    **options: Unpack[JudgeOptions],
) -> tuple[JudgedClaim, ...]:
    """Judge given claims against passages, one verdict per claim, in order; nothing is decomposed.

    Options: `judge`, `strategy`, `strict` and those of language models that judge, as for `score`. Raises `JudgeError`
    when the judge gives no usable verdict, `InputError` for an empty claim, and otherwise what `score` raises.
    """
    return wait(averify_claims(claims, passages, question=question, **options))


@public
def extract_claims(
    response: Text,
    *,
    question: Text = "",
    decomposer: DecomposerSpec | Decomposer | None = None,
    **talking: Unpack[Reaching],
) -> Decomposition:
    """Split a response into claims, and say what was skipped and why; `talking` is as for `score`."""
    asked = cast("Options", {**talking, "decomposer": decomposer})
    with within(Limits.of(talking)) as limits, in_talks(asked) as chosen:
        if fault := limits.fault({"response": response, "question": question}, ()):
            raise InputError(fault)
        return wait(decomposed(build_decomposer(chosen), response, question=question))


def read_sample(
    response: str, passages: Passages, question: str, reference: str | None, model: str | None = None
) -> Sample:
    """Read one sample the way a row of a file is read, so that both accept the same."""
    shelf: Any = [passages] if isinstance(passages, str | Passage) else passages
    row = {
        "id": "1",
        "question": question,
        "response": response,
        "contexts": shelf if isinstance(shelf, Mapping) else [_plain(passage) for passage in shelf],
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

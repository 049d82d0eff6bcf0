"""One answer at a time: score it, judge given claims, or only decompose it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self, TypedDict, TypeVar, Unpack, cast

from everyclaim.api.options import JudgeOptions, JudgeSpec, LlmSplittingOptions, Options, chosen_of, public
from everyclaim.api.session import Session
from everyclaim.api.specs import providers
from everyclaim.core.errors import ConfigError, InputError
from everyclaim.core.kinds import described
from everyclaim.core.lifetime import AsyncClosing, Closing
from everyclaim.core.limits import within
from everyclaim.core.options import UNDER_TEST, OptionalText, Text
from everyclaim.core.protocols import Decomposer, Verifier
from everyclaim.core.types import (
    Claim,
    Decomposition,
    JudgedClaim,
    Label,
    Outcome,
    Passage,
    Provenance,
    Result,
    Sample,
    Span,
)
from everyclaim.engine import score_sample, wait
from everyclaim.io import ReadReport, read_samples
from everyclaim.io.tables import is_table
from everyclaim.verify import Policy, judged

Passages = Annotated[
    str | Passage | Mapping[str, Any] | Sequence[str | Passage | Mapping[str, Any]],
    "a text, a mapping with a text, or a list of these",
    UNDER_TEST,
]
Claims = Annotated[str | Sequence[str], "a non-empty text, or a list of such texts", UNDER_TEST]
Row = Annotated[Any, UNDER_TEST]  # read as a row of a file is


class AnswerFields(TypedDict, total=False):
    """An answer by its fields, where no row is given."""

    response: OptionalText
    passages: Passages
    question: Text
    reference: OptionalText
    model: OptionalText


class ScoreOptions(AnswerFields, Options, total=False):
    """An answer, and what can be chosen about its score."""


@public
async def ascore(row: Row = None, **options: Unpack[ScoreOptions]) -> Result:
    """Score one answer; see `score`."""
    fields = cast("AnswerFields", chosen_of(options, AnswerFields))
    with closing(Session(chosen_of(options, Options))) as session:
        return await session.work(scored(session, row, fields))


@public
def score(row: Row = None, **options: Unpack[ScoreOptions]) -> Result:
    """Score one answer against its passages; offline unless `judge` names a remote model.

    `row` is a `Sample`, or a mapping with any of the field names that files may have (``answer``, ``contexts``,
    ``user_input``, …); or pass the fields by name. `passages` are strings, `Passage`s, mappings with `text` and
    optionally `id` and `title`, or a single one of these; passages without an id are `p1`, `p2`, … Without passages
    every claim is unsupported, with a warning in `warnings`. `model` names the model that wrote the answer; a judge of
    the same family causes a warning. Options: `judge`, `decomposer`, `metric` (specs, or for the first two your own
    components), `strategy` (`joint`, `each`, `ranked`), `strict`, `empty`, and for language models `base_url`,
    `headers`, `claims_per_call`, `repeats`, `rubric`, `max_cost`, `cache` and the other settings; `max_answer_chars`,
    `max_passage_chars`, `max_passages`, `max_claims`, `max_row_mb` limit sizes.

    Limits (`max_cost`, `max_calls`, `max_tokens`) and rates apply to this one call: three calls with ``max_calls=2``
    may make six requests. For one limit over many answers use an `Evaluator`, which also reuses connections.

    A judge failure does not raise: `outcome` is then `failed`, with a reason and without a score. A limit raises
    `BudgetExceeded`. Raises `InputError` for input that is not text or is too large, and `ConfigError` for an option
    that is unknown, wrong or without effect. Also works inside a running event loop.
    """
    return wait(ascore(row, **options))


@public
async def averify_claims(
    claims: Claims, passages: Passages, *, question: Text = "", **options: Unpack[JudgeOptions]
) -> tuple[JudgedClaim, ...]:
    """Judge given claims; see `verify_claims`."""
    with closing(Session(options)) as session:
        return await session.work(verified(session, claims, passages, question))


@public
def verify_claims(
    claims: Claims, passages: Passages, *, question: Text = "", **options: Unpack[JudgeOptions]
) -> tuple[JudgedClaim, ...]:
    """Judge given claims against passages without splitting; one verdict per claim, in order.

    Options: `judge`, `strategy`, `strict` and those of LLM judges, as for `score`. For the cost use `Evaluator.verify`
    and its `usage`. Raises `JudgeError` if the judge gives no usable verdict, `InputError` for an empty claim, and
    otherwise what `score` raises.
    """
    return wait(averify_claims(claims, passages, question=question, **options))


@public
def extract_claims(
    response: Text,
    *,
    question: Text = "",
    decomposer: JudgeSpec | Decomposer | Callable[..., Any] | None = None,
    **talking: Unpack[LlmSplittingOptions],
) -> Decomposition:
    """Split a response into claims and list what was skipped and why; options of language models as for `score`."""
    with closing(Session({**talking, "decomposer": decomposer})) as session:
        return session.run(split(session, response, question))


async def scored(session: Session, row: Any, fields: AnswerFields) -> Result:
    """Score the row, or else the answer made of these fields."""
    with within(session.limits):
        if row is None:
            _check_model(fields.get("model"), session)
        sample, warnings = sample_of(row, fields)
    result = await score_sample(session.metric, sample)
    return replace(result, warnings=(*warnings, *result.warnings)) if warnings else result


def sample_of(row: Any, fields: AnswerFields) -> tuple[Sample, tuple[str, ...]]:
    """Read the row, or else the answer made of these fields; also return what there is to say of it."""
    response = fields.get("response")
    if row is None:
        if response is None:
            raise InputError("score() needs 'response', or a row with one")
        given: Any = fields
        return read_sample(**given), ()
    if response is not None or any(fields.values()):
        raise ConfigError("score() takes a row or its fields by name, not both")
    return _read_row(row)


async def verified(
    session: Session, claims: str | Sequence[str], passages: Passages, question: str
) -> tuple[JudgedClaim, ...]:
    """Judge given claims."""
    texts = [claims] if isinstance(claims, str) else claims
    if not all(text.strip() for text in texts):
        raise InputError("a claim must not be empty")
    given = [given_claim(number, text) for number, text in enumerate(texts, start=1)]
    with within(session.limits) as limits:
        limits.check_claims(len(given), "claims")
        sample = read_sample(max(texts, key=len, default=""), passages, question)
    return await judged(session.judge.verifier, given, sample.passages, question=question, policy=session.policy)


async def split(session: Session, response: str, question: str) -> Decomposition:
    """Split a response into claims."""
    from everyclaim.decompose.checked import decomposed  # loads the splitter

    with within(session.limits) as limits:
        if fault := limits.fault({"response": response, "question": question}, ()):
            raise InputError(fault)
        return await decomposed(session.decomposer, response, question=question)


def read_sample(
    response: str, passages: Passages = (), question: str = "", reference: str | None = None, model: str | None = None
) -> Sample:
    """Read one sample the way a row of a file is read, so that both accept the same."""
    shelf: Any = [passages] if isinstance(passages, str | Passage) else passages
    row = {
        "id": "1",
        "question": question,
        "response": response,
        "contexts": shelf,
        "reference": reference,
        "model": model,
    }
    return next(iter(read_samples([row], on_bad_row=_refuse)))


def _read_row(row: Any) -> tuple[Sample, tuple[str, ...]]:
    """Read a row, and what there is to say of it. Passages may be given as to `score`, one alone as well."""
    if isinstance(row, str | bytes) or is_table(row) or (not isinstance(row, Mapping) and isinstance(row, Sequence)):
        got = described(row)
        raise InputError(
            f"row of score() must be a Sample or a mapping such as {{'response': …, 'contexts': […]}}, got {got}; pass "
            "an answer by name, as in score(response=…, passages=…), and many rows to score_file()"
        )
    report = ReadReport()
    sample = next(iter(read_samples([row], on_bad_row=_refuse, report=report, contexts=False)))
    return sample, report.warnings


def _refuse(bad: Any) -> None:
    raise InputError(bad.reason)


def _check_model(model: str | None, session: Session) -> None:
    """Refuse a spec of ours as the writer's name where no judge is named: the judge was meant."""
    if model and "judge" not in session.options and ":" in model and providers(model.partition("?")[0]):
        raise ConfigError(
            f"model names the model that wrote the answer; to choose the judge, use judge={model!r}. If "
            "it did write the answer, name the judge as well, as in judge='embedded'"
        )


@dataclass(frozen=True, slots=True)
class GivenClaims:
    """A session's judge and policy as the metric of samples whose claims are given and need no decomposition."""

    judge: Verifier
    policy: Policy
    provenance: Provenance
    labels_only: bool = False
    claims: Sequence[Claim] = ()

    @classmethod
    def of(cls, session: Session, name: str, *, labels_only: bool = False) -> Self:
        """Take over what a session judges by; results store `name` as their metric.

        `labels_only` where nothing but labels is looked at: why a claim fails is not looked for.
        """
        return cls(session.judge.verifier, session.policy, session.provenance(name), labels_only)

    async def result(self, sample: Sample, claims: Sequence[Claim]) -> Result:
        """Judge a sample's claims, at least one, against its passages; a judge's failure is an outcome.

        Raises `UnreachableError` where the judge's address has never answered.
        """
        return await score_sample(replace(self, claims=claims), sample, purpose="claims", is_of_many=True)

    async def score(self, sample: Sample) -> Result:
        """Judge the claims; the score is the share that is supported."""
        found = await judged(
            self.judge,
            self.claims,
            sample.passages,
            question=sample.question,
            policy=self.policy,
            labels_only=self.labels_only,
        )
        share = sum(one.verdict.label is Label.SUPPORTED for one in found) / len(found)
        return Result(sample.id, Outcome.SCORED, share, self.provenance, claims=found)


def given_claim(number: int, text: str, sentence: str = "") -> Claim:
    """Return a claim that comes without its answer: it is its own place, and its own sentence where none is said."""
    return Claim(f"c{number}", text, Span(0, len(text)), sentence or text)


T = TypeVar("T")
Judged = tuple[JudgedClaim, ...]


class Answers(Closing, AsyncClosing):
    """Scores, verifies and splits single answers, for callers that wait and for those that await.

    What is done (`_scored`, `_verified`, `_split`) and on which event loop (`_run`, `_join`) is the session's, unless a
    subclass says otherwise.
    """

    _session: Session

    @public
    async def ascore(self, row: Row = None, **fields: Unpack[AnswerFields]) -> Result:
        """Score one answer; see `everyclaim.score`."""
        return await self._join(self._scored(row, fields))

    @public
    def score(self, row: Row = None, **fields: Unpack[AnswerFields]) -> Result:
        """Score one answer; see `everyclaim.score`."""
        return self._run(self._scored(row, fields))

    @public
    async def averify(self, claims: Claims, passages: Passages, *, question: Text = "") -> tuple[JudgedClaim, ...]:
        """Judge given claims; see `everyclaim.verify_claims`."""
        return await self._join(self._verified(claims, passages, question))

    @public
    def verify(self, claims: Claims, passages: Passages, *, question: Text = "") -> tuple[JudgedClaim, ...]:
        """Judge given claims; see `everyclaim.verify_claims`."""
        return self._run(self._verified(claims, passages, question))

    @public
    async def aclaims(self, response: Text, *, question: Text = "") -> Decomposition:
        """Split a response into claims; see `everyclaim.extract_claims`."""
        return await self._join(self._split(response, question))

    @public
    def claims(self, response: Text, *, question: Text = "") -> Decomposition:
        """Split a response into claims; see `everyclaim.extract_claims`."""
        return self._run(self._split(response, question))

    def _scored(self, row: Any, fields: AnswerFields) -> Coroutine[Any, Any, Result]:
        return scored(self._session, row, fields)

    def _verified(self, claims: Claims, passages: Passages, question: str) -> Coroutine[Any, Any, Judged]:
        return verified(self._session, claims, passages, question)

    def _split(self, response: str, question: str) -> Coroutine[Any, Any, Decomposition]:
        return split(self._session, response, question)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._session.run(work)

    async def _join(self, work: Coroutine[Any, Any, T]) -> T:
        return await self._session.work(work)

    async def aclose(self) -> None:
        """Close without blocking the event loop."""
        await asyncio.to_thread(self.close)

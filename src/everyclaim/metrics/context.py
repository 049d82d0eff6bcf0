"""What a metric is given and what it gives back. Everything else is done for it, by `assembled`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal, Protocol

from everyclaim.core.errors import ConfigError, JudgeError
from everyclaim.core.events import accounted
from everyclaim.core.lifetime import gather
from everyclaim.core.limits import SizeLimits
from everyclaim.core.plaintext import counted
from everyclaim.core.protocols import ChatModel, Decomposer, KnowledgeSource, Scorer, Verifier
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
    Skipped,
    Verdict,
)
from everyclaim.verify.verdicts import Policy, judged


@dataclass(frozen=True, slots=True)
class Score:
    """What a metric makes of a sample: a number from 0 to 1, or None where there is nothing to score.

    `components` are the named parts of the number, each from 0 to 1 or None; `details` is plain JSON; `reason` says
    why there is no number. The result's claims are those of the response that `MetricContext.judge` judged, and what
    its decomposition skipped, unless a metric says otherwise with `claims` and `skipped`; `abstained` says whether the
    response declined to answer, where the metric knows better than the decomposer. `reference_claims` are judged claims
    of the reference. `probability`: that none of the response's claims is unsupported.
    """

    value: float | None
    components: Mapping[str, float | None] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    reason: str = ""
    claims: Sequence[JudgedClaim] | None = None
    reference_claims: Sequence[JudgedClaim] = ()
    skipped: Sequence[Skipped] | None = None
    abstained: bool | None = None
    probability: float | None = None


class Metric(Protocol):
    """Sample → score.

    May also have `spec`, a text that names it in results; `parameters`, a mapping of texts that results store beside
    it; and, where its numbers need the whole run, ``over_run(results)``: given a function that yields the results of
    the run (as often as it is called), it yields them again with their final numbers, or is None.
    """

    async def score(self, sample: Sample, ctx: MetricContext) -> Score:
        """Score one sample. What `ctx` raises passes through: it is the sample's outcome."""


class NothingToCheckError(Exception):
    """A text makes no claim: the sample is `no_claims`, or `abstained` when the response declines to answer."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


Empty = Literal["exclude", "one", "zero", "nan"]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a metric is built on. A metric's factory takes its `Spec`, and this as `parts` where it wants it."""

    decomposer: Decomposer
    verifier: Verifier
    provenance: Provenance
    policy: Policy = field(default_factory=Policy)
    empty: Empty = "exclude"
    knowledge: Any = None  # as given in Python, until the metric is put together
    chats: Any = None  # through which language models are reached, with the cache that searches share
    limits: SizeLimits = field(default_factory=SizeLimits)
    chat: ChatModel | None = None  # the judge's own language model, else the decomposer's


@dataclass(slots=True)
class Noted:
    """What was asked for and found while one sample was scored, for the result's account of it."""

    parts: Decomposition | None = None  # of the response
    failure: Exception | None = None  # the first
    judges: list[str] = field(default_factory=list)  # their specs, each once
    is_model_used: bool = False
    is_searched: bool = False
    is_without_passages: bool = False
    unread: str = ""  # why claims of the response were not judged
    contradicted: tuple[JudgedClaim, ...] = ()  # those of them that a value contradicts all the same
    _verdicts: dict[int, Verdict] = field(default_factory=dict)  # by identity
    _judged: dict[tuple[str, str, int], JudgedClaim] = field(default_factory=dict)

    def keep(self, claims: Iterable[JudgedClaim]) -> None:
        """Keep claims whose verdicts were checked."""
        for claim in claims:
            self._verdicts[id(claim.verdict)] = claim.verdict
            self._judged[_key(claim)] = claim

    def is_checked(self, claim: JudgedClaim) -> bool:
        """Whether a claim's verdict came through the context."""
        return id(claim.verdict) in self._verdicts

    def of_response(self) -> tuple[JudgedClaim, ...]:
        """Return the claims of the response that were judged, in order, each with its last verdict."""
        claims = self.parts.claims if self.parts else ()
        return tuple(self._judged[key] for key in map(_key, claims) if key in self._judged)

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Note what fails inside, whatever becomes of it."""
        try:
            yield
        except Exception as error:
            self.failure = self.failure or error
            raise


class MetricContext:
    """What a metric may ask for while it scores one sample.

    Claims and verdicts that come from here are checked, and under the policy of the run. What fails here stands: a
    metric that goes on and returns a number all the same has failed.
    """

    def __init__(self, sample: Sample, parts: Parts, noted: Noted | None = None) -> None:
        self.sample = sample
        self._with = parts
        self._noted = noted or Noted()

    async def claims(self, text: str, *, question: str | None = None) -> Decomposition:
        """Decompose a text of the sample into claims, at least one; `question` is the sample's unless another is given.

        Raises `NothingToCheckError` when there is none, which ends the metric: the outcome is then `no_claims`, or
        `abstained`; and `JudgeError` when the decomposer fails.
        """
        from everyclaim.decompose.antecedents import in_conversation
        from everyclaim.decompose.checked import decomposed  # what reads texts is loaded where a text is scored
        from everyclaim.decompose.citing import with_citations_listed

        asked = self.sample.question if question is None else question
        is_response = text == self.sample.response
        with self._noted.failures():
            parts = await decomposed(self._with.decomposer, text, question=asked)
            parts = with_citations_listed(parts, text, self.sample.passages)
            parts = _with_exact_code(in_conversation(parts, self.sample), self.sample) if is_response else parts
            if is_response and self._noted.parts is None:
                parts = self._noted.parts = await self._without_unread(parts)
            if is_response and not parts.claims:
                raise NothingToCheckError
        if not parts.claims:  # a metric may have something to say all the same
            which = "the reference" if text == self.sample.reference else "a text to check"
            raise NothingToCheckError(f"{which} contains no checkable claim")
        return parts

    async def _without_unread(self, parts: Decomposition) -> Decomposition:
        """Take out the claims of the response that the judge does not read.

        Those that a value or a date contradicts stay, beside claims that are read; alone they make no number.
        """
        from everyclaim.verify.languages import unread_claims, unread_reason
        from everyclaim.verify.lexical.checks import contradicted_exactly

        judge = self._with.verifier.spec
        unread = unread_claims(parts.claims, self.sample, judge)
        if not unread:
            return parts
        doubtful = [claim for claim in parts.claims if claim.id in unread]
        found = await judged(self._with.verifier, doubtful, self.sample.passages, question=self.sample.question)
        self._noted.contradicted = tuple(
            contradicted for claim in found if (contradicted := contradicted_exactly(claim, self.sample.passages))
        )
        stay = {claim.id for claim in self._noted.contradicted}
        left = [
            Skipped(claim.text, claim.span, Outcome.UNREAD.value, unchecked=True)
            for claim in doubtful
            if claim.id not in stay
        ]
        is_all = len(doubtful) == len(parts.claims)
        if is_all or left:
            subject = "the answer is" if is_all else f"{counted(len(left), 'claim')} left out:"
            self._noted.unread = unread_reason(judge, next(iter(unread.values())), subject)
        claims = tuple(claim for claim in parts.claims if claim.id in stay or claim.id not in unread)
        skipped = sorted((*parts.skipped, *left), key=lambda piece: piece.span)
        return replace(parts, claims=() if is_all else claims, skipped=tuple(skipped))

    async def judge(
        self,
        claims: Sequence[Claim],
        passages: Sequence[Passage] | None = None,
        *,
        question: str | None = None,
        by: Verifier | None = None,
        labels_only: bool = False,
    ) -> tuple[JudgedClaim, ...]:
        """Judge claims, each against all of the passages (None: the sample's), in the order given.

        `by` judges in place of the run's judge; the result then says so. `labels_only` where no claim is shown: why one
        fails is not looked for. Raises `JudgeError` when a claim has no usable verdict.
        """
        noted, verifier = self._noted, by or self._with.verifier
        if verifier.spec not in noted.judges:
            noted.judges.append(verifier.spec)
        shelf = self.sample.passages if passages is None else passages
        is_own = passages is None or (passages is self.sample.passages and not noted.is_searched)
        if is_own and not any(passage.text.strip() for passage in shelf):
            noted.is_without_passages = True
        asked = self.sample.question if question is None else question
        with noted.failures():
            found = await judged(
                verifier, claims, shelf, question=asked, policy=self._with.policy, labels_only=labels_only
            )
        contradicted = {_key(claim): claim for claim in noted.contradicted}
        found = tuple(contradicted.get(_key(claim), claim) for claim in found)
        noted.keep(found)
        return found

    async def judge_each(
        self, wanted: Iterable[tuple[Claim, Sequence[Passage]]], *, labels_only: bool = False
    ) -> list[JudgedClaim]:
        """Judge claims, each against passages of its own, in the order given; those with the same ones go together."""
        pairs, groups = list(wanted), dict[tuple[str, ...], list[int]]()
        for place, (_, passages) in enumerate(pairs):
            groups.setdefault(tuple(passage.id for passage in passages), []).append(place)
        answers = await gather(
            self.judge([pairs[place][0] for place in places], pairs[places[0]][1], labels_only=labels_only)
            for places in groups.values()
        )
        found = dict(zip(chain.from_iterable(groups.values()), chain.from_iterable(answers), strict=True))
        return [found[place] for place in range(len(pairs))]

    async def part(self, metric: Scorer) -> Result:
        """Score the sample with another metric, as a part of this one; a judge's failure is an outcome there."""
        self._noted.is_model_used = True
        try:
            result = await metric.score(self.sample)
        except JudgeError as error:
            return Result.of(self.sample, metric.provenance, Outcome.FAILED, reason=str(error))
        self._noted.keep((*result.claims, *result.reference_claims))
        return result

    def answer_probability(self, claims: Sequence[JudgedClaim]) -> float | None:
        """Return how probable the judge finds it that none of an answer's claims is unsupported.

        By a judge that is fitted to whole answers, else the probability of the claim that it is least sure of. None
        where a claim has no probability.
        """
        whole = getattr(self._with.verifier, "answer_probability", None)
        fitted: float | None = whole([claim.verdict for claim in claims]) if whole else None
        if fitted is not None:
            return fitted
        stated = [chances.supported for claim in claims if (chances := claim.verdict.probabilities)]
        return min(stated) if stated and len(stated) == len(claims) else None

    @property
    def is_offline(self) -> bool:
        """Whether the judge is one of those that ship: a further check costs neither a call nor a large model."""
        return self._with.verifier.spec.partition("?")[0].partition(":")[0] in {"embedded", "lexical"}

    @property
    def chat(self) -> ChatModel:
        """The judge's language model, else the decomposer's. Raises `ConfigError` where neither is one."""
        if self._with.chat is None:
            spec = self._with.verifier.spec
            raise ConfigError(f"this metric needs a language model as judge, as in judge='openai:…'; got {spec!r}")
        self._noted.is_model_used = True
        return accounted(self._with.chat)

    @property
    def knowledge(self) -> KnowledgeSource:
        """What can be searched; what it finds is checked. Raises `ConfigError` where nothing was given."""
        if self._with.knowledge is None:
            raise ConfigError("this metric searches: pass knowledge=…, a function from a query to texts or a spec")
        from everyclaim.retrieve.sources import CheckedSource

        self._noted.is_searched = True
        return CheckedSource(self._with.knowledge)


def _with_exact_code(parts: Decomposition, sample: Sample) -> Decomposition:
    """Mark pieces of code that hold an address or a name that no passage has: nothing else judges code."""
    from everyclaim.text.exact import absent_things  # no command over the store needs it

    sources = [f"{one.title}\n{one.text}" for one in sample.passages]

    def is_made_up(piece: Skipped) -> bool:
        return piece.reason == "code" and bool(sources) and bool(absent_things(piece.text, sources, piece.text))

    skipped = (replace(one, unchecked=one.unchecked or is_made_up(one)) for one in parts.skipped)
    return replace(parts, skipped=tuple(skipped))


def supported(claims: Sequence[JudgedClaim]) -> int:
    """Count the claims that are supported."""
    return sum(claim.verdict.label is Label.SUPPORTED for claim in claims)


def _key(claim: Claim) -> tuple[str, str, int]:
    return claim.id, claim.text, claim.span.start

"""The words of the product, as data.

A `Sample` is decomposed into `Claim`s; a verifier gives every claim one `Verdict`; a metric reduces
the verdicts to a `Result`. Everything is frozen: nothing below mutates what it was given.
All offsets are Unicode code points of the text as given, half-open: ``text[start:end]``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Self

from everyclaim.core import printing
from everyclaim.core.bands import Band, band_of
from everyclaim.core.plaintext import words


class Label(StrEnum):
    """What the passages say about a claim."""

    SUPPORTED = "SUPPORTED"  # they entail it
    UNSUPPORTED = "UNSUPPORTED"  # they do not say
    CONTRADICTED = "CONTRADICTED"  # they entail the opposite


class Outcome(StrEnum):
    """What became of a sample. Only `SCORED` has a number."""

    SCORED = "scored"
    NO_CLAIMS = "no_claims"  # nothing to check
    ABSTAINED = "abstained"  # the response declined to answer
    FAILED = "failed"  # the judge did not give usable verdicts; never a score
    UNREAD = "unread"  # in a language that the judge was not measured in


class FailureMode(StrEnum):
    """Why a claim is not supported. `docs/reference/failure-modes.md` draws the lines between them."""

    NUMERIC_MISMATCH = "numeric_mismatch"  # another amount, unit, share, range or rounding
    WRONG_ATTRIBUTION = "wrong_attribution"  # somebody else said, found or thinks it
    HEDGE_MISMATCH = "hedge_mismatch"  # more certain or general than the passages, or less
    IMPLICIT_KNOWLEDGE = "implicit_knowledge"  # general knowledge, probably true; these passages do not say it
    ENTITY_SWAP = "entity_swap"  # another person, place, product, thing or property in its place
    NEGATION = "negation"  # affirms what the passages deny, or the reverse
    TEMPORAL = "temporal"  # another date, time, duration, frequency or order in time
    RELATION = "relation"  # who does what to whom, more or less, cause and effect turned around
    INVENTION = "invention"  # a detail of the topic that the passages neither hold nor imply
    OTHER = "other"  # a judgement or conclusion that the passages do not bear, or anything else


class SplitMark(StrEnum):
    """What a person says of how a claim was cut out of its answer."""

    GOOD = "good"  # one statement, whole, and what the answer says
    OVER_SPLIT = "over_split"  # a fragment: it says something only together with a neighbour
    UNDER_SPLIT = "under_split"  # several statements, which may differ in truth
    NOT_A_CLAIM = "not_a_claim"  # nothing that sources could support: a question, an opinion, talk about the answer
    LOST_MEANING = "lost_meaning"  # says more, less or something else than its sentence


Tag = str | tuple[str, ...]  # with several values, a sample counts in the slice of each

# What evidence names as its passage where a claim was judged against one of these.
RESPONSE, REFERENCE = "response", "reference"


def tag_values(tag: Tag) -> tuple[str, ...]:
    """Return the values of a tag, one or several."""
    return (tag,) if isinstance(tag, str) else tag


class Span(NamedTuple):
    """Half-open code-point offsets."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """One retrieved chunk."""

    id: str
    text: str
    title: str = ""
    kind: str = ""  # what it is, where not a retrieved document: tool, user, answer (an earlier one)


class Source(NamedTuple):
    """What a citation says of a source: number in the answer, name (title, author and year, id), page, address."""

    number: int = 0  # from 1; 0: none
    name: str = ""
    page: str = ""  # or another place in it: "section 4.2"
    address: str = ""


class Citation(NamedTuple):
    """A mark in the response that names sources; it is read, and never judged as text."""

    span: Span
    sources: tuple[Source, ...]


class Turn(NamedTuple):
    """What was said earlier in a conversation, by the `user` or the `assistant`."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One question, one response, and the passages that were retrieved for it.

    `history` completes pronouns and is no evidence; `citations` are those that came beside the response, each with the
    stretch of it that is cited.
    """

    id: str
    response: str
    passages: tuple[Passage, ...] = ()
    question: str = ""
    reference: str | None = None
    tags: Mapping[str, Tag] = field(default_factory=dict)  # slices
    model: str | None = None  # the generator, not the judge
    release: str | None = None
    timestamp: str | None = None  # ISO 8601, as given
    history: tuple[Turn, ...] = ()
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """One independently checkable statement of the response.

    `text` may be completed from its sentence (a subject carried over), so it need not equal
    ``response[span]``; it never holds a number, date or name that `sentence` does not hold, and commits to the same.
    """

    id: str
    text: str
    span: Span  # in the response
    sentence: str  # verbatim; of a list item or table row, behind the lines that introduce it, verbatim too
    citations: tuple[Citation, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A piece of the response that is not a claim, and why (`question`, `greeting`, `meta`, ...).

    `unchecked`: it holds a number or a name all the same, so that an assertion may have gone unjudged.
    """

    text: str
    span: Span
    reason: str
    unchecked: bool = False


@dataclass(frozen=True, slots=True)
class Decomposition:
    """What a decomposer made of a response. `abstained`: the response declines to answer.

    `kept_whole` counts the sentences that are claims as they stand since their claims invented something.
    """

    claims: tuple[Claim, ...]
    skipped: tuple[Skipped, ...] = ()
    abstained: bool = False
    kept_whole: int = 0

    def __str__(self) -> str:
        """Tell what was made of the response in a few lines."""
        return printing.decomposition(self)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A place in a passage; ``passage.text[start:end] == quote`` always holds."""

    passage_id: str
    start: int
    end: int
    quote: str


class Probabilities(NamedTuple):
    """One probability per label; each within [0, 1], summing to 1."""

    supported: float
    unsupported: float
    contradicted: float

    @property
    def label(self) -> Label:
        """The most probable label; on a tie the more cautious of the tied ones is not SUPPORTED."""
        if self.supported > max(self.unsupported, self.contradicted):
            return Label.SUPPORTED
        return Label.CONTRADICTED if self.contradicted > self.unsupported else Label.UNSUPPORTED


@dataclass(frozen=True, slots=True)
class PassageVerdict:
    """What one passage alone says about a claim, where passages were judged one by one."""

    passage_id: str
    label: Label
    probabilities: Probabilities | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a failing claim and its passages part: two stretches of text, and how they differ, in words.

    `claim` lies in the claim's `text`; `passage` in the text of the passage `passage_id`. Both of these are None where
    the passages have nothing in the claim's place, and `claim` is None where no part of the claim can be named.
    """

    reason: str
    claim: Span | None = None
    passage_id: str | None = None
    passage: Span | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's finding on one claim. `flags` say what a reader should know about it.

    Flags in use: `no_passages`, `quote_not_found` (a quote of the judge is nowhere in the passages),
    `no_evidence`, `incomplete_verdict` (the judge left out quotes, reason, failure mode or conflict, or gave
    something else in their place), `hedge_mismatch`, `spread_evidence` (supported only by passages together),
    `unstable` (repeats gave several labels), `disagreement` (of a panel), `audited` and `audit_disagreed` (of a
    cascade), `unsure` (support is about as probable as not, or a language model's own number speaks against its
    label), `value_rounded` (under strict numbers: a value is only rounded, converted or about the one stated).
    """

    claim_id: str
    label: Label
    probabilities: Probabilities | None = None
    evidence: tuple[Evidence, ...] = ()
    rationale: str = ""
    judge: str = ""  # the verifier's spec
    conflict: bool = False  # one passage supports, another contradicts
    failure_mode: FailureMode | None = None
    per_passage: tuple[PassageVerdict, ...] = ()
    flags: tuple[str, ...] = ()
    difference: Difference | None = None  # of a claim that is not supported

    @property
    def probability(self) -> float | None:
        """How probable the judge takes what it says: that the claim is supported, is not, or is contradicted.

        Of UNSUPPORTED it is all that speaks against support, also what is split between two ways of failing.
        """
        if self.probabilities is None:
            return None
        if self.label is Label.UNSUPPORTED:
            return 1.0 - self.probabilities.supported
        return self.probabilities.supported if self.label is Label.SUPPORTED else self.probabilities.contradicted

    @property
    def told_mode(self) -> str:
        """The failure mode in words; empty where there is none, and for `other`, which tells nothing of one claim."""
        mode = self.failure_mode
        return "" if mode is None or mode is FailureMode.OTHER else words(mode.value)

    @property
    def telling_evidence(self) -> tuple[Evidence, ...]:
        """The evidence, that which holds the difference first."""
        parts = self.difference
        if parts is None or parts.passage is None:
            return self.evidence
        start = parts.passage.start
        return tuple(
            sorted(
                self.evidence, key=lambda one: not (one.passage_id == parts.passage_id and one.start <= start < one.end)
            )
        )


@dataclass(frozen=True, slots=True)
class JudgedClaim(Claim):
    """A claim with its verdict."""

    verdict: Verdict

    def __str__(self) -> str:
        """Tell the finding in a few lines: label and claim, why, and the place that speaks to it most."""
        return self.account()

    def account(self, indent: int = 0) -> str:
        """Tell the finding as `str` does, so many columns to the right."""
        return printing.judged_claim(self, indent)


@dataclass(frozen=True, slots=True)
class Usage:
    """What scoring cost. `cost` is in US dollars, None when a price is unknown.

    `prompt_tokens` are all that were sent; some of them a provider read from, or wrote to, its prefix cache.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cache_hits: int = 0  # answered by our own cache, without a call
    cost: float | None = 0.0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Add up; the cost is unknown as soon as one part's is."""
        known = self.cost is not None and other.cost is not None
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cache_hits + other.cache_hits,
            (self.cost or 0.0) + (other.cost or 0.0) if known else None,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )


BETTER = "better"  # the parameter that says which way a metric goes: "lower" where 0 is the best


@dataclass(frozen=True, slots=True)
class Provenance:
    """Which components, with which parameters, in which version of the library."""

    metric: str
    decomposer: str
    verifier: str
    strategy: str
    version: str
    parameters: Mapping[str, str] = field(default_factory=dict)  # policies, prompt and model versions

    @property
    def lower_is_better(self) -> bool:
        """Whether the best score is 0."""
        return self.parameters.get(BETTER) == "lower"

    def quality(self, score: float) -> float:
        """Return a score where 1 is the best, otherwise 1 − score."""
        return 1 - score if self.lower_is_better else score


@dataclass(frozen=True, slots=True)
class Result:
    """One sample, scored: the answer's claims with their verdicts, and what they add up to.

    `score` is within [0, 1] when `outcome` is `scored`, otherwise None (unless an `empty` policy
    asks for the number other tools would give).

    `probability`, within [0, 1], is the judge's own that none of the response's claims is unsupported: fitted to marked
    answers where it is `embedded`, else that of the claim it is least sure of; None where the judge gives none.
    `components` are the named parts of the score (`precision`, `recall`, ...), each within [0, 1], or None
    where it is undefined, which `warnings` then explain; a metric gives the same names for every scored sample.
    `reference_claims` are claims of the reference judged against the response, ids `r1`, `r2`, ...; their
    spans lie in the reference. `details` is plain JSON, what the metric documents of how it came to its score.
    """

    id: str
    outcome: Outcome
    score: float | None
    provenance: Provenance
    reason: str = ""  # why it failed, or was not scored
    claims: tuple[JudgedClaim, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()
    usage: Usage = Usage()
    question: str = ""
    tags: Mapping[str, Tag] = field(default_factory=dict)
    model: str | None = None
    release: str | None = None
    timestamp: str | None = None
    components: Mapping[str, float | None] = field(default_factory=dict)
    reference_claims: tuple[JudgedClaim, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    probability: float | None = None

    @classmethod
    def of(
        cls, sample: Sample, provenance: Provenance, outcome: Outcome, score: float | None = None, **found: Any
    ) -> Self:
        """Make the result of a sample: what it takes over from the sample, and what was `found` besides."""
        return cls(
            id=sample.id,
            outcome=outcome,
            score=score,
            provenance=provenance,
            question=sample.question,
            tags=sample.tags,
            model=sample.model,
            release=sample.release,
            timestamp=sample.timestamp,
            **found,
        )

    @property
    def is_all_skipped(self) -> bool:
        """Whether the response says something and all of it was skipped."""
        return self.outcome is Outcome.NO_CLAIMS and any(piece.reason != "no_words" for piece in self.skipped)

    @property
    def unchecked(self) -> tuple[Skipped, ...]:
        """What was skipped although it holds a number or a name."""
        return tuple(piece for piece in self.skipped if piece.unchecked)

    def count(self, label: Label) -> int:
        """How many claims have this label."""
        return sum(claim.verdict.label is label for claim in self.claims)

    @property
    def counts(self) -> dict[Label, int]:
        """How many claims have each label."""
        return {label: self.count(label) for label in Label}

    @property
    def failing(self) -> tuple[JudgedClaim, ...]:
        """The claims that are not supported, contradicted ones first."""
        wrong = (Label.CONTRADICTED, Label.UNSUPPORTED)
        return tuple(claim for label in wrong for claim in self.claims if claim.verdict.label is label)

    @property
    def quality(self) -> float | None:
        """The score where 1 is the best, otherwise 1 − score; None without a number."""
        return None if self.score is None or self.score != self.score else self.provenance.quality(self.score)

    @property
    def band(self) -> Band | None:
        """The word for the quality: high, good, moderate or low; None without a number."""
        return None if self.quality is None else band_of(self.quality)

    def _repr_html_(self) -> str | None:
        return printing.html_of(self)

    def summary(self) -> str:
        """Tell score, outcome and counts in one line."""
        return printing.summary(self)

    def __str__(self) -> str:
        """Tell what was found in a few lines: the score, and every failing claim with its reason and evidence."""
        return printing.result(self)

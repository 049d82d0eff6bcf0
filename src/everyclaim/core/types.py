"""The words of the product, as data.

A `Sample` is decomposed into `Claim`s; a verifier gives every claim one `Verdict`; a metric reduces the verdicts to a
`Result`. Everything is frozen. All offsets are Unicode code points of the text as given: ``text[start:end]``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Self

from everyclaim.core import printing
from everyclaim.core.plaintext import words
from everyclaim.core.printing import Band, band_of


class Label(StrEnum):
    """What the passages say about a claim."""

    SUPPORTED = "SUPPORTED"  # they entail it
    UNSUPPORTED = "UNSUPPORTED"  # they do not say
    CONTRADICTED = "CONTRADICTED"  # they entail the opposite


class Outcome(StrEnum):
    """Outcome of a sample. Only `SCORED` has a number."""

    SCORED = "scored"
    NO_CLAIMS = "no_claims"  # nothing to check
    ABSTAINED = "abstained"  # the response declined to answer
    FAILED = "failed"  # the judge did not give usable verdicts; never a score
    UNREAD = "unread"  # in a language that the judge was not measured in
    NOT_APPLICABLE = "not_applicable"  # a metric of the user's own returned None

    @property
    def display_name(self) -> str:
        """Name shown to people, also behind a number: "1 without claims"."""
        return {"unread": "other language", "no_claims": "without claims"}.get(self.value, words(self.value))


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
    """A reviewer's mark on how a claim was split from its sentence."""

    GOOD = "good"  # one statement, whole, and what the answer says
    OVER_SPLIT = "over_split"  # a fragment: it says something only together with a neighbour
    UNDER_SPLIT = "under_split"  # several statements, which may differ in truth
    NOT_A_CLAIM = "not_a_claim"  # nothing that sources could support: a question, an opinion, talk about the answer
    LOST_MEANING = "lost_meaning"  # says more, less or something else than its sentence


Tag = str | tuple[str, ...]  # with several values, a sample counts in the slice of each
RESPONSE, REFERENCE = "response", "reference"  # what evidence names as its passage if a claim was judged against these
TURNS_BEFORE = 6  # messages before a question that say what its pronouns stand for
BETTER = "better"  # the parameter that says which way a metric goes: "lower" where 0 is the best


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
    """A cited source: number in the answer, name (title, author and year, id), page, address."""

    number: int = 0  # from 1; 0: none
    name: str = ""
    page: str = ""  # or another place in it: "section 4.2"
    address: str = ""


class Citation(NamedTuple):
    """A citation marker in the response; it is never judged as text."""

    span: Span
    sources: tuple[Source, ...]


class Turn(NamedTuple):
    """An earlier message of a conversation, by the `user` or the `assistant`."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One question, one response, and the retrieved passages.

    `history` resolves pronouns and is not evidence; `citations` are citations delivered with the response, each with
    the span it cites.
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

    `text` may be completed from its sentence (a repeated subject), so it need not equal ``response[span]``. It
    contains no number, date or name that `sentence` does not contain, and asserts nothing more.
    """

    id: str
    text: str
    span: Span  # in the response
    sentence: str  # verbatim; of a list item or table row, behind the lines that introduce it, verbatim too
    citations: tuple[Citation, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A part of the response that is not a claim, and the reason (`question`, `greeting`, `meta`, ...).

    `unchecked`: it may assert something: a number, a name, or a yes or no that cannot be read with the question.
    """

    text: str
    span: Span
    reason: str
    unchecked: bool = False

    @property
    def display_name(self) -> str:
        """The reason as shown to people."""
        return Outcome.UNREAD.display_name if self.reason == Outcome.UNREAD else words(self.reason)


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The claims of a response. `abstained`: the response declines to answer.

    `kept_whole` counts sentences that are judged unsplit because their claims added content.
    """

    claims: tuple[Claim, ...]
    skipped: tuple[Skipped, ...] = ()
    abstained: bool = False
    kept_whole: int = 0

    def __str__(self) -> str:
        return printing.decomposition(self)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quote in a passage; ``passage.text[start:end] == quote`` always holds."""

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

    @classmethod
    def rounded(cls, supported: float, contradicted: float = 0.0) -> Probabilities:
        """Return them with four places, below which padding and the order of sums show."""
        supported, contradicted = round(min(max(supported, 0.0), 1.0), 4), round(contradicted, 4)
        return cls(supported, max(0.0, round(1.0 - supported - contradicted, 4)), contradicted)

    def with_support(self, supported: float) -> Probabilities:
        """Return them with another probability of SUPPORTED; the other two share the rest as before."""
        rest = self.unsupported + self.contradicted
        share = self.unsupported / rest if rest else 1.0
        return Probabilities(supported, (1 - supported) * share, (1 - supported) * (1 - share))


@dataclass(frozen=True, slots=True)
class PassageVerdict:
    """The verdict by one passage alone, if passages were judged one by one."""

    passage_id: str
    label: Label
    probabilities: Probabilities | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a failing claim and its passages differ: two spans and the reason in words.

    `claim` is a span in the claim's `text`, `passage` in the text of the passage `passage_id`; None: nothing to name.
    """

    reason: str
    claim: Span | None = None
    passage_id: str | None = None
    passage: Span | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's finding on one claim. `flags` qualify it.

    Flags: `no_passages`, `quote_not_found` (a quote of the judge is in no passage), `no_evidence`,
    `incomplete_verdict` (the judge omitted or malformed quotes, reason, failure mode or conflict),
    `certainty_differs` (supported, but more or less certain than the passages), `spread_evidence` (supported only by
    several passages together), `unstable` (repeats gave different labels), `disagreement` (of a panel), `audited` and
    `audit_disagreed` (of a cascade), `unsure` (support is about as probable as not, or an LLM's probability
    contradicts its label), `value_rounded` (with strict numbers: a value is rounded, converted or approximate).
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
        """The judge's probability of its own finding: supported, not supported, or contradicted.

        For UNSUPPORTED it is 1 − P(supported), even if that is split between the two failing labels.
        """
        if (chances := self.probabilities) is None or self.label is Label.CONTRADICTED:
            return chances and chances.contradicted
        return chances.supported if self.label is Label.SUPPORTED else 1.0 - chances.supported

    @property
    def probability_name(self) -> str:
        """What `probability` is the probability of, as reports write it."""
        return f"P({'not supported' if self.label is Label.UNSUPPORTED else self.label.value.lower()})"

    @property
    def evidence_name(self) -> str:
        """What `evidence` is, as reports write it: no passage decides an unsupported claim."""
        return "closest evidence" if self.label is Label.UNSUPPORTED else "evidence"

    @property
    def told_mode(self) -> str:
        """The failure mode in words; empty if there is none or it is `other`."""
        return "" if self.failure_mode in (None, FailureMode.OTHER) else words(self.failure_mode)

    @property
    def telling_evidence(self) -> tuple[Evidence, ...]:
        """The evidence, starting with the quote that contains the difference."""
        if self.difference is None or self.difference.passage is None:
            return self.evidence
        place, at = self.difference.passage_id, self.difference.passage.start
        return tuple(sorted(self.evidence, key=lambda one: one.passage_id != place or not one.start <= at < one.end))


@dataclass(frozen=True, slots=True)
class JudgedClaim(Claim):
    """A claim with its verdict."""

    verdict: Verdict

    def __str__(self) -> str:
        """Tell the finding in a few lines: label and claim, why, and the place that speaks to it most."""
        return printing.judged_claim(self)


@dataclass(frozen=True, slots=True)
class Usage:
    """Cost of scoring; `cost` is in US dollars, None if a price is unknown.

    `prompt_tokens` counts all tokens sent, also those of a provider's prefix cache.
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
        parts = [(getattr(self, name), getattr(other, name)) for name in self.__slots__]
        sums: list[Any] = [None if mine is None or theirs is None else mine + theirs for mine, theirs in parts]
        return Usage(*sums)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Components, parameters and version of the library."""

    metric: str
    decomposer: str
    verifier: str
    strategy: str
    version: str
    parameters: Mapping[str, str] = field(default_factory=dict)  # policies, prompt and model versions

    @property
    def metric_name(self) -> str:
        """The metric without its options."""
        return self.metric.partition("?")[0]

    @property
    def lower_is_better(self) -> bool:
        """Whether the best score is 0."""
        return self.parameters.get(BETTER) == "lower"

    def quality(self, score: float) -> float:
        """Return a score where 1 is best, otherwise 1 − score."""
        return 1 - score if self.lower_is_better else score


@dataclass(frozen=True, slots=True)
class Result:
    """A scored sample: the answer's claims with their verdicts, and the score.

    `score` is within [0, 1] if `outcome` is `scored`, otherwise None (unless an `empty` policy asks for the number that
    other tools give). `probability`, within [0, 1], is the judge's probability that no claim of the response is
    unsupported: fitted to labelled answers for `embedded`, else the lowest claim probability; None if the judge gives
    none. `components` are the named parts of the score (`precision`, `recall`, ...), each within [0, 1], or None if
    undefined, with an explanation in `warnings`; a metric gives the same names for every scored sample.
    `reference_claims` are claims of the reference judged against the response, ids `r1`, `r2`, ...; their spans are in
    the reference. `details` is plain JSON that the metric documents.
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
        taken = {name: getattr(sample, name) for name in ("id", "question", "tags", "model", "release", "timestamp")}
        return cls(outcome=outcome, score=score, provenance=provenance, **taken, **found)

    @property
    def is_all_skipped(self) -> bool:
        """Whether the response is not empty and all of it was skipped."""
        return self.outcome is Outcome.NO_CLAIMS and any(piece.reason != "no_words" for piece in self.skipped)

    @property
    def unchecked(self) -> tuple[Skipped, ...]:
        """Skipped parts that may assert something."""
        return tuple(piece for piece in self.skipped if piece.unchecked)

    def count(self, label: Label) -> int:
        """Number of claims with this label."""
        return sum(claim.verdict.label is label for claim in self.claims)

    @property
    def counts(self) -> dict[Label, int]:
        """Number of claims by label."""
        return {label: self.count(label) for label in Label}

    @property
    def failing(self) -> tuple[JudgedClaim, ...]:
        """Claims that are not supported, contradicted ones first."""
        wrong = [claim for claim in self.claims if claim.verdict.label is not Label.SUPPORTED]
        return tuple(sorted(wrong, key=lambda claim: claim.verdict.label))

    @property
    def quality(self) -> float | None:
        """The score where 1 is the best, otherwise 1 − score; None without a number."""
        return None if self.score is None or self.score != self.score else self.provenance.quality(self.score)

    @property
    def band(self) -> Band | None:
        """Quality band: high, good, moderate or low; None without a number."""
        return None if self.quality is None else band_of(self.quality)

    def _repr_html_(self) -> str | None:
        return printing.html_writers[-1](self) if printing.html_writers else None

    def summary(self) -> str:
        """Score, outcome and counts in one line."""
        return printing.summary(self)

    def __str__(self) -> str:
        """Tell what was found in a few lines: the score, and every failing claim with its reason and evidence."""
        return printing.result(self)

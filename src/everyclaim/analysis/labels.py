"""People's labels: which claims to label, what several people's labels come to, and which claims of a run they serve.

Of several annotators an `adjudicated` one decides, else the majority on supported or failing; among those who call a
claim failing the majority says which way, and where they are equal, the weaker word: UNSUPPORTED. Where as many call a
claim supported as failing, it is disputed and counts nowhere until somebody adjudicates.

A run may split an answer otherwise than the labels do. A claim of the run takes, in this order: the label of a claim
with the same text; of one with the same span; that of the labelled claims inside its span, of which a failing one makes
the whole fail, when hardly a word lies outside them (`parts`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import By
from everyclaim.core.types import JudgedClaim, Label, Span, SplitMark
from everyclaim.stats.agreement import cohen_kappa, krippendorff_alpha
from everyclaim.stats.ppi import allocate_to_strata
from everyclaim.stats.prevalence import allocate_labels
from everyclaim.stats.types import Inference
from everyclaim.store.labels import AnyAnnotation
from everyclaim.store.records import Annotation, Picked, claim_key

ADJUDICATED = "adjudicated"

How = Literal["text", "span", "parts"]

LABELS = tuple(Label)
Consensus = Annotation[Label]  # what people say of one text together

_LOOSE_WORDS = 3  # that may lie outside the labelled parts of a claim, or a share of its words; none of them a figure
_LOOSE_SHARE = 0.25
_SIGNS = " \t\n.,;:!?"  # that end a claim
_CITATION = re.compile(r"\[[\d,;\s–-]+\]")
_WORD = re.compile(r"\w+")
# A judge as it is thought to be before there are labels: how often it is right, and how many labels that is worth.
_GUESS, _PILOT = 0.8, 10


T = TypeVar("T")


class LabelledItem(NamedTuple, Generic[T]):
    """What a judge says or measures of a claim, and what people say of it."""

    said: T
    label: str  # of `Label`, or NOT_SUPPORTED where it is not known which of two
    document: Hashable = None  # claims about the same passages belong together; None: on its own

    @property
    def is_supported(self) -> bool:
        """Whether people call it supported."""
        return self.label == Label.SUPPORTED


# ---- choosing claims


class Verdicts(NamedTuple):
    """The claims of the scored answers of a run, in flat arrays."""

    position: NDArray[np.int64]
    first: NDArray[np.int64]  # position where the same answer occurs first
    ordinal: NDArray[np.intp]
    label: NDArray[np.int8]  # index into `LABELS`
    supported: NDArray[np.float64]  # probability; NaN: none

    def where(self, rows: NDArray[np.bool_]) -> Verdicts:
        """Return these rows alone."""
        columns = self.position[rows], self.first[rows], self.ordinal[rows]
        return Verdicts(*columns, self.label[rows], self.supported[rows])

    @property
    def called(self) -> NDArray[np.bool_]:
        """Which claims the judge calls supported."""
        return np.equal(self.label, LABELS.index(Label.SUPPORTED))

    @property
    def first_places(self) -> dict[int, int]:
        """Of every position that where the same answer occurs first."""
        return dict(zip(self.position.tolist(), self.first.tolist(), strict=True))

    @property
    def texts(self) -> int:
        """How many there are if an answer that occurs several times counts once."""
        return int(np.count_nonzero(self.position == self.first))


def choose(verdicts: Verdicts, n: int, by: By, seed: int, judge: tuple[float, float] | None) -> NDArray[np.intp]:
    """Return which claims to label, at most `n`, in random order. `judge` is its specificity and sensitivity, if known.

    Raises `ConfigError` for `uncertainty` without probabilities.
    """
    draw = np.random.default_rng(seed)
    size = len(verdicts.position)
    if by == "uncertainty":
        return draw.permutation(_unsure(verdicts, n, draw))
    if by == "random" or n >= size:
        return draw.permutation(size)[:n]
    classes = [np.flatnonzero(verdicts.called), np.flatnonzero(~verdicts.called)]
    if by == "allocation" and all(map(len, classes)):
        rate = len(classes[0]) / size
        wanted = list(reversed(allocate_labels(n, rate, judge or (_GUESS, _GUESS), _PILOT)))
    else:
        by_label = (np.flatnonzero(verdicts.label == code) for code in range(len(LABELS)))
        classes = [rows for rows in by_label if len(rows)]
        wanted = _share_out([len(rows) for rows in classes], n)
    taken = [draw.permutation(rows)[:number] for rows, number in zip(classes, wanted, strict=True)]
    return draw.permutation(np.concatenate(taken))


def _share_out(sizes: list[int], n: int) -> list[int]:
    """Share labels out, half of them to the largest kind at most: failing claims are rare, and the doubt is there."""
    if n < 2 * len(sizes):
        return [min(size, -(-n // len(sizes))) for size in sizes]
    shares = np.sqrt(np.array(sizes, dtype=float))
    wanted = allocate_to_strata(np.array(sizes, dtype=float), shares / np.array(sizes), n)
    given = [min(size, number) for size, number in zip(sizes, wanted, strict=True)]
    for place in np.argsort(sizes)[::-1]:  # what a small kind cannot give, larger ones do
        given[place] = min(sizes[place], given[place] + n - sum(given))
    return given


def _unsure(verdicts: Verdicts, n: int, draw: np.random.Generator) -> NDArray[np.intp]:
    is_stated = np.isfinite(verdicts.supported)
    if not is_stated.any():
        raise ConfigError(
            "the judge of this run gives no probabilities, so its uncertainty is unknown: use --by "
            "stratified, or a judge with repeats, as in openai:gpt-5-mini?repeats=5"
        )
    called, failing = verdicts.called & is_stated, ~verdicts.called & is_stated
    edge = 0.5  # of what is called supported, as far as the run shows
    if called.any() and failing.any():
        edge = float((verdicts.supported[called].min() + verdicts.supported[failing].max()) / 2)
    order = draw.permutation(len(verdicts.supported))
    distance = np.abs(verdicts.supported[order] - edge)  # NaN sorts last
    return np.asarray(order[np.argsort(distance, kind="stable")[:n]], dtype=np.intp)


# ---- several people's labels


@dataclass(frozen=True, slots=True)
class AnnotatorAgreement:
    """How far annotators agree on three labels, over the texts that several of them labelled."""

    annotators: int
    shared: int
    agreeing: int
    kappa: Inference | None  # Cohen's, of exactly two annotators
    alpha: Inference | None  # Krippendorff's


@dataclass(frozen=True, slots=True)
class RunLabels:
    """The labels of a run's texts, settled by place and key, and how many are disputed."""

    claims: Mapping[int, Mapping[str, Consensus]]  # place → key of the claim
    answers: Mapping[int, Consensus]
    disputed: int
    agreement: AnnotatorAgreement | None
    labels: int
    annotators: tuple[str, ...]


def settle(labels: Sequence[Annotation[Label]]) -> RunLabels:
    """Settle what several people say of each text."""
    by_text: dict[tuple[int, str], list[Annotation[Label]]] = {}
    for label in labels:
        by_text.setdefault((label.position, label.key), []).append(label)
    claims: dict[int, dict[str, Consensus]] = {}
    answers: dict[int, Consensus] = {}
    disputed = 0
    for (place, key), group in by_text.items():
        found = _consensus(group)
        if found is None:
            disputed += 1
        elif group[0].is_of_answer:
            answers[place] = found
        else:
            claims.setdefault(place, {})[key] = found
    people = tuple(sorted({label.annotator for label in labels}))
    return RunLabels(claims, answers, disputed, _agreement(by_text), len(labels), people)


def settle_mark(marks: Sequence[Annotation[SplitMark]]) -> SplitMark | None:
    """Return what people say of one claim together: who settles decides, else most; a tie is bad rather than good."""
    if not marks:
        return None
    if adjudicated := [mark.value for mark in marks if mark.annotator == ADJUDICATED]:
        return adjudicated[-1]
    bad = [mark.value for mark in marks if mark.value is not SplitMark.GOOD]
    return max(bad, key=bad.count) if 2 * len(bad) >= len(marks) else SplitMark.GOOD


def _consensus(group: Sequence[Annotation[Label]]) -> Consensus | None:
    deciding = [label for label in group if label.annotator == ADJUDICATED] or group
    failing = [label for label in deciding if label.value is not Label.SUPPORTED]
    if 2 * len(failing) == len(deciding):
        return None
    if 2 * len(failing) < len(deciding):
        majority = [label for label in deciding if label.value is Label.SUPPORTED]
        value = Label.SUPPORTED
    else:
        majority = failing
        contradicted = sum(label.value is Label.CONTRADICTED for label in failing)
        value = Label.CONTRADICTED if 2 * contradicted > len(failing) else Label.UNSUPPORTED
    modes = Counter(label.failure_mode for label in majority if label.failure_mode)
    return replace(majority[0], value=value, failure_mode=modes.most_common(1)[0][0] if modes else None)


def _agreement(by_text: Mapping[tuple[int, str], Sequence[Annotation[Label]]]) -> AnnotatorAgreement | None:
    """Compare what people said on their own; who adjudicates has seen the others."""
    said = {
        about: {label.annotator: label.value for label in group if label.annotator != ADJUDICATED}
        for about, group in by_text.items()
    }
    shared = {about: labels for about, labels in said.items() if len(labels) > 1}
    if not shared:
        return None
    people = sorted({name for labels in shared.values() for name in labels})
    places = [place for place, _ in shared]
    agreeing = sum(len(set(labels.values())) == 1 for labels in shared.values())
    rows = [[labels.get(name) for name in people] for labels in shared.values()]
    kappa = alpha = None
    try:
        alpha = krippendorff_alpha(rows, LABELS, clusters=places)
        if len(people) == 2:
            first, second = ([labels[name] for labels in shared.values()] for name in people)
            kappa = cohen_kappa(first, second, LABELS, clusters=places)
    except ValueError:
        pass  # one label only: chance explains everything, and there is no number
    return AnnotatorAgreement(len(people), len(shared), agreeing, kappa, alpha)


# ---- disputes


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one person says of one text: a label, a mark of how it was split, or both."""

    annotator: str
    label: Label | None = None
    mark: SplitMark | None = None
    note: str = ""
    failure_mode: str | None = None
    evidence: tuple[Picked, ...] = ()
    chosen: str = ""

    @property
    def value(self) -> Label | SplitMark | None:
        """What it comes to: the label where there is one."""
        return self.label or self.mark


@dataclass(frozen=True, slots=True)
class Dispute:
    """A text of which several people say different things, and what was settled."""

    position: int
    key: str
    answer_key: str
    opinions: tuple[Opinion, ...]
    settled: Opinion | None


def disputes(labels: Sequence[Annotation[Label]], marks: Sequence[Annotation[SplitMark]]) -> list[Dispute]:
    """Return where people differ in label, or where one labels what another calls a bad claim; settled or not."""
    said: dict[tuple[int, str], dict[str, Opinion]] = {}  # a claim that is called good is not thereby marked
    for label in labels:
        opinion = Opinion(
            label.annotator, label.value, None, label.note, label.failure_mode, label.evidence, label.chosen
        )
        said.setdefault((label.position, label.key), {})[label.annotator] = opinion
    for mark in marks:
        if mark.value is not SplitMark.GOOD:
            own = said.setdefault((mark.position, mark.key), {})
            opinion = own.get(mark.annotator, Opinion(mark.annotator, chosen=mark.chosen))
            note = "\n".join(filter(None, (opinion.note, mark.note)))
            own[mark.annotator] = replace(opinion, mark=mark.value, note=note)
    everything: list[AnyAnnotation] = [*labels, *marks]
    answers = {(one.position, one.key): one.answer_key for one in everything}
    found = []
    for (position, key), everybody in said.items():
        settled = everybody.pop(ADJUDICATED, None)
        opinions = tuple(everybody.values())
        if len({opinion.value for opinion in opinions}) > 1:
            found.append(Dispute(position, key, answers[position, key], opinions, settled))
    return found


def settled_as_bad(marks: Sequence[Annotation[SplitMark]], labels: Sequence[Annotation[Label]]) -> set[str]:
    """Return the keys of what was settled as a bad claim and not labelled: it counts nowhere."""
    labelled = {label.key for label in labels if label.annotator == ADJUDICATED}
    bad = {mark.key for mark in marks if mark.annotator == ADJUDICATED and mark.value is not SplitMark.GOOD}
    return bad - labelled


# ---- carrying labels over


def carry_over(
    claims: Sequence[JudgedClaim], settled: Mapping[str, Consensus], answer: str, response: str
) -> list[tuple[JudgedClaim, Consensus, How]]:
    """Return the claims of an answer that a label serves, with it and with how it was carried over."""

    def bare(span: Span) -> Span:
        """Leave out the citations and signs that end a claim."""
        text = response[span.start : span.end].rstrip(_SIGNS)
        while text.endswith("]") and (at := text.rfind("[")) > 0:
            text = text[:at].rstrip(_SIGNS)
        return Span(span.start, span.start + len(text))

    by_span = {bare(label.span): label for label in settled.values() if label.span is not None}
    found: list[tuple[JudgedClaim, Consensus, How]] = []
    for claim in claims:
        if (same := settled.get(claim_key(answer, claim.text))) is not None:
            found.append((claim, same, "text"))
        elif (same := by_span.get(bare(claim.span))) is not None:
            found.append((claim, same, "span"))
        elif (of_parts := _of_parts(claim.span, by_span, response)) is not None:
            found.append((claim, of_parts, "parts"))
    return found


def _of_parts(span: Span, by_span: Mapping[Span, Consensus], response: str) -> Consensus | None:
    inside = {part: label for part, label in by_span.items() if span.start <= part.start and part.end <= span.end}
    if not inside or not _covers(inside, span, response):
        return None
    return max(inside.values(), key=lambda label: LABELS.index(label.value))  # the worst of them


def _covers(parts: Iterable[Span], span: Span, response: str) -> bool:
    text = response[span.start : span.end]
    outside = list(text)
    for part in parts:
        outside[part.start - span.start : part.end - span.start] = " " * (part.end - part.start)
    words = _WORD.findall(_CITATION.sub(" ", "".join(outside)))
    few = len(words) <= max(_LOOSE_WORDS, _LOOSE_SHARE * len(_WORD.findall(text)))
    return few and not any(sign.isdigit() for word in words for sign in word)

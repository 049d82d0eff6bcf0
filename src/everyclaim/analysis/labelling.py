"""What people's labels come to: one label per text where several people labelled it, carried over to a run's claims.

Of several annotators an `adjudicated` one decides, else the majority on supported or failing; among those who call a
claim failing the majority says which way, and where they are equal, the weaker word: UNSUPPORTED. Where as many call a
claim supported as failing, it is disputed and counts nowhere until somebody adjudicates.

A run may cut an answer otherwise than the labels do. A claim of the run takes, in this order: the label of a claim with
the same text; of one with the same span; that of the labelled claims inside its span, of which a failing one makes the
whole fail, and supported ones support it when hardly a word lies outside them (`parts`; a failing part that leaves more
outside is a `failing part`); and SUPPORTED of a labelled claim that it lies inside (`part`). The last two are found
only where the label is of one kind, so they would make rates lopsided: `WHOLE` are the ways that may enter rates.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from everyclaim.core.types import JudgedClaim, Label, Span
from everyclaim.stats.agreement import cohen_kappa, krippendorff_alpha
from everyclaim.stats.types import Inference
from everyclaim.store import HumanLabel, claim_key

ADJUDICATED = "adjudicated"
LOOSE_WORDS = 3  # that may lie outside the labelled parts of a claim, or a share of its words; none of them a figure
LOOSE_SHARE = 0.25

How = Literal["text", "span", "parts", "failing part", "part"]
WHOLE: tuple[How, ...] = ("text", "span", "parts")

_CITATION = re.compile(r"\[[\d,;\s–-]+\]")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Settled:
    """What people say of one text, all told."""

    label: Label
    span: Span | None
    failure_mode: str | None
    chosen: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far annotators agree on three labels, over the texts that several of them labelled."""

    annotators: int
    shared: int
    agreeing: int
    kappa: Inference | None  # Cohen's, of exactly two annotators
    alpha: Inference | None  # Krippendorff's


@dataclass(frozen=True, slots=True)
class Settling:
    """The labels of a run's texts: settled by place and key, and those that are disputed."""

    claims: Mapping[int, Mapping[str, Settled]]  # place → key of the claim
    answers: Mapping[int, Settled]
    disputed: int
    agreement: Agreement | None
    labels: int
    annotators: tuple[str, ...]


def settle(labels: Sequence[HumanLabel]) -> Settling:
    """Settle what several people say; repeated samples have their labels at every place."""
    by_text: dict[tuple[int, str], list[HumanLabel]] = {}
    for label in labels:
        by_text.setdefault((label.position, label.key), []).append(label)
    claims: dict[int, dict[str, Settled]] = {}
    answers: dict[int, Settled] = {}
    disputed = 0
    for (place, key), group in by_text.items():
        found = _settled(group)
        if found is None:
            disputed += 1
        elif group[0].is_of_answer:
            answers[place] = found
        else:
            claims.setdefault(place, {})[key] = found
    people = tuple(sorted({label.annotator for label in labels}))
    return Settling(claims, answers, disputed, _agreement(by_text), len(labels), people)


def carry_over(
    claims: Sequence[JudgedClaim], settled: Mapping[str, Settled], answer: str, response: str
) -> list[tuple[JudgedClaim, Settled, How]]:
    """Return the claims of an answer that a label serves, with it and with how it was carried over."""
    by_span = {one.span: one for one in settled.values() if one.span is not None}
    found: list[tuple[JudgedClaim, Settled, How]] = []
    for claim in claims:
        if (same := settled.get(claim_key(answer, claim.text))) is not None:
            found.append((claim, same, "text"))
        elif (same := by_span.get(claim.span)) is not None:
            found.append((claim, same, "span"))
        elif (whole := _of_parts(claim.span, by_span.values(), response)) is not None:
            found.append((claim, *whole))
        elif (around := _around(claim.span, by_span.values())) is not None:
            found.append((claim, around, "part"))
    return found


def _settled(group: Sequence[HumanLabel]) -> Settled | None:
    deciding = [one for one in group if one.annotator == ADJUDICATED] or group
    failing = [one for one in deciding if one.label is not Label.SUPPORTED]
    if 2 * len(failing) == len(deciding):
        return None
    if 2 * len(failing) < len(deciding):
        counted = [one for one in deciding if one.label is Label.SUPPORTED]
        label = Label.SUPPORTED
    else:
        contradicted = sum(one.label is Label.CONTRADICTED for one in failing)
        label = Label.CONTRADICTED if 2 * contradicted > len(failing) else Label.UNSUPPORTED
        counted = failing
    modes = Counter(one.failure_mode for one in counted if one.failure_mode)
    mode = modes.most_common(1)[0][0] if modes else None
    return Settled(label, counted[0].span, mode, counted[0].chosen)


def _of_parts(span: Span, labelled: Iterable[Settled], response: str) -> tuple[Settled, How] | None:
    inside = [one for one in labelled if one.span and span.start <= one.span.start and one.span.end <= span.end]
    if not inside:
        return None
    failing = [one for one in inside if one.label is not Label.SUPPORTED]
    found = next((one for one in failing if one.label is Label.CONTRADICTED), (failing or inside)[0])
    if _covered(span, inside, response):
        return found, "parts"
    return (found, "failing part") if failing else None


def _covered(span: Span, inside: Iterable[Settled], response: str) -> bool:
    text = response[span.start : span.end]
    outside = list(text)
    for one in inside:
        if one.span:
            start, end = one.span.start - span.start, one.span.end - span.start
            outside[start:end] = " " * (end - start)
    words = _WORD.findall(_CITATION.sub(" ", "".join(outside)))
    few = len(words) <= max(LOOSE_WORDS, LOOSE_SHARE * len(_WORD.findall(text)))
    return few and not any(any(sign.isdigit() for sign in word) for word in words)


def _around(span: Span, labelled: Iterable[Settled]) -> Settled | None:
    return next(
        (
            one
            for one in labelled
            if one.label is Label.SUPPORTED and one.span and one.span.start <= span.start and span.end <= one.span.end
        ),
        None,
    )


def _agreement(by_text: Mapping[tuple[int, str], Sequence[HumanLabel]]) -> Agreement | None:
    """Compare what people said on their own; who adjudicates has seen the others."""
    said = {
        (place, key): {one.annotator: one.label for one in group if one.annotator != ADJUDICATED}
        for (place, key), group in by_text.items()
    }
    shared = {where: labels for where, labels in said.items() if len(labels) > 1}
    if not shared:
        return None
    people = sorted({name for labels in shared.values() for name in labels})
    places = [place for place, _ in shared]
    agreeing = sum(len(set(labels.values())) == 1 for labels in shared.values())
    rows = [[labels.get(name) for name in people] for labels in shared.values()]
    kappa = alpha = None
    try:
        alpha = krippendorff_alpha(rows, list(Label), clusters=places)
        if len(people) == 2:
            first, second = ([labels[name] for labels in shared.values()] for name in people)
            kappa = cohen_kappa(first, second, list(Label), clusters=places)
    except ValueError:
        pass  # one label only: chance explains everything, and there is no number
    return Agreement(len(people), len(shared), agreeing, kappa, alpha)

"""The lexical verifier: claims and passages in, verdicts with evidence and words out. The fastest tier, and offline.

All passages are judged together: the best windows may come from different passages. A passage that says the same as
another, or nothing to the point, changes nothing. Passages that disagree ("24 months" in one, "Warranty: 12 months" in
another) are said; a sentence that speaks of more than the claim, its question and its evidence do states something
else, and contradicts nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.options import check_declared, read
from everyclaim.core.plaintext import one_line
from everyclaim.core.spec import Spec
from everyclaim.core.types import Claim, Evidence, Label, Passage, Probabilities, Verdict
from everyclaim.models.local.parser import ParsedToken, parse
from everyclaim.text.agreement import relation
from everyclaim.text.tokens import STOPWORDS, stem, tokenize
from everyclaim.verify.lexical.alignment import covering, laid_out, reading_of, sentence, shown
from everyclaim.verify.lexical.checks import check_facts, compared_exactly, facts
from everyclaim.verify.lexical.comparison import LexicalComparison, compare, foremost, stated
from everyclaim.verify.lexical.failure_modes import Classified, Failure, classify
from everyclaim.verify.lexical.features import hedges, measure
from everyclaim.verify.lexical.fields import after_answers
from everyclaim.verify.lexical.model import shipped_model
from everyclaim.verify.lexical.passages import Piece, Shortlist
from everyclaim.verify.lexical.reading import shipped_vectors

_NOTES: dict[str, str] = {
    "converted": "the passage says {theirs}, which equals {ours}",
    "rounded": "the passage says {theirs}, which the claim rounds to {ours}",
    "about": "the passage says {theirs}, which agrees with {ours}",
    "within": "the passage says {theirs}, which agrees with {ours}",
}
_WORD = re.compile(r"\w+")
_ON_TOPIC = 0.5  # share of a claim's weight below which the passages are about something else
_LONGEST_QUOTE = 160  # characters of the sentence that supports a claim


def explain(
    it: LexicalComparison, row: Mapping[str, float], failing: Classified | None, evidence: Sequence[Evidence]
) -> tuple[str, tuple[str, ...]]:
    """Put the verdict into a rationale and flags: what supports a claim, or where a `failing` one differs."""
    hedged = _hedge(it, row)
    flags = ("certainty_differs",) if hedged else ()
    if failing is None:
        # A title is no place in its passage, and so no evidence; it is named all the same.
        quote = one_line(max((one.quote for one in evidence), key=_telling(it), default=it.text), _LONGEST_QUOTE)
        support = f"supported by{'' if evidence else ' the title'}: «{quote}»"
        return "; ".join(filter(None, [support, *_notes(it), hedged])), flags
    return failing.difference.reason, flags


def _telling(it: LexicalComparison) -> Callable[[str], tuple[int, int]]:
    """Rank quotes by how many of the claim's values, then of its words, they have."""
    values = [check.instead.casefold() for check in it.checks if check.instead]
    said = set(_WORD.findall(it.claim.text.casefold()))
    return lambda quote: (
        sum(value in quote.casefold() for value in values),
        len(said & set(_WORD.findall(quote.casefold()))),
    )


def _notes(it: LexicalComparison) -> list[str]:
    """Say which values agree without being the same anywhere: rounded, converted, loosened."""
    found = [
        check for check in it.checks
        if check.relation in _NOTES and check.instead.casefold() != check.said.casefold()
    ]  # fmt: skip
    theirs = [value.fact for value in stated(it.source, it.alignment)] if found else []
    return [
        _NOTES[check.relation].format(theirs=check.instead, ours=check.said)
        for check in found
        if not any(relation(check.fact, fact) == "equal" for fact in theirs)
    ]


def _hedge(it: LexicalComparison, row: Mapping[str, float]) -> str:
    """Say which side hedges what the other states firmly; empty when both do or neither does."""
    if row["soft_main"] < _ON_TOPIC:
        return ""
    ours, theirs = hedges(it)
    if ours and not theirs:
        return f"the claim says '{ours[0].text}', the passage states it as certain"
    if theirs and not ours:
        return f"the passage says '{theirs[0].text}', the claim states it as certain"
    return ""


_TELLING = frozenset({"NOUN", "PROPN", "VERB", "ADJ"})


def with_conflict(
    verdict: Verdict, it: LexicalComparison, pieces: Sequence[Piece], passages: Sequence[Passage], question: str
) -> Verdict:
    """Add to a support where another passage states a different value of the same thing, if one does."""
    claim = it.spelling.written
    support = [one for one in verdict.evidence if _statuses(claim, one.quote) == {"found"}]
    if verdict.label is not Label.SUPPORTED or not support:
        return verdict
    near, holding = set(foremost(it.source, it.alignment)), {one.passage_id for one in support}
    for column, (number, _) in enumerate(it.source.places):
        passage, text = passages[pieces[number].passage], sentence(it.source, column)
        if passage.id in holding or text not in near or "conflict" not in _statuses(claim, text):
            continue
        if is_of_same(claim, question, support, text, passage):
            opposing = shown([(column, column)], it.source, pieces, passages)
            said = f"{verdict.rationale}; another passage disagrees: «{text}»"
            return replace(verdict, evidence=(*support, *opposing), conflict=True, rationale=said)
    return verdict


def is_of_same(claim: str, question: str, support: Sequence[Evidence], opposing: str, passage: Passage) -> bool:
    """Whether a sentence of a passage speaks of what a claim does and of nothing else, by all of its telling words."""
    ours, asked, theirs = parse([claim, question, opposing])
    named = {_key(token) for token in (*ours, *asked) if token.pos == "PROPN"}
    if not named <= _keys(f"{passage.title} {passage.text}"):
        return False
    values = [(fact.start, fact.end) for fact in facts(opposing)]
    told = {
        _key(token)
        for place, token in enumerate(theirs)
        if token.pos in _TELLING
        and token.text.lower() not in STOPWORDS
        and not any(low <= token.start < high for low, high in values)
        and not any(other.head == place and other.relation == "cop" for other in theirs)  # "is valid for 12 months"
    }
    return bool(told & _keys(claim)) and told <= _keys(" ".join([claim, question, *(one.quote for one in support)]))


def _statuses(claim: str, text: str) -> set[str]:
    return {check.status for check in check_facts(claim, [text])}


def _key(token: ParsedToken) -> str:
    return stem(token.text.lower())


def _keys(text: str) -> set[str]:
    return {stem(token.norm) for token in tokenize(text)}


_NEAR = 0.05  # of one half: too near to call

Threshold = Annotated[float, Range(above=0, below=1)]  # probability above which a claim is supported


@dataclass(frozen=True, slots=True)
class LexicalVerifier:
    """Judge claims by how their words line up with the passages. Deterministic, needs no key and no network.

    A claim is `SUPPORTED` when its probability is above `threshold`; a threshold other than 0.5 shifts the reported
    probabilities with it. See `decided` for the other two labels.
    """

    threshold: Threshold = 0.5

    def __post_init__(self) -> None:
        check_declared(self, "the lexical verifier")

    @property
    def spec(self) -> str:
        """Name and model version, and the threshold where it is not the usual one."""
        options = {} if self.threshold == 0.5 else {"threshold": f"{self.threshold:g}"}
        return str(Spec("lexical", shipped_model().version, options))

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        """Judge every claim against all the passages together; one verdict per claim, in order."""
        shortlist = Shortlist.of(passages)
        found = [failure(claim, Label.UNSUPPORTED, shortlist, question) for claim in claims]
        return [
            self._judged(claim, *it, passages, question)
            if it
            else nothing_to_check(claim, self.spec, blank=not laid_out(claim.text, shortlist)[1].places)
            for claim, it in zip(claims, _weighed(found), strict=True)
        ]

    def failing(
        self, claims: Sequence[Claim], labels: Sequence[Label], passages: Sequence[Passage], question: str = ""
    ) -> list[Failure | None]:
        """Measure claims that somebody found to fail, without judging them; None where there is nothing to compare."""
        shortlist = Shortlist.of(passages)
        found = [failure(claim, label, shortlist, question) for claim, label in zip(claims, labels, strict=True)]
        return [it and it[0] for it in _weighed(found)]

    def _judged(self, claim: Claim, it: Failure, likely: float, passages: Sequence[Passage], question: str) -> Verdict:
        """Give the verdict on a claim whose support is as likely as the model says."""
        probabilities = three_way(shifted(likely, self.threshold), it.against)
        probabilities = after_answers(probabilities, it.compared.named)
        label = decided(probabilities, shipped_model().alarm)
        found = covering(it.compared.alignment, it.compared.source, it.pieces, passages)
        return concluded(claim, it._replace(label=label), probabilities, found, self.spec, passages, question)


def _weighed(found: Sequence[Failure | None]) -> list[tuple[Failure, float] | None]:
    """Measure all claims and ask the model at once: each with P(contradicted | not supported), and P(supported)."""
    rows = [measure(it.compared) for it in found if it]
    shares = zip(rows, *(shipped_model().predict(rows) if rows else ((), ())), strict=True)
    weighed: list[tuple[Failure, float] | None] = []
    for it in found:
        if it is None:
            weighed.append(None)
            continue
        row, supported, against = next(shares)
        weighed.append((it._replace(row=row, against=float(against)), float(supported)))
    return weighed


def concluded(
    claim: Claim, found: Failure, probabilities: Probabilities, evidence: tuple[Evidence, ...], judge: str,
    passages: Sequence[Passage], question: str,
) -> Verdict:  # fmt: skip
    """Make the verdict on a claim that was measured and has its label, whether it fails or not."""
    why = None if found.label is Label.SUPPORTED else classify(found, passages)
    rationale, flags = explain(found.compared, found.row, why, evidence)
    verdict = Verdict(
        claim_id=claim.id,
        label=found.label,
        probabilities=probabilities,
        evidence=evidence,
        rationale=rationale,
        judge=judge,
        failure_mode=why.mode if why else None,
        # so near one half that either label might have been given
        flags=(*flags, *(("unsure",) if abs(probabilities.supported - 0.5) < _NEAR else ())),
        difference=why.difference if why else None,
    )
    return compared_exactly(claim, with_conflict(verdict, found.compared, found.pieces, passages, question), passages)


def failure(claim: Claim, label: Label, shortlist: Shortlist, question: str = "") -> Failure | None:
    """Lay a claim that fails beside its passages, without judging it anew; None where there is nothing to compare.

    It is enough to find what differs where the mode is known; nothing is measured that only tells modes apart.
    """
    reading, source, pieces = laid_out(claim.text, shortlist)
    if not reading.content or not source.places:
        return None
    asked = reading_of(question[:2000]) if question.strip() else None
    compared = compare(reading, source, shipped_vectors(), asked)
    return Failure(claim.text, label, compared, {}, pieces, 0.0)


def from_spec(spec: Spec) -> LexicalVerifier:
    """Make the verifier a spec such as ``lexical`` or ``lexical?threshold=0.6`` names."""
    version = shipped_model().version
    if spec.argument not in ("", version):
        raise ConfigError(f"no lexical model {spec.argument!r} in this release; it ships {version!r}")
    return read(spec, LexicalVerifier)


def nothing_to_check(claim: Claim, judge: str, *, blank: bool) -> Verdict:
    """Give the verdict on a claim that names nothing, or on any claim where the passages are `blank`."""
    return Verdict(
        claim_id=claim.id,
        label=Label.UNSUPPORTED,
        probabilities=Probabilities(0.0, 1.0, 0.0) if blank else Probabilities(0.45, 0.55, 0.0),
        rationale=f"no {'passages to check against' if blank else 'word of the claim could be found in a passage'}",
        judge=judge,
        flags=("no_passages" if blank else "unsure",),
    )


def three_way(supported: float, contradicted: float) -> Probabilities:
    """Turn P(supported) and P(contradicted | not supported) into three that sum to 1."""
    supported = round(min(max(supported, 0.0), 1.0), 6)
    opposite = round((1.0 - supported) * contradicted, 6)
    return Probabilities(supported, round(1.0 - supported - opposite, 6), opposite)


def decided(probabilities: Probabilities, alarm: float) -> Label:
    """Give the label that follows from the probabilities.

    `SUPPORTED` above one half; otherwise `CONTRADICTED` where its probability is above `alarm`, which the model states
    and which was chosen so that an alarm can be believed; otherwise `UNSUPPORTED`.
    """
    if probabilities.supported > 0.5:
        return Label.SUPPORTED
    return Label.CONTRADICTED if probabilities.contradicted > alarm else Label.UNSUPPORTED


def shifted(probability: float, threshold: float) -> float:
    """Move a probability so that `threshold` comes to lie at one half."""
    if threshold == 0.5 or not 0.0 < probability < 1.0:
        return probability
    odds = math.log(probability / (1 - probability)) - math.log(threshold / (1 - threshold))
    return 1.0 / (1.0 + math.exp(-odds))

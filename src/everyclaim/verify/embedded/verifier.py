"""The embedded verifier: lexical checks and a network's reading, weighed by a fitted model.

    claim, passages ──► lexical comparison ──► premise (the sentences that matter) ──► network
                               │                                                        │
                               └───────────────► features ◄─────────────────────────────┘ ──► verdict

All passages are judged together; the premise may hold sentences of several.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple, cast

from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.options import Opt, check_declared, read
from everyclaim.core.spec import Spec
from everyclaim.core.types import Claim, Label, Passage, Verdict
from everyclaim.models.local.cross_encoder import CrossEncoder, Pair, Scores, shipped_cross_encoder
from everyclaim.verify.embedded.evidence import evidence
from everyclaim.verify.embedded.features import describe
from everyclaim.verify.embedded.premise import Premise, budget, choose, most, pointed
from everyclaim.verify.embedded.tuned import Tuning, read_tuning, tuned_probability
from everyclaim.verify.exact import compared_exactly
from everyclaim.verify.lexical.answers import after_answers
from everyclaim.verify.lexical.comparison import LexicalComparison, compare
from everyclaim.verify.lexical.conflicts import with_conflict
from everyclaim.verify.lexical.evidence import laid_out, reading_of
from everyclaim.verify.lexical.findings import explain
from everyclaim.verify.lexical.model import Model, load_model
from everyclaim.verify.lexical.modes.classify import Failure, classify
from everyclaim.verify.lexical.shortlist import Piece, Shortlist
from everyclaim.verify.lexical.vectors import shipped_vectors
from everyclaim.verify.lexical.verifier import (
    Threshold,
    decided,
    nothing_to_check,
    shifted,
    three_way,
    unsure,
)

TOKENS = 96  # of the premise, unless the spec says otherwise
_LEAST, _MOST = 32, 384
_THREADS = 64
_AT_ONCE = 64  # claims, between which others have their turn, and a cancellation its effect
# A claim with one of these needs its parent sentence to be understood; others are read better without theirs.
_LEANS = re.compile(r"\b(?:he|she|they|him|her|them|his|hers|its|their|theirs|these|those)\b", re.IGNORECASE)

_Tokens = Annotated[int, Range(_LEAST, _MOST), Opt("tokens read for a claim of normal length")]
_Threads = Annotated[int, Range(0, _THREADS), Opt("claims read in parallel; 0: one per CPU, at most four")]


class _PreparedClaims(NamedTuple):
    """A claim laid beside its passages."""

    compared: LexicalComparison
    pieces: list[Piece]
    premise: Premise
    pair: Pair


@dataclass(frozen=True, slots=True)
class EmbeddedVerifier:
    """Judge claims by reading them beside the sentences that matter. Deterministic, no key, no network.

    `tokens` is the budget of what is read for a claim of usual length, and more is read for longer ones; `threads` says
    how many claims are read at a time (0: one per processor core, at most four). A claim is `SUPPORTED` when its
    probability is above `threshold`; a threshold other than 0.5 shifts the reported probabilities with it. `tuned` is
    what `everyclaim tune` fitted to a team's own labels.
    """

    tokens: _Tokens = TOKENS
    threads: _Threads = 0
    threshold: Threshold = 0.5
    tuned: Tuning | None = None

    def __post_init__(self) -> None:
        check_declared(self, "the embedded verifier")
        if self.tuned is not None:
            self.tuned.check(f"tuning {self.tuned.digest}", shipped_model(), self.tokens)

    @property
    def spec(self) -> str:
        """Name and model version, and what is not as usual."""
        options = {} if self.threshold == 0.5 else {"threshold": f"{self.threshold:g}"}
        if self.tokens != TOKENS:
            options["tokens"] = str(self.tokens)
        if self.tuned is not None:
            options["tuned"] = self.tuned.digest
        return str(Spec("embedded", shipped_model().version, options))

    async def verify(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[Verdict]:
        """Judge every claim against all the passages together; one verdict per claim, in order."""
        found: list[Verdict] = []
        for first in range(0, len(claims), _AT_ONCE):  # a thread cannot be cancelled, so that it gets no more than this
            part = claims[first : first + _AT_ONCE]
            found += await asyncio.to_thread(self._verify, part, passages, question)
        return found

    def answer_probability(self, verdicts: Sequence[Verdict]) -> float | None:
        """Return the probability that none of an answer's claims is unsupported; None without probabilities."""
        supported = [verdict.probabilities.supported for verdict in verdicts if verdict.probabilities]
        whole = shipped_model().answer
        return whole.probability(supported) if whole and supported and len(supported) == len(verdicts) else None

    def measure(
        self, claims: Sequence[Claim], passages: Sequence[Passage], *, question: str = ""
    ) -> list[dict[str, float] | None]:
        """Return the features that each claim is judged by, in order; None where there is nothing to check."""
        return [
            describe(it.compared, it.premise, scores, it.pieces) if isinstance(it, _PreparedClaims) and scores else None
            for it, scores in self._read(claims, passages, question)
        ]

    def _verify(self, claims: Sequence[Claim], passages: Sequence[Passage], question: str) -> list[Verdict]:
        return [
            self._judged(claim, it, scores, passages, question)
            if isinstance(it, _PreparedClaims) and scores
            else cast("Verdict", it)
            for claim, (it, scores) in zip(claims, self._read(claims, passages, question), strict=True)
        ]

    def _read(
        self, claims: Sequence[Claim], passages: Sequence[Passage], question: str
    ) -> list[tuple[_PreparedClaims | Verdict, Scores | None]]:
        """Lay every claim beside its passages and let the network read what is to be read."""
        shortlist = Shortlist.of(passages)
        prepared = [self._prepare(claim, shortlist, question) for claim in claims]
        reader: CrossEncoder = shipped_cross_encoder(self.threads)
        read = iter(reader.read([it.pair for it in prepared if isinstance(it, _PreparedClaims)]))
        return [(it, next(read) if isinstance(it, _PreparedClaims) else None) for it in prepared]

    def _prepare(self, claim: Claim, shortlist: Shortlist, question: str) -> _PreparedClaims | Verdict:
        """Lay one claim beside its passages, or say why there is nothing to check."""
        reading, source, pieces = laid_out(claim.text, shortlist)
        if not reading.content or not source.places:
            return nothing_to_check(claim, self.spec, blank=not source.places)
        asked = question[:2000].strip()
        compared = compare(reading, source, shipped_vectors(), reading_of(asked) if asked else None)
        tokens = budget(claim.text, self.tokens)
        premise = choose(source, compared.alignment, tokens)
        sentence = claim.sentence.strip()
        around = sentence if sentence != claim.text.strip() and _LEANS.search(claim.text) else ""
        return _PreparedClaims(
            compared,
            pieces,
            premise,
            Pair(pointed(premise.text), pointed(compared.claim.text), f"{asked} {around}".strip(), most(tokens)),
        )

    def failing(
        self, claims: Sequence[Claim], labels: Sequence[Label], passages: Sequence[Passage], question: str = ""
    ) -> list[Failure | None]:
        """Read claims that somebody found to fail, without judging them; None where there is nothing to compare."""
        shortlist = Shortlist.of(passages)
        prepared = [self._prepare(claim, shortlist, question) for claim in claims]
        read = iter(
            shipped_cross_encoder(self.threads).read([it.pair for it in prepared if isinstance(it, _PreparedClaims)])
        )
        found: list[Failure | None] = []
        for claim, label, it in zip(claims, labels, prepared, strict=True):
            if not isinstance(it, _PreparedClaims):
                found.append(None)
                continue
            scores = next(read)
            row = describe(it.compared, it.premise, scores, it.pieces)
            against = float(shipped_model().predict([row])[1][0])
            found.append(Failure(claim.text, label, it.compared, row, it.pieces, against, scores.claim))
        return found

    def _judged(
        self, claim: Claim, it: _PreparedClaims, scores: Scores, passages: Sequence[Passage], question: str
    ) -> Verdict:
        row = describe(it.compared, it.premise, scores, it.pieces)
        model, alarm = shipped_model(), shipped_model().alarm
        supported, contradicted = model.predict([row])
        if self.tuned is not None:
            supported, alarm = tuned_probability(self.tuned.adjustment, supported, [row]), self.tuned.alarm or alarm
        against = float(contradicted[0])
        probabilities = three_way(shifted(float(supported[0]), self.threshold), against)
        probabilities = after_answers(probabilities, it.compared.named)
        label = decided(probabilities, alarm.level(row))
        failed = Failure(claim.text, label, it.compared, row, it.pieces, against, scores.claim)
        found = None if label is Label.SUPPORTED else classify(failed, passages)
        shown = evidence(it.compared, it.premise, scores.premise, it.pieces, passages)
        findings = explain(it.compared, row, found, shown)
        verdict = Verdict(
            claim_id=claim.id,
            label=label,
            probabilities=probabilities,
            evidence=shown,
            rationale=findings.rationale,
            judge=self.spec,
            failure_mode=found.mode if found else None,
            flags=(*findings.flags, *unsure(probabilities)),
            difference=found.difference if found else None,
        )
        return compared_exactly(claim, with_conflict(verdict, it.compared, it.pieces, passages, question), passages)


def shipped_model() -> Model:
    """Load the fitted model that weighs the network's reading and the lexical checks."""
    return load_model("everyclaim.verify.embedded")


@dataclass(frozen=True, slots=True)
class _Said:
    """What a spec may say: as the verifier, but for the file of what was tuned."""

    tokens: _Tokens = TOKENS
    threads: _Threads = 0
    threshold: Threshold = 0.5
    tuned: Annotated[str | None, Opt("a file written by `everyclaim judge tune`")] = None


def from_spec(spec: Spec) -> EmbeddedVerifier:
    """Make the verifier a spec such as ``embedded`` or ``embedded?tokens=256&threads=1&tuned=tuned.json`` names."""
    version = shipped_model().version
    if spec.argument not in ("", version):
        raise ConfigError(f"no embedded model {spec.argument!r} in this release; it ships {version!r}")
    said = read(spec, _Said)
    tuned = None
    if said.tuned is not None:
        tuned = read_tuning(said.tuned)
        tuned.check(said.tuned, shipped_model(), said.tokens)
    return EmbeddedVerifier(tokens=said.tokens, threads=said.threads, threshold=said.threshold, tuned=tuned)

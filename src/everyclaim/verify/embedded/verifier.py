"""The embedded verifier: lexical checks and a network's reading, weighed by a fitted model.

    claim, passages ──► lexical comparison ──► premise (the sentences that matter) ──► network
                               │                                                        │
                               └───────────────► features ◄─────────────────────────────┘ ──► verdict

All passages are judged together; the premise may hold sentences of several. What `everyclaim judge tune` writes moves
the shipped model's log-odds for one team's texts, each standardised feature held within ±`BOUND`:

    log-odds = slope · shipped + intercept + Σ weight · (feature − mean) / scale
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.options import check_declared, read
from everyclaim.core.plaintext import digest
from everyclaim.core.spec import Spec
from everyclaim.core.types import Claim, Label, Passage, Verdict
from everyclaim.models.local.cross_encoder import Pair, Scores, shipped_cross_encoder
from everyclaim.verify.embedded.premise import Premise, budget, choose, describe, evidence, most, pointed
from everyclaim.verify.lexical.alignment import laid_out, reading_of
from everyclaim.verify.lexical.comparison import LexicalComparison, compare
from everyclaim.verify.lexical.failure_modes import Failure
from everyclaim.verify.lexical.fields import after_answers
from everyclaim.verify.lexical.model import Model, load_model
from everyclaim.verify.lexical.passages import Piece, Shortlist
from everyclaim.verify.lexical.reading import shipped_vectors
from everyclaim.verify.lexical.verifier import (
    Threshold,
    concluded,
    decided,
    nothing_to_check,
    shifted,
    three_way,
)

Doubles = npt.NDArray[np.float64]

FORMAT = 2
BOUND = 3.0
_KIND = "everyclaim tuning"
_LARGEST = 1_000_000  # bytes; what `tune` writes is some ten thousand
_FARTHEST = 1e6  # no number of a model is larger


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A linear correction of log-odds; `mean`, `scale` and `weight` have one number per feature."""

    features: tuple[str, ...]
    mean: Doubles
    scale: Doubles
    weight: Doubles
    slope: float
    intercept: float

    def log_odds(self, shipped: Doubles, rows: Sequence[Mapping[str, float]]) -> Doubles:
        """Move the shipped model's log-odds of rows of features."""
        table = np.array([[row[name] for name in self.features] for row in rows], dtype=np.float64)
        moved: Doubles = self.slope * shipped + self.intercept + self.standardised(table) @ self.weight
        return moved

    def standardised(self, table: Doubles) -> Doubles:
        """Bring features (rows × features) to a common scale."""
        return np.clip((table.reshape(len(table), len(self.features)) - self.mean) / self.scale, -BOUND, BOUND)


@dataclass(frozen=True, slots=True)
class Tuning:
    """A correction with what it was made for; `digest` names it in provenance, wherever the file lies."""

    model: str  # version of the shipped model
    tokens: int
    adjustment: Adjustment
    alarm: float | None  # None: the shipped one
    digest: str

    def check(self, name: str, model: Model, tokens: int) -> None:
        """Raise `ConfigError` when it was made for another model; `name` is the file's."""
        if self.model != model.version:
            raise ConfigError(
                f"{name} was tuned for embedded:{self.model}, but this release ships embedded:{model.version}: "
                "run 'everyclaim judge tune' again"
            )
        if self.tokens != tokens:
            raise ConfigError(
                f"{name} was tuned with tokens={self.tokens}, not tokens={tokens}; use tokens={self.tokens}"
            )
        if unknown := sorted(set(self.adjustment.features) - set(model.features)):
            raise ConfigError(f"{name} has a weight for {unknown[0]!r}, which embedded:{model.version} does not have")


def tuned_probability(by: Adjustment, shipped: Doubles, rows: Sequence[Mapping[str, float]]) -> Doubles:
    """Move the shipped model's probabilities of support for rows of features."""
    moved: Doubles = 1.0 / (1.0 + np.exp(-np.clip(by.log_odds(log_odds(shipped), rows), -30.0, 30.0)))
    return moved


def log_odds(probability: Doubles) -> Doubles:
    """Return the logarithm of the odds, finite also for what is held for certain."""
    held = np.clip(probability, 1e-6, 1 - 1e-6)
    odds: Doubles = np.log(held) - np.log1p(-held)
    return odds


def digest_of(content: Mapping[str, Any]) -> str:
    """Name a tuning by its content, whatever the spaces and the order of its keys."""
    plain = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return digest(plain, 16)


def tuning_to_json(
    model: str, tokens: int, adjustment: Adjustment, alarm: float | None, about: Mapping[str, Any]
) -> dict[str, Any]:
    """Write a tuning; `about` says what it was fitted to and what it gains."""
    rows = zip(adjustment.features, adjustment.mean, adjustment.scale, adjustment.weight, strict=True)
    return {
        "kind": _KIND,
        "format": FORMAT,
        "model": model,
        "tokens": tokens,
        **about,
        "slope": round(adjustment.slope, 6),
        "intercept": round(adjustment.intercept, 6),
        "features": {name: [float(f"{value:.6g}") for value in values] for name, *values in rows},
        "alarm": alarm,
    }


def parse_tuning(content: Any, name: str) -> Tuning:
    """Read the content of a file. Raises `ConfigError` for what is no tuning, or has values that are none."""
    if not isinstance(content, dict) or content.get("kind") != _KIND:
        raise ConfigError(f"{name} is not a file written by 'everyclaim judge tune'")
    if content.get("format") != FORMAT:
        raise ConfigError(f"{name} has format {content.get('format')!r}; this version reads format {FORMAT}")
    try:
        return _parsed(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        told = f"{name} is damaged ({type(error).__name__}: {error})"
        raise ConfigError(f"{told}: run 'everyclaim judge tune' again") from None


def _parsed(content: Mapping[str, Any]) -> Tuning:
    model, tokens, level = content["model"], content["tokens"], content.get("alarm")
    features = {str(key): [_number(value) for value in row] for key, row in content["features"].items()}
    table = np.array([*features.values()], dtype=np.float64).reshape(len(features), 3)
    if not isinstance(model, str) or type(tokens) is not int or not (table[:, 1] > 0).all():
        raise ValueError("model, tokens or a scale is none")
    slope, intercept = _number(content["slope"]), _number(content["intercept"])
    adjustment = Adjustment(tuple(features), table[:, 0], table[:, 1], table[:, 2], slope, intercept)
    return Tuning(model, tokens, adjustment, None if level is None else _share(level), digest_of(content))


def read_tuning(path: str | os.PathLike[str]) -> Tuning:
    """Read the file that ``embedded?tuned=FILE`` names. Raises `ConfigError` when it cannot be used."""
    name = os.fspath(path)
    try:
        with Path(name).open("rb") as file:
            text = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"cannot read the tuning {name!r}: {why}; name the file that 'everyclaim judge tune' wrote "
            "(results store only its digest)"
        ) from None
    if len(text) > _LARGEST:
        raise ConfigError(f"{name} is larger than {_LARGEST:,} bytes: it is not a file of 'everyclaim judge tune'")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise ConfigError(f"{name} is not JSON, so not a file of 'everyclaim judge tune'") from None
    return parse_tuning(content, name)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _FARTHEST:
        raise ValueError(f"{value!r} is no number that a fit gives")
    return float(value)


def _share(value: Any) -> float:
    if not 0.0 <= (share := _number(value)) <= 1.0 or math.isnan(share):
        raise ValueError(f"{value!r} is no probability")
    return share


_COPY, _CHANGED = 0.5, 0.45  # a claim of which so much is a copy, with another value, is supported at most so far
TOKENS = 96  # of the premise, unless the spec says otherwise
_LEAST, _MOST = 32, 384
_THREADS = 64
_AT_ONCE = 64  # claims, between which others have their turn, and a cancellation its effect
# A claim with one of these needs its parent sentence to be understood; others are read better without theirs.
_LEANS = re.compile(r"\b(?:he|she|they|him|her|them|his|hers|its|their|theirs|these|those)\b", re.IGNORECASE)

_Tokens = Annotated[int, Range(_LEAST, _MOST)]  # read for a claim of normal length
_Threads = Annotated[int, Range(0, _THREADS)]  # 0: one per CPU, at most four


class _PreparedClaims(NamedTuple):
    compared: LexicalComparison
    premise: Premise
    pieces: list[Piece]
    pair: Pair


class _ReadClaim(NamedTuple):
    """A claim that the network has read, and the features it is judged by."""

    prepared: _PreparedClaims
    scores: Scores
    row: dict[str, float]

    @classmethod
    def of(cls, prepared: _PreparedClaims, scores: Scores) -> _ReadClaim:
        return cls(prepared, scores, describe(prepared.compared, scores))

    def failure(self, claim: Claim, label: Label, against: float) -> Failure:
        it = self.prepared
        return Failure(claim.text, label, it.compared, self.row, it.pieces, against, self.scores.claim)


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
        return [it.row if isinstance(it, _ReadClaim) else None for it in self._read(claims, passages, question)]

    def _verify(self, claims: Sequence[Claim], passages: Sequence[Passage], question: str) -> list[Verdict]:
        read = self._read(claims, passages, question)
        rows = [it.row for it in read if isinstance(it, _ReadClaim)]
        shares = zip(*self._predict(rows), strict=True)
        return [
            self._judged(claim, it, next(shares), passages, question) if isinstance(it, _ReadClaim) else it
            for claim, it in zip(claims, read, strict=True)
        ]

    def _predict(self, rows: Sequence[Mapping[str, float]]) -> tuple[list[float], list[float]]:
        """Give P(supported) and P(contradicted | not supported) for every row of features."""
        if not rows:
            return [], []
        supported, contradicted = shipped_model().predict(rows)
        if self.tuned is not None:
            supported = tuned_probability(self.tuned.adjustment, supported, rows)
        return supported.tolist(), contradicted.tolist()

    def _read(self, claims: Sequence[Claim], passages: Sequence[Passage], question: str) -> list[_ReadClaim | Verdict]:
        """Lay every claim beside its passages and let the network read what is to be read."""
        shortlist = Shortlist.of(passages)
        prepared = [self._prepare(claim, shortlist, question) for claim in claims]
        pairs = [it.pair for it in prepared if isinstance(it, _PreparedClaims)]
        read = iter(shipped_cross_encoder(self.threads).read(pairs))
        return [_ReadClaim.of(it, next(read)) if isinstance(it, _PreparedClaims) else it for it in prepared]

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
            premise,
            pieces,
            Pair(pointed(premise.text), pointed(compared.claim.text), f"{asked} {around}".strip(), most(tokens)),
        )

    def failing(
        self, claims: Sequence[Claim], labels: Sequence[Label], passages: Sequence[Passage], question: str = ""
    ) -> list[Failure | None]:
        """Read claims that somebody found to fail, without judging them; None where there is nothing to compare."""
        read = self._read(claims, passages, question)
        against = iter(self._predict([it.row for it in read if isinstance(it, _ReadClaim)])[1])
        return [
            it.failure(claim, label, next(against)) if isinstance(it, _ReadClaim) else None
            for claim, label, it in zip(claims, labels, read, strict=True)
        ]

    def _judged(
        self, claim: Claim, it: _ReadClaim, shares: tuple[float, float], passages: Sequence[Passage], question: str
    ) -> Verdict:
        likely, against = shares
        alarm = shipped_model().alarm
        if self.tuned is not None and self.tuned.alarm is not None:
            alarm = self.tuned.alarm
        if it.row["changed_copy"] >= _COPY:
            likely = min(likely, _CHANGED)
        compared, premise, pieces, _ = it.prepared
        probabilities = three_way(shifted(likely, self.threshold), against)
        probabilities = after_answers(probabilities, compared.named)
        measured = it.failure(claim, decided(probabilities, alarm), against)
        shown = evidence(compared, premise, it.scores.premise, pieces, passages)
        return concluded(claim, measured, probabilities, shown, self.spec, passages, question)


def shipped_model() -> Model:
    """Load the fitted model that weighs the network's reading and the lexical checks."""
    return load_model("everyclaim.verify.embedded")


@dataclass(frozen=True, slots=True)
class _Said:
    """What a spec may say: as the verifier, but for the file of what was tuned."""

    tokens: _Tokens = TOKENS
    threads: _Threads = 0
    threshold: Threshold = 0.5
    tuned: str | None = None  # a file written by `everyclaim judge tune`


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

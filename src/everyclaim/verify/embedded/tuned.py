"""What `everyclaim tune` writes: how far the shipped model's log-odds move for one team's texts.

    log-odds = slope · shipped + intercept + Σ weight · (feature − mean) / scale

each standardised feature held within ±`BOUND`. The file is JSON; it holds numbers, counts and digests, never texts.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from everyclaim.core.errors import ConfigError
from everyclaim.verify.lexical.model import Alarm, Model

Doubles = npt.NDArray[np.float64]

FORMAT = 1
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
    alarm: Alarm | None  # None: the shipped one
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
    return hashlib.sha256(plain.encode("ascii")).hexdigest()[:16]


def tuning_to_json(
    model: str, tokens: int, adjustment: Adjustment, alarm: Alarm | None, about: Mapping[str, Any]
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
        "alarm": {"named": alarm.named, "other": alarm.other} if alarm else None,
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
    model, tokens, levels = content["model"], content["tokens"], content.get("alarm")
    features = {str(key): [_number(value) for value in row] for key, row in content["features"].items()}
    table = np.array([*features.values()], dtype=np.float64).reshape(len(features), 3)
    if not isinstance(model, str) or type(tokens) is not int or not (table[:, 1] > 0).all():
        raise ValueError("model, tokens or a scale is none")
    slope, intercept = _number(content["slope"]), _number(content["intercept"])
    adjustment = Adjustment(tuple(features), table[:, 0], table[:, 1], table[:, 2], slope, intercept)
    alarm = Alarm(_share(levels["named"]), _share(levels["other"])) if levels is not None else None
    return Tuning(model, tokens, adjustment, alarm, digest_of(content))


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

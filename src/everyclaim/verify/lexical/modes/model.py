"""The fitted model that weighs the signals: a multinomial logistic regression, as a plain file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from everyclaim.core.types import FailureMode

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ModeModel:
    """Weights of shape (modes × signals) over standardised signals, each held within ±`bound`."""

    version: str
    modes: tuple[FailureMode, ...]
    signals: tuple[str, ...]
    mean: Doubles
    scale: Doubles
    weight: Doubles
    intercept: Doubles
    bound: float

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> ModeModel:
        """Read a model file's content."""
        mean, scale, weight, intercept = (
            np.array(data[name], dtype=np.float64) for name in ("mean", "scale", "weight", "intercept")
        )
        modes = tuple(FailureMode(mode) for mode in data["modes"])
        return cls(data["version"], modes, tuple(data["signals"]), mean, scale, weight, intercept, data["bound"])

    def ranked(self, row: Mapping[str, float]) -> Sequence[FailureMode]:
        """Order the modes, the likeliest first."""
        values = np.array([row[name] for name in self.signals])
        scores = self.weight @ np.clip((values - self.mean) / self.scale, -self.bound, self.bound) + self.intercept
        return [self.modes[i] for i in np.argsort(-scores, kind="stable")]


@lru_cache(maxsize=1)
def shipped_model() -> ModeModel:
    """Load the model that comes with the package; `training/modes/fit.py` made it."""
    path = files("everyclaim.verify.lexical.modes").joinpath("data", "model.json")
    return ModeModel.parse(json.loads(path.read_text(encoding="utf-8")))

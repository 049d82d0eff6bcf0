"""The fitted model, as a plain file, and its evaluation with numpy alone.

`data/model.json` holds two heads. `supported` says how likely a claim is supported; `contradicted` how likely a claim
that is not supported is contradicted rather than just not said. A head adds up the log-odds of its members, each by
its share: boosted trees, and a logistic regression. A fitted straight line calibrates the sum:

    log-odds = slope · (share · member + share · member + …) + intercept

`alarm` is the probability of CONTRADICTED above which a claim that is not supported is called so. `answer`, where a
model has it, turns the claims of an answer into the probability that none of them is unsupported (see `Whole`).

A tree is five lists of equal length, one entry per node: the feature it asks about (-1: a leaf), the threshold
(a value not above it goes left), the nodes to the left and right, and the value a leaf adds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from everyclaim.core.errors import ConfigError

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
FORMAT = 3
_LEAST = 1e-3  # below this a claim is as bad as can be, and above its complement as good


@dataclass(frozen=True, slots=True)
class Trees:
    """All trees side by side: arrays of shape (trees, nodes); short trees are padded with empty leaves."""

    base: float
    feature: Ints
    threshold: Doubles
    left: Ints
    right: Ints
    value: Doubles
    depth: int

    @classmethod
    def parse(cls, base: float, trees: Sequence[Mapping[str, Sequence[float]]]) -> Trees:
        """Lay the trees of a model file side by side."""
        width = max((len(tree["feature"]) for tree in trees), default=1)
        shape = (len(trees), width)
        feature, left, right = (np.full(shape, fill, dtype=np.int64) for fill in (-1, 0, 0))
        threshold, value = np.zeros(shape), np.zeros(shape)
        for number, tree in enumerate(trees):
            size = len(tree["feature"])
            feature[number, :size] = tree["feature"]
            threshold[number, :size] = tree["threshold"]
            left[number, :size] = tree["left"]
            right[number, :size] = tree["right"]
            value[number, :size] = tree["value"]
        here = np.broadcast_to(np.arange(width), shape)
        leaf = feature < 0  # a leaf leads to itself, so that every walk may take the same number of steps
        left, right = np.where(leaf, here, left), np.where(leaf, here, right)
        depth = max((_depth(tree) for tree in trees), default=0)
        return cls(base, np.maximum(feature, 0), threshold, left, right, value, depth)

    def log_odds(self, rows: Doubles) -> Doubles:
        """Sum the leaves every row (shape: rows × features) ends in."""
        trees = np.arange(len(self.feature))
        node = np.zeros((len(rows), len(trees)), dtype=np.int64)
        row = np.arange(len(rows))[:, None]
        for _ in range(self.depth):
            asked = rows[row, self.feature[trees, node]]
            goes_left = asked <= self.threshold[trees, node]
            node = np.where(goes_left, self.left[trees, node], self.right[trees, node])
        total: Doubles = self.base + self.value[trees, node].sum(axis=1)
        return total


def _depth(tree: Mapping[str, Sequence[float]]) -> int:
    """Steps from the root to the deepest leaf; children come after their parent in the lists."""
    level = [0] * len(tree["feature"])
    for node, feature in enumerate(tree["feature"]):
        if feature >= 0:
            for child in (int(tree["left"][node]), int(tree["right"][node])):
                level[child] = level[node] + 1
    return max(level)


@dataclass(frozen=True, slots=True)
class Linear:
    """A logistic regression over standardised features, each held within ±`bound`."""

    mean: Doubles
    scale: Doubles
    weight: Doubles
    intercept: float
    bound: float

    def log_odds(self, rows: Doubles) -> Doubles:
        """Weigh every row (shape: rows × features)."""
        standard = np.clip((rows - self.mean) / self.scale, -self.bound, self.bound)
        total: Doubles = (standard * self.weight).sum(axis=1) + self.intercept  # alike in any company, unlike `@`
        return total


@dataclass(frozen=True, slots=True)
class Head:
    """One calibrated two-way question."""

    members: tuple[tuple[float, Trees | Linear], ...]  # share, member
    slope: float
    intercept: float

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Head:
        """Read one head of a model file."""
        return cls(
            members=tuple((member["share"], _member(member)) for member in data["members"]),
            slope=data["calibration"]["slope"],
            intercept=data["calibration"]["intercept"],
        )

    def probability(self, rows: Doubles) -> Doubles:
        """Answer for every row (shape: rows × features)."""
        raw = np.zeros(len(rows))
        for share, member in self.members:
            raw += share * member.log_odds(rows)
        answer: Doubles = 1.0 / (1.0 + np.exp(-(self.slope * raw + self.intercept)))
        return answer


def _member(data: Mapping[str, Any]) -> Trees | Linear:
    if data["kind"] == "trees":
        return Trees.parse(data["base"], data["nodes"])
    mean, scale, weight = (np.array(data[name], dtype=np.float64) for name in ("mean", "scale", "weight"))
    return Linear(mean, scale, weight, data["intercept"], data["bound"])


@dataclass(frozen=True, slots=True)
class Whole:
    """What the claims of an answer say about the whole of it: a logistic regression on two numbers.

        log-odds = intercept + mean · log-odds of the mean P(supported) + lowest · log-odds of the lowest

    The lowest alone would punish long answers, of whose many claims one is always judged badly; the mean alone forgives
    one false claim among many.
    """

    intercept: float
    mean: float
    lowest: float

    @staticmethod
    def numbers(supported: Sequence[float]) -> tuple[float, float]:
        """Return the log-odds of the mean and of the lowest P(supported) of an answer's claims (at least one)."""
        return _log_odds(sum(supported) / len(supported)), _log_odds(min(supported))

    def probability(self, supported: Sequence[float]) -> float:
        """Return the probability in [0, 1] that all claims (at least one) are supported, from P(supported) of each."""
        mean, lowest = self.numbers(supported)
        return round(1.0 / (1.0 + math.exp(-(self.intercept + self.mean * mean + self.lowest * lowest))), 6)


def _log_odds(probability: float) -> float:
    held = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(held / (1 - held))


@dataclass(frozen=True, slots=True)
class Model:
    """Both heads, the names of their inputs in order, and the version a verdict is traced to."""

    version: str
    features: tuple[str, ...]
    supported: Head
    contradicted: Head
    alarm: float
    answer: Whole | None = None

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Model:
        """Read a model file's content. Raises `ConfigError` for a format this code does not know."""
        if data.get("format") != FORMAT:
            raise ConfigError(f"model file has format {data.get('format')!r}; this version reads format {FORMAT}")
        heads = data["heads"]
        return cls(
            version=data["version"],
            features=tuple(data["features"]),
            supported=Head.parse(heads["supported"]),
            contradicted=Head.parse(heads["contradicted"]),
            alarm=data["alarm"],
            answer=Whole(**data["answer"]) if "answer" in data else None,
        )

    def predict(self, rows: Sequence[Mapping[str, float]]) -> tuple[Doubles, Doubles]:
        """Give P(supported) and P(contradicted | not supported) for every row of features."""
        table = np.array([[row[name] for name in self.features] for row in rows], dtype=np.float64)
        return self.supported.probability(table), self.contradicted.probability(table)


@lru_cache(maxsize=4)
def load_model(package: str) -> Model:
    """Load the model that ships in the folder `data` of a package."""
    return Model.parse(json.loads(files(package).joinpath("data", "model.json").read_text(encoding="utf-8")))


def shipped_model() -> Model:
    """Load the model that comes with the lexical verifier."""
    return load_model("everyclaim.verify.lexical")

"""Static word vectors and word weights: what the verifier knows about words beyond their letters.

`vectors.npz` holds three arrays made by `training/vectors.py`: the words (one text, separated by line feeds), a
quantised unit vector per word (int8, words × dimensions), and how rare the word is (uint8, 0 common … 255 rare).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from everyclaim.core.memory import once

Float32Array = npt.NDArray[np.float32]
_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Rows of `matrix` are unit vectors; the last row is zero and stands for every unknown word."""

    rows: dict[str, int]
    matrix: Float32Array
    rarity: Float32Array  # per row, within [0, 1]; unknown words are as rare as the rarest

    def look_up(self, norms: Sequence[str], stems: Sequence[str]) -> npt.NDArray[np.int64]:
        """Give the row of every word: by its form, else by its stem, else the row of unknown words."""
        rows = self.rows
        return np.array(
            [rows.get(norm, rows.get(stem, _UNKNOWN)) for norm, stem in zip(norms, stems, strict=True)], dtype=np.int64
        )


@once
def shipped_vectors() -> WordVectors:
    """Load the vectors that come with the package."""
    path = files("everyclaim.verify.lexical").joinpath("data", "vectors.npz")
    with path.open("rb") as stream, np.load(stream) as arrays:
        words = bytes(arrays["words"]).decode("utf-8").split("\n")
        quantised = arrays["vectors"].astype(np.float32)
        rarity = arrays["rarity"].astype(np.float32) / 255.0
    norms = np.linalg.norm(quantised, axis=1, keepdims=True)
    unit = quantised / np.maximum(norms, 1e-6)
    matrix = np.vstack([unit, np.zeros((1, unit.shape[1]), dtype=np.float32)]).astype(np.float32)
    return WordVectors(
        rows={word: row for row, word in enumerate(words)},
        matrix=matrix,
        rarity=np.append(rarity, np.float32(1.0)).astype(np.float32),
    )

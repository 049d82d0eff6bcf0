"""Labelled claims, read from JSON lines (plain or .xz) or from the minimal pairs beside this file."""

from __future__ import annotations

import json
import lzma
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))
from lexical_data import FAMILIES, HELD_OUT, fitted_half, share

PAIRS = Path(__file__).parent / "minimal_pairs"
KINDS = (
    "number", "unit", "date", "name", "role_swap", "negation", "quantifier", "hedge", "speaker", "comparison",
)  # fmt: skip
_PASSAGES = ((1, "1"), (3, "2 to 3"), (6, "4 to 6"), (12, "7 to 12"))
_WORDS = ((60, "up to 60 words"), (150, "61 to 150 words"), (400, "151 to 400 words"), (1000, "401 to 1000 words"))
_PASSAGES_MORE, _WORDS_MORE = "more than 12", "more than 1000 words"
ORDER = [name for _, name in (*_PASSAGES, *_WORDS)]  # of parts that have a size; what is not in it comes after


@dataclass(frozen=True, slots=True)
class Labelled:
    """A claim with its passages and what people say about it.

    `label` is one of the three, or NOT_SUPPORTED where it is not known which of two.
    """

    text: str
    contexts: tuple[str, ...]
    label: str
    dataset: str = ""
    unit: str = ""
    slice: str = ""
    group: str = ""
    question: str = ""
    sentence: str = ""

    @property
    def keys(self) -> dict[str, str]:
        """By what tables can be broken down."""
        words = sum(len(text.split()) for text in self.contexts)
        return {
            "dataset": self.dataset,
            "unit": self.unit,
            "family": FAMILIES.get(self.dataset, self.dataset),
            "slice": f"{self.dataset}: {self.slice}" if self.slice else "",
            "passages": next((name for most, name in _PASSAGES if len(self.contexts) <= most), _PASSAGES_MORE),
            "length": next((name for most, name in _WORDS if words <= most), _WORDS_MORE),
        }


@dataclass(frozen=True, slots=True)
class Pair:
    """Two claims that differ in one thing: the passages support the first and not the second.

    `label` is that of the second; `half` (a or b, by hash of the group) lets thresholds be chosen on one half only.
    """

    id: str
    kind: str
    domain: str
    question: str
    contexts: tuple[str, ...]
    supported: str
    not_supported: str
    label: str
    group: str

    @property
    def half(self) -> str:
        """Half `a` or `b`: all pairs of a group are in the same one, on every machine."""
        return "a" if share("pairs " + self.group) < 0.5 else "b"


def read_pairs(folder: Path = PAIRS) -> list[Pair]:
    """Read the minimal pairs, in order of file and position."""
    pairs = []
    for path in sorted(folder.glob("*.toml")):
        for one in tomllib.loads(path.read_text(encoding="utf-8"))["set"]:
            for number, pair in enumerate(one["pair"], 1):
                pairs.append(
                    Pair(
                        f"{one['id']}-{number}", pair["kind"], one["domain"], one["question"], tuple(one["passages"]),
                        pair["supported"], pair["not_supported"], pair["label"], one["id"],
                    )
                )  # fmt: skip
    return pairs


def read_labelled(paths: Iterable[Path], *, held_out: bool = False) -> Iterator[Labelled]:
    """Read labelled claims from JSON lines, plain or .xz; a folder holds minimal pairs.

    `held_out` leaves out what shipped models are fitted on: of the development claims and of `written`.
    """
    for path in paths:
        if path.is_dir():
            yield from _members(read_pairs(path))
            continue
        with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                row = json.loads(line)
                if not (held_out and _is_fitted_on(row)):
                    yield _labelled(row, f"{path.name}:{number}")


def _is_fitted_on(row: dict[str, Any]) -> bool:
    return fitted_half(row["group"]) or (row.get("dataset") == "written" and share(row["group"]) >= HELD_OUT)


def _labelled(row: dict[str, Any], place: str) -> Labelled:
    return Labelled(
        row["text"],
        texts(row["contexts"]),
        row["label"],
        str(row.get("dataset") or ""),
        str(row.get("unit") or ""),
        str(row.get("slice") or ""),
        str(row.get("group") or place),
        str(row.get("question") or ""),
        str(row.get("sentence") or ""),
    )


def texts(contexts: list[Any]) -> tuple[str, ...]:
    """The passages of a row, which are strings or objects with `text`."""
    return tuple(text if isinstance(text, str) else str(text.get("text", "")) for text in contexts)


def _members(pairs: list[Pair]) -> Iterator[Labelled]:
    for pair in pairs:
        for text, label in ((pair.supported, "SUPPORTED"), (pair.not_supported, pair.label)):
            yield Labelled(
                text, pair.contexts, label, "minimal_pairs", "claim", pair.kind, pair.group, pair.question
            )  # fmt: skip


def limited(claims: list[Labelled], most: int | None) -> list[Labelled]:
    """Keep at most so many claims of every data set, in the given order: those of the groups of smallest hash."""
    if most is None:
        return claims
    places: dict[str, list[int]] = defaultdict(list)
    for place, claim in enumerate(claims):
        places[claim.dataset].append(place)
    kept: list[int] = []
    for found in places.values():
        kept += sorted(found, key=lambda place: (share(claims[place].group), place))[:most]
    return [claims[place] for place in sorted(kept)]

"""Slices: the value of a tag, what an answer shows by itself (`auto:…`), or several of these at once (`a+b`).

One reading for summaries, calibrations, comparisons and trends, so that a slice is the same answers everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from everyclaim.core.errors import ConfigError
from everyclaim.core.plaintext import did_you_mean
from everyclaim.core.types import REFERENCE, RESPONSE, FailureMode, Label, Result, tag_values
from everyclaim.store.store import Figures

AUTO = "auto"
SOURCES, LENGTH, NUMBERS, DATES, QUESTION = "auto:sources", "auto:length", "auto:numbers", "auto:dates", "auto:question"
AUTOMATIC = (SOURCES, LENGTH, NUMBERS, DATES, QUESTION)
MODE = "mode"  # what comparisons and trends call failure modes
OF_RESULTS = ("model", "release")  # fields of every result, which can be sliced by as if they were tags
JOINT = "+"
SHOWN_FROM = 3  # scored answers, or labels; of fewer no rate is shown
FEW = 30  # scored answers; of fewer the interval says something, and finding nothing in them says nothing

_ORDER = {mode.value: place for place, mode in enumerate(FailureMode)}
_SUPPORTED = list(Label).index(Label.SUPPORTED)

_DIGIT = re.compile(r"\d")
_CITATION = re.compile(r"\[\d+(?:\s*[,;–-]\s*\d+)*\]")
# Without any of these no date is read, which takes far longer to find out.
_MAYBE_DATED = re.compile(
    r"(?<!\d)[12]\d{3}(?!\d)|\d[./-]\d|\d0s|'\d\d|\d ?(?:ad|bc|ce)|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
    r"|centur|ties|teens|quarter|half|ad "
)
_MEASURED = "much|many|long|often|far|old|big|large|high|tall|deep|heavy|fast|soon"
_ASKED: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("how much", rf"\bhow (?:{_MEASURED})\b|\bwhat (?:number|percentage|share|amount)\b"),
        ("when", r"\bwhen\b|\b(?:what|which|in what|in which) (?:year|date|day|month|time)\b"),
        ("who", r"\b(?:who|whose|whom)\b"),
        ("where", r"\bwhere\b"),
        ("why", r"\bwhy\b|\bhow come\b|\bfor what reason\b"),
        ("how", r"\bhow\b"),
        ("which", r"\bwhich\b"),
        ("what", r"\bwhat\b"),
        ("yes or no", r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might|must)\b"),
    )
)  # fmt: skip


ClaimFacts = tuple[str, Sequence[str]]  # of a claim: its text, and the passages that its verdict rests on


def expanded(slices: Iterable[str]) -> tuple[str, ...]:
    """Return the slices that are meant: `auto` stands for each automatic one, also within a cut (`source+auto`).

    Raises `ConfigError` for an automatic slice that there is none of, and for a cut of nothing or of a slice by itself.
    """
    found: dict[str, None] = {}
    for name in slices:
        parts = name.split(JOINT)
        plain = [part for part in parts if part != AUTO]
        if not all(parts) or len(set(plain)) < len(plain):
            raise ConfigError(
                f"slice {name!r} does not cross two tags: join different names, as in source{JOINT}{LENGTH}"
            )
        for part in parts:
            if part.startswith(f"{AUTO}:") and part not in AUTOMATIC:
                hint = did_you_mean(part, AUTOMATIC) or f": use {', '.join(AUTOMATIC)}"
                raise ConfigError(f"no automatic slice {part!r}{hint}")
        for cut in product(*(AUTOMATIC if part == AUTO else (part,) for part in parts)):
            if len(set(cut)) == len(cut):
                found[JOINT.join(cut)] = None
    return tuple(found)


def fields_of(slices: Iterable[str]) -> list[str]:
    """Return the fields of rows that these slices need as tags."""
    parts = dict.fromkeys(part for name in expanded(slices) for part in name.split(JOINT))
    return [part for part in parts if part not in AUTOMATIC and part not in OF_RESULTS]


def values_of(result: Result, name: str) -> tuple[str, ...]:
    """Return the values of a slice that an answer is in; one without such a tag has the value "" of it."""
    if name in result.tags:
        return tuple(dict.fromkeys(tag_values(result.tags[name]))) or ("",)
    if JOINT in name:
        return tuple(" + ".join(cell) for cell in product(*(values_of(result, part) for part in name.split(JOINT))))
    if name in AUTOMATIC:
        claims = [(claim.text, [one.passage_id for one in claim.verdict.evidence]) for claim in result.claims]
        return (automatic(name, result.question, claims),)
    if name in OF_RESULTS:
        return ((result.model if name == "model" else result.release) or "",)
    return ("",)


def without_answers(slices: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the tags, alone or in a cut, that no answer has, given slices with their values."""
    found: dict[str, None] = {}
    for name, values in slices.items():
        cells = [value.split(" + ") for value in values]
        parts = name.split(JOINT) if any(len(cell) > 1 for cell in cells) else [name]
        for place, part in enumerate(parts):
            if cells and all(len(cell) == len(parts) and not cell[place] for cell in cells):
                found[part] = None
    return list(found)


def automatic(name: str, question: str, claims: Sequence[ClaimFacts]) -> str:
    """Return the value of an automatic slice."""
    if name == SOURCES:
        used = len({passage for _, passages in claims for passage in passages} - {RESPONSE, REFERENCE})
        return "none" if not used else "one passage" if used == 1 else "several passages"
    if name == LENGTH:
        return length(len(claims))
    if name == NUMBERS:
        return "numbers" if any(_has_number(text) for text, _ in claims) else "no numbers"
    if name == DATES:
        return "dates" if any(_has_date(text) for text, _ in claims) else "no dates"
    return asked(question)


def length(claims: int) -> str:
    """Name how long an answer is, by its claims."""
    if not claims:
        return "no claims"
    return "1–3 claims" if claims <= 3 else "4–6 claims" if claims <= 6 else "7 claims or more"


def asked(question: str) -> str:
    """Name what a question asks for, by its English question word; `other` where it has none, `none` without one."""
    if not question.strip():
        return "none"
    return next((name for name, pattern in _ASKED if pattern.search(question)), "other")


def automatic_tags(
    names: Iterable[str], answers: Iterable[tuple[str, Sequence[ClaimFacts]]]
) -> dict[str, dict[str, NDArray[np.int32]]]:
    """Return, by automatic slice and value, the rows of the answers in it; an answer is its question and its claims."""
    found: dict[str, dict[str, list[int]]] = {name: {} for name in names}
    for row, (question, claims) in enumerate(answers):
        for name, values in found.items():
            values.setdefault(automatic(name, question, claims), []).append(row)
    return {
        name: {value: np.array(rows, dtype=np.int32) for value, rows in sorted(values.items())}
        for name, values in found.items()
    }


def _has_number(text: str) -> bool:
    return bool(_DIGIT.search(text) and ("[" not in text or _DIGIT.search(_CITATION.sub("", text))))


def _has_date(text: str) -> bool:
    from everyclaim.text.dates import is_dated  # lists of words, loaded for automatic slices alone

    if not _MAYBE_DATED.search(text.lower()):
        return False
    return is_dated(_CITATION.sub("", text))


# ---- slices by failure modes


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """The scored answers of one value of a tag: their claims, those that fail, and these by failure mode."""

    value: str
    answers: int
    claims: int
    failing: int
    modes: Mapping[str, int]

    def share(self, mode: str) -> float | None:
        """Return the share of the claims that fail like this, within [0, 1]; None without claims."""
        return self.modes.get(mode, 0) / self.claims if self.claims else None

    @property
    def failing_share(self) -> float | None:
        """The share of the claims that fail, within [0, 1]; None without claims."""
        return self.failing / self.claims if self.claims else None


@dataclass(frozen=True, slots=True)
class FailureMatrix:
    """The values of one tag by the failure modes that occur in the run; `whole` is the run.

    An answer with several values of the tag is in the row of each; value "" is "no such tag".
    """

    tag: str
    whole: MatrixRow
    rows: tuple[MatrixRow, ...]  # those with the most claims first

    @property
    def modes(self) -> tuple[str, ...]:
        """The failure modes that occur, in the order of `FailureMode`."""
        return tuple(sorted(self.whole.modes, key=lambda mode: _ORDER.get(mode, len(_ORDER))))

    @property
    def highest(self) -> float:
        """The highest share of any mode in any row."""
        return max((row.share(mode) or 0.0 for row in self.rows for mode in self.modes), default=0.0)


def matrix_of(figures: Figures, tag: str) -> FailureMatrix:
    """Count a run's claims by the values of a tag and by failure mode."""
    everything = np.ones(len(figures.ids), dtype=bool)
    rows = [_matrix_row(figures, value, answers) for value, answers in _values(figures, tag)]
    rows.sort(key=lambda row: (-row.claims, row.value))
    return FailureMatrix(tag, _matrix_row(figures, "", everything), tuple(rows))


def _values(figures: Figures, tag: str) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    none = np.ones(len(figures.ids), dtype=bool)
    for value, places in figures.tags.get(tag, {}).items():
        has = np.zeros(len(figures.ids), dtype=bool)
        has[places] = True
        none &= ~has
        yield value, has
    if none.any():
        yield "", none


def _matrix_row(figures: Figures, value: str, answers: NDArray[np.bool_]) -> MatrixRow:
    scored = answers & figures.scored
    claims = scored[figures.sample]
    failing = claims & (figures.label != _SUPPORTED)
    counts = np.bincount(figures.mode[failing & (figures.mode >= 0)], minlength=len(figures.modes))
    modes = {mode: int(count) for mode, count in zip(figures.modes, counts, strict=True) if count}
    return MatrixRow(value, int(scored.sum()), int(claims.sum()), int(failing.sum()), modes)

"""What summaries count beside outcomes and labels: slices of the answers, and how the judging itself went.

A slice is the value of a tag, what an answer shows by itself (`auto:…`), or several of these at once (`a+b`). There is
one reading for summaries, calibrations, comparisons and trends, so that a slice is the same answers everywhere.

How the judging went is counted from stored verdicts: what a cascade spared, where judges of a panel or repeats of one
judge differed, by who decided (`Verdict.judge`) and the flags `audited`, `audit_disagreed`, `disagreement` and
`unstable`. Claims without passages were put to no judge and are left out.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from everyclaim.core.errors import ConfigError
from everyclaim.core.plaintext import did_you_mean
from everyclaim.core.spec import Spec
from everyclaim.core.types import REFERENCE, RESPONSE, FailureMode, Label, Result, Verdict, tag_values
from everyclaim.stats.intervals import Estimate, clustered_ratios
from everyclaim.stats.types import Floats, Sampling
from everyclaim.store.store import Figures

AUTO = "auto"
SOURCES, LENGTH, NUMBERS, DATES, QUESTION = "auto:sources", "auto:length", "auto:numbers", "auto:dates", "auto:question"
AUTOMATIC = (SOURCES, LENGTH, NUMBERS, DATES, QUESTION)
_SHOWN = {
    AUTO: "automatic slices", SOURCES: "number of passages", LENGTH: "number of claims",
    NUMBERS: "numbers in claims", DATES: "dates in claims", QUESTION: "type of question",
}  # fmt: skip
MODE = "mode"  # what comparisons and trends call failure modes
OF_RESULTS = ("model", "release")  # fields of every result, which can be sliced by as if they were tags
JOINT = "+"
FEW = 30  # scored answers; of fewer the interval says something, and finding nothing in them says nothing

_ORDER = {mode.value: place for place, mode in enumerate(FailureMode)}
_SUPPORTED = list(Label).index(Label.SUPPORTED)

_DIGIT = re.compile(r"\d")
_CITATION = re.compile(r"\[\d+(?:\s*[,;–-]\s*\d+)*\]")
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


def shown_name(name: str) -> str:
    """Name a slice for readers: `source+auto:length` is "source + number of claims"."""
    return f" {JOINT} ".join(_SHOWN.get(part, part) for part in name.split(JOINT))


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


def without_answers(slices: Mapping[str, Collection[str]]) -> list[str]:
    """Return the slices whose tags no answer has, given slices with their values."""
    return [name for name, values in slices.items() if values and not any(value.strip(" +") for value in values)]


def automatic(name: str, question: str, claims: Sequence[ClaimFacts]) -> str:
    """Return the value of an automatic slice."""
    if name == SOURCES:
        used = len({passage for _, passages in claims for passage in passages} - {RESPONSE, REFERENCE})
        return "none" if not used else "one passage" if used == 1 else "several passages"
    if name == LENGTH:
        return length(len(claims))
    if name == NUMBERS:
        return "numbers" if any(_DIGIT.search(_CITATION.sub("", text)) for text, _ in claims) else "no numbers"
    if name == DATES:
        from everyclaim.text.dates import is_dated  # lists of words, loaded for automatic slices alone

        return "dates" if any(is_dated(_CITATION.sub("", text)) for text, _ in claims) else "no dates"
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


# ---- slices by failure modes


class MatrixRow(NamedTuple):
    """The scored answers of one value of a tag ("": no such tag): their claims, those that fail, and these by mode."""

    value: str
    answers: int
    claims: int
    failing: int
    modes: Mapping[str, int]  # in the order of `FailureMode`


def matrix_of(figures: Figures, tag: str) -> tuple[MatrixRow, list[MatrixRow]]:
    """Count a run's claims by failure mode: of the run, then of each value of a tag, those with most claims first.

    An answer with several values of the tag is in the row of each.
    """
    rows = np.arange(len(figures.ids))
    having = {value: np.isin(rows, places) for value, places in figures.tags.get(tag, {}).items()}
    none = ~np.any([np.zeros(len(rows), dtype=bool), *having.values()], axis=0)
    found = [_matrix_row(figures, value, answers) for value, answers in {**having, "": none}.items() if answers.any()]
    found.sort(key=lambda row: (-row.claims, row.value))
    return _matrix_row(figures, "", np.ones(len(rows), dtype=bool)), found


def _matrix_row(figures: Figures, value: str, answers: NDArray[np.bool_]) -> MatrixRow:
    scored = answers & figures.scored
    claims = scored[figures.sample]
    failing = claims & (figures.label != _SUPPORTED)
    counts = np.bincount(figures.mode[failing & (figures.mode >= 0)], minlength=len(figures.modes)).tolist()
    ordered = sorted(zip(figures.modes, counts, strict=True), key=lambda pair: _ORDER.get(pair[0], len(_ORDER)))
    modes = {mode: count for mode, count in ordered if count}
    return MatrixRow(value, int(scored.sum()), int(claims.sum()), int(failing.sum()), modes)


class NumberColumns:
    """Grows by one row at a time; a row need not have every column."""

    def __init__(self) -> None:
        self._columns: dict[str, array[float]] = {}
        self.length = 0

    def append(self, row: Mapping[str, float | None]) -> None:
        """Add a row; None is no number."""
        for name, value in row.items():
            column = self._columns.setdefault(name, array("d"))
            column.extend([math.nan] * (self.length - len(column)))
            column.append(math.nan if value is None else value)
        self.length += 1

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return the columns, each as long as there are rows: NaN where a row has none.

        They are copied: an array that is lent out could not grow any more.
        """
        found = {}
        for name, column in self._columns.items():
            found[name] = np.full(self.length, math.nan)
            found[name][: len(column)] = column
        return found


@dataclass(frozen=True, slots=True)
class CascadeSummary:
    """What the first judge of a cascade spared the second."""

    first: str
    settled: Estimate  # share of the judged claims that the first judge was sure of, those audited among them
    agreement: Estimate  # share of the audited claims that the second judge gave the same label
    spared: int  # answers that the second judge saw nothing of
    saved: float | None  # what those would have cost, in US dollars, by the mean of the others; None: not known


@dataclass(frozen=True, slots=True)
class JudgingSummary:
    """What can be said of the judges; None where it does not arise."""

    judges: Mapping[str, int]  # claims by the judge that decided
    cascade: CascadeSummary | None
    disagreement: Estimate | None  # of a panel: share of claims that its judges did not label alike
    flips: Estimate | None  # with repeats: share of claims that were not labelled alike every time


@dataclass(frozen=True, slots=True)
class _JudgeKind:
    """What a result's provenance says of its judge."""

    first: str = ""  # of a cascade
    is_panel: bool = False
    repeats: frozenset[str] = frozenset()  # which judges vote with themselves: "" the only one, "2" the second


class JudgingCollector:
    """Collects what results say of their judges."""

    def __init__(self) -> None:
        self._judges: Counter[str] = Counter()
        self._first = ""
        self._is_panel = False

    def add(self, result: Result) -> Mapping[str, float | None]:
        """Collect one scored result; return its numbers, none where there is nothing to say of its judge."""
        made = result.provenance
        kind = _kind(made.verifier, frozenset(made.parameters.items()))
        self._judges.update(claim.verdict.judge for claim in result.claims)
        if kind == _JudgeKind():
            return {}
        self._first = self._first or kind.first
        self._is_panel = self._is_panel or kind.is_panel
        verdicts = [claim.verdict for claim in result.claims if "no_passages" not in claim.verdict.flags]
        audited = [verdict for verdict in verdicts if "audited" in verdict.flags]
        voted = [verdict for verdict in verdicts if _votes(kind, verdict)]
        usage = result.usage
        return {
            "paid": None if usage.cache_hits else usage.cost,  # what it would be without a cache is not known
            "judged": len(verdicts),
            "settled": len(audited) + sum(bool(kind.first) and _is_by(verdict, kind.first) for verdict in verdicts),
            "audited": len(audited),
            "agreed": sum("audit_disagreed" not in verdict.flags for verdict in audited),
            "torn": sum("disagreement" in verdict.flags for verdict in verdicts),
            "voted": len(voted),
            "flipped": sum("unstable" in verdict.flags for verdict in voted),
        }

    def finish(
        self, numbers: Mapping[str, Floats], clusters: NDArray[np.uint64] | None, sampling: Sampling
    ) -> JudgingSummary:
        """Add up the numbers of all results, and their clusters."""
        has = np.isfinite(numbers.get("judged", np.zeros(0)))
        known = {name: column[has] for name, column in numbers.items() if len(column) == len(has)}
        rows = defaultdict(lambda: np.zeros(0), known)
        of_rows = clusters[has] if clusters is not None and len(has) else None
        settled, agreement, torn, flips = clustered_ratios(
            [rows["settled"], rows["agreed"], rows["torn"], rows["flipped"]],
            [rows["judged"], rows["audited"], rows["judged"], rows["voted"]],
            of_rows,
            sampling,
        )
        return JudgingSummary(
            judges={name: self._judges[name] for name in sorted(self._judges)},
            cascade=self._cascade(rows, settled, agreement) if self._first else None,
            disagreement=torn if self._is_panel else None,
            flips=flips if flips.n else None,
        )

    def _cascade(self, rows: Mapping[str, Floats], settled: Estimate, agreement: Estimate) -> CascadeSummary:
        unasked = (rows["settled"] == rows["judged"]) & (rows["audited"] == 0)
        costs = rows["paid"]
        paid = {is_asked: costs[(unasked != is_asked) & np.isfinite(costs)] for is_asked in (True, False)}
        spared, saved = int(unasked.sum()), None
        if not spared:
            saved = 0.0
        elif len(paid[True]):
            # What both kinds cost, such as splitting the answer, was not spared.
            anyway = float(paid[False].mean()) if len(paid[False]) else 0.0
            saved = spared * max(0.0, float(paid[True].mean()) - anyway)
        return CascadeSummary(self._first, settled, agreement, spared, saved)


@lru_cache(maxsize=64)  # one run has one
def _kind(verifier: str, parameters: frozenset[tuple[str, str]]) -> _JudgeKind:
    try:
        spec = Spec.parse(verifier)
    except ConfigError:
        return _JudgeKind()
    repeats = {key for key, value in parameters if key.endswith("repeats") and value != "1"}
    first = spec.argument.partition(">")[0] if spec.name == "cascade" else ""
    is_panel = spec.name == "panel"
    return _JudgeKind(
        first, is_panel, frozenset() if is_panel else frozenset(key.rpartition(".")[0] for key in repeats)
    )


def _votes(kind: _JudgeKind, verdict: Verdict) -> bool:
    """Whether the judge that decided was asked several times."""
    if not kind.first:
        return bool(kind.repeats)
    return ("1" if _is_by(verdict, kind.first) else "2") in kind.repeats


def _is_by(verdict: Verdict, judge: str) -> bool:
    return verdict.judge.partition("?")[0] == judge and "audited" not in verdict.flags

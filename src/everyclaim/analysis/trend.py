"""Runs in their order: where a measure changed its level, and the rule for taking a release back.

Contradicted or unsupported claims rose, beyond chance, and the rise lasts; a mean score that is shown to be worse
without that is watched. Where claims are labelled, the rates that count are those without the judge's error; the others
stand beside them. Both runs have the judge that the labels speak of; its error is taken to be the same on the answers
of either. Every part of the new release, a run of it or a stretch of its time, is compared with the previous release.
Holm's correction over the parts and both rates keeps the chance that any of them is wrongly said to have risen at 5 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Literal

from everyclaim.analysis import plain, points, written
from everyclaim.analysis.deltas import (
    CONTRADICTED,
    FEWEST,
    FEWEST_EVENTS,
    LEVEL,
    SCORE,
    SUPPORTED,
    UNSUPPORTED,
    AnswerMeasure,
    Counted,
    Delta,
    DeltaFinding,
    Mask,
    MeasuredPart,
    adjusted,
    parts_with_masks,
)
from everyclaim.analysis.run_differences import Side, compare_figures
from everyclaim.analysis.slices import FEW
from everyclaim.core.plaintext import one_line, wrapped
from everyclaim.core.types import Label
from everyclaim.stats.intervals import Estimate, clustered_ratio
from everyclaim.stats.prevalence import JudgeCounts, rogan_gladen_difference
from everyclaim.stats.proportions import normal_quantile
from everyclaim.stats.sequential import ChangePoint, change_points
from everyclaim.stats.types import few_of_a_kind
from everyclaim.store.store import Figures

TREND_SCHEMA = 1
_SHOWN = (SCORE, SUPPORTED, UNSUPPORTED, CONTRADICTED)
_TESTED = (SCORE, UNSUPPORTED, CONTRADICTED)  # supported is what the other two leave
_FEWEST_RUNS = 3


LASTING = 2  # parts behind each other, the newest among them
# The gravest first.
WATCHED: Mapping[AnswerMeasure, Label] = {CONTRADICTED: Label.CONTRADICTED, UNSUPPORTED: Label.UNSUPPORTED}

RollBackVerdict = Literal["roll back", "watch", "keep", "too few samples"]
_GRAVITY: tuple[RollBackVerdict, ...] = ("roll back", "watch", "keep", "too few samples")


@dataclass(frozen=True, slots=True)
class Correction:
    """What labels make of a difference of rates as judged; without `found`, `why` says what stands against it.

    With `is_blind` the labels say that the judge cannot tell: then no difference of its rates is one of answers.
    """

    found: Delta | None
    why: str = ""
    is_blind: bool = False

    @property
    def doubts(self) -> tuple[str, ...]:
        """What makes it unsure, or why there is none."""
        return self.found.warnings if self.found else (f"not computed ({self.why})",)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values; null: not known, and `why_not` says why."""
        names = "before after difference low high p_value"
        row = written(self.found, names) if self.found else dict.fromkeys(names.split())
        warnings = list(self.found.warnings) if self.found else []
        return row | {"method": self.found and "rogan_gladen", "warnings": warnings, "why_not": self.why}


def correct(delta: Delta, label: Label, judge: Mapping[Label, JudgeCounts]) -> Correction:
    """Correct a difference of claims of this label by what labels say of the judge."""
    if (counts := judge.get(label)) is None:
        return Correction(None, f"labels of {label.value.lower()} claims and of others are needed")
    if delta.before is None or delta.after is None or delta.low is None or delta.high is None or delta.p_value is None:
        return Correction(None, "too few samples")
    if few := few_of_a_kind(counts.positives, counts.negatives, counts.kinds, counts.labels):
        return Correction(None, few[0])
    error = (delta.high - delta.low) / (2 * normal_quantile(LEVEL))
    try:
        before, after, found, chance = rogan_gladen_difference((delta.before, delta.after), error, counts, LEVEL)
    except ValueError as reason:
        return Correction(None, str(reason), is_blind=True)
    rates: dict[str, Any] = {"before": before, "after": after, "difference": found.value, "p_value": chance}
    low, high = found.interval.low, found.interval.high
    return Correction(replace(delta, **rates, low=low, high=high, warnings=found.warnings))


@dataclass(frozen=True, slots=True)
class Step:
    """One rate in one part of the new release compared with the previous release, as judged and corrected.

    `adjusted` of both differences is p for all parts and rates.
    """

    title: str
    delta: Delta
    correction: Correction | None = None  # None: no claim is labelled

    @property
    def has_risen_as_judged(self) -> bool:
        """Whether the rate is shown to be higher by the judge alone."""
        return _finding(self.delta) == "risen"

    @property
    def has_risen(self) -> bool:
        """Whether the rate is shown to be higher: without the judge's error, where labels say what that is."""
        if self.correction and self.correction.found:
            return _finding(self.correction.found) == "risen"
        return self.has_risen_as_judged and not (self.correction and self.correction.is_blind)

    @property
    def is_lost(self) -> bool:
        """Whether the judge shows a rise that cannot be told from its error."""
        return self.has_risen_as_judged and not self.has_risen

    @property
    def rows(self) -> list[tuple[str, Delta, str]]:
        """What a table shows of it, as judged and then without the judge's error: name, difference, finding."""
        judged = self.delta.measure.name
        named = {judged: self.delta, f"{judged}, corrected": self.correction and self.correction.found}
        return [(name, delta, _finding(delta)) for name, delta in named.items() if delta]

    def __str__(self) -> str:
        return ", corrected ".join(delta.levels for _, delta, _ in self.rows)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "title": self.title,
            **written(self.delta, "measure before after difference low high answers p_value p_adjusted=adjusted"),
            **written(self, "has_risen has_risen_as_judged"),
            "corrected": self.correction
            and self.correction.to_json() | {"p_adjusted": self.correction.found and self.correction.found.adjusted},
        }


def _lasting(steps: Sequence[Step]) -> int:
    return len(list(takewhile(lambda step: step.has_risen, reversed(steps))))


def _finding(delta: Delta) -> str:
    if delta.adjusted is None:
        return "too few samples"
    return "risen" if delta.adjusted <= 1 - LEVEL and (delta.low or 0.0) > 0 else "no rise shown"


@dataclass(frozen=True, slots=True)
class RollBack:
    """What the rule says, and why. `steps` are the rates part by part, in their order in time.

    `worse` is the mean score of the newest part where it is shown to be worse.
    """

    before: str
    after: str
    steps: tuple[Step, ...]
    needed: int = LASTING
    worse: Delta | None = None

    def of(self, measure: AnswerMeasure) -> tuple[Step, ...]:
        """Return the steps of one rate."""
        return tuple(step for step in self.steps if step.delta.measure is measure)

    @property
    def measure(self) -> AnswerMeasure:
        """The rate that decides: of which the gravest is said, contradicted claims first."""
        return min(WATCHED, key=lambda measure: _GRAVITY.index(self._verdict(measure)))

    @property
    def verdict(self) -> RollBackVerdict:
        """What to do."""
        found = self._verdict(self.measure)
        return "watch" if self.worse and found in ("keep", "too few samples") else found

    @property
    def lasting(self) -> int:
        """How many parts in a row, up to the newest, are shown to be higher in the rate that decides."""
        return _lasting(self.of(self.measure))

    def _verdict(self, measure: AnswerMeasure) -> RollBackVerdict:
        steps = self.of(measure)
        newest, lasting = steps[-1], _lasting(steps)
        if newest.delta.adjusted is None:
            return "too few samples"
        is_few = sum(step.delta.answers for step in steps) < FEW
        if lasting >= self.needed:
            return "roll back"
        return "watch" if lasting or newest.is_lost else "too few samples" if is_few else "keep"

    @property
    def doubts(self) -> list[str]:
        """What makes the corrected rates unsure, or why there are none, each once."""
        found = [(step.delta.measure.name, step.correction.doubts) for step in self.steps if step.correction]
        return list(dict.fromkeys(f"{name}, corrected: {doubt}" for name, doubts in found for doubt in doubts))

    @property
    def advice(self) -> str:
        """What to do where a rise is shown; else empty."""
        return self.sentence if self.verdict in ("roll back", "watch") else ""

    @property
    def sentence(self) -> str:
        """Say what to do, and why, in a sentence or two."""
        before, after = one_line(self.before, 60), one_line(self.after, 60)
        steps, lasting = self.of(self.measure), self.lasting
        newest, rate = steps[-1], f"rate of {self.measure.name} claims"
        both = "; ".join(f"{measure.name} {self.of(measure)[-1]}" for measure in WATCHED)
        if self.verdict == "roll back":
            since = f" from {one_line(steps[-lasting].title, 60)} on" if lasting > 1 else ""
            return (
                f"Roll {after} back to {before}: its {rate} is higher in each of its last {lasting} parts{since} "
                f"(newest: {newest})."
            )
        if self.worse and not lasting and not newest.is_lost:
            return (
                f"Watch {after}: its mean score is significantly worse than that of {before} (failing claims: {both})."
            )
        if newest.is_lost:
            return (
                f"Watch {after}: the judge finds a higher {rate} than in {before} ({newest}), which may be its error. "
                f"Label more claims, preferably those it calls {self.measure.name}."
            )
        if self.verdict == "watch":
            return (
                f"Watch {after}: its newest answers have a higher {rate} than {before} ({newest}). "
                "Later answers will show whether it lasts."
            )
        if self.verdict == "keep":
            where = " in its newest answers" if len(steps) > 1 else ""
            return f"Keep {after}: no significant rise of failing claims over {before}{where} ({both})."
        return f"Too few samples to rule out a rise of failing claims in {after} over {before} ({both})."

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return written(self, "verdict measure told=sentence needed lasting parts=steps")


def roll_back(
    before: str,
    after: str,
    parts: Sequence[tuple[str, Sequence[Delta]]],
    judge: Mapping[Label, JudgeCounts] | None = None,
    needed: int = LASTING,
) -> RollBack:
    """Apply the rule to the parts of a release, in their order in time: the title of each and its differences.

    `judge` is what labels say of the judge, label by label; None: no claim is labelled.
    """
    rates = [
        (title, delta, None if judge is None else correct(delta, label, judge))
        for title, deltas in parts
        for measure, label in WATCHED.items()
        for delta in deltas
        if delta.measure is measure
    ]
    judged = adjusted([delta.p_value for _, delta, _ in rates])
    shown = adjusted([made.found.p_value if made and made.found else None for _, _, made in rates])
    steps = []
    for (title, delta, made), p_value, corrected in zip(rates, judged, shown, strict=True):
        if made and made.found:
            made = replace(made, found=replace(made.found, adjusted=corrected))  # noqa: PLW2901
        steps.append(Step(title, replace(delta, adjusted=p_value), made))
    worse = (one for one in parts[-1][1] if one.measure is SCORE and one.finding is DeltaFinding.REGRESSED)
    return RollBack(before, after, tuple(steps), needed, next(worse, None))


@dataclass(frozen=True, slots=True)
class Series:
    """A measure on the answers of a slice, or a failure mode there, run by run, and where its level changed."""

    part: MeasuredPart
    rates: tuple[Estimate, ...]
    changes: tuple[ChangePoint, ...] = ()

    @property
    def is_testable(self) -> bool:
        """Whether the runs hold enough: answers in each that has a number, and claims of a kind in all together."""
        known = [rate for rate in self.rates if rate.value is not None]
        if len(known) < _FEWEST_RUNS or any(rate.clusters < FEWEST for rate in known):
            return False
        tops = sum((rate.value or 0.0) * rate.n for rate in known)
        return self.part.measure.is_score or min(tops, sum(rate.n for rate in known) - tops) >= FEWEST_EVENTS

    def tested(self, chance: float) -> Series:
        """Return it with the changes of level that come by chance at most this often; runs without a number aside."""
        known = [(place, rate) for place, rate in enumerate(self.rates) if rate.value is not None]
        if not known:
            return self
        widths = [(rate.high or 0.0) - (rate.low or 0.0) for _, rate in known]
        errors = [max(1e-9, width / 2 / normal_quantile(LEVEL)) for width in widths]
        found = change_points([rate.value or 0.0 for _, rate in known], errors, 1 - chance)
        return replace(self, changes=tuple(replace(change, at=known[change.at][0]) for change in found))


@dataclass(frozen=True, slots=True)
class Trend:
    """Runs in their order, as a whole and in parts.

    All changes are tested together at 5 %, half for the levels of three measures over the whole series, half for parts.
    """

    sides: tuple[Side, ...]  # the runs
    whole: tuple[Series, ...]  # of all answers, one for each measure
    differs: tuple[str, ...] = ()
    data: tuple[str, ...] = ()  # the data sets, where neighbouring runs share less than half of their samples
    parts: tuple[Series, ...] = ()
    rule: RollBack | None = None  # on the runs since claims that fail rose, against the one before; None: they did not

    @property
    def sentences(self) -> tuple[str, ...]:
        """Say of each measure where its level changed, or that it is not shown to."""
        told = []
        for series in (*(self.of(measure) for measure in _TESTED), *self.parts):
            part = series.part
            if not (series.changes or part.where or part.mode):
                told.append(f"{part}: no significant change over {len(self.sides)} runs")
            for change in series.changes:
                levels, by = part.measure.levels(change.before, change.after), points(change.after - change.before)
                since = one_line(self.sides[change.at].title, 60)
                chance = max(change.p_value, 0.001)
                told.append(f"{part}: from {since} on, {levels} (by {by} points, p {chance:.3f})")
        return tuple(told)

    def of(self, measure: AnswerMeasure) -> Series:
        """Return the series of a measure over all answers."""
        return next(series for series in self.whole if series.part.measure is measure)

    @property
    def advice(self) -> str:
        """What the rule of a release report says where claims that fail rose and stayed up; else empty."""
        return self.rule.advice if self.rule else ""

    def __str__(self) -> str:
        return "\n".join(wrapped(line) for line in (*self.sentences, self.advice) if line)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, in the public schema."""

        def at(series: Series) -> list[dict[str, Any]]:
            return [{"run": self.sides[change.at].id} | plain(change) for change in series.changes]

        return {
            "schema": TREND_SCHEMA,
            "runs": [
                written(side, "id name release total")
                | {"rates": {series.part.measure.name: plain(series.rates[place]) for series in self.whole}}
                for place, side in enumerate(self.sides)
            ],
            "changes": [
                {"measure": series.part.measure.name} | change for series in self.whole for change in at(series)
            ],
            "parts": [
                written(series.part, "measure mode slice") | written(series, "rates") | {"changes": at(series)}
                for series in self.parts
            ],
            **written(self, "differs data sentences advice rule"),
        }


def share_half(one: frozenset[Any], other: frozenset[Any]) -> bool:
    """Say whether at least half of what is in either of two sets is in both: then they are of the same data."""
    return 2 * len(one & other) >= len(one | other)


def trend_of(
    sides: Sequence[Side],
    runs: Sequence[Figures],
    differs: tuple[str, ...] = (),
    by: Sequence[str] = (),
    judge: Mapping[Label, JudgeCounts] | None = None,
) -> Trend:
    """Find where the level of a measure changed over runs in their order; runs without a number are passed over.

    `by` names slices as for a comparison; `judge` is what labels say of the judge. Raises `ConfigError` for a tag that
    no sample has.
    """
    counted = [Counted(run) for run in runs]
    everything = [side.inside(()) for side in counted]
    whole = [Series(part := MeasuredPart(measure), _rates(counted, part, everything)) for measure in _SHOWN]
    parts = [Series(part, _rates(counted, part, masks)) for part, masks in parts_with_masks(counted, by)]
    testable = sum(series.is_testable for series in parts)
    share = (1 - LEVEL) / (2 if testable else 1)
    chance = share / len(_TESTED)
    whole = [series.tested(chance) if series.part.measure in _TESTED else series for series in whole]
    parts = [series.tested(share / testable) if series.is_testable else series for series in parts]
    found = Trend(tuple(sides), tuple(whole), differs, (), tuple(parts))
    return replace(found, rule=_rule(found, runs, judge))


def _rule(found: Trend, runs: Sequence[Figures], judge: Mapping[Label, JudgeCounts] | None) -> RollBack | None:
    """Apply the rule to the runs since the last rise that was not undone, against the run before it."""
    sides, watched = found.sides, [found.of(measure).changes for measure in WATCHED]
    rises = [[change.at for change in known if change.before < min(change.after, known[-1].after)] for known in watched]
    starts = [rise[-1] for rise in rises if rise]
    if not starts:
        return None
    first = min(starts)
    parts = [
        (side.title, compare_figures(runs[first - 1], run, movers=0).whole)
        for side, run in zip(sides[first:], runs[first:], strict=True)
        if len(run.ids)
    ]
    return roll_back(sides[first - 1].title, sides[-1].title, parts, judge)


def _rates(counted: Sequence[Counted], part: MeasuredPart, masks: Sequence[Mask]) -> tuple[Estimate, ...]:
    return tuple(clustered_ratio(*side.rate(part, mask)) for side, mask in zip(counted, masks, strict=True))

"""What a comparison, and the report of a release, say: the numbers, what changed, and a sentence for a decision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from everyclaim.analysis import differences, percent, plain, points, written
from everyclaim.analysis.calibration import Calibration
from everyclaim.analysis.deltas import CONTRADICTED, FEWEST, LEVEL, SCORE, Delta, DeltaFinding
from everyclaim.analysis.run_differences import AnswerChange, RunDifferences, Side
from everyclaim.analysis.slices import FEW
from everyclaim.analysis.trend import Correction, RollBack, Trend, correct, roll_back
from everyclaim.core.plaintext import counted, one_line, wrapped
from everyclaim.core.types import Label, Provenance

COMPARISON_SCHEMA = 1
MOST_UNPAIRED = 0.1  # of a run's answers; with more of them without a partner no gate passes
OTHER_MEAN = 0.02  # by which a run's mean over all answers may differ from that over the compared ones


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs compared. `differs` names what judged them differently: then a difference may be the judge's.

    `advice` is empty unless claims that fail rose. While there are `doubts`, no gate passes.
    """

    before: Side
    after: Side
    numbers: RunDifferences
    differs: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    calibration: Calibration | None = None  # what labels say of the judge of both
    rule: RollBack | None = None  # of a release with several parts; None: the answers of `after` are the only part

    @property
    def moved(self) -> tuple[AnswerChange, ...]:
        """The answers that changed most, with their claims that changed."""
        return self.numbers.moved

    @property
    def deltas(self) -> tuple[Delta, ...]:
        """Every difference: of the whole, then of failure modes and slices."""
        return (*self.numbers.whole, *self.numbers.parts)

    @property
    def regressed(self) -> tuple[Delta, ...]:
        """What is shown to be worse: the whole first, then the parts, surest first."""
        parts = [delta for delta in self.numbers.parts if delta.finding is DeltaFinding.REGRESSED]
        whole = [delta for delta in self.numbers.whole if delta.finding is DeltaFinding.REGRESSED]
        return (*whole, *sorted(parts, key=lambda delta: delta.adjusted or 0))

    @property
    def improved(self) -> tuple[Delta, ...]:
        """What is shown to be better."""
        return tuple(delta for delta in self.deltas if delta.finding is DeltaFinding.IMPROVED)

    @property
    def sentence(self) -> str:
        """Say what changed, with intervals, or that no difference is shown; and how good the judge is, if known."""
        judge = self.calibration.sentence if self.calibration else ""
        return " ".join(part for part in (*self._sentences(), judge) if part)

    @property
    def correction(self) -> Correction | None:
        """The rate of contradicted claims without the judge's error; None where nobody labelled a claim."""
        if self.calibration is None:
            return None
        return correct(self.numbers.of(CONTRADICTED), Label.CONTRADICTED, self.calibration.counts)

    @property
    def advice(self) -> str:
        """What the rule of a release report says where claims that fail rose; empty where no rise is shown.

        Empty, too, for runs judged differently, whose differences may all come from that.
        """
        if self.differs:
            return ""
        judge = self.calibration.counts if self.calibration else None
        parts = [(self.after.title, self.numbers.whole)]
        return (self.rule or roll_back(self.before.title, self.after.title, parts, judge)).advice

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the comparison cannot show that nothing got worse: what of the two runs it does not cover."""
        primary, matching, sides = self.numbers.of(SCORE), self.numbers.matching, (self.before, self.after)
        found = [
            f"run {one_line(side.title, 60)} is {side.status}: its missing answers are not compared"
            for side in sides
            if side.status != "finished"
        ]
        lacking = [matching.only_before, matching.only_after] if matching.paired else [side.total for side in sides]
        compared = primary.before, primary.after
        for side, number, whole, paired in zip(sides, lacking, self.numbers.means, compared, strict=True):
            name = one_line(side.title, 60)
            if number > MOST_UNPAIRED * side.total:
                share = f"{percent(number / side.total)}, more than {percent(MOST_UNPAIRED)}"
                answers = f"{number:,} of {counted(side.total, 'answer')} of {name}"
                found.append(f"{answers} have no counterpart in the other run ({share})")
            if whole is not None and paired is not None and abs(whole - paired) > OTHER_MEAN:
                means = f"{whole:.3f} over all answers, {paired:.3f} over the compared ones"
                found.append(f"the mean score of {name} is {means}")
        if primary.finding is DeltaFinding.TOO_FEW:
            scored = counted(primary.answers, "answer")
            found.append(f"only {scored} scored in both runs; score at least {FEW} to rule out a regression")
        return tuple(found)

    def _sentences(self) -> Iterator[str]:
        """Say what the primary measure, the mean score, shows; then the largest changes for worse and better."""
        numbers, (old, new) = self.numbers, self.titles
        primary = numbers.of(SCORE)
        start = f"{new} compared with {old}: "
        if not primary.is_shown:
            yield self._nothing_shown(primary)

        def extent(delta: Delta) -> tuple[bool, float, int, bool]:
            """Order the primary last, others by size, and equal ones by how narrow the part is that shows them."""
            part = delta.part
            return delta is primary, round(abs(delta.difference or 0.0), 9), len(part.where), part.mode is not None

        shown: list[Delta] = []
        for finding, deltas in product((DeltaFinding.REGRESSED, DeltaFinding.IMPROVED), (numbers.whole, numbers.parts)):
            of_finding = [delta for delta in deltas if delta.finding is finding]
            shown += sorted(of_finding, key=extent)[-1:]
        for delta in sorted(shown, key=lambda delta: delta is not primary):
            yield f"{start}the {delta.clause}."
            start = "Also, "

    def _nothing_shown(self, delta: Delta) -> str:
        titles = self.titles
        names = " and ".join(titles)
        unscored = [title for title, score in zip(titles, (delta.before, delta.after), strict=True) if score is None]
        if unscored:
            return f"{names} cannot be compared: no score for {' and '.join(unscored)}."
        if delta.difference is None or delta.low is None:
            return f"{names} cannot be compared: fewer than {FEWEST} answers."
        is_tested = delta.p_value is not None
        found = f"Too few answers (below {FEW if is_tested else FEWEST}) to show a difference"
        found = found if delta.finding is DeltaFinding.TOO_FEW else "No significant difference"
        scored = counted(delta.answers, "answer")
        over = f"over {scored} scored in both runs" if self.numbers.matching.paired else f"over {scored} in each run"
        power = ""
        if delta.detectable and is_tested:
            least = f"a difference of less than {points(delta.detectable)} points"
            power = f" With {scored}, {least} may go unnoticed (power 80 %); score more answers to detect it."
        return f"{found} between {names}: the {delta.clause}, {over}.{power}"

    @property
    def titles(self) -> list[str]:
        """What both are called, with their ids where that is the same."""
        is_same = self.before.title == self.after.title
        sides = (self.before, self.after)
        return [one_line(side.title, 60) + (f" ({side.id})" if is_same else "") for side in sides]

    def __str__(self) -> str:
        lines = [
            f"{self.before.title} → {self.after.title}",
            str(self.numbers.matching),
            self.sentence,
            self.advice,
        ]
        if self.differs:
            lines.insert(2, "scored with different settings: " + "; ".join(self.differs))
        return "\n".join(wrapped(one_line(line)) for line in lines if line)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, in the public schema; what has no number is null."""
        judge: dict[str, Any] | None = None
        if self.calibration:
            named = {
                f"{kind}_called_so": plain(rate) | {"labels": n} for kind, _, rate, n in self.calibration.rates.named
            }
            judge = written(self.calibration, "run") | named
        changes = self.numbers.changes
        moves = changes.labels.items() if changes else ()
        table = [{"before": before, "after": after, "claims": number} for (before, after), number in moves]
        return {
            "schema": COMPARISON_SCHEMA,
            **written(self, "sentence advice"),
            "judge": judge,
            **written(self, "contradicted_corrected=correction before after differs by"),
            **written(self.numbers, "matching"),
            **written(self, "doubts"),
            "level": LEVEL,
            "primary": SCORE.name,
            "correction": "holm",
            **written(self.numbers, "whole parts same_text"),
            "changes": changes and {"labels": table} | written(changes, "only_before only_after"),
            "moved": [written(answer, "id score=scores failing contradicted claims") for answer in self.moved],
        }


def provenance_differences(before: Provenance, after: Provenance) -> tuple[str, ...]:
    """Name what judged two runs differently: parts, version of the library, and parameters such as prompts."""
    sides = [
        {"metric": one.metric, "decomposer": one.decomposer, "judge": one.verifier}
        | {"strategy": one.strategy, "version": one.version, **dict(sorted(one.parameters.items()))}
        for one in (before, after)
    ]
    if any(sides[0][part] != sides[1][part] for part in ("metric", "decomposer", "judge")):  # with own parameters each
        sides = [{name: side[name] for name in side if name in sides[0] and name in sides[1]} for side in sides]
    return differences(*sides)


RELEASE_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class ReleaseReport:
    """What there is to say of a release. `trend` is over its parts and those before, where there are three or more."""

    comparison: Comparison
    rule: RollBack
    trend: Trend | None = None
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What changed, in words."""
        return self.comparison.sentence

    def __str__(self) -> str:
        return "\n".join(wrapped(line) for line in (self.sentence, self.rule.sentence, *self.notes))

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, in the public schema."""
        parts = written(self, "rule comparison notes trend") | written(self.comparison, "calibration")
        return {"schema": RELEASE_SCHEMA} | parts

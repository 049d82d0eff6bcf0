"""Fitting a language model that judges to a team's labels: worked examples, and perhaps a rule, for its instructions.

Labelled claims become examples, those first that the model gets wrong, from both sides alike. Each of a few rubrics
made of them is tried on claims of other documents than its examples, and the best is taken if it is better than none.
What that gains is measured on a third of the documents at a time that had no part in it, choice of the rubric
included, so the interval is honest. Every claim is judged about eleven times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from everyclaim.analysis.estimates import written
from everyclaim.analysis.tuning import (
    Floats,
    Mask,
    MeasureChange,
    Places,
    TuningFit,
    balanced_accuracy,
    folds,
    is_enough,
    measure_changes,
)
from everyclaim.core.types import Label, Usage
from everyclaim.prompts.domain import toml_string
from everyclaim.prompts.forms import template
from everyclaim.stats.clusters import numbered

EXAMPLES = (4, 8)  # in a rubric
LONGEST = 1_500  # characters of the passage of an example
FOLDS = 3


class ExampleClaim(NamedTuple):
    """A claim with its label, and the passage that an example of it would show."""

    claim: str
    passage: str
    label: str  # of `Label`, or NOT_SUPPORTED where it is not known which of two
    document: Hashable  # claims about the same passages belong together


class Rubric(NamedTuple):
    """Worked examples, by their places among the labelled claims, and a rule by its name in the template."""

    examples: tuple[int, ...] = ()
    rule: str = ""

    def toml(self, rows: Sequence[ExampleClaim]) -> str:
        """Write it as a domain file; empty for no rubric."""
        words = template("rubric")
        parts = ["[verify]", *([f"rules = {toml_string(words['rules'][self.rule])}"] if self.rule else [])]
        for row in (rows[place] for place in self.examples):
            fields = {"passage": row.passage, "claim": row.claim, "why": words["why"][row.label], "label": row.label}
            parts += ["", "[[verify.examples]]", *(f"{name} = {toml_string(text)}" for name, text in fields.items())]
        return "\n".join(parts) + "\n" if self.examples or self.rule else ""


@dataclass(frozen=True, slots=True)
class RubricFit(TuningFit):
    """A rubric fitted to labels, and whether it helps. `text` is the domain file; empty unless it helps."""

    judge: str = ""
    examples: int = 0
    rule: str = ""
    text: str = ""
    unjudged: int = 0  # labelled claims on which the judge gave no verdict
    usage: Usage = field(default_factory=Usage)
    no_gain: ClassVar[str] = "no examples give a significant gain on held-out documents"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return written(self, "judge outcome claims documents labels left_out unjudged table examples rule usage")


Judging = Callable[[str, Sequence[int]], Awaitable[Sequence[float | None]]]
"""Judge claims, by their places, under a rubric's text: log-odds of support, above 0 where the label is SUPPORTED."""


async def fit_rubric(rows: Sequence[ExampleClaim], judge: Judging, name: str) -> RubricFit:
    """Find the rubric that makes a judge agree most with labels, and measure it on documents it is not made from."""
    counts, groups = Counter(row.label for row in rows), numbered(row.document for row in rows)
    truth = np.array([row.label == Label.SUPPORTED for row in rows], dtype=np.bool_)
    documents = int(groups.max(initial=-1)) + 1
    if not is_enough(truth, documents):
        return RubricFit("too_few", len(rows), documents, counts, {}, judge=name)
    trial = _RubricTrial(rows, judge, truth, await _odds(judge, "", range(len(rows))))
    after = trial.before.copy()
    for seen in folds(truth, groups, FOLDS):
        chosen = await trial.best(np.flatnonzero(seen))
        after[~seen] = await trial.judged(chosen, np.flatnonzero(~seen))
    rubric = await trial.best(np.arange(len(rows)))
    known = ~np.isnan(trial.before) & ~np.isnan(after)
    table: dict[str, MeasureChange] = {}
    if truth[known].any() and not truth[known].all():
        table = measure_changes(truth[known], groups[known], trial.before[known], after[known])
    helps = bool(rubric != Rubric() and table and _gain(table) > 0)
    return RubricFit(
        "helps" if helps else "no_gain",
        len(rows),
        documents,
        counts,
        table,
        judge=name,
        examples=len(rubric.examples),
        rule=rubric.rule,
        text=_headed(rubric.toml(rows), name, len(rows), table) if helps else "",
        unjudged=int((~known).sum()),
    )


@dataclass(frozen=True, slots=True)
class _RubricTrial:
    """Labelled claims, what the judge says of them without a rubric, and how it is asked with one."""

    rows: Sequence[ExampleClaim]
    judge: Judging
    truth: Mask
    before: Floats

    async def judged(self, rubric: Rubric, places: Places) -> Floats:
        """Judge the claims at these places under a rubric."""
        if rubric == Rubric():
            return self.before[places]
        return await _odds(self.judge, rubric.toml(self.rows), places.tolist())

    async def best(self, places: Places) -> Rubric:
        """Return the rubric made of these claims that gains most on those of them it is not made of, or none."""
        gains = {Rubric(): 0.0}
        for size in EXAMPLES:
            rubric = Rubric(self._examples(places, size))
            if rubric.examples and rubric not in gains:
                gains[rubric] = await self._gain(rubric, places)
        ruled = max(gains, key=lambda one: gains[one])._replace(rule=self._rule(places))
        if ruled.rule:
            gains[ruled] = await self._gain(ruled, places)
        return max(gains, key=lambda one: gains[one])

    async def _gain(self, rubric: Rubric, places: Places) -> float:
        shown = {self.rows[place].document for place in rubric.examples}
        others = np.array([place for place in places if self.rows[place].document not in shown], dtype=np.int64)
        after, before, truth = await self.judged(rubric, others), self.before[others], self.truth[others]
        known = ~np.isnan(after) & ~np.isnan(before)
        if not truth[known].any() or truth[known].all():
            return 0.0
        return balanced_accuracy(truth[known], after[known]) - balanced_accuracy(truth[known], before[known])

    def _examples(self, places: Places, size: int) -> tuple[int, ...]:
        """Choose examples from both sides alike, one of a document: what is most wrong first, then what was close."""
        known = [place for place in places.tolist() if self._is_usable(place)]
        wrongness = np.where(self.truth, -self.before, self.before)
        ranked = sorted(known, key=lambda place: -wrongness[place])
        if not ranked or wrongness[ranked[0]] < 0:
            return ()  # it errs nowhere
        used: set[Hashable] = set()
        sides = [self._of_side(ranked, is_supported, used) for is_supported in (True, False)]
        pairs = zip(*sides, strict=False)
        return tuple(place for pair, _ in zip(pairs, range(size // 2), strict=False) for place in pair)

    def _of_side(self, ranked: Sequence[int], is_supported: bool, used: set[Hashable]) -> Iterator[int]:
        for place in ranked:
            if self.truth[place] == is_supported and self.rows[place].document not in used:
                used.add(self.rows[place].document)
                yield place

    def _is_usable(self, place: int) -> bool:
        row = self.rows[place]
        return row.label in set(Label) and len(row.passage) <= LONGEST and not np.isnan(self.before[place])

    def _rule(self, places: Places) -> str:
        """Name the rule against the side on which more is wrong; empty where neither is."""
        truth, odds = self.truth[places], self.before[places]
        known = ~np.isnan(odds)
        missed, passed = int((truth & (odds <= 0) & known).sum()), int((~truth & (odds > 0) & known).sum())
        return "" if missed == passed else "milder" if missed > passed else "stricter"


async def _odds(judge: Judging, rubric: str, places: Sequence[int]) -> Floats:
    if not places:
        return np.zeros(0)
    found = await judge(rubric, places)
    return np.array([np.nan if one is None else one for one in found], dtype=np.float64)


def _gain(table: dict[str, MeasureChange]) -> float:
    return table["balanced_accuracy"].after - table["balanced_accuracy"].before


def _headed(text: str, judge: str, claims: int, table: dict[str, MeasureChange]) -> str:
    """Say in the file where it is from and what it gains."""
    one = table["balanced_accuracy"]
    gain = f"{one.before:.3f} to {one.after:.3f}, change {one.low:+.3f} to {one.high:+.3f} at 95 %"
    head = f"# Fitted by everyclaim judge tune to {claims} labelled claims, for {judge}."
    return f"{head}\n# Balanced accuracy on documents not seen: {gain}.\n{text}"

"""Fitting a judge to a team's labels, and saying honestly what that gains: on documents that had no part in the fit.

The embedded judge is held to the shipped model: a ridge regression moves the shipped log-odds by a few hundredths of
every feature; how far it may is chosen by cross-validation, and of penalties that cannot be told apart the strongest is
taken. Supported and other claims weigh the same, as they do in the shipped fit.

A language model gets worked examples, those first that it gets wrong, and perhaps a rule. Each of a few such rubrics is
tried on claims of other documents than its examples, and the best is taken if it is better than none.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from everyclaim._version import __version__
from everyclaim.analysis import written
from everyclaim.analysis.labels import LabelledItem
from everyclaim.core.plaintext import digest
from everyclaim.core.types import Label, Usage
from everyclaim.prompts.domain import toml_string
from everyclaim.prompts.forms import template
from everyclaim.stats.calibration import balanced_weights, log_losses, ridge_path
from everyclaim.stats.thresholds import roc_auc
from everyclaim.stats.types import numbered
from everyclaim.verify.embedded.verifier import Adjustment, log_odds, tuning_to_json
from everyclaim.verify.lexical.model import Model

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.int64]
Measured = LabelledItem[Mapping[str, float]]
Example = LabelledItem[tuple[str, str]]  # a claim, and the passage that an example of it would show

PENALTIES = (3000.0, 1000.0, 300.0, 100.0, 30.0, 10.0)  # of every standardised feature, the strongest first
_SHIFT, _STRETCH = 1.0, 10.0  # penalties of the intercept, and of a change of slope by a half
OUTER, INNER = 5, 4  # folds
FEWEST, FEWEST_DOCUMENTS = 5, 10  # labels of each side, documents: below, nothing can be told
DRAWS = 1000
LEVEL = 0.95
_PRECISION, _ALARMS = 0.8, 20  # of claims called CONTRADICTED; fewer say nothing about a level

FitOutcome = Literal["helps", "no_gain", "too_few"]


class MeasureChange(NamedTuple):
    """One measure of the judge, before and after, on claims that the fit did not see.

    `low` and `high` bound the change at 95 %, from resampling documents.
    """

    before: float
    after: float
    low: float
    high: float

    @property
    def gain(self) -> float:
        """How much more it is after than before."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class TuningFit:
    """A fit to labels, and whether it helps: of a tuning of the embedded judge, or of a rubric for a language model.

    `content` is the tuning that is written, `text` the rubric as a domain file; None and empty unless it helps.
    """

    outcome: FitOutcome
    claims: int
    documents: int
    labels: Mapping[str, int]
    table: Mapping[str, MeasureChange]
    penalty: float | None = None
    alarm: float | None = None  # fitted to the labels; None: as shipped
    content: Mapping[str, Any] | None = None
    left_out: int = 0  # labelled claims without passages or words
    labelled_by: str = "labels"
    judge: str = ""  # the language model that a rubric is for
    examples: int = 0
    rule: str = ""
    text: str = ""
    unjudged: int = 0  # labelled claims on which the language model gave no verdict
    usage: Usage = field(default_factory=Usage)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        if self.judge:
            return written(self, "judge outcome claims documents labels left_out unjudged table examples rule usage")
        return written(self, "outcome claims documents labels labelled_by left_out table penalty alarm")

    @property
    def helps(self) -> bool:
        """Whether it is better than the shipped model on documents that it did not see."""
        return self.outcome == "helps"

    @property
    def why_not(self) -> str:
        """Why nothing was written, where nothing was."""
        if self.helps:
            return "no file is written: pass --out FILE"
        if self.outcome == "too_few":
            return (
                f"too few labels, no file is written: at least {FEWEST} supported claims, {FEWEST} others "
                f"and {FEWEST_DOCUMENTS} sets of passages are needed"
            )
        what = "no examples give a" if self.judge else "no"
        return f"{what} significant gain on held-out documents, no file written: label more claims"


@dataclass(frozen=True, slots=True)
class _Data:
    rows: Sequence[Measured]
    names: tuple[str, ...]
    values: Floats  # claims × features
    shipped: Floats  # log-odds of support
    against: Floats  # P(contradicted | not supported)
    truth: Mask
    groups: Places

    def part(self, use: Mask) -> _Data:
        kept = [row for row, wanted in zip(self.rows, use, strict=True) if wanted]
        return _Data(
            kept, self.names, self.values[use], self.shipped[use], self.against[use], self.truth[use], self.groups[use]
        )


def fit_tuning(rows: Sequence[Measured], model: Model, *, tokens: int, labelled_by: str = "labels") -> TuningFit:
    """Fit a correction of the shipped `model` to labelled claims, and measure it on claims that it did not see.

    The result depends on the claims, their labels and documents alone, not on their order. `tokens` is what the
    features were measured with.
    """
    # Equal rows are interchangeable, so sorting by content forgets the order of the input.
    data = _data(sorted(rows, key=_key), model)
    counts = dict(sorted(Counter(row.label for row in rows).items()))
    documents = int(data.groups.max(initial=-1)) + 1
    if not _is_enough(data.truth, documents):
        return TuningFit("too_few", len(rows), documents, counts, {}, labelled_by=labelled_by)
    unseen = _unseen(data)
    table = measure_changes(data.truth, data.groups, data.shipped, unseen)
    less = log_losses(data.truth, data.shipped) - log_losses(data.truth, unseen)
    # The loss falls, and labels and order, taken together, get better.
    helps = balanced_weights(data.truth) @ less > 0 and table["balanced_accuracy"].gain + table["roc_auc"].gain > 0
    adjustment, penalty = _fitted(data)
    alarm = _alarm(data, unseen, model.alarm)
    content = None
    if helps:
        about = {
            "everyclaim": __version__,
            "fitted_to": {
                "labelled_by": labelled_by,
                "claims": len(rows),
                "documents": documents,
                "labels": counts,
                "digest": digest("\n".join(sorted(repr(_key(row)) for row in rows))),
            },
            "penalty": penalty,
            "table": {name: {k: round(v, 4) for k, v in one._asdict().items()} for name, one in table.items()},
        }
        content = tuning_to_json(model.version, tokens, adjustment, alarm, about)
    outcome: FitOutcome = "helps" if helps else "no_gain"
    return TuningFit(outcome, len(rows), documents, counts, table, penalty, alarm, content, labelled_by=labelled_by)


def _is_enough(truth: Mask, documents: int) -> bool:
    return min(int(truth.sum()), int((~truth).sum())) >= FEWEST and documents >= FEWEST_DOCUMENTS


def _key(row: Measured) -> tuple[str, str, str]:
    return repr(row.document), row.label, json.dumps(row.said, sort_keys=True)


def _data(rows: Sequence[Measured], model: Model) -> _Data:
    groups = numbered(row.document for row in rows)
    supported, against = model.predict([row.said for row in rows]) if rows else (np.zeros(0), np.zeros(0))
    values = np.array([[row.said[name] for name in model.features] for row in rows], dtype=np.float64)
    truth = np.array([row.is_supported for row in rows], dtype=np.bool_)
    shape = (len(rows), len(model.features))
    return _Data(rows, model.features, values.reshape(shape), log_odds(supported), against, truth, groups)


def _fitted(data: _Data) -> tuple[Adjustment, float]:
    """Fit to all of the data, with the penalty that cross-validation within it chooses."""
    weight = balanced_weights(data.truth)
    _, codes = np.unique(data.groups, return_inverse=True)
    unseen = [data.shipped.copy() for _ in PENALTIES]  # each by a fit that has not seen a claim's document
    for seen in folds(data.truth, data.groups, INNER):
        for odds, adjustment in zip(unseen, _path(data.part(seen), PENALTIES), strict=True):
            odds[~seen] = _moved(adjustment, data.part(~seen))
    losses = np.array([np.bincount(codes, weight * log_losses(data.truth, odds)) for odds in unseen])
    best = int(np.argmin(losses.sum(axis=1)))
    worse = losses[: best + 1] - losses[best]
    # The strongest penalty whose loss is within one standard error of the least.
    chosen = int(np.argmax(worse.sum(axis=1) <= worse.std(axis=1) * len(losses[0]) ** 0.5))
    return _path(data, PENALTIES[: chosen + 1])[-1], PENALTIES[chosen]


def _unseen(data: _Data) -> Floats:
    """Give log-odds of all claims, each by a fit, choice of penalty included, that has not seen its document."""
    odds = data.shipped.copy()
    for seen in folds(data.truth, data.groups, OUTER):
        odds[~seen] = _moved(_fitted(data.part(seen))[0], data.part(~seen))
    return odds


def folds(truth: Mask, groups: Places, count: int) -> list[Mask]:
    """Give the parts to fit on: all but a share of the documents, those with wrong claims spread over the folds."""
    random = np.random.default_rng(0)
    documents = np.unique(groups)
    failing = np.array([(~truth[groups == document]).sum() for document in documents])
    order = documents[np.lexsort((random.permutation(len(documents)), -failing))]
    parts = [~np.isin(groups, order[fold::count]) for fold in range(count)]
    return [seen for seen in parts if truth[seen].any() and not truth[seen].all() and not seen.all()]


def _path(data: _Data, penalties: Sequence[float]) -> list[Adjustment]:
    mean, scale = data.values.mean(axis=0), data.values.std(axis=0)
    use = scale > 1e-6
    names = tuple(name for name, wanted in zip(data.names, use, strict=True) if wanted)
    mean, scale = mean[use], scale[use]
    start = Adjustment(names, mean, scale, np.zeros(len(names)), 1.0, 0.0)
    ones = np.ones((len(data.rows), 1))
    design = np.hstack([ones, data.shipped[:, None] / 2, start.standardised(data.values[:, use])])
    held = [np.concatenate([[_SHIFT, _STRETCH], np.full(len(names), penalty)]) for penalty in penalties]
    weight = balanced_weights(data.truth)
    return [
        Adjustment(names, mean, scale, found[2:], 1.0 + float(found[1]) / 2, float(found[0]))
        for found in ridge_path(design, data.truth, weight, data.shipped, held)
    ]


def _moved(adjustment: Adjustment, data: _Data) -> Floats:
    return adjustment.log_odds(data.shipped, [row.said for row in data.rows])


def measure_changes(truth: Mask, groups: Places, before: Floats, after: Floats) -> dict[str, MeasureChange]:
    """Measure log-odds of support before and after a fit, with paired intervals over documents (`groups`)."""
    measures: dict[str, Callable[[Mask, Floats], float]] = {
        "balanced_accuracy": balanced_accuracy,
        "sensitivity": lambda truth, odds: float((odds[truth] > 0).mean()),
        "specificity": lambda truth, odds: float((odds[~truth] <= 0).mean()),
        "roc_auc": roc_auc,
    }
    random = np.random.default_rng(0)
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    drawn = [np.concatenate([members[i] for i in random.integers(0, len(members), len(members))]) for _ in range(DRAWS)]
    drawn = [places for places in drawn if truth[places].any() and not truth[places].all()]
    found = {}
    for name, measure in measures.items():
        changes = [measure(truth[at], after[at]) - measure(truth[at], before[at]) for at in drawn]
        low, high = np.quantile(changes, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) if changes else (-1.0, 1.0)
        found[name] = MeasureChange(measure(truth, before), measure(truth, after), float(low), float(high))
    return found


def balanced_accuracy(truth: Mask, odds: Floats) -> float:
    """Mean of the shares of supported and of other claims that are called so, within [0, 1]."""
    return float((odds[truth] > 0).mean() + (odds[~truth] <= 0).mean()) / 2


def _alarm(data: _Data, unseen: Floats, shipped: float) -> float | None:
    """Fit the level of CONTRADICTED where labels say enough about it; None where it stays as shipped.

    It is the least at which four in five of at least twenty alarms are right. Without one, a shipped level whose twenty
    alarms or more are not is switched off.
    """
    labels = np.array([row.label for row in data.rows])
    called = (unseen <= 0) & (labels != "NOT_SUPPORTED")
    says = (data.against / (1.0 + np.exp(np.clip(unseen, -30, 30))))[called]
    order = np.argsort(-says, kind="stable")
    good = np.cumsum(labels[called][order] == Label.CONTRADICTED) / np.arange(1, len(order) + 1) >= _PRECISION
    good[: _ALARMS - 1] = False
    if good.any():
        return round(float(says[order][np.flatnonzero(good)[-1]]) - 5e-7, 6)
    return 1.0 if int((says > shipped).sum()) >= _ALARMS else None


EXAMPLES = (4, 8)  # in a rubric
LONGEST = 1_500  # characters of the passage of an example
FOLDS = 3


class Rubric(NamedTuple):
    """Worked examples, by their places among the labelled claims, and a rule by its name in the template."""

    examples: tuple[int, ...] = ()
    rule: str = ""

    def toml(self, rows: Sequence[Example]) -> str:
        """Write it as a domain file; empty for no rubric."""
        words = template("rubric")
        parts = ["[verify]", *([f"rules = {toml_string(words['rules'][self.rule])}"] if self.rule else [])]
        for (claim, passage), label, _ in (rows[place] for place in self.examples):
            fields = {"passage": passage, "claim": claim, "why": words["why"][label], "label": label}
            parts += ["", "[[verify.examples]]", *(f"{name} = {toml_string(text)}" for name, text in fields.items())]
        return "\n".join(parts) + "\n" if self.examples or self.rule else ""


Judging = Callable[[str, Sequence[int]], Awaitable[Sequence[float | None]]]
"""Judge claims, by their places, under a rubric's text: log-odds of support, above 0 where the label is SUPPORTED."""


async def fit_rubric(rows: Sequence[Example], judge: Judging, name: str) -> TuningFit:
    """Find the rubric that makes a judge agree most with labels, and measure it on documents it is not made from."""
    counts, groups = Counter(row.label for row in rows), numbered(row.document for row in rows)
    truth = np.array([row.is_supported for row in rows], dtype=np.bool_)
    documents = int(groups.max(initial=-1)) + 1
    if not _is_enough(truth, documents):
        return TuningFit("too_few", len(rows), documents, counts, {}, judge=name)
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
    helps = bool(rubric != Rubric() and table and table["balanced_accuracy"].gain > 0)
    text = ""
    if helps:  # the file says where it is from and what it gains
        one = table["balanced_accuracy"]
        gain = f"{one.before:.3f} to {one.after:.3f}, change {one.low:+.3f} to {one.high:+.3f} at 95 %"
        text = f"# Fitted by everyclaim judge tune to {len(rows)} labelled claims, for {name}.\n"
        text += f"# Balanced accuracy on documents not seen: {gain}.\n{rubric.toml(rows)}"
    return TuningFit(
        "helps" if helps else "no_gain", len(rows), documents, counts, table, judge=name,
        examples=len(rubric.examples), rule=rubric.rule, text=text, unjudged=int((~known).sum()),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _RubricTrial:
    """Labelled claims, what the judge says of them without a rubric, and how it is asked with one."""

    rows: Sequence[Example]
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
        usable = [row.label in set(Label) and len(row.said[1]) <= LONGEST for row in self.rows]
        known = [place for place in places.tolist() if usable[place] and not np.isnan(self.before[place])]
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

    def _rule(self, places: Places) -> str:
        """Name the rule against the side on which more is wrong; empty where neither is."""
        truth, odds = self.truth[places], self.before[places]
        missed, passed = int((truth & (odds <= 0)).sum()), int((~truth & (odds > 0)).sum())  # NaN is neither
        return "" if missed == passed else "milder" if missed > passed else "stricter"


async def _odds(judge: Judging, rubric: str, places: Sequence[int]) -> Floats:
    if not places:
        return np.zeros(0)
    return np.array(await judge(rubric, places), dtype=np.float64)  # None becomes NaN

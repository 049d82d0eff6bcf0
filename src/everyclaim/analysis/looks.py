"""One look at two runs: a measure on some of their answers, its difference, and the word for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from everyclaim.analysis.slices import FEW
from everyclaim.core.plaintext import words
from everyclaim.stats.clusters import standard_error
from everyclaim.stats.intervals import FEW_EVENTS, clustered_ratio
from everyclaim.stats.multiplicity import holm
from everyclaim.stats.paired import exchanges, independent_difference, paired_difference, sign_flip_test
from everyclaim.stats.power import detectable_paired_difference
from everyclaim.stats.quantiles import normal_p_value, normal_quantile
from everyclaim.stats.trust import ROUGH_CLUSTERS
from everyclaim.stats.types import Floats, Inference, Interval

LEVEL = 0.95
POWER = 0.8
FEWEST = 10  # answers on a side; fewer are not tested
FEWEST_EVENTS = 5  # claims or answers of a kind, in both runs together; fewer are not tested
_FLIPPED = 200  # samples that differ; of more the sum of the signs is as good as normal
_FAR = 0.2  # p-values above this need not be exact
_REACH = normal_quantile(LEVEL)  # half an interval, in standard errors
_SAME = 1e-9  # a difference that is rounding only

Mask = NDArray[np.bool_]
Rate = tuple[Floats, Floats]


class Word(StrEnum):
    """What is said of a difference."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    NO_DIFFERENCE = "no difference shown"
    TOO_FEW = "too few samples"


@dataclass(frozen=True, slots=True)
class Measure:
    """What is measured of answers: `name` in JSON, `title` in words, whether more of it is better."""

    name: str
    title: str
    more_is_better: bool = False
    is_score: bool = False


SCORE = Measure("score", "mean score", more_is_better=True, is_score=True)
SUPPORTED = Measure("supported", "claims supported", more_is_better=True)
UNSUPPORTED = Measure("unsupported", "claims unsupported")
CONTRADICTED = Measure("contradicted", "claims contrad.")
ANY_FAILING = Measure("any_failing", "answers failing")
ANY_CONTRADICTED = Measure("any_contradicted", "answers contrad.")
WHOLE = (SCORE, SUPPORTED, UNSUPPORTED, CONTRADICTED, ANY_FAILING, ANY_CONTRADICTED)
OF_PARTS = (SCORE, UNSUPPORTED, CONTRADICTED)


def of_mode(mode: str) -> Measure:
    """The rate of a failure mode among all claims."""
    return Measure("failure_mode", words(mode))


@dataclass(frozen=True, slots=True)
class Look:
    """One measure on the answers of one slice (`where` is empty: on all), in both runs.

    `difference` is after − before, with its own 95 % interval. `p_value` is of this look alone, `adjusted` for all
    secondary looks; both are None where there is too little to test. `answers` are pairs, or the smaller side's without
    pairs.
    """

    measure: Measure
    where: tuple[tuple[str, str], ...]
    mode: str | None
    before: float | None
    after: float | None
    difference: float | None
    low: float | None
    high: float | None
    answers: int
    claims: tuple[int, int]  # in the denominators; of answers or claims, before and after
    p_value: float | None
    detectable: float | None = None  # the difference that so many answers show with a power of 80 %
    adjusted: float | None = None
    word: Word = Word.TOO_FEW
    warnings: tuple[str, ...] = ()
    more_is_better: bool = False

    @property
    def shown(self) -> bool:
        """Whether a difference is shown."""
        return self.word in (Word.IMPROVED, Word.REGRESSED)


def look_at(
    measure: Measure,
    before: Rate,
    after: Rate,
    *,
    paired: bool,
    where: tuple[tuple[str, str], ...] = (),
    mode: str | None = None,
) -> Look:
    """Measure a difference, without a word on it yet; rows of both are the same samples when they are `paired`."""
    sides = [_having(rate) for rate in (before, after)]
    if paired:
        both = (before[1] > 0) & (after[1] > 0)
        before, after = (before[0][both], before[1][both]), (after[0][both], after[1][both])
        answers = int(both.sum())
    else:
        before, after = sides
        answers = min(len(before[0]), len(after[0]))
    units = int(before[1].sum()), int(after[1].sum())
    first, second = (float(top.sum() / bottom.sum()) if bottom.sum() else None for top, bottom in (before, after))
    nothing = Look(
        measure,
        where,
        mode,
        first,
        second,
        None,
        None,
        None,
        answers,
        units,
        None,
        more_is_better=measure.more_is_better,
    )
    if answers < 2 or first is None or second is None:
        return nothing
    difference = _difference(before, after, paired=paired)
    known = replace(
        nothing,
        difference=difference.value,
        low=difference.interval.low,
        high=difference.interval.high,
        detectable=difference.interval.width / 2 * detectable_paired_difference(1, 1.0, POWER, LEVEL) / _REACH,
        warnings=difference.warnings,
    )
    if answers < FEWEST or (not measure.is_score and _events(before, after) < FEWEST_EVENTS):
        return known
    return replace(known, p_value=_chance(before, after, difference, paired=paired))


def as_primary(look: Look) -> Look:
    """Say of the primary measure whether it shows a difference: one test at 5 %, uncorrected.

    Test and interval never disagree: where the test alone does not show a difference, the interval reaches to 0.
    """
    if look.p_value is not None and look.p_value > 1 - LEVEL and look.low is not None and look.high is not None:
        look = replace(look, low=min(look.low, 0.0), high=max(look.high, 0.0))
    return _with_word(look, look.p_value)


def with_words(families: Sequence[Sequence[Look]]) -> list[list[Look]]:
    """Say of every secondary look whether it shows a difference; a family's looks do not weaken another family's.

    The 5 % for any false word are shared out equally among the families that test anything, and Holm's correction
    keeps them within each (Holm 1979).
    """
    sharing = sum(any(look.p_value is not None for look in family) for family in families)
    return [_said(family, max(1, sharing)) for family in families]


def _said(family: Sequence[Look], sharing: int) -> list[Look]:
    tested = [look.p_value for look in family if look.p_value is not None]
    adjusted = iter(np.minimum(1.0, holm(tested) * sharing).tolist() if tested else [])
    return [_with_word(look, None if look.p_value is None else next(adjusted)) for look in family]


def _with_word(look: Look, adjusted: float | None) -> Look:
    if adjusted is None or look.low is None or look.high is None or look.difference is None:
        return look
    if adjusted <= 1 - LEVEL and not look.low <= 0 <= look.high:
        better = (look.difference > 0) == look.more_is_better
        return replace(look, adjusted=adjusted, word=Word.IMPROVED if better else Word.REGRESSED)
    return replace(look, adjusted=adjusted, word=Word.TOO_FEW if look.answers < FEW else Word.NO_DIFFERENCE)


def _having(rate: Rate) -> Rate:
    has = rate[1] > 0
    return rate[0][has], rate[1][has]


def _events(before: Rate, after: Rate) -> float:
    """Count what is of the rarer kind, in both together: the same whichever run a sample came from."""
    tops = before[0].sum() + after[0].sum()
    return float(min(tops, before[1].sum() + after[1].sum() - tops))


def _difference(before: Rate, after: Rate, *, paired: bool) -> Inference:
    if paired:
        return paired_difference(before, after, level=LEVEL)
    if all(len(top) >= ROUGH_CLUSTERS and _away(top, bottom) >= FEW_EVENTS for top, bottom in (before, after)):
        (a, units_a), (b, units_b) = before, after
        value = float(b.sum() / units_b.sum() - a.sum() / units_a.sum())
        error = math.hypot(standard_error(a, units_a), standard_error(b, units_b))
        half = normal_quantile(LEVEL) * error
        interval = Interval(max(-1.0, value - half), min(1.0, value + half), LEVEL)
        return Inference(value, interval, error, len(a) + len(b), len(a) + len(b), "clustered_normal")
    return independent_difference(clustered_ratio(*before), clustered_ratio(*after), LEVEL)


def _away(top: Floats, bottom: Floats) -> int:
    return min(int(np.count_nonzero(top > 0)), int(np.count_nonzero(top < bottom)))


def _chance(before: Rate, after: Rate, difference: Inference, *, paired: bool) -> float:
    if not paired:
        return normal_p_value(difference.value / difference.error) if difference.error else 1.0
    turned = exchanges(before, after)
    differ = int(np.count_nonzero(np.abs(turned) > _SAME))
    if differ > FEW:
        about = normal_p_value(float(turned.sum() / np.sqrt((turned**2).sum())))
        if differ > _FLIPPED or about > _FAR:
            return about
    return sign_flip_test(turned).p_value

"""Runs of a store compared: two of them, or a series."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from everyclaim.analysis.calibration import Calibration
from everyclaim.analysis.compare import compare_figures
from everyclaim.analysis.comparison import AnswerChange, Comparison, Side, claim_changes, provenance_differences
from everyclaim.analysis.slices import AUTOMATIC, JOINT, automatic_tags, expanded, notes_for
from everyclaim.analysis.trend import Trend, trend_of
from everyclaim.api.calibration import trust_of
from everyclaim.api.door import public
from everyclaim.api.running import Run, find_run
from everyclaim.api.talking import DEFAULT_STORE
from everyclaim.core.errors import ConfigError
from everyclaim.core.types import Outcome
from everyclaim.store import RunRecord, Store
from everyclaim.store.figures import Figures

MOVERS = 10
REPORTED = 50  # answers that moved, in a page
FEWEST_RUNS = 3  # of a trend


@dataclass(frozen=True, slots=True)
class KeptComparison(Comparison):
    """A comparison of two runs of a store, which has their answers at hand."""

    runs: tuple[Run, Run] = field(kw_only=True, repr=False)

    @public
    def report(self, destination: str | os.PathLike[str]) -> None:
        """Write a page: the sentence, the numbers, and the answers that moved furthest, before and after side by side.

        The file appears whole or not at all. Raises `ConfigError` when it is a data set or store of the runs.
        """
        from everyclaim.api.reporting import write_comparison_report

        several = self
        if len(self.moved) < REPORTED:
            several = _compare(self.runs, by=self.by, differs=self.differs, movers=REPORTED)
        write_comparison_report(several, self.runs, destination)

    def _repr_html_(self) -> str:
        from everyclaim.report.html.notebook import comparison_html

        return comparison_html(self)


@public
def compare(
    before: Run | str,
    after: Run | str,
    *,
    by: Sequence[str] = (),
    anyway: bool = False,
    movers: int = MOVERS,
    store: str | os.PathLike[str] = DEFAULT_STORE,
) -> KeptComparison:
    """Compare two runs, older first: what improved, what regressed, and how sure that is. No judge is called.

    Runs are `Run`s, or ids, beginnings of ids or names in `store`. Samples are paired by id where the runs share at
    least half of the smaller one's; otherwise all answers of one stand against all of the other. `by` names tags
    or automatic slices (`auto:length`; `auto` is all), `tag+tag` for a two-way cut, `tag+mode` for failure modes within
    slices. Up to `movers` answers are told with the claims that changed. Raises `ConfigError` when the runs were judged
    differently, unless `anyway`; `InputError` when there is no such run.
    """
    runs = found(before, store), found(after, store)
    differs = check_alike([run.record for run in runs], anyway=anyway)
    return _compare(runs, by=tuple(by), differs=differs, movers=movers)


def _compare(runs: tuple[Run, Run], *, by: tuple[str, ...], differs: tuple[str, ...], movers: int) -> KeptComparison:
    first, second = (figures_of(run, by) for run in runs)
    return compare_parts(runs, (first, second), by=by, differs=differs, movers=movers)


def compare_parts(
    runs: tuple[Run, Run],
    figures: tuple[Figures, Figures],
    *,
    by: tuple[str, ...],
    differs: tuple[str, ...],
    movers: int,
) -> KeptComparison:
    """Compare the figures of two runs, or of some of the answers of each; both may be of one run."""
    records = [run.record for run in runs]
    first, second = figures
    is_lower = records[1].provenance.lower_is_better
    numbers = compare_figures(first, second, by=by, movers=movers, other_judge=bool(differs), lower_is_better=is_lower)
    places = [[mover.places[side] for mover in numbers.movers] for side in (0, 1)]
    claims = []
    for run, wanted in zip(runs, places, strict=True):
        with Store.lent(run.store_location) as kept:
            claims.append(kept.claims_of(run.id, wanted))
    moved = tuple(
        AnswerChange(mover, claim_changes(claims[0][mover.places[0]], claims[1][mover.places[1]]))
        for mover in numbers.movers
    )
    sides = side_of(records[0], first), side_of(records[1], second)
    if sides[0].title == sides[1].title:  # two runs of one release: their own names tell them apart
        sides = replace(sides[0], release=""), replace(sides[1], release="")
    calibration = None if differs else judge_of(runs)  # of two judges neither speaks for both
    return KeptComparison(sides[0], sides[1], numbers, moved, differs, expanded(by), calibration, runs=runs)


@public
def trend(
    runs: Sequence[Run | str],
    *,
    by: Sequence[str] = (),
    anyway: bool = False,
    store: str | os.PathLike[str] = DEFAULT_STORE,
) -> Trend:
    """Say where the level of a measure changed over three runs or more, given in their order in time.

    Runs, `by` and `anyway` are as for `compare`; failure modes are always among the parts. Raises `ConfigError` for
    fewer than three runs.
    """
    if len(runs) < FEWEST_RUNS:
        raise ConfigError(f"a trend needs at least {FEWEST_RUNS} runs, not {len(runs)}; two are compared")
    known = [found(run, store) for run in runs]
    records = [run.record for run in known]
    differs = check_alike(records, anyway=anyway)
    return trend_over(known, by=by, differs=differs)


def trend_over(runs: Sequence[Run], *, by: Sequence[str] = (), differs: tuple[str, ...] = ()) -> Trend:
    """Return the trend of runs in their order, however few they are."""
    figures = [figures_of(run, by) for run in runs]
    calibration = None if differs else judge_of(runs)
    sides = [side_of(run.record, one) for run, one in zip(runs, figures, strict=True)]
    return trend_of(sides, figures, differs, by, calibration.counts if calibration else None)


def found(run: Run | str, store: str | os.PathLike[str]) -> Run:
    """Return the run that is meant."""
    return run if isinstance(run, Run) else find_run(run, store=store)


def figures_of(run: Run, by: Sequence[str] = ()) -> Figures:
    """Read the figures of a run, with the automatic slices among those that are asked for."""
    wanted = [name for name in AUTOMATIC if any(name in cut.split(JOINT) for cut in expanded(by))]
    with Store.lent(run.store_location) as kept:
        found = kept.figures(run.id, notes_for(wanted))
    if not wanted or found.noted is None:
        return found
    return replace(found, tags={**found.tags, **automatic_tags(wanted, found.noted, found.sample)})


def judge_of(runs: Sequence[Run]) -> Calibration | None:
    """Compare the judge of these runs with people, by the run with more labelled claims; of equals the newer."""
    known = [trust_of(run).calibration for run in runs]
    return max((one for one in reversed(known) if one), key=lambda one: one.used, default=None)


def side_of(record: RunRecord, figures: Figures) -> Side:
    """Say which run it is, of which these are all answers or some."""
    release = figures.release[0] if len(figures.release) == 1 else ""
    judge = record.provenance.verifier
    total = len(figures.ids)
    if total == record.kept:
        return Side(record.id, record.name, release, judge, record.kept, record.counts, record.status)
    counts = np.bincount(figures.outcome, minlength=len(Outcome)).tolist()
    outcomes = {outcome: count for outcome, count in zip(Outcome, counts, strict=True) if count}
    return Side(record.id, record.name, release, judge, total, outcomes, record.status)


def check_alike(records: Sequence[RunRecord], *, anyway: bool) -> tuple[str, ...]:
    """Return what judged the runs differently. Raises `ConfigError` when something did, unless `anyway`."""
    first = records[0]
    for record in records[1:]:
        differs = provenance_differences(first.provenance, record.provenance)
        if differs and not anyway:
            raise ConfigError(
                f"runs {first.id} and {record.id} were not judged alike: {'; '.join(differs)}. A difference could be"
                " the judge's and not the answers': score both alike, or compare them all the same with"
                " --allow-different-judges (in Python, anyway=True)"
            )
    found = [one for record in records[1:] for one in provenance_differences(first.provenance, record.provenance)]
    return tuple(dict.fromkeys(found))

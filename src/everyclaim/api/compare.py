"""Runs of a store compared: two of them, or a series."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from itertools import combinations, pairwise
from typing import Annotated, NamedTuple

import numpy as np

from everyclaim.analysis.calibration import Calibration
from everyclaim.analysis.comparison import Comparison, ReleaseReport, provenance_differences
from everyclaim.analysis.run_differences import Side, claim_changes, compare_figures
from everyclaim.analysis.slices import AUTO, AUTOMATIC, JOINT, MODE, automatic_tags, expanded
from everyclaim.analysis.trend import LASTING, RollBack, Trend, roll_back, share_half, trend_of
from everyclaim.api.options import DEFAULT_STORE, public
from everyclaim.api.runs import Run, find_run, kind_of_report, moved_answers, trust_of, write_beside
from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.plaintext import counted, file_name, json_text
from everyclaim.core.types import Label, Outcome
from everyclaim.io import DOCUMENT, MARKDOWN, PAGE
from everyclaim.report.comparison import release_markdown
from everyclaim.stats.prevalence import JudgeCounts
from everyclaim.store.records import RunRecord
from everyclaim.store.store import Figures, Store

MOVERS = 10
REPORTED = 50  # answers that moved, in a page
FEWEST_RUNS = 3  # of a trend
_LOOKED_AT = 50  # newest runs of a store, for two that can be compared


@dataclass(frozen=True, slots=True)
class KeptComparison(Comparison):
    """A comparison of two stored runs."""

    runs: tuple[Run, Run] = field(kw_only=True, repr=False)

    @public
    def report(self, destination: str | os.PathLike[str]) -> None:
        """Write an HTML report: the conclusion, the numbers, and the most changed answers side by side.

        The file is written atomically. Raises `ConfigError` if it is a data set or store of the runs.
        """
        from everyclaim.report.html.pages import comparison_report

        several = self
        if len(self.moved) < REPORTED:
            several = compare_parts(self.runs, by=self.by, differs=self.differs, movers=REPORTED)
        write_beside(
            self.runs, destination, PAGE, lambda: comparison_report(several, *moved_answers(several.moved, self.runs))
        )

    def _repr_html_(self) -> str:
        from everyclaim.report.html import notebook_page

        return notebook_page("comparison", comparison=self)


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
    """Compare two runs, older first: improvements and regressions with confidence intervals. Calls no judge.

    Runs are `Run`s, or ids, starts of ids or names in `store`. Samples are paired by id if the runs share at least
    half of the smaller one's; otherwise the runs are compared unpaired. `by` names tags or automatic slices
    (`auto:length`; `auto` is all), `tag+tag` crosses two tags, `tag+mode` adds failure modes within slices. `movers`
    is the number of most changed answers to return, with their changed claims. Raises `ConfigError` if different
    judges or settings made the runs, unless `anyway`; `InputError` if a run does not exist.
    """
    runs = find_run(before, store=store), find_run(after, store=store)
    differs = check_alike([run.record for run in runs], anyway=anyway)
    return compare_parts(runs, by=tuple(by), differs=differs, movers=movers)


def compare_parts(
    runs: tuple[Run, Run],
    figures: tuple[Figures, Figures] | None = None,
    *,
    by: tuple[str, ...],
    differs: tuple[str, ...],
    movers: int,
) -> KeptComparison:
    """Compare two runs, or the figures of some of the answers of each; both may be of one run."""
    records = [run.record for run in runs]
    first, second = figures or (figures_of(run, by) for run in runs)
    is_lower = records[1].provenance.lower_is_better
    numbers = compare_figures(first, second, by=by, movers=movers, other_judge=bool(differs), lower_is_better=is_lower)
    answers = moved_answers(numbers.moved, runs)
    moved = []
    for change in numbers.moved:
        was, now = (kept[place].result.claims for kept, place in zip(answers, change.places, strict=True))
        moved.append(replace(change, claims=claim_changes(was, now)))
    numbers = replace(numbers, moved=tuple(moved))
    before, after = side_of(records[0], first), side_of(records[1], second)
    calibration = None if differs else judge_of(runs)  # of two judges neither speaks for both
    return KeptComparison(before, after, numbers, differs, expanded(by), calibration, runs=runs)


def comparable_runs(
    records: Sequence[RunRecord], asked: Callable[[RunRecord], frozenset[tuple[str, str]]], wanted: str = ""
) -> tuple[str, str] | None:
    """Return the ids of the newest two runs of the same samples and settings, the older first; None without such.

    `records` are the newest first; `asked` returns a run's samples. One of the two is the run `wanted`, if named.
    """
    known = [record for record in records if record.kept][:_LOOKED_AT]
    samples = cache(lambda place: asked(known[place]))
    for after, before in combinations(range(len(known)), 2):
        newer, older = known[after], known[before]
        is_meant = wanted in {"", newer.id, older.id}
        is_alike = is_meant and not provenance_differences(older.provenance, newer.provenance)
        if is_alike and share_half(samples(after), samples(before)):
            return older.id, newer.id
    return None


@public
def trend(
    runs: Sequence[Run | str],
    *,
    by: Sequence[str] = (),
    anyway: bool = False,
    store: str | os.PathLike[str] = DEFAULT_STORE,
) -> Trend:
    """Find where a measure changed its level over three or more runs, in chronological order.

    Runs, `by` and `anyway` are as for `compare`; failure modes are always included. Raises `ConfigError` for fewer
    than three runs.
    """
    if len(runs) < FEWEST_RUNS:
        raise ConfigError(f"a trend needs at least {FEWEST_RUNS} runs, got {len(runs)}; compare two runs instead")
    known = [find_run(run, store=store) for run in runs]
    records = [run.record for run in known]
    differs = check_alike(records, anyway=anyway)
    return trend_over(known, by=by, differs=differs)


def trend_over(runs: Sequence[Run], *, by: Sequence[str] = (), differs: tuple[str, ...] = ()) -> Trend:
    """Return the trend of runs in their order, however few they are."""
    figures = [figures_of(run, by) for run in runs]
    calibration = None if differs else judge_of(runs)
    sides = [side_of(run.record, one) for run, one in zip(runs, figures, strict=True)]
    found = trend_of(sides, figures, differs, by, calibration.counts if calibration else None)
    ids = [frozenset(one.ids) for one in figures]
    if all(share_half(one, other) for one, other in pairwise(ids)):
        return found
    names = dict.fromkeys(file_name(run.record.dataset) for run in runs)
    return replace(found, data=tuple(names) if len(names) > 1 else ())


def figures_of(run: Run, by: Sequence[str] = ()) -> Figures:
    """Read the figures of a run, with the automatic slices among those that are asked for."""
    wanted = [name for name in AUTOMATIC if any(name in cut.split(JOINT) for cut in expanded(by))]
    with Store.open_to_read(run.store_location) as kept:
        found = kept.figures(run.id)
        if not wanted:
            return found
        return replace(found, tags={**found.tags, **automatic_tags(wanted, kept.texts(run.id))})


def judge_of(runs: Sequence[Run]) -> Calibration | None:
    """Compare the judge of these runs with people, by the run with more labelled claims; of equals the newer."""
    known = [trust_of(run).calibration for run in runs]
    return max((one for one in reversed(known) if one), key=lambda one: one.used, default=None)


def side_of(record: RunRecord, figures: Figures) -> Side:
    """Say which run it is, of which these are all answers or some."""
    release = figures.release[0] if len(figures.release) == 1 else ""
    total, outcomes = len(figures.ids), record.counts
    if total != record.kept:
        counts = np.bincount(figures.outcome, minlength=len(Outcome)).tolist()
        outcomes = {outcome: count for outcome, count in zip(Outcome, counts, strict=True) if count}
    return Side(record.id, record.name, release, record.provenance.verifier, total, outcomes, record.status)


def check_alike(records: Sequence[RunRecord], *, anyway: bool) -> tuple[str, ...]:
    """Return the settings in which the runs differ. Raises `ConfigError` when something did, unless `anyway`."""
    first, found = records[0], dict[str, None]()
    for record in records[1:]:
        differs = provenance_differences(first.provenance, record.provenance)
        if differs and not anyway:
            raise ConfigError(
                f"runs {first.id} and {record.id} were scored with different settings, which may cause differences: "
                f"{'; '.join(differs)}. Score both with the same settings, or allow it with --allow-different-judges "
                "(in Python, anyway=True)"
            )
        found |= dict.fromkeys(differs)
    return tuple(found)


RELEASE_MOVERS = 20
_DAY = 86_400.0

Parts = Annotated[int, Range(1, 100)]


class ReleasePart(NamedTuple):
    """The answers of one release in one run."""

    run: Run
    figures: Figures
    release: str  # as the samples name it; else the run's name or id


@dataclass(frozen=True, slots=True)
class KeptReleaseReport(ReleaseReport):
    """The report of a release whose runs are at hand."""

    runs: tuple[Run, Run] = field(kw_only=True, repr=False)

    @public
    def write(self, destination: str | os.PathLike[str]) -> None:
        """Write the report as HTML (.html), Markdown (.md) or JSON (.json), atomically.

        Raises `ConfigError` for another suffix, and if the file is a data set or store of the runs.
        """
        kind = kind_of_report(destination, is_of_release=True)

        def content() -> bytes:
            if kind is MARKDOWN:
                return release_markdown(self).encode("utf-8", "replace")
            if kind is DOCUMENT:
                return json_text(self.to_json(), indent=2).encode() + b"\n"
            from everyclaim.report.html.pages import release_page

            return release_page(self, *moved_answers(self.comparison.moved, self.runs))

        write_beside(self.runs, destination, kind, content)


@public
def release_report(
    runs: Sequence[Run | str],
    *,
    by: Sequence[str] | None = None,
    lasting: Parts = LASTING,
    anyway: bool = False,
    store: str | os.PathLike[str] = DEFAULT_STORE,
) -> KeptReleaseReport:
    """Compare the newest release in these runs with the previous one. Calls no judge.

    `runs` are in chronological order, as for `compare`. A run whose samples name several releases is divided by
    release; a run whose samples name none is a release of its own. The rule says *roll back* if the rate of
    contradicted or of unsupported claims is significantly higher in each of the last `lasting` parts of the release.
    Parts are its runs; a single run with timestamps over a day or more is divided into periods. With human labels the
    rates are corrected for the judge's error. `by` names slices as for `compare` (None: those of the newest run, else
    `auto`), each also by failure mode. Raises `ConfigError` if there is only one release, and as `compare` does.
    """
    known = [find_run(run, store=store) for run in runs]
    if not known:
        raise ConfigError("a release report needs at least one run")
    differs = check_alike([run.record for run in known], anyway=anyway)
    wanted = expanded((known[-1].slices or (AUTO,)) if by is None else by)
    cuts = (*wanted, *(f"{name}{JOINT}{MODE}" for name in wanted if MODE not in name.split(JOINT)))
    whole = [figures_of(run, wanted) for run in known]
    parts = [part for run, figures in zip(known, whole, strict=True) for part in _parts(run, figures)]
    newest = parts[-1].release
    own = [part for part in parts if part.release == newest]
    older = [part for part in parts if part.release != newest]
    if not older:
        raise ConfigError(
            f"all answers belong to {newest!r}: add runs of the previous release; set the field 'release' "
            "or --release when scoring"
        )
    base = older[-1]
    ends = base.run, own[-1].run
    found = compare_parts(ends, (base.figures, own[-1].figures), by=cuts, differs=differs, movers=RELEASE_MOVERS)
    before, after = (replace(side, is_release=True) for side in (found.before, found.after))
    comparison = replace(found, before=before, after=after)
    judge = comparison.calibration.counts if comparison.calibration else None
    trend = None
    if len(parts) >= FEWEST_RUNS:
        sides = [side_of(part.run.record, part.figures) for part in parts]
        times = Counter(side.release for side in sides)  # several of one release go by the names of their runs
        sides = [replace(side, is_release=times[side.release] == 1) for side in sides]
        trend = trend_of(sides, [part.figures for part in parts], differs, judge=judge)
    notes = tuple(
        f"{counted(left, 'answer')} of run {run.id} without a release are left out"
        for run, figures in zip(known, whole, strict=True)
        if figures.release and (left := int(np.count_nonzero(figures.released < 0)))
    )
    rule = _rule(base, own, lasting, judge)
    return KeptReleaseReport(replace(comparison, rule=rule), rule, trend, notes, runs=ends)


def _parts(run: Run, figures: Figures) -> Iterator[ReleasePart]:
    """Take a run apart by release, in the order in which these first occur."""
    if not figures.release:
        yield ReleasePart(run, figures, run.record.title)
        return
    first = {place: int(np.argmax(figures.released == place)) for place in range(len(figures.release))}
    for place in sorted(first, key=first.__getitem__):
        yield ReleasePart(run, figures.of(figures.released == place), figures.release[place])


def _rule(
    base: ReleasePart, own: Sequence[ReleasePart], lasting: int, judge: Mapping[Label, JudgeCounts] | None
) -> RollBack:
    stretches = [(part.run.record.title, part.figures) for part in own]
    if len(own) == 1 and lasting > 1:
        stretches = _by_time(own[0], lasting) or stretches
    parts = [(title, compare_figures(base.figures, figures, movers=0).whole) for title, figures in stretches]
    return roll_back(base.release, own[-1].release, parts, judge, lasting)


def _by_time(part: ReleasePart, number: int) -> list[tuple[str, Figures]]:
    """Cut a part into stretches of as many answers, by their times; none where these do not span a day."""
    time = part.figures.time
    known = np.flatnonzero(np.isfinite(time))
    if len(known) < len(time) or not len(known) or time.max() - time.min() < _DAY:
        return []
    found = []
    for rows in np.array_split(known[np.argsort(time[known], kind="stable")], number):
        if not len(rows):
            return []
        inside = np.zeros(len(time), dtype=bool)
        inside[rows] = True
        start, end = (datetime.fromtimestamp(at, UTC).date().isoformat() for at in (time[rows].min(), time[rows].max()))
        found.append((f"{start} to {end}", part.figures.of(inside)))
    return found

"""A release against the one before, from runs of a store: whichever runs, or parts of a run, name the release."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Annotated, NamedTuple

import numpy as np

from everyclaim.analysis.compare import compare_figures
from everyclaim.analysis.comparison import Side
from everyclaim.analysis.release import ReleaseReport
from everyclaim.analysis.rollback import LASTING, RollBack, roll_back
from everyclaim.analysis.slices import AUTO, JOINT, MODE, expanded
from everyclaim.analysis.trend import trend_of
from everyclaim.api.compare import check_alike, compare_parts, figures_of, found, side_of
from everyclaim.api.door import public
from everyclaim.api.running import Run
from everyclaim.api.talking import DEFAULT_STORE
from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.plaintext import counted
from everyclaim.core.types import Label
from everyclaim.io import DOCUMENT, MARKDOWN, PAGE, check_apart, check_replaced, open_sink
from everyclaim.report.clean import json_text
from everyclaim.report.release import release_markdown
from everyclaim.stats.prevalence import JudgeCounts
from everyclaim.store.figures import Figures

MOVERS = 20
HTML, MARKDOWN_NAMES, JSON = (".html", ".htm"), (".md", ".markdown"), (".json",)
_FEWEST_RUNS = 3  # of a trend
_DAY = 86_400.0

Parts = Annotated[int, Range(1, 100)]


class ReleasePart(NamedTuple):
    """The answers of one release in one run."""

    run: Run
    figures: Figures
    release: str  # as the samples name it; else the run's name or id

    @property
    def title(self) -> str:
        """What it is called beside other parts of its release."""
        record = self.run.record
        return record.name or record.id


@dataclass(frozen=True, slots=True)
class KeptReleaseReport(ReleaseReport):
    """The report of a release whose runs are at hand."""

    runs: tuple[Run, Run] = field(kw_only=True, repr=False)

    @public
    def write(self, destination: str | os.PathLike[str]) -> None:
        """Write a page (.html), Markdown (.md) or JSON (.json). The file appears whole or not at all.

        Raises `ConfigError` for another suffix, and for a file that is a data set or store of the runs.
        """
        check_name(destination)
        reads: dict[str, str] = {}
        for name, run in zip(("the older run", "the newer run"), self.runs, strict=True):
            reads |= {f"the data set of {name}": run.record.dataset, f"the store of {name}": run.store_location}
        check_apart(reads, {"the report": destination})
        suffix = os.fspath(destination).lower()
        is_text = suffix.endswith(MARKDOWN_NAMES)
        check_replaced(destination, PAGE if suffix.endswith(HTML) else MARKDOWN if is_text else DOCUMENT)
        if suffix.endswith(HTML):
            content = self._page()
        elif is_text:
            content = release_markdown(self).encode("utf-8", "replace")
        else:
            content = json_text(self.to_json(), indent=2).encode() + b"\n"
        with open_sink(destination) as sink:
            sink.write(content)

    def _page(self) -> bytes:
        from everyclaim.api.reporting import answers_at
        from everyclaim.report.html.release import release_page

        places = [[one.mover.places[side] for one in self.comparison.moved] for side in (0, 1)]
        before, after = (answers_at(run, wanted) for run, wanted in zip(self.runs, places, strict=True))
        return release_page(self, before, after)


def check_name(destination: str | os.PathLike[str]) -> None:
    """Refuse a name that does not say what to write."""
    name = os.fspath(destination)
    if not name.lower().endswith((*HTML, *MARKDOWN_NAMES, *JSON)):
        raise ConfigError(f"a release report is HTML, Markdown or JSON: {name} ends in none of .html, .md and .json")


@public
def release_report(
    runs: Sequence[Run | str],
    *,
    by: Sequence[str] | None = None,
    lasting: Parts = LASTING,
    anyway: bool = False,
    store: str | os.PathLike[str] = DEFAULT_STORE,
) -> KeptReleaseReport:
    """Report on the newest release in these runs, against the one before; no judge is called.

    `runs` are in their order in time, as for `compare`. Samples name their release; a run whose samples name several is
    taken apart, and one whose samples name none is a release of its own. The rule says *roll back* where the rate of
    contradicted claims, or that of unsupported ones, is shown to be higher in each of the last `lasting` parts of the
    release: its runs, or, of a single run whose samples have times over a day or more, so many stretches of it. Where
    claims are labelled, the rates are corrected for the judge's error. `by` names slices as for `compare` (None: those
    of the newest run, else `auto`); each is also cut by failure modes. Raises `ConfigError` where there is one release
    only, and as `compare` does.
    """
    known = [found(run, store) for run in runs]
    if not known:
        raise ConfigError("a release report needs a run at least")
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
            f"all answers are of {newest!r}: a report needs the release before, too; answers name theirs in the field"
            " 'release', or by --release when they are scored"
        )
    base = older[-1]
    ends = base.run, own[-1].run
    comparison = compare_parts(ends, (base.figures, own[-1].figures), by=cuts, differs=differs, movers=MOVERS)
    judge = comparison.calibration.counts if comparison.calibration else None
    trend = None
    if len(parts) >= _FEWEST_RUNS:
        trend = trend_of(_sides(parts), [part.figures for part in parts], differs, judge=judge)
    notes = tuple(note for run, figures in zip(known, whole, strict=True) for note in _unnamed(run, figures))
    rule = _rule(base, own, lasting, judge)
    return KeptReleaseReport(replace(comparison, rule=rule), rule, trend, notes, runs=ends)


def _sides(parts: Sequence[ReleasePart]) -> list[Side]:
    """Say what the parts are; several of one release are told apart by the names of their runs."""
    sides = [side_of(part.run.record, part.figures) for part in parts]
    times = Counter(side.title for side in sides)
    return [replace(side, release="") if times[side.title] > 1 else side for side in sides]


def _unnamed(run: Run, figures: Figures) -> Iterator[str]:
    left = int(np.count_nonzero(figures.released < 0))
    if figures.release and left:
        yield f"{counted(left, 'answer')} of run {run.id} beside others name no release, and are in no part"


def _parts(run: Run, figures: Figures) -> Iterator[ReleasePart]:
    """Take a run apart by release, in the order in which these first occur."""
    record = run.record
    if not figures.release:
        yield ReleasePart(run, figures, record.name or record.id)
        return
    first = {place: int(np.argmax(figures.released == place)) for place in range(len(figures.release))}
    for place in sorted(first, key=first.__getitem__):
        yield ReleasePart(run, figures.of(figures.released == place), figures.release[place])


def _rule(
    base: ReleasePart, own: Sequence[ReleasePart], lasting: int, judge: Mapping[Label, JudgeCounts] | None
) -> RollBack:
    stretches = [(part.title, part.figures) for part in own]
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

"""A run as pages read it: its record, and what is added up once for it and kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from everyclaim.analysis.slices import AUTO, AUTOMATIC, JOINT
from everyclaim.analysis.summary import Summary
from everyclaim.api.compare import figures_of
from everyclaim.api.running import Run
from everyclaim.api.trust import Trust, trust_of
from everyclaim.core.types import Label
from everyclaim.store import RunRecord, browsing
from everyclaim.store.browsing import Neighbours, Wanted
from everyclaim.store.figures import Figures
from everyclaim.web.app.filtering import slice_field
from everyclaim.web.app.site import Site

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Looking:
    """One run, looked at by one request."""

    site: Site
    record: RunRecord

    @property
    def run(self) -> Run:
        """The run for Python users."""
        return Run(self.record.id, self.site.location, tuple(self.record.config.get("slices", ())))

    @property
    def is_live(self) -> bool:
        """Whether somebody is scoring it now."""
        return self.record.status == "running"

    @property
    def title(self) -> str:
        """What it is called."""
        return self.record.name or self.record.id

    def once(self, what: str, make: Callable[[], T], *more: str) -> T:
        """Return what is made of the run as it stands; see `Memo.get`."""
        record = self.record
        return self.site.memo.get((what, record.id, record.finished, record.kept, *more), make)

    @property
    def summary(self) -> Summary:
        """What the run adds up to."""
        return self.once("summary", lambda: self.run.summary)

    @property
    def label_counts(self) -> dict[Label, int]:
        """How many claims of scored answers have each label."""
        return self.once("labels", lambda: browsing.label_counts(self.site.shelf.store, self.record.id))

    @property
    def figures(self) -> Figures:
        """The numbers of its answers and claims, with every automatic slice."""
        return self.once("figures", lambda: figures_of(self.run, [AUTO]))

    @property
    def trust(self) -> Trust:
        """What is known of its judge's error, by the labels there are now."""
        return self.once("trust", lambda: trust_of(self.run), browsing.labels_stamp(self.site.shelf.store))

    @property
    def tags(self) -> dict[str, list[str]]:
        """The tags of its answers, with their values."""
        return self.once("tags", lambda: browsing.tag_values_of(self.site.shelf.store, self.record.id))

    def places(self, wanted: Wanted) -> list[int]:
        """Return the places of all answers wanted; automatic slices, which the database does not know, too."""
        store, run = self.site.shelf.store, self.record.id
        if not is_computed(wanted):
            return browsing.positions(store, run, wanted)
        figures = self.figures
        values = figures.tags.get(wanted.tag, {})
        nowhere = np.array([], dtype=np.int32)
        if wanted.value:
            inside = values.get(wanted.value, nowhere)
        else:
            inside = np.setdiff1d(np.arange(len(figures.ids)), np.concatenate([nowhere, *values.values()]))
        among = set(figures.positions[inside].tolist())
        return [place for place in browsing.positions(store, run, replace(wanted, tag="")) if place in among]

    def beside(self, wanted: Wanted, position: int) -> Neighbours:
        """Return the places next to an answer's among those wanted."""
        if is_computed(wanted):
            return browsing.neighbours_in(self.places(wanted), position)
        return browsing.neighbours(self.site.shelf.store, self.record.id, wanted, position)


def is_computed(wanted: Wanted) -> bool:
    """Whether a slice is wanted that is made of what answers show, and stands in no column."""
    return wanted.tag in AUTOMATIC


def slice_address(tag: str, value: str) -> str:
    """Return the field of an address that asks for a slice; empty for a cut of several, which no address names."""
    return "" if JOINT in tag else slice_field(tag, value)


def look_at(site: Site, wanted: str) -> Looking:
    """Find a run by its id or name. Raises `InputError` when there is none."""
    return Looking(site, site.shelf.store.run(wanted))

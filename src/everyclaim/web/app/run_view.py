"""A run as pages read it: its record, what is added up once for it, and which of its answers a page is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TypeVar, cast, get_args
from urllib.parse import quote, unquote

import numpy as np

from everyclaim.analysis.slices import AUTO, AUTOMATIC, JOINT
from everyclaim.analysis.summary import Summary
from everyclaim.api.compare import figures_of
from everyclaim.api.reports import Trust, trust_of
from everyclaim.api.runs import Run
from everyclaim.core.errors import InputError
from everyclaim.core.plaintext import did_you_mean
from everyclaim.core.types import FailureMode, Label, Outcome
from everyclaim.store import browsing
from everyclaim.store.browsing import AnswerFilter, Neighbours, Order
from everyclaim.store.records import RunRecord
from everyclaim.store.store import Figures
from everyclaim.web.app.site import Site, with_query

_LONGEST = 500  # characters that are searched for


@dataclass(frozen=True, slots=True)
class Filter:
    """The fields of an address; empty: anything. `slice` is a tag and its value, each quoted, with ``=`` between."""

    label: str = ""
    mode: str = ""
    outcome: str = ""
    slice: str = ""
    conflict: str = ""
    q: str = ""
    order: str = ""

    @property
    def wanted(self) -> AnswerFilter:
        """What the database is asked for. Raises `InputError` for a word that is none."""
        tag, _, value = self.slice.partition("=")
        return AnswerFilter(
            label=Label(_known("label", self.label, Label)) if self.label else None,
            mode=_known("failure mode", self.mode, FailureMode) if self.mode else "",
            outcome=Outcome(_known("outcome", self.outcome, Outcome)) if self.outcome else None,
            conflict=bool(self.conflict),
            tag=unquote(tag),
            value=unquote(value),
            text=self.q[:_LONGEST].strip(),
            order=cast("Order", _known("order", self.order, get_args(Order))) if self.order else "input",
        )

    @property
    def query(self) -> dict[str, str]:
        """The fields, for other addresses."""
        return asdict(self)

    @property
    def address(self) -> str:
        """The query of an address with this filter, with its question mark; empty where anything is wanted."""
        written = with_query(self.query)
        return f"?{written}" if written else ""

    @property
    def is_empty(self) -> bool:
        """Whether anything is wanted; the order filters nothing."""
        return not any(value for name, value in self.query.items() if name != "order")


def slice_field(tag: str, value: str) -> str:
    """Write a slice as it stands in an address."""
    return f"{quote(tag, safe='', errors='replace')}={quote(value, safe='', errors='replace')}"


def _known(what: str, given: str, allowed: object) -> str:
    words = [str(word) for word in allowed]  # type: ignore[attr-defined]
    if given not in words:
        raise InputError(f"there is no {what} {given[:60]!r}{did_you_mean(given[:60], words)}: {', '.join(words)}")
    return given


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunView:
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
        return self.once("labels", lambda: browsing.label_counts(self.site.read_store, self.record.id))

    @property
    def figures(self) -> Figures:
        """The numbers of its answers and claims, with every automatic slice."""
        return self.once("figures", lambda: figures_of(self.run, [AUTO]))

    @property
    def trust(self) -> Trust:
        """What is known of its judge's error, by the labels there are now."""
        return self.once("trust", lambda: trust_of(self.run), browsing.labels_stamp(self.site.read_store))

    @property
    def tags(self) -> dict[str, list[str]]:
        """The tags of its answers, with their values."""
        return self.once("tags", lambda: browsing.tag_values_of(self.site.read_store, self.record.id))

    def places(self, wanted: AnswerFilter) -> list[int]:
        """Return the places of all answers wanted; automatic slices, which the database does not know, too."""
        store, run = self.site.read_store, self.record.id
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

    def beside(self, wanted: AnswerFilter, position: int) -> Neighbours:
        """Return the places next to an answer's among those wanted."""
        if is_computed(wanted):
            return browsing.neighbours_in(self.places(wanted), position)
        return browsing.neighbours(self.site.read_store, self.record.id, wanted, position)


def is_computed(wanted: AnswerFilter) -> bool:
    """Whether a slice is wanted that is made of what answers show, and stands in no column."""
    return wanted.tag in AUTOMATIC


def slice_address(tag: str, value: str) -> str:
    """Return the field of an address that asks for a slice; empty for a cut of several, which no address names."""
    return "" if JOINT in tag else slice_field(tag, value)


def view_run(site: Site, wanted: str) -> RunView:
    """Find a run by its id or name. Raises `InputError` when there is none."""
    return RunView(site, site.read_store.run(wanted))

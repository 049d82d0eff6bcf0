"""Which answers of a run a page is about, as its address says: for lists, for going through them, for exports."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import cast, get_args
from urllib.parse import quote, unquote

from everyclaim.core.errors import InputError
from everyclaim.core.nearest import did_you_mean
from everyclaim.core.types import FailureMode, Label, Outcome
from everyclaim.store.browsing import Order, Wanted
from everyclaim.web.app.paging import with_query

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
    def wanted(self) -> Wanted:
        """What the database is asked for. Raises `InputError` for a word that is none."""
        tag, _, value = self.slice.partition("=")
        return Wanted(
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


def asked(
    label: str = "",
    mode: str = "",
    outcome: str = "",
    slice: str = "",  # noqa: A002 - as it stands in the address
    conflict: str = "",
    q: str = "",
    order: str = "",
) -> Filter:
    """Take a filter from an address."""
    return Filter(label, mode, outcome, slice, conflict, q, order)


def slice_field(tag: str, value: str) -> str:
    """Write a slice as it stands in an address."""
    return f"{quote(tag, safe='', errors='replace')}={quote(value, safe='', errors='replace')}"


def _known(what: str, given: str, allowed: object) -> str:
    words = [str(one) for one in allowed]  # type: ignore[attr-defined]
    if given not in words:
        raise InputError(f"there is no {what} {given[:60]!r}{did_you_mean(given[:60], words)}: {', '.join(words)}")
    return given

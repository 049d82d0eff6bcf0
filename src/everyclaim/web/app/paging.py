"""Long lists, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True, slots=True)
class Paging:
    """One page of a list of `total`, and the addresses of the others; a page that there is not becomes the nearest."""

    total: int
    asked: int
    size: int
    query: Mapping[str, str]

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return max(1, -(-self.total // self.size))

    @property
    def page(self) -> int:
        """The page shown, from 1."""
        return min(max(1, self.asked), self.pages)

    @property
    def first(self) -> int:
        """The number of the first one shown, from 0."""
        return (self.page - 1) * self.size

    @property
    def last(self) -> int:
        """The number of the last one shown, from 1."""
        return min(self.total, self.first + self.size)

    def address(self, page: int) -> str:
        """Return the query of another page."""
        return "?" + with_query(self.query, page=str(page) if page > 1 else "")


def with_query(query: Mapping[str, str], **changed: str) -> str:
    """Return a query with some of its fields changed; empty ones are left out."""
    return urlencode([(name, value) for name, value in (dict(query) | changed).items() if value], errors="replace")

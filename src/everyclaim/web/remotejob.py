"""A data set that a service scores, as its sender sees it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Self
from urllib.parse import quote

from everyclaim.analysis import Summary, summarise
from everyclaim.core.errors import OperatorError
from everyclaim.core.types import Outcome, Result
from everyclaim.core.wire import result_from_json
from everyclaim.engine import BackgroundLoop
from everyclaim.io import ReadReport
from everyclaim.web.http_client import HttpClient

State = Literal["queued", "running", "cancelling", "finished", "failed", "cancelled"]
_FIRST, _LONGEST = 0.1, 5.0  # seconds between looks at how far it is
_PAGE = 100


@dataclass(frozen=True, slots=True)
class JobStatus:
    """How far a job is. `done` counts results that are kept, `total` the rows where that is known."""

    id: str
    name: str
    state: State
    reason: str
    created: str
    ended: str | None
    run: str | None  # in the service's store
    done: int
    total: int | None
    outcomes: Mapping[Outcome, int]
    bad_rows: int

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Read what the service says."""
        return cls(**{**row, "outcomes": {Outcome(name): count for name, count in row["outcomes"].items()}})


@dataclass(frozen=True)
class RemoteJob:
    """A job of a service. It goes on whether anybody looks or not, and its results stay in the service's store.

    `read` says what became of the rows when they were sent; None for a job that was found again.
    """

    id: str
    slices: tuple[str, ...] = ()
    read: ReadReport | None = None
    _http: HttpClient = field(kw_only=True, repr=False)
    _loop: BackgroundLoop = field(kw_only=True, repr=False)

    async def astatus(self) -> JobStatus:
        """Ask how far it is."""
        return await self._loop.join(self._http.call("GET", self._path, read=JobStatus.of))

    def status(self) -> JobStatus:
        """Ask how far it is."""
        return self._loop.run(self.astatus())

    async def acancel(self) -> JobStatus:
        """Cancel it; what is scored already stays."""
        return await self._loop.join(self._http.call("POST", f"{self._path}/cancel", read=JobStatus.of))

    def cancel(self) -> JobStatus:
        """Cancel it; what is scored already stays."""
        return self._loop.run(self.acancel())

    async def ajoin(self) -> JobStatus:
        """Wait until it ends; see `join`."""
        return await self._loop.join(self._end())

    def join(self) -> JobStatus:
        """Wait until it ends. Raises `OperatorError` where it failed or was cancelled."""
        return self._loop.run(self.ajoin())

    async def aresults(self) -> AsyncIterator[Result]:
        """Yield the results in the order of the rows, as they come; see `results`."""
        after: int | None = -1
        while after is not None:
            page, after = await self._loop.join(self._page(after))
            for result in page:
                yield result

    def results(self) -> Iterator[Result]:
        """Yield the results in the order of the rows, as they come, until the job has ended; a page in memory."""
        after: int | None = -1
        while after is not None:
            page, after = self._loop.run(self._page(after))
            yield from page

    @cached_property
    def summary(self) -> Summary:
        """What the results add up to, once the job has ended."""
        bad_rows = self.join().bad_rows + (self.read.bad if self.read else 0)
        return summarise(self.results(), slices=self.slices, bad_rows=bad_rows)

    @property
    def _path(self) -> str:
        return f"/v1/jobs/{quote(self.id, safe='')}"

    async def _end(self) -> JobStatus:
        pause = _FIRST
        while not (status := await self.astatus()).ended:
            await asyncio.sleep(pause)
            pause = min(_LONGEST, pause * 1.5)
        if status.state != "finished":
            why = f": {status.reason}" if status.reason else ""
            raise OperatorError(f"job {self.id} {'was cancelled' if status.state == 'cancelled' else 'failed'}{why}")
        return status

    async def _page(self, after: int) -> tuple[list[Result], int | None]:
        """Return results behind a place, at least one where there will be one, and where to go on."""
        pause = _FIRST
        while True:
            query = [("after", str(after)), ("limit", str(_PAGE))]
            results, following = await self._http.call("GET", f"{self._path}/results", query=query, read=_results)
            if results or following is None:
                return results, following
            await asyncio.sleep(pause)
            pause = min(_LONGEST, pause * 1.5)


def _results(row: Mapping[str, Any]) -> tuple[list[Result], int | None]:
    return [result_from_json(one) for one in row["results"]], row["next"]

"""Answers traced in Langfuse, by its own client: root observations in, scores back under ids that stay the same.

Observations are listed by the time they began, which the application's clock says and which may be late, or ahead. So
every pass reads a stretch of time again (`lateness`), and what is in the future waits until it is the present.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from everyclaim.core.cited import failing_lines
from everyclaim.core.errors import ConfigError, OptionError, SourceError, needed_for
from everyclaim.core.plaintext import digest, hidden, one_line
from everyclaim.core.types import Label, Outcome, Result, Sample
from everyclaim.monitor.watch.source import DELETED, AnswerSource, Batch, Found, Loaded, Rows, Unreadable
from everyclaim.monitor.watch.traces import answer_in, decoded, documents_in, found_nothing, question_in
from everyclaim.store.records import utc_of
from everyclaim.store.watching import JudgedAnswer

T = TypeVar("T")

CLOUD = "https://cloud.langfuse.com"
_PUBLIC, _SECRET = "LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"
_PAGE = 100
_WINDOW = timedelta(hours=1)  # of one batch; a checkpoint is kept after each
_OURS = uuid.UUID("4f9a7a3e-3f53-5d0c-9a37-0d6f3c1f2b77")  # the names of scores are made in it
_LONGEST_COMMENT = 2_000
NO_PASSAGES = (
    "no passages: neither an observation of type RETRIEVER with documents nor contexts in the metadata; "
    "map the field with --map THEIRS=contexts"
)
_BUSY, _DENIED = {408, 409, 425, 429}, {401, 403}


class Langfuse(AnswerSource):
    """A project of Langfuse as a source.

    The first pass begins at `since`, else `lateness` seconds ago; an answer that ended `settle` seconds ago is taken to
    be whole. `observation` and `environment` name the root observations that are answers, where only some are.
    """

    takes_scores = True
    title = "langfuse"

    def __init__(
        self,
        url: str,
        rows: Rows,
        *,
        since: str | None = None,
        lateness: float = 3600.0,
        settle: float = 30.0,
        observation: str | None = None,
        environment: str | None = None,
    ) -> None:
        public, secret = os.environ.get(_PUBLIC, ""), os.environ.get(_SECRET, "")
        if not (public and secret):
            raise ConfigError(f"watching Langfuse needs the keys of the project: set {_PUBLIC} and {_SECRET}")
        url = url or os.environ.get("LANGFUSE_BASE_URL") or os.environ.get("LANGFUSE_HOST") or CLOUD
        if not url.startswith(("http://", "https://")):
            raise ConfigError(f"langfuse:{url}: name the server, as in langfuse:{CLOUD}")
        with needed_for("Watching Langfuse", "langfuse"):
            from langfuse.api import AsyncLangfuseAPI
        if settle >= lateness:
            raise OptionError("`settle` must be less than `lateness`")
        try:
            self._since = utc_of(since) if since else None
        except ValueError:
            raise OptionError(f"`since` must be a time such as 2026-01-31T12:00:00Z, got {since!r}") from None
        self._rows = rows
        self._lateness, self._settle = timedelta(seconds=lateness), timedelta(seconds=settle)
        self._only = {"name": observation, "environment": environment}
        some = "".join(f"#{name}" for name in (observation, environment) if name)
        self.name = f"langfuse:{hidden(url)}#{digest(public, 8)}{some}"
        self._connect: Callable[[], Any] = lambda: AsyncLangfuseAPI(
            base_url=url.rstrip("/"), username=public, password=secret, x_langfuse_public_key=public, timeout=30.0
        )
        self._api: Any = None

    async def open(self) -> None:
        """Make the client."""
        self._api = self._connect()

    async def close(self) -> None:
        """Close its connections."""
        if self._api is not None:
            client = self._api._client_wrapper.httpx_client.httpx_client  # noqa: SLF001 - it has no other way
            await client.aclose()

    async def batches(self, checkpoint: Any) -> AsyncIterator[Batch]:
        """Yield the answers of one stretch of time after another, up to now."""
        now = datetime.now(UTC)
        begin = utc_of(checkpoint["read_to"]) - self._lateness if checkpoint else self._since or now - self._lateness
        while begin < now:
            stop = min(begin + _WINDOW, now)
            found = [self._found(root) for root in await self._roots(begin, stop)]
            yield Batch(found, {"read_to": stop.isoformat()})
            begin = stop

    async def send_back(self, results: Sequence[JudgedAnswer]) -> Mapping[str, bool]:
        """Write scores. A project that does not want them for this trace has the last word."""
        tried = await asyncio.gather(*map(self._send, results), return_exceptions=True)
        faults = [fault for fault in tried if isinstance(fault, BaseException)]
        if unexpected := next((fault for fault in faults if not isinstance(fault, SourceError)), None):
            raise unexpected
        if faults and len(faults) == len(tried):
            raise faults[0]
        return {returned.answer: was for returned, was in zip(results, tried, strict=True) if isinstance(was, bool)}

    async def _roots(self, start: datetime, stop: datetime) -> list[Any]:
        between = {"from_start_time": start, "to_start_time": stop, "is_root_observation": True}
        listed = await self._list(fields="core,basic,time", **between, **self._only)
        return [
            root
            for root in listed.values()
            if root.trace_id and (root.is_root_observation is not None or root.parent_observation_id is None)
        ]

    async def _list(self, **wanted: Any) -> dict[str, Any]:
        """List observations by id, all pages; one without news is the last, whatever it says."""
        found: dict[str, Any] = {}
        cursor = None
        while True:
            page = await self._ask(self._api.observations.get_many, limit=_PAGE, cursor=cursor, **wanted)
            before, cursor = len(found), page.meta.cursor
            found |= {part.id: part for part in page.data}
            if not cursor or len(found) == before:
                return found

    def _found(self, root: Any) -> Found:
        async def load() -> Loaded:
            return await self._load(root) if self._is_whole(root) else None

        about = {"trace": root.trace_id, "observation": root.id, "began": root.start_time.isoformat()}
        return Found(f"{root.trace_id}:{root.id}", load, unit=root.trace_id, about=about)

    def _is_whole(self, root: Any) -> bool:
        """Whether an answer has ended a while ago; one that never ends is taken as it is before it is out of sight."""
        now = datetime.now(UTC)
        if now - root.start_time > self._lateness * 0.9:
            return True
        touched = max(filter(None, (root.end_time, root.updated_at)), default=None)
        return root.end_time is not None and now - min(touched or now, now) >= self._settle

    async def _load(self, root: Any) -> Loaded:
        parts = await self._list(fields="core,basic,io,metadata,model,trace_context", trace_id=root.trace_id)
        if root.id not in parts:
            return Unreadable(decision=DELETED)
        row = _row(parts[root.id], list(parts.values()))
        made = self._rows.sample(row, f"{root.trace_id}:{root.id}", f"trace {root.trace_id}")
        if isinstance(made, Sample) and not made.passages and not row["found_nothing"]:
            return Unreadable(f"trace {root.trace_id}: {NO_PASSAGES}")
        return made

    async def _send(self, returned: JudgedAnswer) -> bool:
        from langfuse.api import CreateScoreRequest

        requests = [
            CreateScoreRequest(
                id=str(uuid.uuid5(_OURS, f"{returned.answer}:{name}")),
                trace_id=returned.about["trace"],
                observation_id=returned.about["observation"],
                name=name,
                value=value,
                data_type=kind,
                comment=("\n".join(failing_lines(returned.result)) or returned.result.reason)[:_LONGEST_COMMENT],
                metadata={"run": returned.run, "judge": returned.result.provenance.verifier},
                timestamp=utc_of(returned.about["began"]),  # with the id, what makes a repeat the same score
            )
            for name, value, kind in _scores(returned.result)
        ]
        try:
            taken = await self._ask(self._api.scores.create, is_of_one=True, request=requests)
        except _RefusedError:
            return False
        return not getattr(taken, "rejected", 0)

    async def _ask(self, call: Callable[..., Awaitable[T]], *, is_of_one: bool = False, **arguments: Any) -> T:
        """Make a call; the client itself tries again what is worth it. `is_of_one`: about one answer alone."""
        import httpx
        from langfuse.api.core.api_error import ApiError

        try:
            return await call(**arguments)
        except ApiError as error:
            status = error.status_code or 0
            if status in _DENIED:
                raise ConfigError(
                    f"{self.name}: the keys were rejected (HTTP {status}): set {_PUBLIC} and {_SECRET} to "
                    "those of this project"
                ) from None
            if is_of_one and 400 <= status < 500 and status not in _BUSY:
                raise _RefusedError from None
            reason = f"HTTP {status}: {one_line(hidden(str(error.body)), 200)}"
        except httpx.HTTPError as error:
            reason = f"{type(error).__name__}: {one_line(hidden(str(error)), 200)}"
        except ValueError as error:  # a reply that is none of the API's
            reason = f"an unreadable reply ({type(error).__name__})"
        raise SourceError(f"{self.name}: {reason}")


class _RefusedError(Exception):
    """Scores of one answer are not taken, now or later."""


def _row(root: Any, parts: Sequence[Any]) -> dict[str, Any]:
    below = _descendants(root, parts)
    retrieved = [part.output for part in below if _is_of(part, "RETRIEVER")]
    documents = [document for output in retrieved for document in documents_in(output)]
    metadata = {name: decoded(value) for name, value in (root.metadata or {}).items()}
    models = [part.model for part in [*below, root] if part.model and _is_of(part, "GENERATION")]
    tags: dict[str, Any] = {"trace_name": root.trace_name or root.name, "environment": root.environment}
    for tag in root.tags or ():
        name, equals, value = tag.partition("=") if "=" in tag else tag.partition(":")
        tags[name if equals else tag] = value if equals else "true"
    return {
        "metadata": metadata,
        "input": decoded(root.input),
        "output": decoded(root.output),
        "found_nothing": bool(retrieved) and all(map(found_nothing, retrieved)),
        "question": question_in(root.input),
        "response": answer_in(root.output),
        "contexts": documents or documents_in(metadata.get("contexts")),
        "model": models[-1] if models else root.model,
        "release": root.release or root.version,
        "timestamp": root.start_time.isoformat(),
        "tags": {name: value for name, value in tags.items() if name and value},
    }


def _is_of(observation: Any, kind: str) -> bool:
    return (observation.type or "").upper() == kind


def _descendants(root: Any, parts: Sequence[Any]) -> list[Any]:
    """Return what is below a root in the order of time; all of the trace where it is not known what is below what."""
    others = sorted((part for part in parts if part.id != root.id), key=lambda part: (part.start_time, part.id))
    if all(part.parent_observation_id for part in others):
        return others
    below = {root.id}
    while grown := {part.id for part in others if part.parent_observation_id in below} - below:
        below |= grown
    return [part for part in others if part.id in below]


def _scores(result: Result) -> list[tuple[str, float | str, Any]]:
    """Return what is written: the outcome always, numbers only of an answer that was scored."""
    from langfuse.api import ScoreDataType

    name = result.provenance.metric_name
    scores: list[tuple[str, float | str, Any]] = [(f"{name}.outcome", result.outcome.value, ScoreDataType.CATEGORICAL)]
    if result.outcome is Outcome.SCORED and result.score is not None:
        numbers = {name: result.score}
        for label in (Label.CONTRADICTED, Label.UNSUPPORTED):
            numbers[f"{name}.{label.value.lower()}"] = float(result.count(label))
        scores += [(key, value, ScoreDataType.NUMERIC) for key, value in numbers.items()]
    return scores

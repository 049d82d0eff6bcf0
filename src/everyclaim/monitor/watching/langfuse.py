"""Answers traced in Langfuse, by its own client: root observations in, scores back under ids that stay the same.

Observations are listed by the time they began, which the application's clock says and which may be late, or ahead. So
every pass reads a stretch of time again (`lateness`), and what is in the future waits until it is the present.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, TypeVar

from everyclaim.core.errors import ConfigError, MissingExtraError, OptionError, SourceError
from everyclaim.core.hiding import hidden
from everyclaim.core.plaintext import one_line
from everyclaim.core.types import Label, Outcome, Result, Sample
from everyclaim.monitor.watching.conversations import answer_in, decoded, documents_in, found_nothing, question_in
from everyclaim.monitor.watching.rows import Rows
from everyclaim.monitor.watching.source import Absent, Batch, Found, Loaded, Return, Unreadable
from everyclaim.monitor.watching.watermark import utc, windows

T = TypeVar("T")

CLOUD = "https://cloud.langfuse.com"
_PAGE = 100
_WINDOW = timedelta(hours=1)  # of one batch; a checkpoint is kept after each
_OURS = uuid.UUID("4f9a7a3e-3f53-5d0c-9a37-0d6f3c1f2b77")  # the names of scores are made in it
_LONGEST_COMMENT = 2_000
NO_PASSAGES = (
    "no passages: there is no observation of type RETRIEVER with documents, nor contexts in the metadata; name the"
    " place with --map THEIRS=contexts"
)
_BUSY = {408, 409, 425, 429}
_DENIED = {401, 403}


@dataclass(frozen=True, slots=True)
class Project:
    """A project of Langfuse, and how long it may take until an answer is there and whole."""

    url: str
    public_key: str
    secret_key: str
    since: datetime | None = None  # where the first pass begins; None: `lateness` ago
    lateness: timedelta = timedelta(hours=1)
    settle: timedelta = timedelta(seconds=30)  # after which an answer that has ended is taken to be whole
    name: str | None = None  # of root observations, where only some of them are answers
    environment: str | None = None


class Langfuse:
    """A project of Langfuse as a source."""

    takes_scores = True
    title = "langfuse"

    def __init__(self, project: Project, rows: Rows) -> None:
        try:
            from langfuse.api import AsyncLangfuseAPI
        except ImportError:
            raise MissingExtraError("Watching Langfuse", "langfuse") from None
        if project.settle >= project.lateness:
            raise OptionError(
                "`settle` must be less than `lateness`: an answer is looked at again for no longer than that"
            )
        self._project = project
        self._rows = rows
        who = sha256(project.public_key.encode()).hexdigest()[:8]
        some = "".join(f"#{one}" for one in (project.name, project.environment) if one)
        self.name = f"langfuse:{hidden(project.url)}#{who}{some}"
        self._client: Any = AsyncLangfuseAPI
        self._api: Any = None

    async def open(self) -> None:
        """Make the client."""
        project = self._project
        self._api = self._client(
            base_url=project.url.rstrip("/"),
            username=project.public_key,
            password=project.secret_key,
            x_langfuse_public_key=project.public_key,
            timeout=30.0,
        )

    async def close(self) -> None:
        """Close its connections."""
        if self._api is not None:
            client = self._api._client_wrapper.httpx_client.httpx_client  # noqa: SLF001 - it has no other way
            await client.aclose()

    async def batches(self, checkpoint: Any) -> AsyncIterator[Batch]:
        """Yield the answers of one stretch of time after another, up to now."""
        project, now = self._project, datetime.now(UTC)
        first = project.since or now - project.lateness
        begin = utc(checkpoint["read_to"]) - project.lateness if checkpoint else first
        for start, stop in windows(begin, now, _WINDOW):
            found = [self._found(one) for one in await self._roots(start, stop)]
            yield Batch(found, {"read_to": stop.isoformat()})

    async def send_back(self, results: Sequence[Return]) -> Mapping[str, bool]:
        """Write scores. A project that does not want them for this trace has the last word."""
        tried = await asyncio.gather(*(self._send(one) for one in results), return_exceptions=True)
        faults = [one for one in tried if isinstance(one, BaseException)]
        if unexpected := next((one for one in faults if not isinstance(one, SourceError)), None):
            raise unexpected
        if faults and len(faults) == len(tried):
            raise faults[0]
        return {one.answer: was for one, was in zip(results, tried, strict=True) if isinstance(was, bool)}

    async def _roots(self, start: datetime, stop: datetime) -> list[Any]:
        """List the root observations that began in a stretch of time, all pages."""
        project = self._project
        roots: dict[str, Any] = {}
        seen: set[str] = set()
        cursor = None
        while True:
            page = await self._list(
                fields="core,basic,time",
                cursor=cursor,
                is_root_observation=True,
                from_start_time=start,
                to_start_time=stop,
                name=project.name,
                environment=project.environment,
            )
            new = {one.id: one for one in page.data if one.id not in seen}
            seen.update(new)
            for one in new.values():
                is_root = one.parent_observation_id is None if one.is_root_observation is None else True
                if one.trace_id and is_root:
                    roots[one.id] = one
            if not page.meta.cursor or not new:  # a page without news is the last one, whatever it says
                return list(roots.values())
            cursor = page.meta.cursor

    def _found(self, root: Any) -> Found:
        async def load() -> Loaded:
            if not self._is_whole(root):
                return Absent.NOT_YET
            return await self._load(root)

        about = {"trace": root.trace_id, "observation": root.id, "began": root.start_time.isoformat()}
        return Found(f"{root.trace_id}:{root.id}", load, unit=root.trace_id, about=about)

    def _is_whole(self, root: Any) -> bool:
        """Whether an answer has ended a while ago; one that never ends is taken as it is before it is out of sight."""
        now = datetime.now(UTC)
        if now - root.start_time > self._project.lateness * 0.9:
            return True
        touched = max(filter(None, (root.end_time, root.updated_at)), default=None)
        return root.end_time is not None and now - min(touched or now, now) >= self._project.settle

    async def _load(self, root: Any) -> Loaded:
        """Fetch what was asked, answered and retrieved."""
        parts: dict[str, Any] = {}
        cursor = None
        while True:
            page = await self._list(
                fields="core,basic,io,metadata,model,trace_context", cursor=cursor, trace_id=root.trace_id
            )
            before = len(parts)
            parts |= {one.id: one for one in page.data}
            if not page.meta.cursor or len(parts) == before:
                break
            cursor = page.meta.cursor
        whole = parts.get(root.id)
        if whole is None:
            return Absent.GONE
        row = _row(whole, list(parts.values()))
        made = self._rows.sample(row, f"{root.trace_id}:{root.id}")
        if isinstance(made, Sample) and not made.passages and not row["found_nothing"]:
            return Unreadable(f"trace {root.trace_id}: {NO_PASSAGES}")
        return Unreadable(f"trace {root.trace_id}: {made.reason}") if isinstance(made, Unreadable) else made

    async def _send(self, one: Return) -> bool:
        """Write the scores of one result; return whether they were taken."""
        from langfuse.api import CreateScoreRequest

        began = utc(one.about["began"])
        requests = [
            CreateScoreRequest(
                id=str(uuid.uuid5(_OURS, f"{one.answer}:{name}")),
                trace_id=one.about["trace"],
                observation_id=one.about["observation"],
                name=name,
                value=value,
                data_type=kind,
                comment=_comment(one.result),
                metadata={"run": one.run, "judge": one.result.provenance.verifier},
                timestamp=began,  # with the id, what makes a repeat the same score
            )
            for name, value, kind in _scores(one.result)
        ]
        try:
            taken = await self._ask(lambda: self._api.scores.create(request=requests), is_one=True)
        except _RefusedError:
            return False
        return not getattr(taken, "rejected", 0)

    async def _list(self, **wanted: Any) -> Any:
        return await self._ask(lambda: self._api.observations.get_many(limit=_PAGE, **wanted))

    async def _ask(self, call: Callable[[], Awaitable[T]], *, is_one: bool = False) -> T:
        """Make a call; the client itself tries again what is worth it. `is_one`: about one answer alone."""
        import httpx
        from langfuse.api.core.api_error import ApiError

        try:
            return await call()
        except ApiError as error:
            status = error.status_code or 0
            told = one_line(hidden(str(error.body)), 200)
            if status in _DENIED:
                raise ConfigError(
                    f"{self.name}: the keys were not accepted (HTTP {status}): set LANGFUSE_PUBLIC_KEY and"
                    " LANGFUSE_SECRET_KEY to those of this project"
                ) from None
            if is_one and 400 <= status < 500 and status not in _BUSY:
                raise _RefusedError from None
            raise SourceError(f"{self.name}: HTTP {status}: {told}") from None
        except httpx.HTTPError as error:
            raise SourceError(f"{self.name}: {type(error).__name__}: {one_line(hidden(str(error)), 200)}") from None
        except ValueError as error:  # a reply that is none of the API's
            raise SourceError(f"{self.name}: a reply that cannot be read ({type(error).__name__})") from None


class _RefusedError(Exception):
    """Scores of one answer are not taken, now or later."""


def _row(root: Any, parts: Sequence[Any]) -> dict[str, Any]:
    """Make a row of a root observation and what is below it."""
    below = _descendants(root, parts)
    retrieved = [one.output for one in below if (one.type or "").upper() == "RETRIEVER"]
    documents = [document for output in retrieved for document in documents_in(output)]
    metadata = {name: decoded(value) for name, value in (root.metadata or {}).items()}
    models = [one.model for one in [*below, root] if one.model and (one.type or "").upper() == "GENERATION"]
    tags: dict[str, Any] = {"trace_name": root.trace_name or root.name, "environment": root.environment}
    for tag in root.tags or ():
        name, equals, value = tag.partition("=") if "=" in tag else tag.partition(":")
        tags[name if equals else tag] = value if equals else "true"
    given = {"metadata": metadata, "input": decoded(root.input), "output": decoded(root.output)}
    return {
        **given,
        "found_nothing": bool(retrieved) and all(map(found_nothing, retrieved)),
        "question": question_in(root.input),
        "response": answer_in(root.output),
        "contexts": documents or documents_in(metadata.get("contexts")) or _inside(given["output"]),
        "model": models[-1] if models else root.model,
        "release": root.release or root.version,
        "timestamp": root.start_time.isoformat(),
        "tags": {name: value for name, value in tags.items() if name and value},
    }


def _inside(output: Any) -> list[Any]:
    """Return the documents that an application gives out with its answer."""
    return documents_in(output) if isinstance(output, Mapping) and answer_in(output) else []


def _descendants(root: Any, parts: Sequence[Any]) -> list[Any]:
    """Return what is below a root in the order of time; all of the trace where it is not known what is below what."""
    parents = {one.id: one.parent_observation_id for one in parts}
    roots = [one for one in parts if one.id == root.id or not one.parent_observation_id]
    ordered = sorted((one for one in parts if one.id != root.id), key=lambda one: (one.start_time, one.id))
    if len(roots) == 1:
        return ordered

    def is_below(one: Any) -> bool:
        seen: set[str] = set()
        parent = one.parent_observation_id
        while parent and parent not in seen:
            if parent == root.id:
                return True
            seen.add(parent)
            parent = parents.get(parent)
        return False

    return [one for one in ordered if is_below(one)]


def _scores(result: Result) -> list[tuple[str, float | str, Any]]:
    """Return what is written: the outcome always, numbers only of an answer that was scored."""
    from langfuse.api import ScoreDataType

    name = result.provenance.metric.partition("?")[0]
    scores: list[tuple[str, float | str, Any]] = [(f"{name}.outcome", result.outcome.value, ScoreDataType.CATEGORICAL)]
    if result.outcome is Outcome.SCORED and result.score is not None:
        scores.append((name, result.score, ScoreDataType.NUMERIC))
        scores += [
            (f"{name}.{label.value.lower()}", float(result.count(label)), ScoreDataType.NUMERIC)
            for label in (Label.CONTRADICTED, Label.UNSUPPORTED)
        ]
    return scores


def _comment(result: Result) -> str:
    """Say which claims fail, or why there is no score."""
    failing = [
        f"{claim.verdict.label.value.lower()}: {claim.text}"
        + (f" ({claim.verdict.rationale})" if claim.verdict.rationale else "")
        for claim in result.failing
    ]
    return ("\n".join(failing) or result.reason)[:_LONGEST_COMMENT]

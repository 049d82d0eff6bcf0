"""A server on loopback that speaks the part of Langfuse's public API that a watch uses, with faults on demand."""

from __future__ import annotations

import base64
import json
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from loopback_server import Received, Reply, serving

PUBLIC, SECRET = "pk-lf-1234", "sk-lf-5678"
GROUPS = {
    "core": ("id", "traceId", "startTime", "endTime", "projectId", "parentObservationId", "type"),
    "basic": ("name", "level", "version", "environment", "isRootObservation"),
    "time": ("createdAt", "updatedAt"),
    "io": ("input", "output"),
    "metadata": ("metadata",),
    "model": ("model",),
    "trace_context": ("tags", "release", "traceName"),
}


class Langfuse:
    """Observations and scores of one project."""

    def __init__(self) -> None:
        self.observations: dict[str, dict[str, Any]] = {}
        self.scores: dict[tuple[str, str], dict[str, Any]] = {}  # by id and time, as there
        self.writes: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.faults: deque[tuple[str, int, dict[str, str]]] = deque()  # path, status, headers
        self.url = ""

    def answer(
        self,
        number: int,
        *,
        at: datetime | None = None,
        text: str | None = None,
        passages: list[Any] | None = None,
        ended: bool = True,
        **root: Any,
    ) -> str:
        """Add a trace: a root with a retrieval and a generation below it. Return the id of the trace."""
        at = at or datetime.now(UTC) - timedelta(minutes=10)
        trace, text = f"trace{number}", text or f"The unit weighs {number} kg."
        end = (at + timedelta(seconds=2)).isoformat() if ended else None
        passages = (
            [{"page_content": f"The unit weighs {number} kg.", "metadata": {"source": "manual"}}]
            if passages is None
            else passages
        )
        usual = {"projectId": "p", "traceId": trace, "startTime": at.isoformat(), "endTime": end, "updatedAt": end}
        usual |= {"environment": "production", "release": "v1", "tags": ["tenant:acme", "beta"], "traceName": "chat"}
        for one in (
            {"id": f"{trace}-root", "type": "SPAN", "name": "answer", "isRootObservation": True, "input": json.dumps({"question": f"How heavy is {number}?"}), "output": json.dumps(text) if ended else None, **root},
            {"id": f"{trace}-find", "type": "RETRIEVER", "parentObservationId": f"{trace}-root", "output": json.dumps(passages)},
            {"id": f"{trace}-say", "type": "GENERATION", "parentObservationId": f"{trace}-root", "model": "gpt-5-mini", "output": json.dumps({"role": "assistant", "content": text})},
        ):  # fmt: skip
            self.observations[one["id"]] = usual | one
        return trace

    def delete(self, trace: str) -> None:
        self.observations = {key: one for key, one in self.observations.items() if one["traceId"] != trace}

    def listed(self, query: dict[str, str]) -> dict[str, Any]:
        """Answer as the second version of the observations' listing: newest first, with a cursor."""
        found = sorted(self.observations.values(), key=lambda one: (one["startTime"], one["id"]), reverse=True)
        wanted = {"traceId": "traceId", "type": "type", "name": "name", "environment": "environment"}
        found = [
            one
            for one in found
            if all(one.get(field) == query[name] for name, field in wanted.items() if name in query)
        ]
        if query.get("isRootObservation") == "true":
            found = [one for one in found if one.get("isRootObservation")]

        def when(text: str) -> datetime:
            return datetime.fromisoformat(text)

        if "fromStartTime" in query:
            found = [one for one in found if when(one["startTime"]) >= when(query["fromStartTime"])]
        if "toStartTime" in query:
            found = [one for one in found if when(one["startTime"]) < when(query["toStartTime"])]
        if "cursor" in query:
            last = tuple(json.loads(base64.b64decode(query["cursor"])))
            found = [one for one in found if (one["startTime"], one["id"]) < last]
        limit = int(query.get("limit", 50))
        page, more = found[:limit], found[limit:]
        names = [name for group in query.get("fields", "core,basic").split(",") for name in GROUPS[group]]
        cursor = (
            base64.b64encode(json.dumps([page[-1]["startTime"], page[-1]["id"]]).encode()).decode() if more else None
        )
        return {
            "data": [{name: one.get(name) for name in {*names, *GROUPS["core"]}} for one in page],
            "meta": {"cursor": cursor},
        }

    def write(self, scores: list[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
        self.writes += scores
        traces = {one["traceId"] for one in self.observations.values()}
        errors = [{"message": "no such trace"} for one in scores if one["traceId"] not in traces]
        if errors:
            return 207, {"accepted": len(scores) - len(errors), "rejected": len(errors), "errors": errors}
        for one in scores:
            self.scores[one["id"], one["timestamp"]] = one
        return 202, {"message": "Accepted"}

    @property
    def by_trace(self) -> dict[str, dict[str, Any]]:
        """The values of scores by trace and name."""
        found: dict[str, dict[str, Any]] = {}
        for one in self.scores.values():
            found.setdefault(one["traceId"], {})[one["name"]] = one["value"]
        return found

    @contextmanager
    def serving(self) -> Iterator[Langfuse]:
        with serving(self._answer) as self.url:
            yield self

    def _answer(self, request: Received) -> Reply:
        parts = urlsplit(request.path)
        self.asked.append(parts.path)
        headers: dict[str, str] = {}
        if request.headers["authorization"] != "Basic " + base64.b64encode(f"{PUBLIC}:{SECRET}".encode()).decode():
            status, said = 401, {"message": "Invalid credentials"}
        elif self.faults and self.faults[0][0] in parts.path:
            _, status, headers = self.faults.popleft()
            said = {"message": "not now"}
        elif request.body:
            status, said = self.write(json.loads(request.body))
        else:
            status, said = 200, self.listed({name: one[-1] for name, one in parse_qs(parts.query).items()})
        return Reply(status, json.dumps(said).encode(), {"Content-Type": "application/json", **headers})

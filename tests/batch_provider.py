"""A loopback provider with the batch APIs of OpenAI and Anthropic: files, batches, polls, results.

Time passes by being asked: a batch has ended once it was looked at a scripted number of times. Each
request in it is answered by the server's own script, when the batch ends.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import parse_qs

from aiohttp import web

from everyclaim.testing import JudgeServer
from everyclaim.testing.script import PATHS, Api, Fault, Reply, Request, Script, Step, render, render_error
from everyclaim.testing.server import respond

Ending = Literal["completed", "expired", "cancelled", "failed"]
Answer = Callable[[Request], Step]
_PAGE = re.compile(r"/(messages/batches|batches|files)(?:/([^/]+))?(?:/(content|results))?$")
_TYPES = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 413: "request_too_large"}
_TYPES |= {429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}


@dataclass(frozen=True, slots=True)
class BatchScript:
    """What becomes of batches: how often each is under way when it is looked at, how the first, second, … ends (the
    last is repeated), what the first, second, … creation meets, and what fits
    into the account's queue. A fault of the connection (status 200) comes after the batch was taken, any other before.
    """

    polls: int = 1
    endings: Sequence[Ending] = ("completed",)
    submissions: Sequence[Fault | None] = ()
    most_requests: int | None = None


@dataclass(slots=True)
class ServedBatch:
    """A batch that was taken: its requests by custom id, and how far it is."""

    id: str
    api: Api
    requests: dict[str, Mapping[str, Any]]
    ending: Ending
    created: float
    metadata: Mapping[str, str] = field(default_factory=dict)
    input_file: str = ""
    looked: int = 0
    ended: bool = False
    results: dict[str, Step | None] = field(default_factory=dict)  # None: it was not got to


class BatchDesk:
    """The server's side of both batch APIs. `clock` gives seconds since 1970."""

    def __init__(self, script: BatchScript, answer: Answer, clock: Callable[[], float]) -> None:
        self.script = script
        self.batches: list[ServedBatch] = []
        self.files: dict[str, bytes] = {}
        self.submissions = 0  # tries to create a batch
        self.looks = 0
        self._answer = answer
        self._clock = clock

    def serve(self, raw: web.BaseRequest, content: bytes) -> Fault:
        """Answer a request whose path belongs here."""
        path, _, query = raw.raw_path.partition("?")
        kind, name, what = _PAGE.search(path).groups()
        api: Api = "messages" if kind.startswith("messages") else "chat"
        if kind == "files":
            return self._upload(raw, content) if raw.method == "POST" else self._download(name)
        if name is None:
            return self._create(api, content) if raw.method == "POST" else self._list(api, query)
        batch = next((b for b in self.batches if b.id == name and (b.api == "messages") == (api == "messages")), None)
        if batch is None:
            return _error(api, 404, f"no batch {name}")
        if what == "results":
            return _send_lines(self._anthropic_rows(batch)) if batch.ended else _error(api, 404, "not ended yet")
        return self._look(batch)

    def _upload(self, raw: web.BaseRequest, content: bytes) -> Fault:
        boundary = raw.headers.get("content-type", "").partition("boundary=")[2].encode()
        parts = content.split(b"--" + boundary) if boundary else []
        contents = {
            name: part.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
            for part in parts
            for name in (b"purpose", b"file")
            if b'name="' + name + b'"' in part.partition(b"\r\n\r\n")[0]
        }
        assert contents[b"purpose"] == b"batch"
        name = f"file-{len(self.files) + 1}"
        self.files[name] = contents[b"file"]
        return respond(200, {"id": name, "object": "file", "purpose": "batch", "bytes": len(contents[b"file"])})

    def _download(self, name: str) -> Fault:
        return Fault(raw=self.files[name], content_type="application/octet-stream")

    def _create(self, api: Api, content: bytes) -> Fault:
        self.submissions += 1
        fault = _nth(self.script.submissions, self.submissions, None)
        if fault and fault.status != 200:
            return _fail(api, fault)
        try:
            body = json.loads(content)
            taken = self._take_anthropic(body) if api == "messages" else self._take_openai(body)
        except (ValueError, KeyError, TypeError) as error:
            taken = f"the requests cannot be read: {error!r}"
        if isinstance(taken, str):
            return _error(api, 400, taken)
        self.batches.append(taken)
        shown = self._show(taken)
        if fault:
            return respond(fault, shown)
        return respond(200, shown)

    def _take_openai(self, body: Mapping[str, Any]) -> ServedBatch | str:
        name = body["input_file_id"]
        rows = [json.loads(line) for line in self.files[name].splitlines() if line.strip()]
        endpoint = str(body["endpoint"])
        api = next(api for end, api in PATHS.items() if endpoint.endswith(end))
        assert {(row["url"], row["method"]) for row in rows} == {(endpoint, "POST")}
        requests = {row["custom_id"]: row["body"] for row in rows}
        if len(requests) < len(rows) or len({str(request.get("model")) for request in requests.values()}) != 1:
            return "custom ids must be unique, and all requests for one model"
        return self._new(api, requests, metadata=body.get("metadata") or {}, input_file=name)

    def _take_anthropic(self, body: Mapping[str, Any]) -> ServedBatch | str:
        requests = {row["custom_id"]: row["params"] for row in body["requests"]}
        if not all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", custom_id) for custom_id in requests):
            return "a custom id does not match the pattern"
        return self._new("messages", requests)

    def _new(self, api: Api, requests: dict[str, Mapping[str, Any]], **more: Any) -> ServedBatch:
        number = len(self.batches) + 1
        ending = _nth(self.script.endings, number, self.script.endings[-1])
        if self.script.most_requests is not None and len(requests) > self.script.most_requests:
            ending = "failed"
        prefix = "msgbatch" if api == "messages" else "batch"
        return ServedBatch(f"{prefix}_{number}", api, requests, ending, self._clock(), **more)

    def _list(self, api: Api, query: str) -> Fault:
        asked = parse_qs(query)
        limit = int(asked.get("limit", ["20"])[0])
        after = (asked.get("after") or asked.get("after_id") or [""])[0]
        rows = [batch for batch in reversed(self.batches) if (batch.api == "messages") == (api == "messages")]
        names = [batch.id for batch in rows]
        start = names.index(after) + 1 if after in names else 0
        page = [self._show(batch) for batch in rows[start : start + limit]]
        return respond(200, {"object": "list", "data": page, "has_more": start + limit < len(rows)})

    def _look(self, batch: ServedBatch) -> Fault:
        self.looks += 1
        batch.looked += 1
        if not batch.ended and batch.looked > self.script.polls:
            self._end(batch)
        return respond(200, self._show(batch))

    def _end(self, batch: ServedBatch) -> None:
        share = {"completed": 1.0, "failed": 0.0}.get(batch.ending, 0.5)
        reached = round(len(batch.requests) * share)
        for number, (custom_id, body) in enumerate(batch.requests.items(), 1):
            request = Request(number, batch.api, f"/{batch.api}", {}, body, authorised=True)
            batch.results[custom_id] = self._answer(request) if number <= reached else None
        batch.ended = True
        if batch.api != "messages" and batch.ending != "failed":
            rows = list(self._openai_rows(batch))
            for kind, good in (("output", True), ("error", False)):
                lines = [json.dumps(row) for row in rows if (_status(row) == 200) is good]
                if lines:
                    self.files[f"file-{kind}-{batch.id}"] = "\n".join(lines).encode() + b"\n"

    def _show(self, batch: ServedBatch) -> dict[str, Any]:
        return _show_anthropic(batch) if batch.api == "messages" else self._show_openai(batch)

    def _show_openai(self, batch: ServedBatch) -> dict[str, Any]:
        refusal = [{"code": "invalid_request", "message": "failed on purpose"}]
        if self.script.most_requests is not None and len(batch.requests) > self.script.most_requests:
            refusal = [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached", "line": None}]
        files = {
            f"{kind}_file_id": name if (name := f"file-{kind}-{batch.id}") in self.files else None
            for kind in ("output", "error")
        }
        return {
            "id": batch.id,
            "object": "batch",
            "status": batch.ending if batch.ended else "in_progress",
            "input_file_id": batch.input_file,
            "completion_window": "24h",
            "created_at": int(batch.created),
            "metadata": batch.metadata,
            "errors": {"object": "list", "data": refusal} if batch.ended and batch.ending == "failed" else None,
            **files,
        }

    def _openai_rows(self, batch: ServedBatch) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for number, (custom_id, step) in enumerate(batch.results.items(), 1):
            row: dict[str, Any] = {"id": f"batch_req_{number}", "custom_id": custom_id, "response": None, "error": None}
            if step is None:
                row["error"] = {"code": f"batch_{batch.ending}", "message": "This request was not executed."}
            else:
                status, body = _answered(batch, custom_id, step)
                row["response"] = {"status_code": status, "request_id": f"req_{number}", "body": body}
            rows.append(row)
        return rows[::-1]  # never in the order they came

    def _anthropic_rows(self, batch: ServedBatch) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for custom_id, step in batch.results.items():
            if step is None:
                result: dict[str, Any] = {"type": "canceled" if batch.ending == "cancelled" else "expired"}
            else:
                status, body = _answered(batch, custom_id, step)
                result = {"type": "succeeded", "message": body} if status == 200 else {"type": "errored", "error": body}
            rows.append({"custom_id": custom_id, "result": result})
        return rows[::-1]


def _answered(batch: ServedBatch, custom_id: str, step: Step) -> tuple[int, Any]:
    """Render what the script said to one request; a fault of a connection makes no sense here and is a 500."""
    if isinstance(step, str):
        step = Reply(step)
    if isinstance(step, Reply):
        request = Request(1, batch.api, f"/{batch.api}", {}, batch.requests[custom_id], authorised=True)
        return 200, render(request, step)
    status = step.status if step.status != 200 else 500
    error = {"message": "failed", **(step.error or {})}
    if batch.api == "messages":
        error["type"] = _TYPES.get(status, "api_error")
    return status, render_error(batch.api, error)


def _show_anthropic(batch: ServedBatch) -> dict[str, Any]:
    counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
    if not batch.ended:
        counts["processing"] = len(batch.requests)
    for step in batch.results.values():
        if step is None:
            counts["canceled" if batch.ending == "cancelled" else "expired"] += 1
        else:
            counts["errored" if isinstance(step, Fault) else "succeeded"] += 1
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended" if batch.ended else "in_progress",
        "request_counts": counts,
        "created_at": datetime.fromtimestamp(batch.created, UTC).isoformat(),
        "results_url": f"/v1/messages/batches/{batch.id}/results" if batch.ended else None,
    }


def _status(row: Mapping[str, Any]) -> int:
    return row["response"]["status_code"] if row["response"] else 0


def _nth(steps: Sequence[Any], number: int, otherwise: Any) -> Any:
    return steps[number - 1] if number <= len(steps) else otherwise


def _send_lines(rows: Sequence[Any]) -> Fault:
    return Fault(raw=b"".join(json.dumps(row).encode() + b"\n" for row in rows), content_type="x-jsonl")


def _error(api: Api, status: int, message: str) -> Fault:
    return respond(status, render_error(api, {"type": "error", "message": message}))


def _fail(api: Api, fault: Fault) -> Fault:
    return respond(fault, render_error(api, fault.error or {}))


class BatchServer(JudgeServer):
    """A `JudgeServer` with batches; `batch_desk` is what came of them. Their requests do not count as calls."""

    def __init__(self, script: Script = "{}", *, batches: BatchScript | None = None, **options: Any) -> None:
        super().__init__(script, **options)
        self.batch_desk = BatchDesk(batches or BatchScript(), self._step, time.time)

    def _handle(self, raw: web.BaseRequest, content: bytes) -> Fault:
        if not _PAGE.search(raw.raw_path.partition("?")[0]):
            return super()._handle(raw, content)
        if self._admits(raw.headers):
            return replace(self.batch_desk.serve(raw, content), latency=self._latency)
        return respond(401, render_error("chat", {"message": "Incorrect API key provided"}))

"""The two providers' batch APIs behind one shape: prepare, create, find again, look, read results.

OpenAI: a JSONL file is uploaded, a batch is created over it, replies come in one file and errors in
another. Anthropic: a batch is created with its requests in it, and everything comes back in one stream.

An outcome is kept as JSON: ``{"reply": …}`` is a response's body, ``{"status": …, "body": …}`` an HTTP
error, ``{"unfinished": "expired"}`` says that the provider never got to it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Any, NamedTuple

from everyclaim.core.errors import JudgeError
from everyclaim.models.chat.endpoint import Endpoint
from everyclaim.models.chat.transport import Transport, encode
from everyclaim.models.files import ProviderBatch

TRANSFER_SECONDS = 900.0  # for a file up or down
CLOCK_SECONDS = 3600.0  # how far a provider's clock and ours may be apart
LINE_OVERHEAD = 200  # bytes around a request's body
_MOST_PAGES = 1000  # of an account's list of batches, a hundred on each
_STATUS = {  # Anthropic's error types as the statuses they have outside a batch
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


Requests = Sequence[tuple[str, bytes]]  # custom ids of at most 64 letters, and bodies as JSON
Wait = Callable[[str], Awaitable[object]]  # until the batch with this id has ended


class BatchStatus(NamedTuple):
    """What a provider says about a batch. `otherwise` becomes of requests that have no result of their own."""

    ended: bool
    files: tuple[str, ...] = ()  # where the results are
    otherwise: str = ""


class BatchApi:
    """One provider's batch API. `path` is where a single request is posted."""

    def __init__(self, transport: Transport, path: str) -> None:
        self._transport = transport
        self._path = path
        self.secrets = transport.secrets

    async def results(self, status: BatchStatus) -> AsyncGenerator[tuple[str, str], None]:
        """Yield custom ids and outcomes, in any order."""
        for file in status.files:
            async with aclosing(self._transport.lines(file, seconds=TRANSFER_SECONDS)) as lines:
                async for line in lines:
                    row = _row(line)
                    yield row["custom_id"], self._outcome(row)

    @staticmethod
    def _outcome(row: Mapping[str, Any]) -> str:
        raise NotImplementedError

    async def _listed(self, path: str, after: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the account's batches, newest first."""
        query = "?limit=100"
        for _ in range(_MOST_PAGES):
            page = await self._transport.exchange("GET", path + query)
            rows = page.get("data")
            if not isinstance(rows, list):
                raise JudgeError("bad_response", "the list of batches has an unexpected format")
            for row in rows:
                yield row
            if not rows or not page.get("has_more"):
                return
            query = f"?limit=100&{after}={_id(rows[-1])}"


class OpenAiBatches(BatchApi):
    """Files and batches as OpenAI has them, and gateways that speak like it."""

    max_requests = 50_000
    max_bytes = 200_000_000

    async def prepare(self, requests: Requests) -> bytes:
        """Upload the file; return its id."""
        url = json.dumps("/v1" + self._path)  # as the provider wants it whatever the base address
        boundary = secrets.token_hex(16)  # new each time, so that no text can hold it
        rows = [
            f'{{"custom_id": {json.dumps(name)}, "method": "POST", "url": {url}, "body": '.encode() + body
            for name, body in requests
        ]
        head = (
            f'--{boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
            f'--{boundary}\r\ncontent-disposition: form-data; name="file"; filename="everyclaim.jsonl"\r\n'
            "content-type: application/jsonl\r\n\r\n"
        )
        data = head.encode() + b"}\n".join(rows) + f"}}\n\r\n--{boundary}--\r\n".encode()
        kind = f"multipart/form-data; boundary={boundary}"
        answer = await self._transport.exchange("POST", "/files", data, content_type=kind, seconds=TRANSFER_SECONDS)
        return _id(answer).encode()

    async def create(self, prepared: bytes, token: str) -> str:
        """Create the batch over the uploaded file; the token goes along as metadata."""
        body = {
            "input_file_id": prepared.decode(),
            "endpoint": "/v1" + self._path,
            "completion_window": "24h",
            "metadata": {"everyclaim": token},
        }
        return _id(await self._transport.exchange("POST", "/batches", encode(body)))

    async def find(self, batch: ProviderBatch, known: frozenset[str], wait: Wait) -> str | None:  # noqa: ARG002  (the token decides)
        """Look for the token among the batches that are not older."""
        async for row in self._listed("/batches", "after"):
            metadata = row.get("metadata")
            if isinstance(metadata, dict) and metadata.get("everyclaim") == batch.token:
                return _id(row)
            if isinstance(row.get("created_at"), int) and row["created_at"] < batch.begun - CLOCK_SECONDS:
                break
        return None

    async def look(self, provider_id: str) -> BatchStatus:
        """Ask how far a batch is."""
        answer = await self._transport.exchange("GET", f"/batches/{provider_id}")
        status = answer.get("status")
        if status == "failed":
            return _refused(answer)
        if status not in {"completed", "expired", "cancelled"}:
            return BatchStatus(False)
        names = [answer[name] for name in ("output_file_id", "error_file_id") if answer.get(name)]
        files = tuple(f"/files/{name}/content" for name in names)
        return BatchStatus(True, files, json.dumps({"unfinished": "missing" if status == "completed" else status}))

    @staticmethod
    def _outcome(row: Mapping[str, Any]) -> str:
        response, error = row.get("response"), row.get("error")
        if isinstance(response, dict) and isinstance(response.get("body"), dict):
            if response.get("status_code") == 200:
                return json.dumps({"reply": response["body"]})
            return json.dumps({"status": response.get("status_code"), "body": response["body"]})
        code = str(error.get("code")) if isinstance(error, dict) else "missing"
        if code in {"batch_expired", "batch_cancelled"}:
            return json.dumps({"unfinished": code.removeprefix("batch_")})
        return json.dumps({"status": 500, "body": {"error": error}})


class AnthropicBatches(BatchApi):
    """Message batches as Anthropic has them. They carry no mark of ours but the custom ids in their results."""

    max_requests = 100_000
    max_bytes = 256_000_000

    async def prepare(self, requests: Requests) -> bytes:
        """Write the whole request."""
        rows = [b'{"custom_id": "' + name.encode() + b'", "params": ' + body + b"}" for name, body in requests]
        return b'{"requests": [' + b", ".join(rows) + b"]}"

    async def create(self, prepared: bytes, token: str) -> str:  # noqa: ARG002  (it is in the custom ids)
        """Create the batch."""
        return _id(await self._transport.exchange("POST", self._batches, prepared, seconds=TRANSFER_SECONDS))

    async def find(self, batch: ProviderBatch, known: frozenset[str], wait: Wait) -> str | None:
        """Look for a batch of this size and time, and recognise it by its custom ids once it has ended."""
        under_way = []
        async for row in self._listed(self._batches, "after_id"):
            try:
                created = datetime.fromisoformat(str(row.get("created_at"))).timestamp()
            except ValueError:
                raise JudgeError("bad_response", "the list of batches has an unexpected format") from None
            if created < batch.begun - CLOCK_SECONDS:
                break
            name, counts = _id(row), row.get("request_counts")
            if name in known or not isinstance(counts, dict) or sum(counts.values()) != batch.size:
                continue
            if row.get("processing_status") != "ended":
                under_way.append(name)
            elif await self._is_ours(name, batch.token):
                return name
        for name in under_way:
            await wait(name)
            if await self._is_ours(name, batch.token):
                return name
        return None

    async def look(self, provider_id: str) -> BatchStatus:
        """Ask how far a batch is."""
        answer = await self._transport.exchange("GET", f"{self._batches}/{provider_id}")
        return self._status(provider_id, ended=answer.get("processing_status") == "ended")

    @property
    def _batches(self) -> str:
        return f"{self._path}/batches"

    def _status(self, provider_id: str, *, ended: bool) -> BatchStatus:
        return BatchStatus(ended, (f"{self._batches}/{provider_id}/results",), '{"unfinished": "missing"}')

    async def _is_ours(self, provider_id: str, token: str) -> bool:
        async with aclosing(self.results(self._status(provider_id, ended=True))) as rows:
            async for custom_id, _ in rows:
                return custom_id.endswith(token)
        return False

    @staticmethod
    def _outcome(row: Mapping[str, Any]) -> str:
        result = row.get("result")
        kind = result.get("type") if isinstance(result, dict) else "missing"
        if kind == "succeeded":
            return json.dumps({"reply": row["result"]["message"]})
        if kind == "errored":
            body = row["result"].get("error")
            inner = body.get("error", body) if isinstance(body, dict) else {}
            return json.dumps({"status": _STATUS.get(str(inner.get("type")), 400), "body": body})
        return json.dumps({"unfinished": "cancelled" if kind == "canceled" else kind})


ProviderBatches = OpenAiBatches | AnthropicBatches


def open_api(endpoint: Endpoint) -> ProviderBatches:
    """Return the batch API that belongs to an endpoint, with connections open."""
    endpoint.transport.connect()
    kind = AnthropicBatches if endpoint.options.api == "messages" else OpenAiBatches
    return kind(endpoint.transport, endpoint.path)


def _refused(answer: Mapping[str, Any]) -> BatchStatus:
    """Read why a batch was refused as a whole: for the account, for the model, for a line."""
    told = answer.get("errors")
    rows = told.get("data") if isinstance(told, dict) else None
    first = next((row for row in rows or () if isinstance(row, dict)), {"message": "no reason given"})
    code = str(first.get("code"))
    if code == "token_limit_exceeded":
        return BatchStatus(True, (), '{"unfinished": "queue_full"}')
    status = 402 if "billing" in code or "quota" in code else 404 if code == "model_not_found" else 400
    return BatchStatus(True, (), json.dumps({"status": status, "body": {"error": first}}))


def _row(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict) or not isinstance(row.get("custom_id"), str):
        raise JudgeError("bad_response", "a line of the batch's results has an unexpected format")
    return row


def _id(answer: Mapping[str, Any]) -> str:
    name = answer.get("id")
    if not isinstance(name, str) or not name or not all(c.isascii() and (c.isalnum() or c in "_-.") for c in name):
        raise JudgeError("bad_response", "the answer of the batch API has no id")
    return name

"""A client of the service: the methods of an `Evaluator`, carried out elsewhere."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import tempfile
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import IO, Annotated, Any, Literal, TypedDict, TypeVar, Unpack
from urllib.parse import urlsplit
from weakref import finalize

from everyclaim.api.answers import Answers
from everyclaim.api.door import public
from everyclaim.api.guarding import Share
from everyclaim.api.running import Source
from everyclaim.api.scoring import Passages, read_sample, sample_of
from everyclaim.core.errors import ConfigError, InputError, UserError
from everyclaim.core.kinds import Range
from everyclaim.core.types import Decomposition, JudgedClaim, Result, Sample
from everyclaim.core.validation import UNDER_TEST, Text
from everyclaim.core.wire import claim_from_json, decomposition_from_json, result_from_json, sample_to_json
from everyclaim.engine import BackgroundLoop, in_thread
from everyclaim.guard.answers import GuardedAnswer
from everyclaim.guard.rules import Action
from everyclaim.io import ReadReport, read_samples
from everyclaim.models import Patience
from everyclaim.models.chat.keys import Secret
from everyclaim.web.guard_json import guarded_from_json
from everyclaim.web.http_client import HttpClient
from everyclaim.web.remotejob import RemoteJob

T = TypeVar("T")

VARIABLE = "EVERYCLAIM_TOKEN"
_USUAL = "http://127.0.0.1:8700"
_IN_MEMORY = 8_000_000  # bytes of rows, before they go through a file
Answer = Annotated[str | Mapping[str, Any] | Sample, "a text, or a row", UNDER_TEST]
Positive = Annotated[float, Range(above=0, most=86_400)]


class JobOptions(TypedDict, total=False):
    """What can be chosen about a data set that is sent; the names are those of `score_file`."""

    mapping: Mapping[str, str] | None
    slices: Sequence[str]
    format: str | None
    name: str
    release: str


class GuardRules(TypedDict, total=False):
    """The rules of a `Guard` that need no generator."""

    threshold: Share
    repair: Literal["drop", "none"]
    contradicted: Action
    unsupported: Action
    keep: Share
    refusal: str


class Client(Answers):
    """Scores at a service that `everyclaim serve` runs, by the methods of an `Evaluator`.

        with ec.Client("https://faithfulness.internal", token=…) as client:
            result = client.score(row)
            job = client.score_file("answers.jsonl", slices=["source"])
        job.summary

    `token` is by default that of the variable `EVERYCLAIM_TOKEN`. What fails for a while (too much to do, a connection,
    a restart) is sent again, for `patience` seconds at most and as the service asks for; sending again never scores a
    job twice. `timeout`, in seconds, is for one answer. May be shared among threads, tasks and event loops.

    Raises what an `Evaluator` raises; `OperatorError` where the service cannot be reached or has no room,
    `ConfigError` for a token that is not good, `MissingExtraError` without the extra `client`.
    """

    @public
    def __init__(
        self, address: str = _USUAL, *, token: str | None = None, timeout: Positive = 60.0, patience: Positive = 120.0
    ) -> None:
        known = token if token is not None else os.environ.get(VARIABLE, "")
        if known != known.strip() or not known.isascii() or not known.isprintable():
            raise ConfigError("the token holds a character that no token has; was it copied whole?")
        self._http = HttpClient(_checked(address), Secret(known), timeout, Patience(10, patience))
        self._loop = BackgroundLoop("everyclaim-client")
        self._close = finalize(self, self._loop.close)

    @public
    async def aguard(
        self, response: Answer, passages: Passages = (), *, question: Text = "", **rules: Unpack[GuardRules]
    ) -> GuardedAnswer:
        """Return what may be shown of an answer; see `guard`."""
        return await self._join(self._guard(response, passages, question, rules))

    @public
    def guard(
        self, response: Answer, passages: Passages = (), *, question: Text = "", **rules: Unpack[GuardRules]
    ) -> GuardedAnswer:
        """Return what may be shown of an answer; see `everyclaim.Guard`.

        Instead of `response`, `passages` and `question` a row may be given, as to `score`. Verdicts depend on the
        question: give it, if there is one.
        """
        return self._run(self._guard(response, passages, question, rules))

    @public
    async def asubmit(self, source: Source, **options: Unpack[JobOptions]) -> RemoteJob:
        """Send a data set and return the job, which goes on by itself; see `score_file`."""
        return await self._join(self._submit(source, options))

    @public
    def submit(self, source: Source, **options: Unpack[JobOptions]) -> RemoteJob:
        """Send a data set and return the job, which goes on by itself; see `score_file`."""
        return self._run(self._submit(source, options))

    @public
    async def ascore_file(self, source: Source, **options: Unpack[JobOptions]) -> RemoteJob:
        """Send a data set and wait until it is scored; see `score_file`."""
        job = await self._join(self._submit(source, options))
        await job.ajoin()
        return job

    @public
    def score_file(self, source: Source, **options: Unpack[JobOptions]) -> RemoteJob:
        """Send a data set, wait until it is scored, and return the job with its results.

        `source` and the options are those of `everyclaim.score_file`; rows are read here, and what cannot be read is in
        `RemoteJob.read`. Raises `OperatorError` for a job that failed or was cancelled.
        """
        job = self._run(self._submit(source, options))
        job.join()
        return job

    @public
    def job(self, id: str) -> RemoteJob:  # noqa: A002 - the word users look for
        """Return a job that was sent before, by its id; whether it is there, its `status` says."""
        return RemoteJob(id, _http=self._http, _loop=self._loop)

    async def _scored(self, row: Any, response: str | None, passages: Passages, **fields: str | None) -> Result:
        sample, warnings = sample_of(row, response, passages, **fields)
        result = await self._http.call("POST", "/v1/score", sample_to_json(sample), read=result_from_json)
        return replace(result, warnings=(*warnings, *result.warnings))

    async def _verified(self, claims: Any, passages: Passages, question: str) -> tuple[JudgedClaim, ...]:
        texts = [claims] if isinstance(claims, str) else list(claims)
        body = {"claims": texts, "contexts": _contexts(passages), "question": question}
        return await self._http.call("POST", "/v1/verify", body, read=_claims)

    async def _split(self, response: str, question: str) -> Decomposition:
        body = {"response": response, "question": question}
        return await self._http.call("POST", "/v1/claims", body, read=decomposition_from_json)

    async def _guard(self, answer: Any, passages: Passages, question: str, rules: Mapping[str, Any]) -> GuardedAnswer:
        row, response = (None, answer) if isinstance(answer, str) else (answer, None)
        sample, _ = sample_of(row, response, passages, question=question)
        contexts = sample_to_json(sample)["contexts"]
        body = {"response": sample.response, "contexts": contexts, "question": sample.question, "rules": dict(rules)}
        return await self._http.call("POST", "/v1/guard", body, read=guarded_from_json)

    async def _submit(self, source: Any, options: JobOptions) -> RemoteJob:
        slices = options.get("slices", ())
        report = ReadReport()
        samples = read_samples(
            source,
            mapping=options.get("mapping"),
            format=options.get("format"),
            slices=[name for name in slices if name not in {"model", "release"}],
            report=report,
        )
        query = [(name, str(options[name])) for name in ("name", "release") if options.get(name)]
        query += [("slice", name) for name in slices]
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as data:
            rows: IO[bytes] = data
            async for sample in in_thread(samples):
                rows.write(json.dumps(sample_to_json(sample)).encode() + b"\n")
            if not report.good:
                raise InputError(f"there is no sample to send{f'; {report.bad_rows[0]}' if report.bad_rows else ''}")
            key = {"Idempotency-Key": secrets.token_hex(16)}
            job = await self._http.call("POST", "/v1/jobs", data=rows, headers=key, query=query, read=_id)
        return RemoteJob(job, tuple(slices), report, _http=self._http, _loop=self._loop)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        self._check_open(work)
        return self._loop.run(work)

    async def _join(self, work: Coroutine[Any, Any, T]) -> T:
        self._check_open(work)
        return await self._loop.join(work)

    def _check_open(self, work: Coroutine[Any, Any, object]) -> None:
        if not self._close.alive:
            work.close()
            raise UserError("this Client is closed: make another one")

    def close(self) -> None:
        """Close the connections; jobs that were sent go on. Twice is as good as once."""
        self._close()

    async def aclose(self) -> None:
        """Close, without holding up the event loop."""
        await asyncio.to_thread(self._close)

    def __repr__(self) -> str:
        return f"Client({self._http.address!r})"


def _checked(address: str) -> str:
    """Return an address without its last slash. Raises `ConfigError` for what is none, or holds a password."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if parts.username or parts.password:
        raise ConfigError("the address of a service holds no user or password: give the token as token=…")
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ConfigError(f"the address of a service is such as {_USUAL}, got {address!r}")
    return address.rstrip("/")


def _claims(row: Mapping[str, Any]) -> tuple[JudgedClaim, ...]:
    return tuple(claim_from_json(one) for one in row["claims"])


def _id(row: Mapping[str, Any]) -> str:
    return str(row["id"])


def _contexts(passages: Passages) -> list[dict[str, str]]:
    found: list[dict[str, str]] = sample_to_json(read_sample("", passages, ""))["contexts"]
    return found

"""A client of the service: the methods of an `Evaluator`, carried out elsewhere.

What can help is sent again, and what is wrong is told as the library's own errors.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from io import BytesIO
from operator import itemgetter
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar, Unpack
from urllib.parse import quote
from weakref import finalize

from everyclaim.analysis.summary import Summary, summarise
from everyclaim.api.datasets import JobOptions
from everyclaim.api.evaluator import ShowingRules
from everyclaim.api.options import chosen_of, public
from everyclaim.api.runs import Source
from everyclaim.api.scoring import AnswerFields, Answers, Passages, read_sample, sample_of
from everyclaim.core.errors import (
    BudgetExceeded,
    ConfigError,
    EveryclaimError,
    InputError,
    JudgeError,
    OperatorError,
    UserError,
    needed_for,
)
from everyclaim.core.kinds import Range
from everyclaim.core.lifetime import on_close
from everyclaim.core.options import UNDER_TEST, Text
from everyclaim.core.plaintext import file_name
from everyclaim.core.types import Decomposition, JudgedClaim, Outcome, Result, Sample
from everyclaim.core.wire import from_json, result_from_json, sample_to_json, to_json
from everyclaim.engine import BackgroundLoop, in_thread
from everyclaim.guard.answers import GuardedAnswer
from everyclaim.io import ReadReport, read_samples
from everyclaim.io.messages import ConversationOptions
from everyclaim.models.chat.links import Patience, persist
from everyclaim.models.chat.options import checked_address
from everyclaim.models.chat.providers import Secret, checked_secret
from everyclaim.models.chat.transport import retry_after

if TYPE_CHECKING:
    import aiohttp

T = TypeVar("T")

VARIABLE = "EVERYCLAIM_TOKEN"
_USUAL = "http://127.0.0.1:8700"
_IN_MEMORY = 8_000_000  # bytes of rows, before they go through a file
JobState = Literal["queued", "running", "cancelling", "finished", "failed", "cancelled"]
_FIRST, _LONGEST = 0.1, 5.0  # seconds between looks at how far it is
_PAGE = 100
Answer = Annotated[str | Mapping[str, Any] | Sample, "a text, or a row", UNDER_TEST]
Positive = Annotated[float, Range(above=0, most=86_400)]


class GuardRules(ShowingRules, total=False):
    """The rules of a `Guard` that need no generator."""

    repair: Literal["drop", "none"]


@dataclass(frozen=True, slots=True)
class JobStatus:
    """Progress of a job. `done` counts stored results, `total` the rows if known."""

    id: str
    name: str
    state: JobState
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
    """A job on a service. It runs independently of this client, and its results stay in the service's store.

    `read` reports how the rows were read when they were sent; None for a job found by its id.
    """

    id: str
    slices: tuple[str, ...] = ()
    read: ReadReport | None = None
    _http: HttpClient = field(kw_only=True, repr=False)
    _loop: BackgroundLoop = field(kw_only=True, repr=False)

    async def astatus(self) -> JobStatus:
        """Fetch the status."""
        return await self._loop.join(self._http.call("GET", self._path, read=JobStatus.of))

    def status(self) -> JobStatus:
        """Fetch the status."""
        return self._loop.run(self.astatus())

    def cancel(self) -> JobStatus:
        """Cancel the job; finished results stay."""
        return self._loop.run(self._http.call("POST", f"{self._path}/cancel", read=JobStatus.of))

    async def ajoin(self) -> JobStatus:
        """Wait until it ends; see `join`."""
        return await self._loop.join(self._end())

    def join(self) -> JobStatus:
        """Wait until the job ends. Raises `OperatorError` if it failed or was cancelled."""
        return self._loop.run(self.ajoin())

    def results(self) -> Iterator[Result]:
        """Yield the results in row order as they finish, until the job has ended; one page in memory."""
        after: int | None = -1
        while after is not None:
            page, after = self._loop.run(self._page(after))
            yield from page

    @cached_property
    def summary(self) -> Summary:
        """Rates, means and intervals, once the job has ended."""
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
    return [result_from_json(result) for result in row["results"]], row["next"]


class Client(Answers):
    """Scores on a service run by `everyclaim serve`, with the methods of an `Evaluator`.

        with ec.Client("https://faithfulness.internal", token=…) as client:
            result = client.score(row)
            job = client.score_file("answers.jsonl", slices=["source"])
        job.summary

    `token` defaults to the variable `EVERYCLAIM_TOKEN`. Temporary failures (overload, connection, restart) are retried
    for at most `patience` seconds, as the service asks; retries never score a job twice. `timeout`, in seconds, is for
    one answer. Safe to share among threads, tasks and event loops.

    Raises what an `Evaluator` raises; `OperatorError` if the service cannot be reached or is overloaded, `ConfigError`
    for an invalid token, `MissingExtraError` without the extra `client`.
    """

    @public
    def __init__(
        self, address: str = _USUAL, *, token: str | None = None, timeout: Positive = 60.0, patience: Positive = 120.0
    ) -> None:
        known = checked_secret(token if token is not None else os.environ.get(VARIABLE, ""), "the token")
        if "@" in address:
            raise ConfigError("the service address must not contain a user or password: pass the token as token=…")
        place = checked_address(address, name="the service address")
        self._http = HttpClient(place, known, timeout, Patience(10, patience))
        self._loop = BackgroundLoop("everyclaim-client")
        self._close = finalize(self, self._loop.close)

    @public
    async def aguard(
        self, response: Answer, passages: Passages = (), *, question: Text = "", **rules: Unpack[GuardRules]
    ) -> GuardedAnswer:
        """Guard an answer; see `guard`."""
        return await self._join(self._guard(response, passages, question, rules))

    @public
    def guard(
        self, response: Answer, passages: Passages = (), *, question: Text = "", **rules: Unpack[GuardRules]
    ) -> GuardedAnswer:
        """Return the part of an answer that may be shown; see `everyclaim.Guard`.

        Instead of `response`, `passages` and `question` a row may be passed, as to `score`. Verdicts depend on the
        question: pass it if there is one.
        """
        return self._run(self._guard(response, passages, question, rules))

    @public
    def submit(self, source: Source, **options: Unpack[JobOptions]) -> RemoteJob:
        """Send a data set and return the running job; see `score_file`."""
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

        `source` and options are those of `everyclaim.score_file`. Rows are read locally; unreadable ones are in
        `RemoteJob.read`. Raises `OperatorError` for a job that failed or was cancelled.
        """
        job = self._run(self._submit(source, options))
        job.join()
        return job

    @public
    def job(self, id: str) -> RemoteJob:  # noqa: A002 - the word users look for
        """Return an earlier job by its id; `status` shows whether it exists."""
        return RemoteJob(id, _http=self._http, _loop=self._loop)

    async def _scored(self, row: Any, fields: AnswerFields) -> Result:
        sample, warnings = sample_of(row, fields)
        result = await self._http.call("POST", "/v1/score", sample_to_json(sample), read=result_from_json)
        return replace(result, warnings=(*warnings, *result.warnings))

    async def _verified(self, claims: Any, passages: Passages, question: str) -> tuple[JudgedClaim, ...]:
        texts = [claims] if isinstance(claims, str) else list(claims)
        contexts = sample_to_json(read_sample("", passages))["contexts"]
        body = {"claims": texts, "contexts": contexts, "question": question}
        return await self._http.call("POST", "/v1/verify", body, read=_claims)

    async def _split(self, response: str, question: str) -> Decomposition:
        body = {"response": response, "question": question}
        return await self._http.call("POST", "/v1/claims", body, read=partial(from_json, Decomposition))

    async def _guard(self, answer: Any, passages: Passages, question: str, rules: Mapping[str, Any]) -> GuardedAnswer:
        row, response = (None, answer) if isinstance(answer, str) else (answer, None)
        sample, _ = sample_of(row, {"response": response, "passages": passages, "question": question})
        contexts = sample_to_json(sample)["contexts"]
        body = {"response": sample.response, "contexts": contexts, "question": sample.question, "rules": dict(rules)}
        return await self._http.call("POST", "/v1/guard", body, read=_guarded_from_json)

    async def _submit(self, source: Any, options: JobOptions) -> RemoteJob:
        slices = options.get("slices", ())
        report = ReadReport()
        samples = read_samples(
            source,
            mapping=options.get("mapping"),
            format=options.get("format"),
            slices=[name for name in slices if name not in {"model", "release"}],
            report=report,
            **chosen_of(options, ConversationOptions),
        )
        named = {"name": file_name(os.fspath(source)) if isinstance(source, str | os.PathLike) else "", **options}
        query = [(name, str(named[name])) for name in ("name", "release") if named.get(name)]
        query += [("slice", name) for name in slices]
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as data:
            rows: IO[bytes] = data
            async for sample in in_thread(samples):
                rows.write(json.dumps(sample_to_json(sample)).encode() + b"\n")
            if not report.good:
                raise InputError(f"there is no sample to send{report.first_fault}")
            key = {"Idempotency-Key": secrets.token_hex(16)}
            job = await self._http.call("POST", "/v1/jobs", data=rows, headers=key, query=query, read=itemgetter("id"))
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
            raise UserError("this Client is closed: create a new one")

    def close(self) -> None:
        """Close the connections; running jobs continue. Safe to call twice."""
        self._close()

    def __repr__(self) -> str:
        return f"Client({self._http.address!r})"


def _claims(row: Mapping[str, Any]) -> tuple[JudgedClaim, ...]:
    return tuple(from_json(JudgedClaim, claim) for claim in row["claims"])


def guarded_to_json(answer: GuardedAnswer) -> dict[str, Any]:
    """Write a guarded answer with everything that was tried on the way; the best attempt by its number."""
    return to_json(answer) | {"best": answer.best.number}


def _guarded_from_json(row: Mapping[str, Any]) -> GuardedAnswer:
    best = next(one for one in row["attempts"] if one["number"] == row["best"])
    return from_json(GuardedAnswer, {**row, "best": best})


# ---- calls

PROBLEM = "application/problem+json"
_INPUT = frozenset({"bad-input", "malformed", "wrong-type", "too-large", "key-reused", "not-found", "not-yet"})
_LATER = frozenset({"too-often", "overloaded", "unavailable"})
_BY_OTHERS = frozenset({429, 502, 503, 504})  # of a proxy in between
_MOST_MB = 256  # of one answer


class _Refused(Exception):  # noqa: N818 - one answer that is none, on its way to be tried again or told
    def __init__(self, error: EveryclaimError, *, again: bool, retry_after: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.again = again
        self.retry_after = retry_after


@dataclass(slots=True)
class HttpClient:
    """One service, as one event loop reaches it. Its connections close with the scope in which it was first called."""

    address: str
    token: Secret
    seconds: float
    patience: Patience
    _session: aiohttp.ClientSession | None = field(default=None, repr=False)

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        data: IO[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        query: list[tuple[str, str]] | None = None,
        read: Callable[[Mapping[str, Any]], T],
    ) -> T:
        """Return what is answered, as `read` takes it. A `body` is sent as JSON, `data` as lines of it.

        Raises the library's errors.
        """
        with needed_for("the client", "client"):
            import aiohttp
            import stamina  # noqa: F401 - both or none
        kind = {"Content-Type": "application/json" if data is None else "application/x-ndjson"}
        token = {"Authorization": f"Bearer {self.token.reveal()}"} if self.token else {}
        request = {
            "headers": {**(headers or {}), **(kind if (body, data) != (None, None) else {}), **token},
            "params": query or [],
            "timeout": aiohttp.ClientTimeout(total=self.seconds if data is None else None, sock_read=self.seconds),
            "allow_redirects": False,
        }

        async def send() -> tuple[int, Any]:
            sent = _pieces(data) if data is not None else body and BytesIO(json.dumps(body).encode())
            return await self._once(method, path, data=sent, **request)

        status = 0
        try:
            status, answer = await persist(
                send, self.patience, lambda error: isinstance(error, _Refused) and error.again
            )
            return read(answer)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise self._stranger(status) from None
        except _Refused as refused:
            raise refused.error from None

    async def _once(self, method: str, path: str, **request: Any) -> tuple[int, Any]:
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(auto_decompress=True, trust_env=True)
            on_close(self._session.close)
        try:
            async with self._session.request(method, self.address + path, **request) as answer:
                whole = await answer.content.read(_MOST_MB * 1_000_000 + 1)
                while len(whole) <= _MOST_MB * 1_000_000 and (more := await answer.content.read(1 << 20)):
                    whole += more
                return answer.status, self._read(answer.status, answer.headers, whole)
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            known = "time limit exceeded" if isinstance(error, TimeoutError) else getattr(error, "strerror", None)
            reason = known or type(error).__name__
            raise _Refused(OperatorError(f"no answer from {self.address}: {reason}"), again=True) from None

    def _read(self, status: int, headers: Mapping[str, str], body: bytes) -> Any:
        if len(body) > _MOST_MB * 1_000_000:
            raise _Refused(OperatorError(f"{self.address} answered with more than {_MOST_MB} MB"), again=False)
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            value = None
        wait = retry_after(headers)
        if headers.get("Content-Type", "").partition(";")[0] == PROBLEM and isinstance(value, dict):
            code, detail = str(value.get("code", "")), str(value.get("detail", ""))
            raise _Refused(self._error(code, detail, wait), again=code in _LATER, retry_after=wait)
        if status // 100 != 2 or not isinstance(value, dict):
            raise _Refused(self._stranger(status), again=status in _BY_OTHERS, retry_after=wait)
        return value

    def _stranger(self, status: int) -> OperatorError:
        return OperatorError(
            f"{self.address} answered {status}, but is not an everyclaim service: is the address right?"
        )

    def _error(self, code: str, detail: str, wait: float | None) -> EveryclaimError:
        if code in _INPUT:
            return InputError(detail)
        if code in {"no-token", "not-allowed", "wrong-host"}:
            return ConfigError(f"{self.address}: {detail}")
        if code == "budget-spent":
            return BudgetExceeded(detail)
        if code == "judge-failed":
            return JudgeError.from_reason(detail, retry_after=wait)
        return OperatorError(f"{self.address}: {detail}")


async def _pieces(data: IO[bytes]) -> AsyncIterator[bytes]:
    data.seek(0)  # it may be sent again
    while piece := await asyncio.to_thread(data.read, 1 << 18):
        yield piece

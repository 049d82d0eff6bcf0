"""Ask through a provider's batch API: half the price, an answer within a day, nothing paid twice after a kill.

A run with a language model as judge is a conversation of dependent calls: the verdicts need the claims first.
`Batched` has the same shape as any chat model, so nothing else needs to know: a call waits, the requests of all waiting
calls go to the provider as one batch, and each call returns when its result is there. A batch is cut when no further
call came for `linger` seconds, which is when every sample in flight waits.

One batch takes minutes to hours whatever its size, so the number of samples in flight decides how long a run takes:
with 5,000 (`BATCH_CONCURRENCY`), 20,000 answers at two calls each are eight rounds, with 64 they are 626. Memory grows
with the samples in flight and not with the run.

    post ──► queue ──► noted ──► created at the provider ──► accepted ──► polled ──► outcomes kept ──► post returns
                         └──────────────── BatchState, on the disk ──────────────────────┘

`post` goes round until the state has its outcome. Everything else serves all calls together: the queue, one task that
makes batches of it, and one task per batch under way.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import secrets
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import aclosing
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

from everyclaim.core.errors import ConfigError, EveryclaimError, JudgeError, StoreError
from everyclaim.core.lifetime import LoopLocal, on_close
from everyclaim.core.protocols import ChatReply
from everyclaim.core.types import Usage
from everyclaim.models.batch_apis import LINE_OVERHEAD, BatchStatus, ProviderBatches, Requests, open_api
from everyclaim.models.chat.endpoint import Endpoint
from everyclaim.models.chat.links import Call, Patience, persist
from everyclaim.models.chat.options import EndpointOptions
from everyclaim.models.chat.providers import find_provider, without, without_key
from everyclaim.models.chat.transport import encode, from_status
from everyclaim.models.files import BatchState, ProviderBatch

BATCH_CONCURRENCY = 5_000  # samples in flight that a batched run should have
BATCH_SHARE = 0.5  # of the usual price, at both providers
BATCH_PATIENCE = 30 * 86_400.0  # seconds that retries of a call may take: every attempt is a batch of its own


class Batched:
    """An endpoint asked through its provider's batch API."""

    def __init__(self, endpoint: Endpoint, settings: BatchSettings) -> None:
        provider = endpoint.options.provider
        if not find_provider(provider).batches:
            raise ConfigError(f"{provider} has no batch API; score without provider batches")
        self._endpoint = endpoint
        self._state = settings.state
        self._settings = settings
        self._schedulers = LoopLocal(self._scheduler)

    async def ask(self, call: Call) -> ChatReply:
        """Wait for a batch that brings the answer. Raises `JudgeError` for this call alone.

        Codes of its own: `batch_not_submitted`, `batch_unfinished`. An answer that came while nobody waited
        (after a kill) is returned at once.
        """
        # 160 bits of the key: with the batch's token behind them they fit into a custom id.
        key = call.key.hex()[:40]
        if key in self._state.delivered:  # asked again on purpose: nothing in between kept the reply
            self._state.forget(key)
        try:
            reply = await self._endpoint.ask_by(partial(self._schedulers.get().post, key), call)
        except EveryclaimError as error:
            if not isinstance(error, StoreError):
                self._state.forget(key)
            raise
        if reply.finish == "stop":
            self._state.delivered.add(key)
        else:
            self._state.forget(key)
        return reply

    async def aclose(self) -> None:
        """Stop waiting. Batches under way stay with the provider and are found again by the same calls."""
        await self._leave()
        self._state.close()

    def _scheduler(self) -> BatchScheduler:
        scheduler = BatchScheduler(open_api(self._endpoint), self._endpoint.options, self._settings)
        on_close(self._leave)
        return scheduler

    async def _leave(self) -> None:
        if scheduler := self._schedulers.pop():
            await scheduler.aclose()


_log = logging.getLogger(__name__)
CHUNK = 500  # outcomes kept in one transaction
LONGEST_WAIT = 120.0  # seconds of the first call of a batch, for others to join
MOST_BYTES = 64_000_000  # of a batch
FIRST_POLL, LONGEST_POLL = 15.0, 300.0  # seconds between looks at a batch; they double
RESUBMIT = 2  # times that a request which the provider did not get to (expired, cancelled) is sent again
QUEUE_PATIENCE = 24  # refusals in a row because the provider's queue is full, each with half the requests
SETTLE_SECONDS = 10.0  # before a batch that is not in the provider's list counts as never created
_LOOKING = Patience(21, math.inf, 1.0, LONGEST_POLL)  # a provider may be away for an hour while a batch is under way
_MAYBE_TAKEN = frozenset({"connection", "timeout", "bad_response", "empty_reply", "server_error", "overloaded"})


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """How calls become batches: after `linger` seconds without another call, of `max_requests` at most."""

    state: BatchState
    linger: float = 2.0
    max_requests: int | None = None  # None: as many as the provider takes
    attempts: int = 8  # to create a batch


class _Waiting(NamedTuple):
    """A request that is not in a batch yet. `submitted` is set when it is, or when another process's row has it."""

    key: str
    body: bytes
    submitted: asyncio.Future[None]


class BatchScheduler:
    """What belongs to one event loop: the queue of requests, and one task for each batch under way."""

    def __init__(self, api: ProviderBatches, options: EndpointOptions, settings: BatchSettings) -> None:
        self._api = api
        self._options = options
        self._settings = settings
        self._state = settings.state
        self._account = f"{options.provider} {options.where}"
        self._most = min(settings.max_requests or api.max_requests, api.max_requests)  # learned where a queue is full
        self._most_bytes = min(MOST_BYTES, api.max_bytes)
        self._queue: list[_Waiting] = []
        self._gathering: asyncio.Task[None] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._following: dict[int, asyncio.Task[None]] = {}
        self._narrow = False  # whether the provider's queue was ever too full: then one batch at a time
        self._full_queues = 0  # how often in a row it was

    async def post(self, key: str, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the response to a request, whatever stage it is in. Where it stands is always read from the state."""
        del path  # one for all
        unfinished = 0
        while True:
            number, told = self._state.find(key) or (None, None)
            if number is None:
                await self._submitted(key, encode(body))
            elif told is None:
                await self._ended(number)
            else:
                outcome = json.loads(told)
                where, reply = self._options.where, outcome.get("reply")
                if isinstance(reply, dict):
                    return reply
                self._state.forget(key)  # the same call may come again, put differently
                if "status" in outcome:
                    status = outcome["status"] if isinstance(outcome["status"], int) else 500
                    raise from_status(status, {}, json.dumps(outcome["body"]).encode(), where, self._api.secrets)
                unfinished += outcome["unfinished"] != "queue_full" or self._full_queues > QUEUE_PATIENCE
                if unfinished > RESUBMIT:
                    told = f"did not process the request in {unfinished} batches, last: {outcome['unfinished']}"
                    raise JudgeError("batch_unfinished", f"{where} {told}")

    async def aclose(self) -> None:
        """Drop what waits and stop looking; batches under way stay in the state."""
        for waiting in self._queue:
            waiting.submitted.cancel()
        self._queue = []
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # From a call to a batch

    async def _submitted(self, key: str, body: bytes) -> None:
        size = len(body) + LINE_OVERHEAD
        if size > self._most_bytes:
            raise JudgeError(
                "too_long", f"a request of {size} bytes exceeds the {self._most_bytes} bytes of a batch", usage=Usage()
            )
        waiting = _Waiting(key, body, asyncio.get_running_loop().create_future())
        self._queue.append(waiting)
        if self._gathering is None:
            self._gathering = self._start(self._gather())
        await waiting.submitted

    async def _gather(self) -> None:
        """Hand what waits to the provider when no call came for a while, or the first one has waited long enough."""
        loop = asyncio.get_running_loop()
        latest = loop.time() + LONGEST_WAIT
        size = 0
        while size < len(self._queue) and loop.time() < latest:
            size = len(self._queue)
            await asyncio.sleep(self._settings.linger)
        left, self._queue, self._gathering = self._queue, [], None
        some: list[_Waiting] = []
        try:
            while left:
                async with self._one_at_a_time:
                    await self._room()
                    some, left = self._divided(left)
                    if some:
                        await self._create(some)
                _settle(some)
        except BaseException as error:
            _settle(some + left, error)
            if not isinstance(error, EveryclaimError):
                raise

    def _divided(self, entries: Sequence[_Waiting]) -> tuple[list[_Waiting], list[_Waiting]]:
        """Return what goes into one batch, and what is left; without calls that were cancelled meanwhile."""
        waiting = [entry for entry in entries if not entry.submitted.done()]
        sizes = accumulate(len(entry.body) + LINE_OVERHEAD for entry in waiting)
        count = min(self._most, sum(size <= self._most_bytes for size in sizes))
        return waiting[:count], waiting[count:]

    async def _room(self) -> None:
        """Wait for the batches under way where the provider's queue was full; for a while where that is not enough."""
        if self._narrow and self._following:
            await asyncio.wait(self._following.values())
        if self._full_queues and self._most == 1:
            await _pause(LONGEST_POLL)

    async def _create(self, entries: Sequence[_Waiting]) -> None:
        """Create one batch: noted before, accepted after. Requests that are in another batch already stay there."""
        token = secrets.token_hex(8)
        number, keys = self._state.begin(self._account, token, [entry.key for entry in entries])
        self._state.submitting.add(number)
        try:
            if not keys:
                self._state.drop(number)
                return
            bodies = {entry.key: entry.body for entry in entries}
            batch = self._state.batch(number)
            assert batch is not None
            provider_id = await self._create_once(batch, [(f"{key}-{token}", bodies[key]) for key in keys])
            self._state.accept(number, provider_id)
            _log.info("batch %s with %d requests is running at %s", provider_id, len(keys), self._options.where)
            self._follower(number)
        finally:
            self._state.submitting.discard(number)

    async def _create_once(self, batch: ProviderBatch, requests: Requests) -> str:
        """Create a batch in spite of faults. What the provider may have taken is looked for before it is sent again.

        Raises when it cannot be done; the batch is dropped then, unless it may exist after all.
        """
        prepared: bytes | None = None
        maybe_taken = False

        async def create() -> str:
            nonlocal prepared, maybe_taken
            if maybe_taken and (found := await self._search(batch)):
                return found
            maybe_taken = False
            prepared = prepared or await self._api.prepare(requests)
            try:
                return await self._api.create(prepared, batch.token)
            except JudgeError as error:
                maybe_taken = error.code in _MAYBE_TAKEN
                raise

        try:
            return await persist(create, Patience(self._settings.attempts, math.inf, 2.0, 60.0))
        except EveryclaimError as last:
            if not maybe_taken:
                self._state.drop(batch.id)
            if not isinstance(last, JudgeError):
                raise
            raise JudgeError(
                "batch_not_submitted", f"a batch of {batch.size} requests was rejected: {last}", usage=Usage()
            ) from None

    # From a batch to its outcomes

    async def _ended(self, number: int) -> None:
        """Wait until all outcomes of a batch are in the state, or until it is known that there is no such batch."""
        try:
            await asyncio.shield(self._follower(number))
        except EveryclaimError as error:
            raise copy(error) from None  # each call adds its own usage to its own

    def _follower(self, number: int) -> asyncio.Task[None]:
        task = self._following.get(number)
        if task is None:
            task = self._following[number] = self._start(self._follow(number))
            task.add_done_callback(lambda _: self._following.pop(number, None))
        return task

    async def _follow(self, number: int) -> None:
        # By another model or in another thread, which no event of this loop can wait for.
        while number in self._state.submitting:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        while (batch := self._state.batch(number)) and not batch.ended:
            if batch.provider_id is not None:
                await self._collect(batch, batch.provider_id)
            elif found := await persist(partial(self._search, batch), _LOOKING):
                _log.info("batch %s was accepted after all", found)
                self._state.accept(number, found)
            else:
                self._state.drop(number)

    async def _search(self, batch: ProviderBatch) -> str | None:
        """Look for a batch that may have been created, twice: a provider's list may lag behind."""
        found = await self._api.find(batch, self._state.known(self._account), self._wait_for_end)
        if found is None:
            await _pause(SETTLE_SECONDS)
            found = await self._api.find(batch, self._state.known(self._account), self._wait_for_end)
        return found

    async def _collect(self, batch: ProviderBatch, provider_id: str) -> None:
        """Wait for a batch's end and keep its outcomes."""
        status = await self._wait_for_end(provider_id)
        await persist(partial(self._keep, batch, status), _LOOKING)
        if "queue_full" in status.otherwise:
            self._narrow = True
            self._full_queues += 1
            self._most = max(1, min(self._most, batch.size) // 2)
        else:
            self._full_queues = 0
        self._state.finish(batch.id, self._hidden(status.otherwise))
        _log.info("batch %s ended", provider_id)

    async def _wait_for_end(self, provider_id: str) -> BatchStatus:
        wait = FIRST_POLL
        while True:
            try:
                status = await persist(partial(self._api.look, provider_id), _LOOKING)
            except ConfigError as error:
                raise ConfigError(
                    f"cannot read batch {provider_id}: {error}. Use the key it was made with, or move "
                    f"{self._state.path} away to send its requests again"
                ) from None
            if status.ended:
                return status
            await _pause(wait)
            wait = min(2 * wait, LONGEST_POLL)

    async def _keep(self, batch: ProviderBatch, status: BatchStatus) -> None:
        rows: list[tuple[str, str]] = []
        async with aclosing(self._api.results(status)) as results:
            async for custom_id, outcome in results:
                rows.append((custom_id.partition("-")[0], self._hidden(outcome)))
                if len(rows) >= CHUNK:
                    self._state.record(batch.id, rows)
                    rows = []
        self._state.record(batch.id, rows)

    def _hidden(self, outcome: str) -> str:
        """Return an outcome as it may be kept: an error without any secret it repeats, a reply without the key."""
        secrets = self._api.secrets
        return without_key(outcome, secrets[0]) if outcome.startswith('{"reply"') else without(outcome, secrets)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # looked at; who waits for it gets it
        return task


def _settle(entries: Sequence[_Waiting], error: BaseException | None = None) -> None:
    for entry in entries:
        if entry.submitted.done():
            continue
        if error is None:
            entry.submitted.set_result(None)
        elif isinstance(error, Exception):
            entry.submitted.set_exception(copy(error))
        else:
            entry.submitted.cancel()


async def _pause(seconds: float) -> None:
    import stamina

    await asyncio.sleep(0.001 if stamina.is_testing() else seconds)

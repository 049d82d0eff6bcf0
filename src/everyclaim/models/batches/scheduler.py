"""Requests into batches and outcomes back to calls: the moving parts behind `batch.Batched`.

`post` is what one call sees; it goes round until the state has its outcome. Everything else serves all
calls together: the queue that is cut into batches, one task that creates them in turn, and one task per
batch under way.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from copy import copy
from functools import partial
from typing import Any, NamedTuple, TypeVar

from everyclaim.core.errors import ConfigError, EveryclaimError, JudgeError
from everyclaim.core.types import Usage
from everyclaim.models.batches.providers import LINE_OVERHEAD, BatchApi, Line
from everyclaim.models.batches.settings import BatchSettings
from everyclaim.models.batches.state import Batch
from everyclaim.models.chat.error_mapping import RETRYABLE, from_status
from everyclaim.models.chat.keys import without, without_key
from everyclaim.models.chat.options import EndpointOptions
from everyclaim.models.chat.transport import encode

_log = logging.getLogger(__name__)
T = TypeVar("T")
CHUNK = 500  # outcomes kept in one transaction
QUEUE_PATIENCE = 24  # refusals in a row because the provider's queue is full, each with half the requests
SETTLE_SECONDS = 10.0  # before a batch that is not in the provider's list counts as never created
_MAYBE_TAKEN = frozenset({"connection", "timeout", "bad_response", "empty_reply", "server_error", "overloaded"})


class _Waiting(NamedTuple):
    """A request that is not in a batch yet. `submitted` is set when it is, or when another process's row has it."""

    key: str
    body: bytes
    submitted: asyncio.Future[None]


class BatchScheduler:
    """What belongs to one event loop: the queue of requests, and one task for each batch under way."""

    def __init__(self, api: BatchApi, options: EndpointOptions, settings: BatchSettings) -> None:
        self._api = api
        self._options = options
        self._settings = settings
        self._state = settings.state
        self._account = f"{options.provider} {options.where}"
        self._most = min(settings.max_requests or api.max_requests, api.max_requests)  # learned where a queue is full
        self._most_bytes = min(settings.max_bytes, api.max_bytes)
        self._queue: list[_Waiting] = []
        self._bytes = 0
        self._first = self._last = 0.0  # when the queue's first and last request came
        self._timer: asyncio.TimerHandle | None = None
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
            place = self._state.find(key)
            if place is None:
                await self._submitted(key, encode(body))
            elif place.outcome is None:
                await self._ended(place.batch)
            else:
                outcome = json.loads(place.outcome)
                if "reply" not in outcome:  # the same call may come again, put differently
                    self._state.forget(key)
                if "unfinished" not in outcome:
                    return self._read(outcome)
                unfinished += outcome["unfinished"] != "queue_full" or self._full_queues > QUEUE_PATIENCE
                if unfinished > self._settings.resubmit:
                    raise JudgeError(
                        "batch_unfinished",
                        f"{self._options.where} did not get to the request in {unfinished} batches, "
                        f"the last one: {outcome['unfinished']}",
                    )

    def _read(self, outcome: Mapping[str, Any]) -> dict[str, Any]:
        where, hidden = self._options.where, self._api.secrets
        if "reply" not in outcome:
            status = outcome["status"] if isinstance(outcome["status"], int) else 500
            raise from_status(status, {}, json.dumps(outcome["body"]).encode(), where, hidden)
        if not isinstance(outcome["reply"], dict):
            raise JudgeError("bad_response", f"{where} answered with {type(outcome['reply']).__name__}, not an object")
        return outcome["reply"]

    # From a call to a batch

    async def _submitted(self, key: str, body: bytes) -> None:
        """Wait until a request is in a batch that the provider has."""
        size = len(body) + LINE_OVERHEAD
        if size > self._most_bytes:
            raise JudgeError(
                "too_long", f"a request of {size} bytes is over the {self._most_bytes} of a batch", usage=Usage()
            )
        if self._queue and self._bytes + size > self._most_bytes:
            self._cut()
        loop = asyncio.get_running_loop()
        waiting = _Waiting(key, body, loop.create_future())
        self._last = loop.time()
        if not self._queue:
            self._first = self._last
        self._queue.append(waiting)
        self._bytes += size
        if len(self._queue) >= self._most:
            self._cut()
        elif self._timer is None:
            self._timer = loop.call_later(self._settings.linger, self._check)
        await waiting.submitted

    def _check(self) -> None:
        """Cut the queue off when nobody came for a while, else look again then."""
        self._timer = None
        if not self._queue:
            return
        loop = asyncio.get_running_loop()
        due = min(self._last + self._settings.linger, self._first + self._settings.longest_wait)
        if loop.time() >= due - 0.001:
            self._cut()
        else:
            self._timer = loop.call_at(due, self._check)

    def _cut(self) -> None:
        """Make a batch of the queue."""
        entries, self._queue, self._bytes = self._queue, [], 0
        self._start(self._submit(entries))

    async def _submit(self, entries: list[_Waiting]) -> None:
        """Hand requests to the provider, in as many batches as it takes, and tell the calls."""
        some: list[_Waiting] = []
        try:
            while entries:
                async with self._one_at_a_time:
                    await self._room()
                    some, entries = entries[: self._most], entries[self._most :]
                    some = [entry for entry in some if not entry.submitted.done()]  # cancelled meanwhile
                    if some:
                        await self._create(some)
                _settle(some)
        except BaseException as error:
            _settle(some + entries, error)
            if not isinstance(error, EveryclaimError):
                raise

    async def _room(self) -> None:
        """Wait for the batches under way where the provider's queue was full; for a while where that is not enough."""
        if self._narrow and self._following:
            await asyncio.wait(self._following.values())
        if self._full_queues and self._most == 1:
            await self._pause(self._settings.longest_poll)

    async def _create(self, entries: Sequence[_Waiting]) -> None:
        """Create one batch: noted before, accepted after. Requests that are in another batch already stay there."""
        token = secrets.token_hex(8)
        number, keys = self._state.begin(self._account, token, [entry.key for entry in entries])
        self._state.submitting.add(number)
        try:
            if not keys:
                self._state.drop(number)
                return
            chosen = set(keys)
            bodies = {entry.key: entry.body for entry in entries if entry.key in chosen}
            batch = self._state.batch(number)
            assert batch is not None
            provider_id, certain = await self._insist(batch, [Line(f"{key}-{token}", bodies[key]) for key in keys])
            self._state.accept(number, provider_id, certain=certain)
            _log.info("batch %s with %d requests is under way at %s", provider_id, len(keys), self._options.where)
            self._follower(number)
        finally:
            self._state.submitting.discard(number)

    async def _insist(self, batch: Batch, lines: Sequence[Line]) -> tuple[str, bool]:
        """Create a batch in spite of faults. What the provider may have taken is looked for before it is sent again.

        Raises when it cannot be done; the batch is dropped then, unless it may exist after all.
        """
        prepared: bytes | None = None
        maybe_taken = False
        last: EveryclaimError | None = None
        for attempt in range(self._settings.attempts):
            if isinstance(last, JudgeError):
                await self._pause(last.retry_after or min(60.0, 2.0**attempt))
            creating = False
            try:
                if maybe_taken:
                    if found := await self._search(batch):
                        return found
                    maybe_taken = False
                prepared = prepared or await self._api.prepare(lines)
                creating = True
                return await self._api.create(prepared, batch.token), True
            except EveryclaimError as error:
                last = error
                code = error.code if isinstance(error, JudgeError) else ""
                maybe_taken = maybe_taken or (creating and code in _MAYBE_TAKEN)
                if code not in RETRYABLE:
                    break
        assert last is not None
        if not maybe_taken:
            self._state.drop(batch.id)
        if not isinstance(last, JudgeError):
            raise last
        raise JudgeError(
            "batch_not_submitted", f"a batch of {batch.size} requests was not taken: {last}", usage=Usage()
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
            if batch.provider_id is None:
                found = await self._patiently(partial(self._search, batch))
                if found is None:
                    self._state.drop(number)
                else:
                    _log.info("batch %s was taken after all", found[0])
                    self._state.accept(number, found[0], certain=found[1])
            else:
                await self._collect(batch, batch.provider_id)

    async def _search(self, batch: Batch) -> tuple[str, bool] | None:
        """Look for a batch that may have been created, twice: a provider's list may lag behind."""
        found = await self._api.find(batch, self._state.known(self._account))
        if found is None:
            await self._pause(SETTLE_SECONDS)
            found = await self._api.find(batch, self._state.known(self._account))
        return found

    async def _collect(self, batch: Batch, provider_id: str) -> None:
        """Wait for a batch's end and keep its outcomes."""
        wait = self._settings.first_poll
        while True:
            try:
                look = await self._patiently(partial(self._api.look, provider_id))
            except ConfigError as error:
                raise ConfigError(
                    f"batch {provider_id} cannot be looked at: {error}. Use the key it was made with, or move "
                    f"{self._state.path} away to send its requests anew"
                ) from None
            if look.ended:
                break
            await self._pause(wait)
            wait = min(2 * wait, self._settings.longest_poll)

        async def keep() -> bool:
            rows: list[tuple[str, str]] = []
            found = 0
            async with aclosing(self._api.results(look)) as results:  # type: ignore[type-var]
                async for custom_id, outcome in results:
                    key, _, token = custom_id.partition("-")
                    if token != batch.token:
                        return False
                    found += 1
                    if found > 2 * batch.size:  # an output file and an error file
                        raise JudgeError(
                            "bad_response", f"batch {provider_id} of {batch.size} requests has more results than that"
                        )
                    rows.append((key, self._hidden(outcome)))
                    if len(rows) >= CHUNK:
                        self._state.record(batch.id, rows)
                        rows = []
            self._state.record(batch.id, rows)
            return True

        if not await self._patiently(keep) and not batch.certain:
            self._state.reject(batch)
            return
        if look.faults:
            keys = self._state.keys(batch.id)
            told = [
                (keys[line - 1], self._hidden(fault)) for line, fault in look.faults.items() if 0 < line <= len(keys)
            ]
            self._state.record(batch.id, told)
        if "queue_full" in look.otherwise:
            self._narrow = True
            self._full_queues += 1
            self._most = max(1, min(self._most, batch.size) // 2)
        else:
            self._full_queues = 0
        self._state.finish(batch.id, self._hidden(look.otherwise))
        _log.info("batch %s has ended", provider_id)

    def _hidden(self, outcome: str) -> str:
        """Return an outcome as it may be kept: an error without any secret it repeats, a reply without the key."""
        secrets = self._api.secrets
        return without_key(outcome, secrets[0]) if outcome.startswith('{"reply"') else without(outcome, secrets)

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask again where that may help; a provider may be away for an hour while a batch is under way."""
        wait = 1.0
        for _ in range(20):
            try:
                return await ask()
            except JudgeError as error:
                if error.code not in RETRYABLE:
                    raise
                await self._pause(error.retry_after or wait)
                wait = min(2 * wait, self._settings.longest_poll)
        return await ask()

    # Tasks and time

    def _start(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # looked at; whoever waits for it gets it

    async def _pause(self, seconds: float) -> None:
        import stamina

        await asyncio.sleep(0.001 if stamina.is_testing() else seconds)

    async def aclose(self) -> None:
        """Drop what waits and stop looking; batches under way stay in the state."""
        if self._timer:
            self._timer.cancel()
        for waiting in self._queue:
            waiting.submitted.cancel()
        self._queue = []
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


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

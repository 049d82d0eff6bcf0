"""Ask through a provider's batch API: half the price, an answer within a day, nothing paid twice after a kill.

A run with a language model as judge is a conversation of dependent calls: the verdicts need the claims
first. `Batched` has the same shape as any chat model, so nothing else needs to know: a call waits, the
requests of all waiting calls go to the provider as one batch, and each call returns when its result is
there. A batch is cut when no further call came for `linger` seconds, which is when every sample in flight
waits, or earlier when it is full.

One batch takes minutes to hours whatever its size, so the number of samples in flight decides how long a
run takes: with 5,000 (`BATCH_CONCURRENCY`), 20,000 answers at two calls each are eight rounds, with 64 they
are 626. Memory grows with the samples in flight (their texts, and each request once as JSON while its
batch is put together) and not with the run.

    post ──► queue ──► noted ──► created at the provider ──► accepted ──► polled ──► outcomes kept ──► post returns
                         └──────────────── batch_state, on the disk ─────────────────────┘
"""

from __future__ import annotations

from functools import partial

from everyclaim.core.errors import ConfigError, EveryclaimError, StoreError
from everyclaim.core.lifetime import LoopLocal, on_close
from everyclaim.core.protocols import ChatReply
from everyclaim.models.batches.apis import open_api
from everyclaim.models.batches.scheduler import BatchScheduler, BatchSettings
from everyclaim.models.chat.call import Call
from everyclaim.models.chat.capabilities import unlimited
from everyclaim.models.chat.endpoint import Endpoint
from everyclaim.models.chat.providers import find_provider

BATCH_CONCURRENCY = 5_000  # samples in flight that a batched run should have
BATCH_SHARE = 0.5  # of the usual price, at both providers
BATCH_PATIENCE = 30 * 86_400.0  # seconds that retries of a call may take: every attempt is a batch of its own


class Batched:
    """An endpoint asked through its provider's batch API."""

    def __init__(self, endpoint: Endpoint, settings: BatchSettings) -> None:
        provider = endpoint.options.provider
        if not find_provider(provider).batches:
            raise ConfigError(f"{provider} has no batch API; score without provider batches")
        endpoint.capabilities_ = unlimited(endpoint.capabilities_)  # a reply that was cut would cost another batch
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
        except StoreError:
            raise
        except EveryclaimError:
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

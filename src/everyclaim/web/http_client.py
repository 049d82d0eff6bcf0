"""Calls of a service over HTTP: sent again where that can help, and what is wrong told as the library's own errors."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any, TypeVar

from everyclaim.core.errors import (
    BudgetExceeded,
    ConfigError,
    EveryclaimError,
    InputError,
    JudgeError,
    MissingExtraError,
    OperatorError,
)
from everyclaim.core.lifetime import on_close
from everyclaim.models import Patience
from everyclaim.models.chat.keys import Secret
from everyclaim.models.chat.retrying import quieten

if TYPE_CHECKING:
    import aiohttp

T = TypeVar("T")

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
        import stamina

        quieten()
        begun = time.monotonic()
        attempts = stamina.retry_context(
            on=lambda error: self._wait(error, begun),
            attempts=self.patience.attempts,
            timeout=self.patience.seconds,
            wait_initial=self.patience.first_wait,
            wait_max=self.patience.longest_wait,
            wait_jitter=min(1.0, self.patience.first_wait),
        )
        try:
            async for attempt in attempts:
                with attempt:
                    status, answer = await self._once(method, path, body, data, dict(headers or {}), query or [])
            return read(answer)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise self._stranger(status) from None
        except _Refused as refused:
            raise refused.error from None

    def _wait(self, error: Exception, begun: float) -> bool | float:
        if not isinstance(error, _Refused) or not error.again:
            return False
        if error.retry_after is None:
            return True
        left = self.patience.seconds - (time.monotonic() - begun)
        return error.retry_after if error.retry_after <= left else False

    async def _once(
        self,
        method: str,
        path: str,
        body: Any,
        data: IO[bytes] | None,
        headers: dict[str, str],
        query: list[tuple[str, str]],
    ) -> tuple[int, Any]:
        client = _library()
        sent: Any = None
        if data is not None:
            sent, headers = _pieces(data), headers | {"Content-Type": "application/x-ndjson"}
        elif body is not None:
            sent, headers = BytesIO(json.dumps(body).encode()), headers | {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token.reveal()}"
        patience = client.ClientTimeout(total=None if data is not None else self.seconds, sock_read=self.seconds)
        try:
            async with self._open(client).request(
                method,
                self.address + path,
                data=sent,
                headers=headers,
                params=query,
                timeout=patience,
                allow_redirects=False,
            ) as answer:
                whole = await answer.content.read(_MOST_MB * 1_000_000 + 1)
                while len(whole) <= _MOST_MB * 1_000_000 and (more := await answer.content.read(1 << 20)):
                    whole += more
                return answer.status, self._read(answer.status, answer.headers, whole)
        except (TimeoutError, client.ClientError, OSError) as error:
            reason = "time limit exceeded" if isinstance(error, TimeoutError) else type(error).__name__
            raise _Refused(OperatorError(f"no answer from {self.address}: {reason}"), again=True) from None

    def _read(self, status: int, headers: Mapping[str, str], body: bytes) -> Any:
        if len(body) > _MOST_MB * 1_000_000:
            raise _Refused(OperatorError(f"{self.address} answered with more than {_MOST_MB} MB"), again=False)
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            value = None
        after = headers.get("Retry-After", "")
        wait = float(after) if after.isdecimal() and len(after) < 9 else None
        is_ours = headers.get("Content-Type", "").partition(";")[0] == PROBLEM and isinstance(value, dict)
        if is_ours:
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

    def _open(self, client: ModuleType) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = client.ClientSession(auto_decompress=True, trust_env=True)
            on_close(self._session.close)
        return self._session


def _library() -> ModuleType:
    try:
        import aiohttp
        import stamina  # noqa: F401 - both or none
    except ImportError:
        raise MissingExtraError("the client", "client") from None
    return aiohttp


async def _pieces(data: IO[bytes]) -> AsyncIterator[bytes]:
    data.seek(0)  # it may be sent again
    while piece := await asyncio.to_thread(data.read, 1 << 18):
        yield piece

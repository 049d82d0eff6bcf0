"""Calls of a service over HTTP: sent again where that can help, and what is wrong told as the library's own errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any, TypeVar

from everyclaim.core.errors import (
    BudgetExceeded,
    ConfigError,
    EveryclaimError,
    InputError,
    JudgeError,
    OperatorError,
    needed_for,
)
from everyclaim.core.lifetime import on_close
from everyclaim.models.chat.links import Patience, persist
from everyclaim.models.chat.providers import Secret
from everyclaim.models.chat.transport import retry_after

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

"""What a request asks for, read within its size and time; and its work, done in its turn while somebody waits for it.

A body is read as a row of a file is, but that a name which means nothing is an error. Answers are JSON that any reader
takes.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from everyclaim.api.evaluator import Evaluator
from everyclaim.core.errors import UserError
from everyclaim.core.events import Observer, QueueChanged, observed, tell
from everyclaim.core.plaintext import did_you_mean
from everyclaim.core.wire import json_object
from everyclaim.engine import BackgroundLoop
from everyclaim.io import values
from everyclaim.io.fields import Fields, shown
from everyclaim.io.textrows import json_fault
from everyclaim.web.service.gate import Problem
from everyclaim.web.service.schemas import NAMES, REQUESTS, RULES

T = TypeVar("T")
MB = 1_000_000
_CLOSE = {"Connection": "close"}  # the rest of a body that is not read would be taken for the next request


def media_type(request: Request) -> str:
    """Return what the body says it is, without parameters. Raises `Problem` for one that is packed."""
    packed = request.headers.get("content-encoding", "identity").strip().lower()
    if packed not in ("", "identity"):
        raise Problem("wrong-type", f"unsupported Content-Encoding {packed[:40]!r}: send the body uncompressed")
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def pieces(request: Request, most: int, seconds: float) -> AsyncIterator[bytes]:
    """Yield a body piece by piece. Raises `Problem` for one that is larger, or slower, than it may be."""
    too_large = Problem("too-large", f"a request of this kind can have at most {most / MB:g} MB", headers=_CLOSE)
    length = request.headers.get("content-length", "")
    size = int(length[:20]) if length.isdecimal() else 0
    if size > most:
        raise too_large
    size, stream = 0, aiter(request.stream())
    try:
        async with asyncio.timeout(seconds):
            while piece := await anext(stream, b""):
                size += len(piece)
                if size > most:
                    raise too_large
                yield piece
    except TimeoutError:
        raise Problem("too-slow", f"the request did not arrive within {seconds:g} seconds", headers=_CLOSE) from None
    except ClientDisconnect:
        raise Problem("gone", "the client disconnected") from None


async def read_object(request: Request, most: int, seconds: float) -> dict[str, Any]:
    """Return the JSON object that a body is.

    Raises `Problem` for what is none: another type, broken UTF-8, a key that appears twice, NaN.
    """
    kind = media_type(request)
    if kind != "application/json":
        raise Problem("wrong-type", f"send application/json, not {kind[:60]!r}", headers={"Accept": "application/json"})
    body = b"".join([piece async for piece in pieces(request, most, seconds)])
    try:
        value = _STRICT.decode(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Problem("malformed", f"the body is not valid UTF-8: byte {error.start + 1}") from None
    except (ValueError, RecursionError) as error:
        raise Problem("malformed", f"the body: {json_fault(error)}") from None
    if not isinstance(value, dict):
        raise Problem("bad-input", f'expected an object such as {{"response": …}}, found {values.kind(value)}')
    return value


def _refuse(name: str) -> NoReturn:
    raise Problem("malformed", f"the body: {name} is not JSON: omit the field, or send null")


_STRICT = json.JSONDecoder(object_pairs_hook=json_object, parse_constant=_refuse)


_FIELDS = {kind: Fields({name: NAMES[name] for name in names}) for kind, names in REQUESTS.items()}


def fields_of(kind: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a request gives, by our names; whoever takes them checks the values.

    Raises `Problem` for a name that is none of them, for two names of one field, where the first is missing, and for
    rules of a guard that are not for requests.
    """
    fields, known = _FIELDS[kind], [name for ours in REQUESTS[kind] for name in NAMES[ours]]
    for name in row:
        if not fields.wanted([name]):
            takes = f"it takes {', '.join(REQUESTS[kind])}"
            raise Problem("bad-input", f"{kind} has no field {shown(name)}{did_you_mean(name, known)} ({takes})")
    for used, ignored in fields.rivals(row):
        raise Problem("bad-input", f"{shown(used)} and {shown(ignored)} are the same field: send one")
    found = {ours: value for ours in REQUESTS[kind] if (value := fields.get(row, ours)) is not None}
    needed = REQUESTS[kind][0]
    if needed not in found and "messages" not in found:
        raise Problem("bad-input", f"{kind} needs {needed!r} ({', '.join(NAMES[needed])})")
    if not isinstance(rules := found.get("rules", {}), dict):
        raise Problem("bad-input", 'rules of guard must be an object such as {"threshold": 0.9}')
    check_names(rules, RULES, "rule")
    if rules.get("repair") == "rewrite":
        raise Problem("bad-input", "rules.repair of guard must be 'drop' or 'none': the service has no generator")
    return found


def check_names(names: Collection[str], known: Collection[str], what: str) -> None:
    """Raise `Problem` for a name that means nothing here."""
    for name in names:
        if name not in known:
            takes = f"it takes {', '.join(known) or 'none'}"
            raise Problem("bad-input", f"there is no {what} {shown(name)} here{did_you_mean(name, known)} ({takes})")


def check_query(request: Request) -> None:
    """Raise `Problem` for parameters that the description of the API has not, and for one of one value given twice."""
    operation = request.app.openapi()["paths"][request.scope["route"].path][request.method.lower()]
    known = {part["name"]: part["schema"] for part in operation.get("parameters", ()) if part["in"] == "query"}
    given = Counter(name for name, _ in request.query_params.multi_items())
    check_names(given, known, "parameter")
    for name, count in given.items():
        if count > 1 and known[name].get("type") != "array":
            raise Problem("bad-input", f"the parameter {name} appears twice")


def line(value: Any) -> bytes:
    """Return a value as JSON on one line. Half characters of a text are written as escapes, which UTF-8 has not."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


def json_answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer."""
    return Response(line(value), status, headers, media_type="application/json")


# ---- the work

_PAUSE = 0.5  # seconds that a loop may compute without one, once something is to be cut off


@dataclass(slots=True)
class Work:
    """The evaluator and the loop it works in, apart from the one that answers requests: a long text holds up nobody.

    So many requests are worked on (`places`), so many more wait in turn (`queue`); the next is sent away at once.
    Waiting longer than a client waits is work for nobody, so a short queue and an honest no are better than a long one.
    """

    evaluator: Evaluator
    loop: BackgroundLoop
    places: int
    queue: int
    seconds: float
    observers: Sequence[Observer]
    working: int = 0
    waiting: int = 0
    _free: asyncio.Semaphore = field(init=False)
    _cuts: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._free = asyncio.Semaphore(self.places)

    async def done(self, request: Request, make: Callable[[Evaluator], Coroutine[Any, Any, T]]) -> T:
        """Do a piece of work for a request. Raises `Problem` where there is no room, no time, or nobody any more."""
        work = asyncio.create_task(self._in_turn(make))
        gone = asyncio.create_task(_gone(request))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise Problem("gone", "the client disconnected")
            return work.result()
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)

    async def _in_turn(self, make: Callable[[Evaluator], Coroutine[Any, Any, T]]) -> T:
        try:
            async with asyncio.timeout(self.seconds), self._place():
                return await self.joined(make(self.evaluator))
        except TimeoutError:
            raise Problem("timed-out", f"no result within {self.seconds:g} seconds", retry_after=1) from None

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        """Wait for a place and have it inside. Raises `Problem` where too many wait already."""
        if self._free.locked() and self.waiting >= self.queue:
            told = f"{self.working} requests are in progress and {self.waiting} waiting: retry later"
            raise Problem("overloaded", told, retry_after=1)
        self._wait(1)
        try:
            await self._free.acquire()
        finally:
            self._wait(-1)
        self.working += 1
        try:
            yield
        finally:
            self.working -= 1
            self._free.release()

    def _wait(self, step: int) -> None:
        self.waiting += step
        with observed(self.observers):
            tell(QueueChanged("requests", self.waiting))

    async def joined(self, work: Coroutine[Any, Any, T]) -> T:
        """Carry work out in the loop; cancelled, it ends also where it computes without a pause."""
        try:
            return await self.loop.join(work)
        except asyncio.CancelledError:
            cut = asyncio.create_task(self._cut_off(asyncio.sleep(0)))
            self._cuts.add(cut)
            cut.add_done_callback(self._cuts.discard)
            raise

    async def close(self) -> None:
        """End the loop, and with it whatever it computes."""
        await self._until_done(asyncio.to_thread(self.loop.close))

    async def _cut_off(self, nothing: Coroutine[Any, Any, None]) -> None:
        with suppress(UserError):  # the loop was closed meanwhile
            await self._until_done(self.loop.join(nothing))

    async def _until_done(self, answer: Coroutine[Any, Any, None]) -> None:
        """Wait for an answer of the loop; as long as there is none, cut off what it computes."""
        waiting = asyncio.create_task(answer)
        while not (await asyncio.wait({waiting}, timeout=_PAUSE))[0]:
            self.loop.interrupt()
        waiting.result()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass

"""Sources of a watch by their names: a path, `langfuse`, `otlp`, `sql`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Annotated, Any, TypedDict
from urllib.parse import unquote

from everyclaim.core.errors import ConfigError, InputError, OptionError
from everyclaim.core.kinds import Range
from everyclaim.core.nearest import did_you_mean
from everyclaim.monitor.watching.rows import Rows
from everyclaim.monitor.watching.source import Source
from everyclaim.store import WatchStore

Seconds = Annotated[float, Range(0)]
_SHAPE = ("name", "title", "takes_scores", "open", "close", "batches", "send_back")
_LONGEST_NAME = 200
KINDS = ("langfuse", "otlp", "sql")
_PUBLIC, _SECRET = "LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"
_HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"


class SourceOptions(TypedDict, total=False):
    """What can be chosen about a source."""

    mapping: Mapping[str, str] | None  # field names, theirs → ours
    settle: Seconds  # of `langfuse` and `otlp`: after so many seconds of silence an answer is taken to be whole
    lateness: Seconds  # of `langfuse` and `sql`: so many seconds late an answer may appear
    since: str | None  # of `langfuse`: ISO 8601, where the first pass begins
    observation: str | None  # of `langfuse`: the name of the root observations that are answers
    environment: str | None  # of `langfuse`
    events_to: str | None  # of `otlp`: where a collector takes logs, for the event of each result
    query: str | None  # of `sql`: a SELECT
    watermark: str | None  # of `sql`: the column that grows, a time or a number
    key: str  # of `sql`: the column that tells rows apart


_OF = {
    "langfuse": {"settle", "lateness", "since", "observation", "environment", "send_back"},
    "otlp": {"settle", "events_to", "send_back"},
    "sql": {"lateness", "query", "watermark", "key"},
    "files": set[str](),
}


def open_source(source: Any, options: Mapping[str, Any], store: WatchStore, name: str | None) -> Source:
    """Return the source that is meant. Raises `ConfigError` for options that it has no use for."""
    if not isinstance(source, str | os.PathLike):
        if not all(hasattr(source, one) for one in _SHAPE):
            raise InputError(
                f"a source is a path, {', '.join(KINDS)} or an object with {', '.join(_SHAPE)}, not"
                f" {type(source).__name__}"
            )
        _check_use(options, "one of your own", set())
        found: Source = source
        return found
    text = os.fspath(source)
    if text == "-":
        raise ConfigError("standard input cannot be watched, since it cannot be read again: score it, or watch a file")
    kind, colon, argument = text.partition(":")
    if kind not in KINDS:
        _check_scheme(text, kind, is_spec=bool(colon))
        kind, argument = "files", text
    _check_use(options, kind, _OF[kind])
    rows = Rows(options.get("mapping"), options.get("slices", ()))
    if kind == "langfuse":
        return _langfuse(argument, options, rows)
    if kind == "otlp":
        return _otlp(argument, options, store, name, rows)
    if kind == "sql":
        return _sql(argument, options, rows)
    from everyclaim.monitor.watching.tail import Tail

    return Tail(argument, rows)


def _check_use(options: Mapping[str, Any], kind: str, known: set[str]) -> None:
    for option in sorted(set().union(*_OF.values()) - known):
        if options.get(option) is not None:
            whose = " and ".join(other for other, names in _OF.items() if option in names)
            raise OptionError(f"`{option}` is for {whose}, not for {kind}: it would do nothing")


def _check_scheme(text: str, kind: str, *, is_spec: bool) -> None:
    """Refuse what looks like another kind of source, and is no file."""
    if not is_spec or os.path.exists(text):  # noqa: PTH110 - also of what is no path
        return
    if "://" in text:
        raise ConfigError(f"{kind}:// is no source: write langfuse:https://…, sql:postgresql://…, or a path")
    if meant := did_you_mean(kind, KINDS):
        raise ConfigError(f"there is no source {kind!r} and no file of that name{meant}")


def _langfuse(url: str, options: Mapping[str, Any], rows: Rows) -> Source:
    from everyclaim.monitor.watching.langfuse import CLOUD, Langfuse, Project

    public, secret = os.environ.get(_PUBLIC, ""), os.environ.get(_SECRET, "")
    if not (public and secret):
        raise ConfigError(f"watching Langfuse needs the keys of the project: set {_PUBLIC} and {_SECRET}")
    address = url or os.environ.get("LANGFUSE_BASE_URL") or os.environ.get("LANGFUSE_HOST") or CLOUD
    if not address.startswith(("http://", "https://")):
        raise ConfigError(f"langfuse:{address}: give the address of the server, as in langfuse:{CLOUD}")
    chosen: dict[str, Any] = {
        name: timedelta(seconds=options[name]) for name in ("settle", "lateness") if options.get(name) is not None
    }
    if since := options.get("since"):
        chosen["since"] = _time(since)
    return Langfuse(
        Project(
            address,
            public,
            secret,
            **chosen,
            name=options.get("observation"),
            environment=options.get("environment"),
        ),
        rows,
    )


def watch_name(name: str) -> str:
    """Return a name as a store can hold it and tell it from others."""
    mark = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 13]}#{mark}"


def _otlp(listen: str, options: Mapping[str, Any], store: WatchStore, name: str | None, rows: Rows) -> Source:
    from everyclaim.monitor.watching.otlp import DEFAULT_ADDRESS, TOKEN, Address, OtlpReceiver

    address = Address(
        listen or DEFAULT_ADDRESS,
        options.get("events_to"),
        os.environ.get(TOKEN) or None,
        _headers(os.environ.get(_HEADERS, "")) if options.get("events_to") else {},
        options.get("settle", 10.0),
    )
    return OtlpReceiver(address, store, watch_name(name or f"otlp:{address.listen}"), rows)


def _sql(url: str, options: Mapping[str, Any], rows: Rows) -> Source:
    from everyclaim.monitor.watching.sql import Query, SqlQuery

    query, watermark = options.get("query"), options.get("watermark")
    if not query or not watermark:
        raise OptionError(
            "sql needs `query`, such as 'SELECT id, at, question, answer, contexts FROM answers', and `watermark`, the"
            " column of it that grows, such as 'at'"
        )
    lateness = timedelta(seconds=options.get("lateness", 3600.0))
    return SqlQuery(url, Query(query, watermark, options.get("key") or "id", lateness), rows)


def _time(text: str) -> datetime:
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise OptionError(f"`since` must be a time such as 2026-01-31T12:00:00Z, got {text!r}") from None
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when


def _headers(text: str) -> dict[str, str]:
    """Read headers as OpenTelemetry's own variable has them: ``name=value,name=value``, escaped as in URLs."""
    pairs = (part.partition("=") for part in text.split(",") if part.strip())
    return {name.strip(): unquote(value.strip()) for name, _, value in pairs}

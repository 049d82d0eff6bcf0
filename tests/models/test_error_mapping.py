"""The one place where other people's errors become ours."""

import inspect
import pkgutil
from collections.abc import Iterator
from email.utils import formatdate
from importlib import import_module

import aiohttp
import pytest

from everyclaim.core.errors import BudgetExceeded, ConfigError, EveryclaimError, JudgeError
from everyclaim.models.chat.error_mapping import code_of, from_status, retry_after


def exceptions_of(library: object) -> Iterator[type[BaseException]]:
    """Every exception class that a library defines in a module about a client's exceptions, public or not."""
    names = [
        m.name for m in pkgutil.iter_modules(library.__path__) if "exception" in m.name and m.name != "web_exceptions"
    ]
    for name in names:
        module = import_module(f"{library.__name__}.{name}")
        for kind in vars(module).values():
            if not inspect.isclass(kind) or issubclass(kind, Warning):
                continue
            if issubclass(kind, Exception) and kind.__module__.startswith(library.__name__):
                yield kind


ALL = sorted(
    {*exceptions_of(aiohttp)},
    key=lambda kind: (kind.__module__, kind.__qualname__),
)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: f"{kind.__module__}.{kind.__qualname__}")
def test_every_exception_of_the_library_is_mapped(kind: type[BaseException]) -> None:
    """A new class in a new release that has no place here fails this test."""
    assert code_of(kind)


@pytest.mark.parametrize(
    ("status", "body", "kind", "code"),
    [
        (400, b"", JudgeError, "bad_request"),
        (401, b"", ConfigError, ""),
        (402, b"", BudgetExceeded, ""),
        (403, b"", ConfigError, ""),
        (404, b"", ConfigError, ""),
        (302, b"", ConfigError, ""),
        (407, b"", ConfigError, ""),
        (408, b"", JudgeError, "timeout"),
        (409, b"", JudgeError, "server_error"),
        (413, b"", JudgeError, "too_long"),
        (422, b'{"detail": [{"msg": "no"}]}', JudgeError, "bad_request"),
        (429, b"", JudgeError, "rate_limited"),
        (429, b'{"error": {"code": "insufficient_quota"}}', BudgetExceeded, ""),
        (500, b"<html>", JudgeError, "server_error"),
        (501, b"", JudgeError, "bad_request"),
        (503, b"", JudgeError, "overloaded"),
        (504, b"", JudgeError, "timeout"),
        (529, b"", JudgeError, "overloaded"),
        (
            400,
            b'{"error": {"message": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}',
            JudgeError,
            "filtered",
        ),
        (400, b'{"error": {"message": "prompt is too long: 9 > 8"}}', JudgeError, "too_long"),
    ],
)
def test_each_status_has_its_place(status: int, body: bytes, kind: type[EveryclaimError], code: str) -> None:
    """By who must act, and for a judge's failure by a stable code."""
    error = from_status(status, {}, body, "http://x")
    assert isinstance(error, kind)
    assert getattr(error, "code", "") == code


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("https://ada:secret@new.example/v1/chat?api_key=sk-12345678", "moved to https://new.example/v1/chat (301)"),
        ("/v2/chat", "moved (301)"),
        ("http://[::1", "moved (301)"),
        ("", "moved (301)"),
    ],
)
def test_a_redirect_is_a_moved_endpoint_and_no_unknown_model(location: str, said: str) -> None:
    """Where it leads is said, without what may be secret in it."""
    error = from_status(301, {"Location": location}, b"", "http://x")
    assert isinstance(error, ConfigError)
    assert said in str(error)
    assert "model" not in str(error)
    assert "secret" not in str(error)
    assert "sk-" not in str(error)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": formatdate(1_000_030, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(999_000, usegmt=True)}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, milliseconds, an HTTP date; nonsense counts as not said."""
    assert retry_after(headers, now=1_000_000.0) == seconds

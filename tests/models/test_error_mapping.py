"""The one place where other people's errors become ours."""

import inspect
import pkgutil
from collections.abc import Iterator
from email.utils import formatdate
from importlib import import_module

import aiohttp
import pytest

from everyclaim.models.chat.error_mapping import code_of, retry_after


def exceptions_of(library: object) -> Iterator[type[BaseException]]:
    """Every exception class that a library defines in a module about a client's exceptions, public or not."""
    names = [
        m.name for m in pkgutil.iter_modules(library.__path__) if "exception" in m.name and m.name != "web_exceptions"
    ]
    for module in (import_module(f"{library.__name__}.{name}") for name in names):
        for kind in vars(module).values():
            is_error = inspect.isclass(kind) and issubclass(kind, Exception) and not issubclass(kind, Warning)
            if is_error and kind.__module__.startswith(library.__name__):
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

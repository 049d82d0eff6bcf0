"""Component specs: the one way to name a decomposer, a verifier or a metric; and functions of users in their place.

The same text works in Python, on the command line and in `everyclaim.toml`, and is what a result
stores: ``lexical``, ``openai:gpt-5-mini``, ``lexical?threshold=0.6``, ``cascade:embedded>openai:gpt-5-mini``.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import re
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote

from everyclaim.core.errors import ConfigError, JudgeError
from everyclaim.core.plaintext import did_you_mean, hidden, one_line, shown_option

Taken = tuple[int, tuple[str, ...]]  # how many values are taken by place, and which others by name


def name_of(component: Any) -> str:
    """Return what a result stores of a component: a spec without secrets, its own `spec`, else where it is defined."""
    if isinstance(component, str):
        return Spec.parse(component).shown
    spec = getattr(component, "spec", None)
    if isinstance(spec, str) and spec.strip():
        return spec
    named: Any = component if hasattr(component, "__qualname__") else type(component)
    return f"python:{named.__module__}:{named.__qualname__}"


def is_component(given: Any, method: str, noun: str, kind: str) -> bool:
    """Whether an object has the method, and is no function. Raises `ConfigError` for neither, or without a `spec`."""
    if isinstance(given, type) or not (hasattr(given, method) or callable(given)):
        raise ConfigError(f"a {noun} is a spec, a {kind} or a function, got {type(given).__name__}")
    if hasattr(given, method) and not isinstance(getattr(given, "spec", None), str):
        raise ConfigError(f"the {noun} {type(given).__name__} needs a `spec`, the text that identifies it in results")
    return hasattr(given, method)


def places(function: Callable[..., Any], offered: tuple[str, ...], what: str) -> Taken:
    """Return how many of the values `offered` a function takes by place, and which others it takes by name.

    A parameter with a default is the function's own business, unless it has the name of a value. `what` says in the
    error what the function is for. Raises `ConfigError` for a function that needs anything else.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # written in C
        return 1, ()
    by_place = [one for one in parameters if one.kind in {one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD}]
    fits = [one.default is one.empty or one.name == name for one, name in zip(by_place, offered, strict=False)]
    count = fits.index(False) if False in fits else len(fits)
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        count = len(offered)
    later = by_place[count:] + [one for one in parameters if one.kind is one.KEYWORD_ONLY]
    named = tuple(one.name for one in later if one.name in offered[count:])
    wanting = [one.name for one in later if one.default is one.empty and one.name not in named]
    if wanting or not count:
        told = f"it also requires {', '.join(wanting)}" if wanting else "it takes no arguments"
        raise ConfigError(f"{what} is called with ({', '.join(offered)}) or the first of these; but {told}")
    return count, named


async def call(function: Callable[..., Any], values: Mapping[str, Any], what: str, taken: Taken | None = None) -> Any:
    """Call a function with those of the values that it takes; one that is not asynchronous, in a thread of its own.

    `taken` is what `places` says of it, where that was asked before. Whatever it raises can be caught by whoever
    awaits it: see `call_in_thread`.
    """
    names = tuple(values)
    count, named = taken or places(function, names, what)
    given, by_name = [values[name] for name in names[:count]], {name: values[name] for name in named}
    try:
        if inspect.iscoroutinefunction(function):
            return await function(*given, **by_name)
        found = await call_in_thread(function, *given, **by_name)
        return await found if isinstance(found, Awaitable) else found
    except SystemExit as error:
        raise JudgeError("component_error", where_it_failed(error)) from error


async def call_in_thread(function: Callable[..., Any], *given: Any, **by_name: Any) -> Any:
    """Call a function in a thread. What no future can hold (`StopIteration`), or what would end the process, is raised
    as `JudgeError` with the code `component_error`.
    """

    def contained() -> Any:
        try:
            return function(*given, **by_name)
        except (StopIteration, StopAsyncIteration, GeneratorExit, SystemExit) as error:
            raise JudgeError("component_error", where_it_failed(error)) from error

    return await asyncio.to_thread(contained)


def where_it_failed(error: BaseException) -> str:
    """Name the error and the line that raised it, with `EVERYCLAIM_DEBUG=1` its message, which may quote the data."""
    if isinstance(error, RuntimeError) and isinstance(error.__cause__, (StopIteration, StopAsyncIteration)):
        error = error.__cause__  # as Python hands one on that leaves a coroutine
    frames = list(traceback.walk_tb(error.__traceback__))
    if not frames:
        return type(error).__name__
    frame, line = frames[-1]
    debugs = os.environ.get("EVERYCLAIM_DEBUG") == "1"
    told = f": {one_line(str(error), 300)}" if debugs else " (EVERYCLAIM_DEBUG=1 shows the message)"
    return f"{type(error).__name__} in {frame.f_globals.get('__name__', '?')}, line {line}{told}"


_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_NOT_AS_IT_IS = re.compile(r"[%&+=;#\s\x00-\x1f\x7f\ud800-\udfff]")


def _written(text: str) -> str:
    """Write a key or value so that people can read it: only what would be read otherwise becomes an escape."""
    return _NOT_AS_IT_IS.sub(lambda found: quote(found[0], safe="", errors="replace"), text)


@dataclass(frozen=True, slots=True)
class Spec:
    """``name[:argument][?option=value&…]``, taken apart."""

    name: str
    argument: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Take a spec apart. Raises `ConfigError` when it has no valid name or a bad option."""
        head, _, query = text.strip().partition("?")
        name, _, argument = head.partition(":")
        if not _NAME.fullmatch(name):
            raise ConfigError(f"bad component spec {head!r}: start it with a name, as in 'lexical'")
        try:
            options = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
        except ValueError:
            # Options may hold a password, so they are not repeated.
            raise ConfigError(
                f"bad options in component spec {head!r}: write '?name=value&name=value', with '%26' for & in a value"
            ) from None
        keys = [key for key, _ in options]
        if twice := next((key for key in keys if keys.count(key) > 1), ""):
            raise ConfigError(f"the spec of {name!r} sets {twice!r} twice")
        return cls(name, argument, dict(options))

    @property
    def shown(self) -> str:
        """The spec as it may be shown and stored: without secrets."""
        options = {name: shown_option(name, value) for name, value in self.options.items()}
        return str(Spec(self.name, hidden(self.argument), options))

    def check_options(self, known: Iterable[str], owner: str = "") -> None:
        """Raise `ConfigError` for an option that is not known; `owner` is how the message calls what is specified."""
        names = list(known)
        if unknown := sorted(self.options.keys() - set(names)):
            meant = did_you_mean(unknown[0], names)
            takes = ", ".join(names) or "none"
            raise ConfigError(f"unknown option {unknown[0]!r} of {owner or repr(self.name)}; it takes {takes}{meant}")

    def __str__(self) -> str:
        argument = f":{self.argument}" if self.argument else ""
        options = "&".join(f"{_written(key)}={_written(value)}" for key, value in sorted(self.options.items()))
        options = f"?{options}" if options else ""
        return f"{self.name}{argument}{options}"


def imported(spec: Spec) -> Any:
    """Import what ``python:package.module:name`` names, also from the current folder, as `python -m` does.

    Raises `ConfigError` when it is not there.
    """
    module, _, name = spec.argument.partition(":")
    if not module or not name or spec.options:
        raise ConfigError(f"write 'python:package.module:name', got {spec.shown!r}")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"cannot import {spec.argument!r}: {error}") from None


@dataclass(frozen=True, slots=True)
class Registry:
    """Factories of one kind of component: ours by import path, third parties' by entry point.

    A factory is called with the parsed `Spec`, and where it takes a second value also with what it is built from (by
    place, or by the name `built_from`); it returns the component. `kind` is the plural noun of the entry-point group
    ``everyclaim.<kind>``.
    """

    kind: str
    builtin: Mapping[str, str]  # name → "package.module:factory", imported on first use
    built_from: str = "chats"
    others: Callable[[], Mapping[str, str]] = dict  # more of ours, whose names are known only when they are asked for
    advice: str = ""  # on an unknown {name} that is like none of ours
    noun: str = ""  # of one, in messages, where it is not `kind` without its s

    def names(self) -> list[str]:
        """Every name that can be used, sorted."""
        theirs = (point.name for point in entry_points(group=f"everyclaim.{self.kind}"))
        return sorted({*self.builtin, *self.others(), *theirs})

    def create(self, spec: str | Spec, built_from: Any = None) -> Any:
        """Build the component a spec names. Raises `ConfigError` for an unknown name."""
        parsed = Spec.parse(spec) if isinstance(spec, str) else spec
        factory = self._factory(parsed.name)
        what = f"the factory of {parsed.name!r} among {self.kind}"
        count, named = places(factory, ("spec", self.built_from), what)
        return factory(*(parsed, built_from)[:count], **dict.fromkeys(named, built_from))

    def _factory(self, name: str) -> Callable[..., Any]:
        if path := self.builtin.get(name) or self.others().get(name):
            module, _, attribute = path.partition(":")
            factory: Callable[..., Any] = getattr(import_module(module), attribute)
            return factory
        found = list(entry_points(group=f"everyclaim.{self.kind}", name=name))
        if not found:
            known = self.names()
            hint = did_you_mean(name, known) or self.advice.format(name=name)
            raise ConfigError(f"unknown {self.noun or self.kind[:-1]} {name!r}; known: {', '.join(known)}{hint}")
        loaded: Callable[..., Any] = found[0].load()
        return loaded


def takes_chats(name: str) -> bool:
    """Whether a component of this name is a third party's whose factory takes more than its spec."""
    return _takes_more(name, tuple(sys.path))


@lru_cache(maxsize=256)
def _takes_more(name: str, path: tuple[str, ...]) -> bool:
    """Look among what is installed, once for every place where it may be: that takes milliseconds."""
    del path
    groups = {"verifiers": "chats", "decomposers": "chats", "metrics": "parts"}
    for kind, second in groups.items():
        for point in entry_points(group=f"everyclaim.{kind}", name=name):
            count, named = places(point.load(), ("spec", second), f"the factory of {name!r} among {kind}")
            if count > 1 or named:
                return True
    return False

"""Functions of users where a component is meant: how they are named, what they take, and how they are called."""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from everyclaim.core.errors import ConfigError, JudgeError

Taken = tuple[int, tuple[str, ...]]  # how many values are taken by place, and which others by name


def name_of(component: Any) -> str:
    """Return what a result stores of a component: its own `spec`, else ``python:`` and where it is defined."""
    spec = getattr(component, "spec", None)
    if isinstance(spec, str) and spec.strip():
        return spec
    named: Any = component if hasattr(component, "__qualname__") else type(component)
    return f"python:{named.__module__}:{named.__qualname__}"


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
    """Name the error and the line that raised it; its message may quote the data and is left out."""
    if isinstance(error, RuntimeError) and isinstance(error.__cause__, (StopIteration, StopAsyncIteration)):
        error = error.__cause__  # as Python hands one on that leaves a coroutine
    frames = list(traceback.walk_tb(error.__traceback__))
    if not frames:
        return type(error).__name__
    frame, line = frames[-1]
    return f"{type(error).__name__} in {frame.f_globals.get('__name__', '?')}, line {line}"

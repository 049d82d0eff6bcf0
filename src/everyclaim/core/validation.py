"""What public functions are given, checked against what they declare: one door for all of them.

A function under `validate_call` refuses names it does not have, with the nearest one it has, and values that are not
what its annotations say. Options declared by ``**options: Unpack[SomeTypedDict]`` count like its other parameters.
`Annotated` says more of a value: a `Range` of numbers, a text that names in errors what is expected, `UNDER_TEST` for
what is to be judged, of which a wrong value is an `InputError`; everything else is a `ConfigError`.

Where texts are meant, one text is a list of one. What may be given in several forms reaches the function in one:
sequences as tuples, numbers of numpy as Python's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, wraps
from typing import Annotated, Any, Final, ParamSpec, TypeVar, Unpack, cast, get_args, get_origin, get_type_hints

from everyclaim.core.errors import ConfigError, InputError, UserError
from everyclaim.core.kinds import Kind, WrongValueError, kind_of
from everyclaim.core.nearest import nearest

P = ParamSpec("P")
R = TypeVar("R")

UNDER_TEST: Final = object()
Text = Annotated[str, UNDER_TEST]


@dataclass(frozen=True, slots=True)
class _Parameter:
    kind: Kind
    is_data: bool
    is_needed: bool


@dataclass(frozen=True, slots=True)
class _Declared:
    """What a function declares. `by_place` are the names that may be given without saying them."""

    name: str
    parameters: Mapping[str, _Parameter]
    by_place: tuple[str, ...]
    is_open: bool  # it takes any other name, too
    is_method: bool


def validate_call(
    *,
    synonyms: Sequence[Collection[str]] = (),
    elsewhere: Mapping[str, str] | None = None,
    around: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function be called only with names and values that it declares.

    `synonyms` are groups of names for one thing, of which a function has one; `elsewhere` says of names that no
    function has what there is instead. `around` is entered for every call that does not wait.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        declared = cache(lambda: _declared(function))

        def checked(args: tuple[Any, ...], given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
            known = declared()
            if known.is_method and args:
                known = replace(known, name=_shown(function.__name__, args[0]))
            for name in given:
                if name not in known.parameters and not known.is_open:
                    raise ConfigError(_unknown(name, known, synonyms, elsewhere or {}))
            _check_places(known, args, given)
            values = [_value(known, name, value) for name, value in zip(known.by_place, args, strict=False)]
            named = {name: _value(known, name, value) for name, value in given.items()}
            for name, parameter in known.parameters.items():
                if parameter.is_needed and name not in named and name not in known.by_place[: len(args)]:
                    raise _error(parameter)(f"{known.name}() needs {name!r}")
            return values, named

        if inspect.iscoroutinefunction(function):

            @wraps(function)
            async def waiting(*args: Any, **given: Any) -> Any:
                values, named = checked(args, given)
                return await cast("Any", function)(*values, **named)

            return cast("Callable[P, R]", waiting)

        @wraps(function)
        def calling(*args: Any, **given: Any) -> Any:
            values, named = checked(args, given)
            with around():
                return cast("Any", function)(*values, **named)

        return cast("Callable[P, R]", calling)

    return decorate


def _declared(function: Callable[..., Any]) -> _Declared:
    hints = get_type_hints(function, include_extras=True)
    found: dict[str, _Parameter] = {}
    by_place: list[str] = []
    is_open = False
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints.get(name, Any)
        if parameter.kind is parameter.VAR_KEYWORD:
            if get_origin(hint) is Unpack:
                options = get_type_hints(get_args(hint)[0], include_extras=True)
                found |= {key: _parameter(one, is_needed=False) for key, one in options.items()}
            else:
                is_open = True
            continue
        if parameter.kind is not parameter.KEYWORD_ONLY:
            by_place.append(name)
        found[name] = _parameter(hint, is_needed=parameter.default is parameter.empty)
    shown = function.__qualname__.rpartition(".<locals>.")[2]
    return _Declared(shown, found, tuple(by_place), is_open, is_method=by_place[:1] == ["self"])


def _shown(method: str, owner: object) -> str:
    """Return how a method is called, by the class of the object and not by the base that declares it."""
    name = type(owner).__name__
    return name if method == "__init__" else f"{name}.{method}"


def _parameter(hint: Any, *, is_needed: bool) -> _Parameter:
    return _Parameter(kind_of(hint), UNDER_TEST in getattr(hint, "__metadata__", ()), is_needed)


def _check_places(known: _Declared, args: tuple[Any, ...], given: Mapping[str, Any]) -> None:
    own = [name for name in known.by_place if name != "self"]
    extra = len(args) - len(known.by_place)
    if extra > 0:
        takes = f"takes only {' and '.join(own)} without a name" if own else "takes keyword arguments only"
        example = next((name for name in known.parameters if name not in known.by_place), "")
        raise ConfigError(f"{known.name}() {takes}" + (f", as in {known.name}({example}=…)" if example else ""))
    if twice := next((name for name in known.by_place[: len(args)] if name in given), ""):
        raise ConfigError(f"{known.name}() got {twice!r} twice, by position and by name")


def _unknown(name: str, known: _Declared, synonyms: Sequence[Collection[str]], elsewhere: Mapping[str, str]) -> str:
    names = [one for one in known.parameters if one != "self"]
    said = f"{known.name}() has no option {name!r}"
    if name in elsewhere:
        return f"{said}: {elsewhere[name]}"
    if meant := nearest(name, names, synonyms):
        return f"{said}; did you mean {meant!r}?"
    return f"{said}; it takes {', '.join(names)}" if names else f"{said}; it takes none"


def _value(known: _Declared, name: str, value: Any) -> Any:
    parameter = known.parameters.get(name)
    if parameter is None:
        return value
    try:
        return parameter.kind.take(value)
    except WrongValueError as wrong:
        advice = "" if value is not None or parameter.is_needed or parameter.is_data else "; omit it for the default"
        message = f"{name} of {known.name}() must be {wrong.expected}, got {wrong.got}{advice}"
    raise _error(parameter)(message)


def _error(parameter: _Parameter) -> type[UserError]:
    return InputError if parameter.is_data else ConfigError

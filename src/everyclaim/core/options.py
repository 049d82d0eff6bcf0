"""What may be said, declared once and checked by one reader: the options of a component, the arguments of a call.

Options are declared as a frozen dataclass, whose defaults hold where nothing is said, or as a `TypedDict`, which then
lacks it. A field's name is the option's key, its annotation says what is allowed. `Annotated` adds a `Range`, a
`Matching`, words for what is expected, and an `Opt` with the help. A field of the type ``Mapping[str, str]`` takes
every ``name.X``. A wrong value in a spec gets the words that it gets in a call from Python.

A function under `validate_call` refuses names it does not have, with the nearest one it has, and values that are not
what its annotations say. Options declared by ``**options: Unpack[SomeTypedDict]`` count like its other parameters.
`UNDER_TEST` marks what is to be judged, of which a wrong value is an `InputError`; everything else is a `ConfigError`.
Where texts are meant, one text is a list of one. What may be given in several forms reaches the function in one:
sequences as tuples, numbers of numpy as Python's.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, wraps
from types import UnionType
from typing import Annotated, Any, Final, ParamSpec, TypeVar, Union, Unpack, cast, get_args, get_origin, get_type_hints

from everyclaim.core.errors import ConfigError, InputError, UserError
from everyclaim.core.kinds import Kind, WrongValueError, described, kind_of
from everyclaim.core.plaintext import nearest
from everyclaim.core.spec import Spec

T = TypeVar("T")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,4})?", re.IGNORECASE)
_TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(frozen=True, slots=True)
class Opt:
    """What people are told of an option, and how the command line has it where its name and type do not say."""

    help: str
    metavar: str = ""
    flag: str = ""  # where it is not the name with hyphens
    panel: str = ""
    kind: Any = None  # what settings and the command line take, where that is less than Python takes
    usual: Any = None  # of settings, where it is not None


def declared_options(declared: Any) -> dict[str, tuple[Any, Opt]]:
    """Return the type and the `Opt` of every option that a TypedDict or a dataclass declares with one."""
    found = {}
    for name, hint in get_type_hints(declared, include_extras=True).items():
        if opt := next((note for note in getattr(hint, "__metadata__", ()) if isinstance(note, Opt)), None):
            found[name] = (hint if opt.kind is None else opt.kind, opt)
    return found


def read(spec: Spec, declared: type[T], owner: str = "") -> T:
    """Return what a spec says, as an instance of what declares its options; see `said_by`."""
    return declared(**said_by(spec, declared, owner))


def said_by(spec: Spec, declared: Any, owner: str = "") -> dict[str, Any]:
    """Return what a spec says of the options that a type, or the keyword-only parameters of a function, declare.

    `owner` is how errors call what is specified. Raises `ConfigError` for an option that is not declared, with the
    nearest that is, and for a value that is not allowed, with what is.
    """
    owner = owner or repr(spec.name)
    annotations = _annotations(declared)
    plain_types = {name: get_args(one)[0] if get_origin(one) is Annotated else one for name, one in annotations.items()}
    families = {name for name, one in plain_types.items() if get_origin(one) is Mapping}
    found: dict[str, Any] = {name: {} for name in families}
    plain = {}
    for key, text in spec.options.items():
        family, dot, member = key.partition(".")
        if dot and member and family in families:
            found[family][member] = text
        else:
            plain[key] = text
    known = [name for name in annotations if name not in families]
    if plain.keys() - set(known):
        Spec(spec.name, "", plain).check_options([*known, *(f"{name}.X" for name in sorted(families))], owner)
    for name, text in plain.items():
        found[name] = _taken(annotations[name], name, text, owner)
    return found


def check_declared(made: Any, owner: str = "") -> None:
    """Hold the values of a dataclass that declares its options against what it declares, however it was made.

    `owner` is how errors call it, if at all. Raises `ConfigError`.
    """
    told = f" of {owner}" if owner else ""
    for name, annotation in _annotations(type(made)).items():
        kind_of(annotation).check(getattr(made, name), f"{name}{told}")


def divided(spec: Spec, *declared: type[Any]) -> tuple[Spec, Spec]:
    """Return a spec with the options that are declared, and one with the rest, which are somebody else's."""
    names = {name for one in declared for name in option_names(one)}
    own = {key: value for key, value in spec.options.items() if key in names}
    rest = {key: value for key, value in spec.options.items() if key not in names}
    return Spec(spec.name, spec.argument, own), Spec(spec.name, spec.argument, rest)


def option_names(declared: type[Any]) -> tuple[str, ...]:
    """Return the keys that are declared, in their order."""
    return tuple(_annotations(declared))


def wrong_value(name: str, owner: str, expected: str, value: object) -> ConfigError:
    """Return the error for a value that is not allowed beside what else is said; `value` is no secret."""
    return ConfigError(f"{name} of {owner} must be {expected}, got {described(value, may_be_shown=True)}")


def _resolved(declared: Any) -> Mapping[str, Any]:
    hints = get_type_hints(declared, include_extras=True)
    if inspect.isfunction(declared):
        parameters = inspect.signature(declared).parameters.values()
        more = next((get_args(hints[one.name])[0] for one in parameters if one.kind is one.VAR_KEYWORD), None)
        own = {one.name: hints[one.name] for one in parameters if one.kind is one.KEYWORD_ONLY}
        return own | (get_type_hints(more, include_extras=True) if more else {})
    return {one.name: hints[one.name] for one in fields(declared)} if is_dataclass(declared) else hints


_annotations: Callable[[Any], Mapping[str, Any]] = cache(_resolved)


def _taken(annotation: Any, name: str, text: str, owner: str) -> Any:
    value = value_of(annotation, text)
    try:
        return kind_of(annotation).take(value)
    except WrongValueError as wrong:
        got = described(text, may_be_shown=True) if wrong.got == "a text" else wrong.got
        message = f"{name} of {owner} must be {wrong.expected}, got {got}"
    raise ConfigError(message)


def value_of(annotation: Any, text: str) -> Any:
    """Return the value that a text stands for; the text itself where it stands for none of the declared type."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return value_of(arguments[0], text)
    if origin in (Union, UnionType):
        return next((value for one in arguments if (value := value_of(one, text)) is not text), text)
    if annotation is int and _WHOLE.fullmatch(text):
        return int(text)
    if annotation is float and _NUMBER.fullmatch(text):
        return float(text)
    if annotation is bool:
        return _TRUTHS.get(text.casefold(), text)
    if origin is tuple:
        return tuple(part.strip() for part in text.split(",")) if text else ()
    return text


P = ParamSpec("P")
R = TypeVar("R")

UNDER_TEST: Final = object()
Text = Annotated[str, UNDER_TEST]
OptionalText = Annotated[str | None, UNDER_TEST]


@dataclass(frozen=True, slots=True)
class _Parameter:
    kind: Kind
    error: type[UserError]  # for a wrong value
    is_needed: bool


@dataclass(frozen=True, slots=True)
class _Declared:
    """What a function declares. `by_place` are the names that may be given without saying them."""

    parameters: Mapping[str, _Parameter]
    by_place: tuple[str, ...]
    is_open: bool  # it takes any other name, too


def validate_call(function: Callable[P, R], *, synonyms: Sequence[Collection[str]] = ()) -> Callable[P, R]:
    """Let a function be called only with names and values that it declares.

    `synonyms` are groups of names for one thing, of which a function has one.
    """
    declared = cache(lambda: _declared(function))

    def checked(args: tuple[Any, ...], given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        __tracebackhide__ = True
        known = declared()
        name = function.__qualname__.rpartition(".<locals>.")[2]
        if known.by_place[:1] == ("self",) and args:  # its class, and not the base that declares the method
            name = f"{type(args[0]).__name__}.{function.__name__}".removesuffix(".__init__")
        _check_names(f"{name}()", known, args, given, synonyms)
        by_place = zip(known.by_place, args, strict=False)
        values = [_value(f"{name}()", known, parameter, value) for parameter, value in by_place]
        named = {parameter: _value(f"{name}()", known, parameter, value) for parameter, value in given.items()}
        for parameter, wanted in known.parameters.items():
            if wanted.is_needed and parameter not in named and parameter not in known.by_place[: len(args)]:
                raise wanted.error(f"{name}() needs {parameter!r}")
        return values, named

    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def waiting(*args: Any, **given: Any) -> Any:
            values, named = checked(args, given)
            return await cast("Any", function)(*values, **named)

        return cast("Callable[P, R]", waiting)

    @wraps(function)
    def calling(*args: Any, **given: Any) -> Any:
        __tracebackhide__ = True  # of a wrong name, pytest shows the call
        values, named = checked(args, given)
        return cast("Any", function)(*values, **named)

    return cast("Callable[P, R]", calling)


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
    return _Declared(found, tuple(by_place), is_open)


def _parameter(hint: Any, *, is_needed: bool) -> _Parameter:
    error = InputError if UNDER_TEST in getattr(hint, "__metadata__", ()) else ConfigError
    return _Parameter(kind_of(hint), error, is_needed)


def _check_names(
    called: str, known: _Declared, args: tuple[Any, ...], given: Mapping[str, Any], synonyms: Sequence[Collection[str]]
) -> None:
    """Refuse names that are not declared or come twice, and more values without a name than may come so."""
    __tracebackhide__ = True
    names = [one for one in known.parameters if one != "self"]
    for name in given:
        if name not in known.parameters and not known.is_open:
            meant = nearest(name, names, synonyms)
            advice = f"did you mean {meant!r}?" if meant else f"it takes {', '.join(names) or 'none'}"
            raise ConfigError(f"{called} has no option {name!r}; {advice}")
    if len(args) > len(known.by_place):
        own = [name for name in known.by_place if name != "self"]
        takes = f"takes only {' and '.join(own)} without a name" if own else "takes keyword arguments only"
        example = next((name for name in known.parameters if name not in known.by_place), "")
        raise ConfigError(f"{called} {takes}" + (f", as in {called[:-1]}{example}=…)" if example else ""))
    if twice := next((name for name in known.by_place[: len(args)] if name in given), ""):
        raise ConfigError(f"{called} got {twice!r} twice, by position and by name")


def _value(called: str, known: _Declared, name: str, value: Any) -> Any:
    parameter = known.parameters.get(name)
    if parameter is None:
        return value
    is_default_meant = value is None and not parameter.is_needed and parameter.error is ConfigError
    hint = "; omit it for the default" if is_default_meant else ""
    return parameter.kind.check(value, f"{name} of {called}", error=parameter.error, hint=hint)

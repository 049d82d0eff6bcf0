"""What can be said of a component, declared once and read from a spec by one reader.

It is declared as a frozen dataclass, whose defaults hold where nothing is said, or as a `TypedDict`, which then lacks
it. A field's name is the option's key, its annotation says what is allowed. `Annotated` adds a `Range`, a `Matching`,
words for what is expected, and an `Opt` with the help. A field of the type ``Mapping[str, str]`` takes every
``name.X``. A wrong value gets the words that it gets in a call from Python.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import WrongValueError, described, kind_of
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
    was: str = ""  # its name in former versions, which is refused with this one


def declared_options(declared: Any) -> dict[str, tuple[Any, Opt]]:
    """Return the type and the `Opt` of every option that a TypedDict or a dataclass declares with one."""
    found = {}
    for name, hint in get_type_hints(declared, include_extras=True).items():
        if opt := next((note for note in getattr(hint, "__metadata__", ()) if isinstance(note, Opt)), None):
            found[name] = (hint if opt.kind is None else opt.kind, opt)
    return found


def read(spec: Spec, declared: type[T], owner: str = "") -> T:
    """Return what a spec says, as an instance of what declares its options.

    `owner` is how errors call what is specified. Raises `ConfigError` for an option that is not declared, with the
    nearest that is, and for a value that is not allowed, with what is.
    """
    owner = owner or repr(spec.name)
    refuse_former_names(spec, declared, owner=owner)
    annotations = _annotations(declared)
    families = {name for name, annotation in annotations.items() if _is_family(annotation)}
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
    return declared(**found)


def check_declared(made: Any, owner: str = "") -> None:
    """Hold the values of a dataclass that declares its options against what it declares, however it was made.

    `owner` is how errors call it, if at all. Raises `ConfigError`.
    """
    told = f" of {owner}" if owner else ""
    for name, annotation in _annotations(type(made)).items():
        value = getattr(made, name)
        try:
            kind_of(annotation).take(value)
        except WrongValueError as wrong:
            raise ConfigError(f"{name}{told} must be {wrong.expected}, got {wrong.got}") from None


def divided(spec: Spec, *declared: type[Any]) -> tuple[Spec, Spec]:
    """Return a spec with the options that are declared, and one with the rest, which are somebody else's.

    Raises `ConfigError` for the former name of one that is declared.
    """
    refuse_former_names(spec, *declared)
    names = {name for one in declared for name in option_names(one)}
    own = {key: value for key, value in spec.options.items() if key in names}
    rest = {key: value for key, value in spec.options.items() if key not in names}
    return Spec(spec.name, spec.argument, own), Spec(spec.name, spec.argument, rest)


def refuse_former_names(spec: Spec, *declared: type[Any], owner: str = "") -> None:
    """Raise `ConfigError` for an option that has another name now, with that name."""
    for one in declared:
        for name, annotation in _annotations(one).items():
            notes = getattr(annotation, "__metadata__", ())
            if old := next((note.was for note in notes if isinstance(note, Opt) and note.was in spec.options), ""):
                raise ConfigError(f"unknown option {old!r} of {owner or repr(spec.name)}: it is now called {name!r}")


def option_names(declared: type[Any]) -> tuple[str, ...]:
    """Return the keys that are declared, in their order."""
    return tuple(_annotations(declared))


def wrong_value(name: str, owner: str, expected: str, value: object) -> ConfigError:
    """Return the error for a value that is not allowed beside what else is said; `value` is no secret."""
    return ConfigError(f"{name} of {owner} must be {expected}, got {described(value, may_be_shown=True)}")


def _annotations(declared: Any) -> Mapping[str, Any]:
    return _resolved(declared)


@cache
def _resolved(declared: Any) -> Mapping[str, Any]:
    hints = get_type_hints(declared, include_extras=True)
    if not is_dataclass(declared):
        return hints
    return {field.name: hints[field.name] for field in fields(declared)}


def _is_family(annotation: Any) -> bool:
    plain = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    return get_origin(plain) is Mapping


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

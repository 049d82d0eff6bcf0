"""Annotations as checks of values: what is expected, in words, and what becomes of a value that fits."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from inspect import isroutine
from numbers import Integral, Real
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from everyclaim.core.errors import ConfigError
from everyclaim.core.plaintext import did_you_mean

By = Literal["stratified", "random", "uncertainty", "allocation"]  # how claims to label are drawn
WAYS: tuple[By, ...] = get_args(By)

_LONGEST = 40  # characters of a word that is repeated in a message
_HUGE = 10**30


class WrongValueError(Exception):
    """A value is not what was declared: `got` describes it without showing what may be a secret."""

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(expected, got)
        self.expected = expected
        self.got = got


@dataclass(frozen=True, slots=True)
class Range:
    """Bounds of a number; every number must be finite besides."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None

    def __contains__(self, value: float) -> bool:
        return (
            (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )

    def __str__(self) -> str:
        if self.least is not None and self.most is not None:
            return f" from {self.least:,} to {self.most:,}"
        bounds = {"of at least": self.least, "above": self.above, "of at most": self.most, "below": self.below}
        return " and".join(f" {name} {bound:,}" for name, bound in bounds.items() if bound is not None)


OpenShare = Annotated[float, Range(above=0, below=1)]


@dataclass(frozen=True, slots=True)
class Matching:
    """A pattern that the whole of a text must match."""

    pattern: str

    def __contains__(self, value: str) -> bool:
        return re.fullmatch(self.pattern, value) is not None

    def __str__(self) -> str:
        return f" like {self.pattern}"


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value must be. `take` returns it as the function gets it, or raises `WrongValueError`."""

    expected: str
    take: Callable[[Any], Any]
    is_text: bool = False

    def check(self, value: Any, place: str, *, error: Callable[[str], Exception] = ConfigError, hint: str = "") -> Any:
        """Return what `take` returns; of a wrong value raise an error that names the place where it was said."""
        try:
            return self.take(value)
        except WrongValueError as wrong:
            message = f"{place} must be {wrong.expected}, got {wrong.got}{hint}"
        raise error(message)


def kind_of(annotation: Any) -> Kind:
    """Return the check that an annotation describes. Raises `TypeError` for one that none is known for."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in (Any, object) or isinstance(annotation, TypeVar):
        return Kind("anything", lambda value: value)
    if origin is Annotated:
        return reduce(_noted, arguments[1:], kind_of(arguments[0]))
    if origin in (Union, UnionType):
        return _union([kind_of(one) for one in arguments])
    if origin is Literal:
        return _choice(arguments)
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    plain = origin or annotation
    if plain is Callable:
        return _tested("a function", lambda value: callable(value) and not isinstance(value, type))
    if plain is os.PathLike:
        return _tested("a path", lambda value: isinstance(value, os.PathLike) and isinstance(os.fspath(value), str))
    if plain is Mapping:
        return _mapping(*(kind_of(one) for one in arguments or (Any, Any)))
    if plain in (Sequence, Iterable):
        return _sequence(kind_of(arguments[0] if arguments else Any))
    if getattr(plain, "_is_protocol", False):
        members = _members(plain)
        shown = f"a {plain.__name__} (an object with {' and '.join(members)})"
        return _tested(shown, lambda value: not isinstance(value, type) and all(hasattr(value, m) for m in members))
    if isinstance(plain, type):
        return _tested(f"a {plain.__name__}", lambda value: isinstance(value, plain))
    raise TypeError(f"no check for the annotation {annotation!r}")


def described(value: Any, *, may_be_shown: bool = False) -> str:
    """Name a value in a message: numbers as they are, of everything else only what it is."""
    if isinstance(value, Integral) and abs(int(value)) >= _HUGE:
        return "a number with many digits"
    if value is None or isinstance(value, bool | Real):
        return repr(value)
    if isinstance(value, str):
        return repr(value) if len(value) <= _LONGEST and (may_be_shown or _is_number(value)) else "a text"
    return _unseen(value)


def _unseen(value: Any) -> str:
    """Name a value only by what it is: even a number may be a secret in a header."""
    if value is None or isinstance(value, str):
        return "None" if value is None else "a text"
    if isroutine(value):
        return "a function"
    if isinstance(value, type):
        return f"the class {value.__name__} itself"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _noted(kind: Kind, note: Any) -> Kind:
    """Narrow a check by what `Annotated` adds: bounds, or words for what is expected; anything else is not about it."""
    if not isinstance(note, str | Range | Matching):
        return kind
    expected = note if isinstance(note, str) else f"{kind.expected}{note}"

    def take(value: Any) -> Any:
        try:
            taken = kind.take(value)
        except WrongValueError as wrong:
            raise WrongValueError(expected, wrong.got) from None
        if not isinstance(note, str) and taken not in note:
            raise WrongValueError(expected, described(value))
        return taken

    return replace(kind, expected=expected, take=take)


def _union(kinds: list[Kind]) -> Kind:
    said = list(dict.fromkeys(kind.expected for kind in kinds if kind is not _NONE))
    expected = " or ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)

    def take(value: Any) -> Any:
        faults: list[tuple[Kind, WrongValueError]] = []
        for kind in kinds:
            try:
                return kind.take(value)
            except WrongValueError as wrong:
                faults.append((kind, wrong))
        usual = described(value)
        fault = WrongValueError(expected, usual)
        for kind, found in faults:
            if found.got != usual:  # this alternative was meant, and something in it is wrong
                fault = WrongValueError(expected if found.expected == kind.expected else found.expected, found.got)
        raise fault

    return Kind(expected, take, is_text=any(kind.is_text for kind in kinds))


def _choice(words: tuple[Any, ...]) -> Kind:
    expected = f"one of {', '.join(map(str, words))}"

    def take(value: Any) -> Any:
        if not isinstance(value, str) or value not in words:
            meant = did_you_mean(value, words) if isinstance(value, str) else ""
            raise WrongValueError(expected, described(value, may_be_shown=True) + meant)
        return value

    return Kind(expected, take)


def _mapping(keys: Kind, values: Kind) -> Kind:
    expected = "a mapping"

    def take(given: Any) -> Any:
        if not isinstance(given, Mapping):
            raise WrongValueError(expected, _unseen(given))
        return {inside(keys, key): inside(values, value) for key, value in given.items()}

    def inside(kind: Kind, part: Any) -> Any:
        try:
            return kind.take(part)
        except WrongValueError as wrong:
            raise WrongValueError(f"{expected} containing {wrong.expected}", f"{_unseen(part)} in it") from None

    return Kind(expected, take)


def _sequence(items: Kind) -> Kind:
    expected = "a list" if items.expected == "anything" else f"a list, each item {items.expected}"

    def take(given: Any) -> Any:
        if isinstance(given, str) and items.is_text:
            return (items.take(given),)
        found = _listed(given)
        if found is None:
            raise WrongValueError(expected, described(given) + (", unordered" if _is_set(given) else ""))
        taken = []
        for place, item in enumerate(found, 1):
            try:
                taken.append(items.take(item))
            except WrongValueError as wrong:
                raise WrongValueError(expected, f"{wrong.got} at place {place}") from None
        return tuple(taken)

    return Kind(expected, take)


def _listed(given: Any) -> Iterable[Any] | None:
    """Return what has an order and is no table, as something to go through once; None for anything else."""
    if isinstance(given, str | bytes | bytearray | memoryview | Mapping) or _is_set(given):
        return None
    if hasattr(given, "columns") or hasattr(given, "column_names"):
        return None
    if isinstance(given, Sequence | Iterator):
        return given
    for name in ("tolist", "to_list", "to_pylist"):  # of numpy, pandas, polars and pyarrow
        if callable(convert := getattr(given, name, None)) and not isinstance(given, type):
            made = convert()
            return made if isinstance(made, list) else None
    return given if isinstance(given, Iterable) and not isinstance(given, type) else None


def _is_set(given: Any) -> bool:
    return isinstance(given, AbstractSet) and not hasattr(given, "mapping")  # views of a mapping keep its order


def _tested(expected: str, fits: Callable[[Any], bool]) -> Kind:
    def take(value: Any) -> Any:
        if not fits(value):
            raise WrongValueError(expected, described(value))
        return value

    return Kind(expected, take)


def _members(protocol: type) -> list[str]:
    parts = [part for part in protocol.__mro__ if getattr(part, "_is_protocol", False)]
    return list(dict.fromkeys(name for part in parts for name in vars(part) if not name.startswith("_")))


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or abs(int(value)) > sys.maxsize:
        raise WrongValueError("a whole number", described(value))
    return int(value)


def _number(value: Any) -> float:
    with suppress(OverflowError):  # an integer that no float can hold
        if not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value):
            return int(value) if isinstance(value, Integral) else float(value)
    raise WrongValueError("a number", described(value))


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if type(value).__module__ == "numpy" and isinstance(item := getattr(value, "item", bool)(), bool):
        return item
    raise WrongValueError("True or False", described(value))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_NONE = _tested("None", lambda value: value is None)
_SCALARS: Mapping[Any, Kind] = {
    None: _NONE,
    type(None): _NONE,
    str: replace(_tested("a text", lambda value: isinstance(value, str)), is_text=True),
    int: Kind("a whole number", _whole),
    float: Kind("a number", _number),
    bool: Kind("True or False", _truth),
}

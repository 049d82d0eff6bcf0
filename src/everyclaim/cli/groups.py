"""Options that belong together, declared once and given to a command as one parameter.

A group is a frozen dataclass. Its fields with a Typer option become the options of the command, in the place of the
parameter that has the dataclass as its type; what people said comes as an instance of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from everyclaim.api.settings import Settings
from everyclaim.cli import options as opt


@dataclass(frozen=True, slots=True)
class Scoring:
    """Who scores, and how."""

    judge: opt.Judge = None
    decomposer: opt.Decomposer = None
    metric: opt.Metric = None
    strategy: opt.Strategy = None
    strict: opt.Strict = None
    empty: opt.Empty = None

    def settings(self, config: opt.Config, **given: Any) -> Settings:
        """Return the settings with this, and what else was given, over them."""
        return opt.settings(config, **asdict(self), **given)


def with_groups(**mappings: Mapping[str, Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options of its groups.

    A parameter that is named in `mappings` stands for these annotations, and comes as a mapping.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        declared = inspect.signature(command, eval_str=True)
        shown: list[Parameter] = []
        makers: dict[str, tuple[Callable[..., Any], list[str]]] = {}
        for name, parameter in declared.parameters.items():
            make: Callable[..., Any] = dict
            options = [_keyword(one, hint, _unsaid(hint)) for one, hint in mappings.get(name, {}).items()]
            if isinstance(parameter.annotation, type) and is_dataclass(parameter.annotation):
                make, options = parameter.annotation, _options_of(parameter.annotation)
            if options:
                makers[name] = make, [one.name for one in options]
            shown += options or [parameter]

        @wraps(command)
        def with_them(**values: Any) -> Any:
            groups = {name: make(**{one: values.pop(one) for one in names}) for name, (make, names) in makers.items()}
            return command(**values, **groups)

        with_them.__signature__ = declared.replace(parameters=shown)  # type: ignore[attr-defined]  # where Typer looks
        with_them.__annotations__ = {one.name: one.annotation for one in shown}
        return with_them

    return decorate


def _options_of(group: Any) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        _keyword(field.name, hints[field.name], field.default)
        for field in fields(group)
        if get_origin(hints[field.name]) is Annotated
    ]


def _keyword(name: str, hint: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _unsaid(hint: Any) -> Any:
    return False if get_args(hint)[0] is bool else None

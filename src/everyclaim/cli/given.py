"""What a command line says of what can also be set for a project, and how commands come by the rest of it.

A command names the settings that it has: ``@with_settings("judge", "store", models=Judging)``. They become options, and
what is given of them comes to its parameter of the type `Given`. A parameter of a dataclass type stands for the options
that its fields are.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, get_origin, get_type_hints

from everyclaim.api.evaluator import Evaluator
from everyclaim.api.settings import Settings, find_settings_file, flag_of, load_settings
from everyclaim.api.talking import (
    DEFAULT_STORE,
    LIMITS,
    MODELS,
    OFF,
    SIZES,
    Reaching,
    batches_beside,
    cache_beside,
    refuse,
    unused,
)
from everyclaim.cli.options import declared, option, pairs
from everyclaim.core.errors import BudgetExceeded, ConfigError
from everyclaim.core.options import declared_options
from everyclaim.core.spec import Spec
from everyclaim.io import check_apart
from everyclaim.models.chat.keys import keys_file

SCORING = ("judge", "decomposer", "metric", "strategy", "strict", "empty")
GATE = (
    "fail_under", "fail_answer_under", "max_contradicted", "max_unsupported", "max_unread", "min_citation_precision",
    "min_citation_recall", "fail_on_regression", "margin", "max_failed", "confident",
)  # fmt: skip
FILES = ("rubric", "judge_prompt", "split_prompt", "prices")
_NO_CACHE = Annotated[
    bool | None, option("--no-cache", "Keep no replies and use none.", LIMITS, show_default=False, hidden=True)
]
_CONFIG = Annotated[Path | None, option("--config FILE", "Settings file instead of the nearest everyclaim.toml.")]


@dataclass(frozen=True, slots=True)
class Given:
    """What was given of the options that are settings, by name; what was not given is not in it."""

    values: Mapping[str, Any]
    config: Path | None = None

    def settings(self) -> Settings:
        """Return the settings with what was given over them. Raises `ConfigError` for what contradicts itself."""
        given = dict(self.values)
        if given.pop("no_cache", False):
            if "cache" in given:
                raise ConfigError("--cache and --no-cache exclude each other")
            given["cache"] = OFF
        if "map" in given:
            given["map"] = pairs(given["map"])
        if "headers" in given:
            given["headers"] = dict(_header(text) for text in given["headers"])
        return load_settings(self.config, **given)

    def check_use(self, judge: str | None, *others: str | None, metric: str | None = None) -> None:
        """Refuse an option about language models where there is none for it: it would do nothing."""
        no_cache = self.values.get("no_cache")
        said = {**self.values, **({"cache": "no"} if no_cache else {})}
        for name in unused(said, judge, *others, metric=metric):
            flag = "--no-cache" if name == "cache" and no_cache else flag_of(name)
            raise refuse(flag, judge, *others, example="--judge openai:…" if judge else "--decomposer openai:…")

    def check_files(self, settings: Settings, inputs: Sequence[str], outputs: Mapping[str, Any]) -> None:
        """Refuse to write over anything that the command reads. `outputs` are beside the cache and the batches."""
        first = "the input" if len(inputs) == 1 else ""
        reads: dict[str, Any] = {first or f"input {n}": one for n, one in enumerate(inputs, 1)}
        reads["the settings file"] = self.config or find_settings_file()
        reads |= {flag_of(name): getattr(settings, name) for name in FILES}
        reads["the keys file"] = keys_file()
        for kind in ("metric", "judge", "decomposer"):
            reads |= {f"the {kind}'s {path}": path for path in _files_in(getattr(settings, kind))}
        cache = settings.cache or cache_beside(settings.store, DEFAULT_STORE)
        batches = batches_beside(settings.store, DEFAULT_STORE) if settings.provider_batch else None
        written = {"the cache": None if cache == OFF else cache, "the file of batches": batches}
        check_apart(reads, written | dict(outputs))


def with_settings(
    *names: str, models: type[Reaching] | None = None, **others: Mapping[str, Any]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command these settings as options, and those of such language models, and `--config`.

    A parameter that is named in `others` stands for the options with these annotations, and comes as a mapping.
    """
    options: dict[str, Any] = {name: declared(name) for name in names}
    for panel in (MODELS, LIMITS, SIZES) if models else ():
        for name, (_, said) in declared_options(models).items():
            if (said.panel or MODELS) == panel and name != "provider_batch":  # that is for runs alone
                options[name] = declared(name)
            if name == "cache" and panel == LIMITS:
                options["no_cache"] = _NO_CACHE

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(command, eval_str=True)
        shown: list[Parameter] = []
        groups: dict[str, tuple[type, list[str]]] = {}
        for name, parameter in signature.parameters.items():
            kind = parameter.annotation
            declarations = options if kind is Given else others.get(name, {})
            group = [_keyword(one, hint, None) for one, hint in declarations.items()] or _options_of(kind)
            kind = dict if name in others else kind
            if group:
                groups[name] = kind, [one.name for one in group]
            shown += group or [parameter]
        shown.append(_keyword("config", _CONFIG, None))

        @wraps(command)
        def with_them(config: Path | None, **values: Any) -> Any:
            for name, (kind, members) in groups.items():
                said = {one: values.pop(one) for one in members}
                values[name] = Given(_only_given(said), config) if kind is Given else kind(**said)
            return command(**values)

        with_them.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]  # where Typer looks
        with_them.__annotations__ = {one.name: one.annotation for one in shown}
        return with_them

    return decorate


def _options_of(kind: Any) -> list[Parameter]:
    if not (isinstance(kind, type) and is_dataclass(kind)):
        return []
    hints = get_type_hints(kind, include_extras=True)
    own = [field for field in fields(kind) if get_origin(hints[field.name]) is Annotated]
    return [_keyword(field.name, hints[field.name], field.default) for field in own]


def _keyword(name: str, hint: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _only_given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None and value != []}


def _files_in(text: str | None) -> list[str]:
    """Return the files that a spec names: rules of a domain, a corpus."""
    spec = Spec.parse(text) if text else Spec("none")
    named = [spec.argument, *spec.options.values()]
    # Not by `Path`, which refuses to look at what is too long for a name.
    return [path for value in named for path in (value, value.partition(":")[2]) if os.path.isfile(path)]  # noqa: PTH113


def why_it_stopped(stop: BudgetExceeded, evaluator: Evaluator) -> str:
    """Say which limit was reached and what was used in all, what was under way then among it."""
    return f"stopped at {stop.limit}; used: {evaluator.spent}" if stop.limit and evaluator.spent else str(stop)


def _header(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (name and separator and value):
        # The text may hold a secret, so it is not repeated.
        raise ConfigError("--header: write the header's name, an equals sign and its value, as in 'X-Team=$TEAM_TOKEN'")
    return name, value

"""Options about language models, and about sizes: by the same names for every command that may talk to one.

A command takes them as one mapping, `talking`, and is wrapped with `with_talking` and the kind of options it has:
those of any language model (`Reaching`), of one that judges (`Judging`), or all (`Talking`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

from everyclaim.api.evaluator import Evaluator
from everyclaim.api.settings import Settings, find_settings_file
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
from everyclaim.cli import options as opt
from everyclaim.cli.groups import Scoring, with_groups
from everyclaim.core.errors import BudgetExceeded, ConfigError
from everyclaim.core.options import declared_options, option_names
from everyclaim.core.spec import Spec
from everyclaim.io import check_apart
from everyclaim.models.chat.keys import keys_file

T = TypeVar("T", bound=Reaching)


FILES = ("rubric", "judge_prompt", "split_prompt")


def _named_files(settings: Settings) -> dict[str, str | None]:
    return {f"--{name.replace('_', '-')}": getattr(settings, name) for name in FILES}


_NO_CACHE = opt.option("--no-cache", "Keep no replies and use none.", LIMITS, show_default=False, hidden=True)


def _made(kind: type[Reaching]) -> dict[str, Any]:
    """Return the options of a command that may talk to such models, as they are declared."""
    found = {}
    for panel in (MODELS, LIMITS, SIZES):
        for name, (_, said) in declared_options(kind).items():
            if (said.panel or MODELS) == panel and name != "provider_batch":  # that is for runs alone
                found[name] = opt.declared(name)
            if name == "cache" and panel == LIMITS:
                found["no_cache"] = Annotated[bool, _NO_CACHE]
    return found


def with_talking(kind: type[Reaching]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options of this kind, in place of its parameter `talking`, and those of its other groups."""
    return with_groups(talking=_made(kind))


def as_settings(talking: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given as settings; raises `ConfigError` for what contradicts itself."""
    given = {name: value for name, value in talking.items() if _is_given(value)}
    if given.pop("no_cache", False):
        if "cache" in given:
            raise ConfigError("--cache and --no-cache exclude each other")
        given["cache"] = OFF
    if "headers" in given:
        given["headers"] = dict(_header(text) for text in given["headers"])
    for name in FILES:
        if name in given:
            given[name] = str(Path(given[name]))
    return given


def check_use(talking: Mapping[str, Any], judge: str | None, *others: str | None, metric: str | None = None) -> None:
    """Refuse an option on the command line about language models where there is none for it: it would do nothing."""
    cache = talking.get("cache") or talking.get("no_cache")
    said = {**talking, "cache": cache, "provider_batch": talking.get("batch")}
    shown = {"headers": "--header", "provider_batch": "--batch"}
    if not talking.get("cache"):
        shown["cache"] = "--no-cache"
    for name in unused(said, judge, *others, metric=metric):
        option = shown.get(name, f"--{name.replace('_', '-')}")
        raise refuse(option, judge, *others, example="--judge openai:…" if judge else "--decomposer openai:…")


def chosen(kind: type[T], settings: Settings, judge: str | None, decomposer: str | None = None) -> T:
    """Return what is set about language models of this kind, for these components, with the cache beside the store.

    Settings are for whichever command has a use for them, so what would do nothing is left out. Batches are for runs
    alone, see `for_evaluator`: whoever waits for one answer must not wait for hours.
    """
    found = _set(settings)
    idle = unused(found, judge, decomposer)
    wanted = [name for name in kind.__annotations__ if name not in {*idle, "provider_batch"}]
    return cast("T", {name: found[name] for name in wanted if name in found})


def for_evaluator(settings: Settings, *, in_batches: bool = True) -> dict[str, Any]:
    """Return what an evaluator of runs is made with; the batches are beside the store where they are wanted."""
    found = _set(settings)
    idle = unused(found, settings.judge, settings.decomposer, metric=settings.metric)
    talking = {name: value for name, value in found.items() if name not in idle}
    if not in_batches:
        talking.pop("provider_batch", None)
    return {name: getattr(settings, name) for name in (*option_names(Scoring), "observe")} | talking


def check_files(settings: Settings, config: Path | None, inputs: Sequence[str], outputs: Mapping[str, Any]) -> None:
    """Refuse to write over anything that the command reads. `outputs` are beside the cache and the file of batches."""
    reads: dict[str, Any] = {"the input" if len(inputs) == 1 else f"input {n}": one for n, one in enumerate(inputs, 1)}
    reads |= {"the settings file": config or find_settings_file(), **_named_files(settings)}
    reads |= {"--prices": settings.prices, "the keys file": keys_file()}
    for kind in ("metric", "judge", "decomposer"):
        reads |= {f"the {kind}'s {path}": path for path in _files_in(getattr(settings, kind))}
    talking = _set(settings)
    written = {"the cache": talking.get("cache"), "the file of batches": talking.get("provider_batch")}
    check_apart(reads, {name: path for name, path in written.items() if path != OFF} | dict(outputs))


def _files_in(text: str | None) -> list[str]:
    """Return the files that a spec names: rules of a domain, a corpus."""
    spec = Spec.parse(text) if text else Spec("none")
    named = [spec.argument, *spec.options.values()]
    # Not by `Path`, which refuses to look at what is too long for a name.
    return [path for value in named for path in (value, value.partition(":")[2]) if os.path.isfile(path)]  # noqa: PTH113


def _set(settings: Settings) -> dict[str, Any]:
    found: dict[str, Any] = {"cache": cache_beside(settings.store, DEFAULT_STORE), **settings.talking}
    if settings.provider_batch:
        found["provider_batch"] = batches_beside(settings.store, DEFAULT_STORE)
    return found


def _is_given(value: Any) -> bool:
    return value is not None and value is not False and value != []


def why_it_stopped(stop: BudgetExceeded, evaluator: Evaluator) -> str:
    """Say which limit was reached and what was used in all, what was under way then among it."""
    return f"stopped at {stop.limit}; used: {evaluator.spent}" if stop.limit and evaluator.spent else str(stop)


def _header(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (name and separator and value):
        # The text may hold a secret, so it is not repeated.
        raise ConfigError("--header: write the header's name, an equals sign and its value, as in 'X-Team=$TEAM_TOKEN'")
    return name, value

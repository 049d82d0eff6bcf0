"""Options of commands: settings are declared with the project, others here; what is given comes as `Given`."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

import typer
from typer.models import OptionInfo

from everyclaim.api.options import LIMITS, MODELS, OFF, SIZES, LlmAccessOptions, LlmOptions
from everyclaim.api.settings import DECLARED, Settings, find_settings_file, flag_of, load_settings, taken
from everyclaim.api.specs import BATCHES, REPLIES, beside
from everyclaim.core.errors import BudgetExceeded, ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.options import Opt, declared_options
from everyclaim.core.spec import Spec
from everyclaim.io import MARKDOWN, TEST_SUITE, check_apart, check_format, check_replaced
from everyclaim.io.fields import CLAIM_FIELDS, LABEL_FIELDS, SAMPLE_FIELDS
from everyclaim.models.chat.providers import keys_file

_INPUT, _OUTPUT = "Input", "Output"
_OF_MODELS = {*LlmOptions.__annotations__} - {"base_url", "max_cost", "provider_batch"}
_RARE = _OF_MODELS | {  # not in the help
    "strategy", "empty", "fail_answer_under", "min_probability", "max_unread", "min_citation_precision",
    "min_citation_recall", "observe",
}  # fmt: skip


def option(names: str, text: str, panel: str = "", metavar: str = "", **more: Any) -> Any:
    """Return an option: its `names` with what stands for its value, as in ``--out FILE``, and its help."""
    *flags, last = names.split()
    flags, metavar = ([*flags, last], metavar) if last.startswith("-") else (flags, last)
    return typer.Option(*flags, metavar=metavar or None, help=text, rich_help_panel=panel or None, **more)


def argument(metavar: str, text: str) -> Any:
    """Return an argument: what stands for it, and its help."""
    return typer.Argument(metavar=metavar, help=text)


def declared(name: str) -> Any:
    """Return the annotation of a parameter of a command, as the setting of this name is declared."""
    kind, opt = DECLARED[name]
    return _parameter(name, kind, opt, opt.panel or MODELS, show_default=False, hidden=name in _RARE)


def _parameter(name: str, kind: Any, opt: Opt, panel: str, **more: Any) -> Any:
    parts = list(_parts(kind))
    is_list = Mapping in parts or Sequence in parts
    plain: Any = list[str] if is_list else next((one for one in (bool, int, float, Path) if one in parts), str)
    words = "|".join(part for part in parts if isinstance(part, str))
    least = next((part.least for part in parts if isinstance(part, Range)), None)
    metavar = opt.metavar or words or ("" if plain is bool else "N")
    more |= {"min": least} if plain is int else {}  # of other numbers the declared bounds are told
    return Annotated[plain | None, option(opt.flag or flag_of(name), opt.help, panel, metavar, **more)]


def _parts(hint: Any) -> Iterator[Any]:
    """Yield the types in a type, the words of a choice and the notes of annotations."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        yield from arguments
    elif origin is Annotated:
        yield from _parts(arguments[0])
        yield from (note for note in arguments[1:] if not isinstance(note, str))
    else:
        yield origin or hint
        for one in arguments:
            yield from _parts(one)


def _countable(number: int | None) -> int | None:
    return number and min(number, sys.maxsize)  # nothing counts further


def _hidden(names: str, text: str, panel: str = _INPUT) -> Any:
    return Annotated[str | None, option(names, text, panel, hidden=True)]


FieldMap = declared("map")
Format = _hidden("--format FORMAT", "Input format, if the file name does not show it.")
Turns = _hidden("--turns last|all", "Answers of a conversation to score: the last, or all (default last).")
History = _hidden("--history context|evidence", "Use of earlier turns: context, or evidence as well (default context).")
Limit = Annotated[int | None, option("--limit N", "Maximum number of rows.", _INPUT, min=1, callback=_countable)]
Out = Annotated[
    str | None,
    option("--out FILE", "Write every result: JSONL, JSON, CSV or Parquet by suffix; - is JSONL on stdout.", _OUTPUT),
]
Json = Annotated[bool, option("--json", "Print JSON on stdout instead of text.", _OUTPUT)]
Quiet = Annotated[bool, option("--quiet -q", "Print only errors, and the gate unless it passes.", _OUTPUT)]


def pairs(
    given: Sequence[str] | None,
    name: str = "--map",
    told: str = "field of the file, an equals sign, field of everyclaim, as in answer_text=response",
    *,
    shown: bool = True,
) -> dict[str, str]:
    """Take ``theirs=ours`` apart. Raises `ConfigError` for what has no two sides; it is `shown` if no secret."""
    taken = {}
    for text in given or ():
        theirs, separator, ours = text.partition("=")
        if not (theirs and separator and ours):
            raise ConfigError(f"{name}{f' {text}' if shown else ''}: write {told}")
        taken[theirs] = ours
    return taken


SCORING = ("judge", "decomposer", "metric", "strategy", "strict", "empty")
GATE = (
    "fail_under", "fail_answer_under", "min_probability", "max_contradicted", "max_unsupported", "max_unread",
    "min_citation_precision", "min_citation_recall", "fail_on_regression", "margin", "max_failed", "confident",
)  # fmt: skip
FILES = ("rubric", "judge_prompt", "split_prompt", "prices")
_NO_CACHE = Annotated[
    bool | None, option("--no-cache", "Disable the reply cache.", LIMITS, show_default=False, hidden=True)
]
_CONFIG = Annotated[Path | None, option("--config FILE", "Settings file instead of the nearest everyclaim.toml.")]


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """What is to be written and shown of a run."""

    out: Out = None
    report: Annotated[
        str | None,
        option(
            "--report FILE", "Write a report: .html with every answer, .json with summary and worst answers.", _OUTPUT
        ),
    ] = None
    junit: Annotated[
        str | None, option("--junit FILE", "Write JUnit XML: one case per answer, plus the gate.", _OUTPUT)
    ] = None
    markdown: Annotated[
        str | None, option("--markdown FILE", "Write Markdown: gate, rates and worst answers.", _OUTPUT, hidden=True)
    ] = None
    github: Annotated[bool, option("--github", "Print GitHub annotations: gate and worst answers.", _OUTPUT)] = False
    worst: Annotated[int, option("--worst N", "Number of worst answers to show.", _OUTPUT, min=0)] = 5
    json: Json = False
    quiet: Quiet = False

    def check(self) -> None:
        """Refuse what cannot be done before anything is scored."""
        from everyclaim.api.runs import kind_of_report

        piped = ["--json"] * self.json + [f"{name} -" for name, place in self.files.items() if place == "-"]
        if len(piped) > 1:
            raise ConfigError(f"{piped[0]} and {piped[1]} would both write to standard output: choose one")
        if self.report is not None:
            kind_of_report(self.report)
        for name, place in self.files.items():
            check_destination(name, place, any_name=name != "--out")
        if self.github and (self.json or "-" in (self.out, self.junit, self.markdown)):
            raise ConfigError("--github writes annotations to standard output, which another option already uses")

    def check_replaced(self) -> None:
        """Refuse to write over what is none of ours; of what is read `check_apart` tells better."""
        from everyclaim.api.runs import kind_of_report

        kinds = {"--junit": TEST_SUITE, "--markdown": MARKDOWN}
        for name, place in self.files.items():
            if place is not None:
                check_replaced(place, kind_of_report(place) if name == "--report" else kinds.get(name))

    @property
    def outputs(self) -> dict[str, str | None]:
        """What is written, by what it is; standard output is written whatever is asked for."""
        files = {name: None if place == "-" else place for name, place in self.files.items()}
        return {"standard output": "-"} | files

    @property
    def files(self) -> dict[str, str | None]:
        """The files that are asked for, by their options."""
        return {"--out": self.out, "--report": self.report, "--junit": self.junit, "--markdown": self.markdown}


@dataclass(frozen=True, slots=True)
class Given:
    """What was given of the options that are settings, by name; what was not given is not in it."""

    values: Mapping[str, Any]
    config: Path | None = None

    def settings(self, rows: Mapping[str, tuple[str, ...]] = SAMPLE_FIELDS) -> Settings:
        """Return the settings with what was given over them. Raises `ConfigError` for what contradicts itself.

        A project's mapping that names a field which `rows` do not have is for other rows and left out.
        """
        given = dict(self.values)
        if given.pop("no_cache", False):
            if "cache" in given:
                raise ConfigError("--cache and --no-cache exclude each other")
            given["cache"] = OFF
        if "map" in given:
            given["map"] = pairs(given["map"])
        if "headers" in given:
            given["headers"] = pairs(
                given["headers"], "--header", "NAME=VALUE, as in 'X-Team=$TEAM_TOKEN'", shown=False
            )
        settings = load_settings(self.config, **given)
        known = set[str]().union(*SAMPLE_FIELDS.values(), *CLAIM_FIELDS.values(), *LABEL_FIELDS.values())
        if "map" not in given and known.difference(*rows.values()).intersection(settings.map.values()):
            settings.map = {}
        return settings

    def check_files(self, settings: Settings, inputs: Sequence[str], outputs: Mapping[str, Any]) -> None:
        """Refuse to write over anything that the command reads. `outputs` are beside the cache and the batches."""
        first = "the input" if len(inputs) == 1 else ""
        reads: dict[str, Any] = {first or f"input {n}": one for n, one in enumerate(inputs, 1)}
        reads["the settings file"] = self.config or find_settings_file()
        reads |= {flag_of(name): getattr(settings, name) for name in FILES}
        reads["the keys file"] = keys_file()
        for kind in ("metric", "judge", "decomposer"):
            reads |= {f"the {kind}'s {path}": path for path in _files_in(getattr(settings, kind))}
        cache = settings.cache or beside(settings.store, REPLIES)
        batches = beside(settings.store, BATCHES) if settings.provider_batch else None
        written = {"the cache": None if cache == OFF else cache, "the file of batches": batches}
        check_apart(reads, written | dict(outputs))


def check_destination(option: str, path: str | None, *, any_name: bool = False) -> None:
    """Refuse a file that could not be written. Hours of scoring should not end in a wrong name."""
    if path is None or path == "-":
        return
    try:
        if not any_name:
            check_format(path)
    except ConfigError as error:
        raise ConfigError(f"{option} {path}: {error}") from None
    place = Path(os.path.realpath(path))  # where a link leads is where it is written
    if not place.parent.is_dir():
        raise ConfigError(f"{option} {path}: there is no folder {place.parent}")
    # A file is written beside its place and renamed, a device directly; one that is protected stays as it is.
    needed = [place] if place.exists() else []
    if place.is_file() or not needed:
        needed.append(place.parent)
    if place.is_dir() or not all(os.access(one, os.W_OK) for one in needed):
        raise ConfigError(f"{option} {path}: not writable")


def with_settings(
    *names: str, models: type[LlmAccessOptions] | None = None, **others: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command these settings as options, and those of such language models, and `--config`.

    A parameter that is named in `others` stands for the options that a TypedDict declares, settings aside, and comes as
    a mapping of those that were given.
    """
    settings: dict[str, Any] = {name: declared(name) for name in names}
    for panel in (MODELS, LIMITS, SIZES) if models else ():
        for name, (_, said) in declared_options(models).items():
            if (said.panel or MODELS) == panel and name != "provider_batch":  # that is for runs alone
                settings[name] = declared(name)
            if name == "cache" and panel == LIMITS:
                settings["no_cache"] = _NO_CACHE

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(command, eval_str=True)
        shown: list[Parameter] = []
        groups: dict[str, tuple[Any, list[str]]] = {}
        for name, parameter in signature.parameters.items():
            kind = others.get(name, parameter.annotation)
            group = (
                [_keyword(one, hint, None) for one, hint in settings.items()] if kind is Given else _options_of(kind)
            )
            if group:
                groups[name] = kind, [one.name for one in group]
            shown += group or [parameter]
        shown.append(_keyword("config", _CONFIG, None))

        @wraps(command)
        def with_them(config: Path | None, **values: Any) -> Any:
            for name, (kind, members) in groups.items():
                said = {one: values.pop(one) for one in members}
                if kind is Given:
                    values[name] = Given(only_given(said), config)
                else:
                    values[name] = _checked(only_given(said), kind) if name in others else kind(**said)
            return command(**values)

        with_them.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]  # where Typer looks
        with_them.__annotations__ = {one.name: one.annotation for one in shown}
        return with_them

    return decorate


def _options_of(kind: Any) -> list[Parameter]:
    """Return the parameters for the options that a dataclass or a TypedDict declares."""
    if not (is_dataclass(kind) or is_typeddict(kind)):
        return []
    own = {field.name: field.default for field in fields(kind)} if is_dataclass(kind) else {}
    hints = get_type_hints(kind, include_extras=True)
    for name, (hint, opt) in declared_options(kind).items():
        if own:
            hints[name] = _parameter(name, hint, opt, opt.panel)
        elif name not in DECLARED:
            hints[name] = _parameter(name, hint, opt, opt.panel, show_default=False)
    return [
        _keyword(name, hint, own.get(name))
        for name, hint in hints.items()
        if isinstance(getattr(hint, "__metadata__", "-")[-1], OptionInfo)
    ]


def _checked(given: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    """Return options as they are declared. Raises `ConfigError` that names the option with a wrong value."""
    known = declared_options(kind)
    return {name: taken(value, *known[name], flag_of(name, known[name][1])) for name, value in given.items()}


def _keyword(name: str, hint: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def only_given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in values.items() if value is not None and value != []}


def _files_in(text: str | None) -> list[str]:
    """Return the files that a spec names: rules of a domain, a corpus."""
    spec = Spec.parse(text) if text else Spec("none")
    named = [spec.argument, *spec.options.values()]
    # Not by `Path`, which refuses to look at what is too long for a name.
    return [path for value in named for path in (value, value.partition(":")[2]) if os.path.isfile(path)]  # noqa: PTH113


def why_it_stopped(stop: BudgetExceeded, spent: str) -> str:
    """Say which limit was reached and what was used in all, what was under way then among it."""
    return f"stopped at {stop.limit}; used: {spent}" if stop.limit and spent else str(stop)

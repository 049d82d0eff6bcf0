"""Settings: `everyclaim.toml` found upward from the working directory, then `EVERYCLAIM_*` variables over it.

Whatever a call or a command-line option says goes over both. Lists and tables in variables are JSON:
``EVERYCLAIM_SLICES='["source"]'``.
"""

from __future__ import annotations

import difflib
import json
import logging
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Union, cast, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from everyclaim.api.components import InFlight, Options
from everyclaim.api.talking import DEFAULT_STORE, Share, Talking, cache_beside, unused
from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.nearest import did_you_mean
from everyclaim.core.options import Opt, declared_options

FILE_NAME = "everyclaim.toml"
PREFIX = "EVERYCLAIM_"
GATE = "Gate"
_TYPO = 0.92  # how alike two variables are, of which one is the other mistyped
_ADDRESS = re.compile(r"base_url=([^&;,]+)")  # within a spec
_logger = logging.getLogger(__name__)
_MAY_HOLD_SECRETS = frozenset(
    {"base_url", "headers", "judge", "decomposer", "metric", "store"}
)  # not repeated in errors


SHARES = ("fail_under", "fail_answer_under", "max_contradicted", "max_unsupported", "margin", "max_failed")
_AS_JSON = {"slices": '["domain"]', "map": '{"answer_text": "response"}', "headers": '{"X-Team": "$TEAM"}'}


class ProjectOptions(TypedDict, total=False):
    """What can be set for a project, beside what can be chosen about a score."""

    map: Annotated[
        Mapping[str, str],
        Opt("Field of the file = field of everyclaim. Repeatable.", "THEIRS=OURS", panel="Input"),
    ]
    slices: Annotated[
        list[str],
        Opt(
            "Report by the values of this tag, by auto, or by a cut TAG+TAG. Repeatable.",
            "TAG",
            flag="--slice",
            panel="Output",
        ),
    ]
    fail_under: Annotated[Share | None, Opt("Exit with 1 when the mean is below.", "SCORE", panel=GATE)]
    fail_answer_under: Annotated[Share | None, Opt("Exit with 1 when any answer scores less.", "SCORE", panel=GATE)]
    max_contradicted: Annotated[
        Share | None, Opt("Exit with 1 when more of the claims are contradicted.", "SHARE", panel=GATE)
    ]
    max_unsupported: Annotated[
        Share | None, Opt("Exit with 1 when more of the claims are unsupported.", "SHARE", panel=GATE)
    ]
    fail_on_regression: Annotated[
        str | None, Opt("Exit with 1 when shown to be worse than this run, 4 when unknown.", "RUN", panel=GATE)
    ]
    margin: Annotated[Share | None, Opt("Allowed drop against that run (0.03 = 3 points).", "SHARE", panel=GATE)]
    max_failed: Annotated[
        Share,
        Opt("Exit with 3 when a larger share failed or could not be read (0.05).", "SHARE", panel=GATE, usual=0.05),
    ]
    confident: Annotated[
        bool,
        Opt("Exit with 4 when the 95 % interval contains the threshold.", flag="--require-significance", panel=GATE),
    ]
    store: Annotated[str, Opt("Where runs are stored.", "PATH|URL", panel="Run", usual=DEFAULT_STORE)]
    concurrency: Annotated[
        InFlight | None, Opt("Samples in flight (8; language models 32, batches 5000).", panel="Run")
    ]


DECLARED = declared_options(Options) | declared_options(ProjectOptions)
FLAGS = {name: opt.flag.partition("/")[0] for name, (_, opt) in DECLARED.items() if opt.flag}


def _fields() -> dict[str, Any]:
    """Return the settings as they are declared, with the defaults that hold where nothing is said."""
    fields: dict[str, Any] = {}
    for name, (kind, opt) in DECLARED.items():
        plain = _plain(kind)
        make = get_origin(plain)
        usual = {bool: False}.get(plain, opt.usual)
        fields[name] = Annotated[plain, Field(default_factory=make) if make in {dict, list} else Field(default=usual)]
    return fields


def _plain(hint: Any) -> Any:
    """Return a type as pydantic checks it."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        bounds = next((note for note in arguments[1:] if isinstance(note, Range)), None)
        inner = _plain(arguments[0])
        return Annotated[inner, Field(ge=bounds.least, le=bounds.most, gt=bounds.above)] if bounds else inner
    if origin is Mapping:
        return dict[str, str]
    if origin in (Union, UnionType):
        members = [_plain(one) for one in arguments]
        return next((one for one in members if get_origin(one) is dict), Union[tuple(members)])  # noqa: UP007 - made
    return hint


class Settings(BaseSettings):
    """Everything that can be set once for a project."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid")

    __annotations__ = _fields()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @property
    def talking(self) -> Talking:
        """What is set about language models and sizes."""
        chosen = {name: value for name in Talking.__annotations__ if (value := getattr(self, name)) not in (None, {})}
        return cast("Talking", chosen)


def options_of(settings: Settings) -> Options:
    """Return what is set about scoring single answers, as an `Evaluator` takes it; replies are kept beside the store.

    What is set for language models does nothing, and is left out, where none judges or splits.
    """
    named = {name: getattr(settings, name, None) for name in Options.__annotations__ if name != "provider_batch"}
    said = {name: value for name, value in named.items() if value is not None and value is not False and value != {}}
    found = {"cache": cache_beside(settings.store, DEFAULT_STORE), **said}
    idle = unused(found, settings.judge, settings.decomposer, metric=settings.metric)
    return cast("Options", {name: value for name, value in found.items() if name not in idle})


def find_settings_file(start: Path | None = None, *, warn: bool = False) -> Path | None:
    """Return the nearest `everyclaim.toml` in `start` (the working directory) or above it, up to the project's root.

    The root is the nearest folder with `.git`, or without one `start` itself. A file that somebody else owns or that
    everybody may write to is passed over: it says where requests and keys go.
    """
    folder = (start or Path.cwd()).resolve()
    above = [folder, *folder.parents]
    root = next((place for place in above if (place / ".git").exists()), folder)
    for place in above[: above.index(root) + 1]:
        if (file := place / FILE_NAME).is_file():
            if not (fault := _distrust(file)):
                return file
            if warn:
                _logger.warning("%s is not read, as %s: name it with --config if you trust it", file, fault)
    return None


def _distrust(file: Path) -> str:
    if os.name != "posix":
        return ""
    state = file.stat()
    if state.st_uid not in (os.getuid(), 0):
        return "it belongs to another user"
    return "everybody may write to it" if state.st_mode & stat.S_IWOTH else ""


def _tell_of_addresses(rows: Mapping[str, Any], settings: Settings, file: Path) -> None:
    """Name the hosts that requests, with their keys, go to because a settings file says so that nobody named."""
    specs = (
        rows[name]
        for name in ("judge", "decomposer", "metric")
        if name in rows and rows[name] == getattr(settings, name)
    )
    places = [found for spec in specs if isinstance(spec, str) for found in _ADDRESS.findall(spec)]
    if rows.get("base_url") and rows["base_url"] == settings.base_url:
        places.append(settings.base_url)
    for host in dict.fromkeys(urlsplit(place).hostname for place in places):
        if host not in (None, "localhost", "127.0.0.1", "::1"):
            _logger.warning("requests and their API key go to %s, as %s says", host, file)


def load_settings(file: Path | None = None, **given: Any) -> Settings:
    """Read the settings; `given` goes over file and variables, its None values count as not given.

    Raises `ConfigError` naming the setting and the value that is wrong.
    """
    found = None if file else find_settings_file(warn=True)
    source = file or found
    if typos := mistyped_variables():
        variable, meant = next(iter(typos.items()))
        raise ConfigError(f"unknown setting {variable} in the environment; did you mean {meant!r}?")
    if file and not file.is_file():
        raise ConfigError(f"no settings file at {file}")
    rows = _read(source) if source else {}
    said = {key: value for key, value in given.items() if value is not None}

    class FromFile(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  (the signature is given)
            file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            """Read arguments, then variables, then the file; `.env` files are never read."""
            return init_settings, env_settings, InitSettingsSource(settings_cls, rows)

    try:
        settings = FromFile(**said)
    except SettingsError:
        raise ConfigError(_no_json()) from None
    except ValidationError as error:
        raise ConfigError(_first_fault(error, said, source)) from None
    if found:
        _tell_of_addresses(rows, settings, found)
    return settings


def mistyped_variables() -> dict[str, str]:
    """Return variables that set nothing and are called almost as a setting's, each with that one.

    Others are not ours to judge: `$NAME` in a header may name any, and Kubernetes sets some for a service.
    """
    names = [PREFIX + name.upper() for name in Settings.model_fields]
    given = [name for name in sorted(os.environ) if name.upper().startswith(PREFIX) and name.upper() not in names]
    close = {name: difflib.get_close_matches(name.upper(), names, n=1, cutoff=_TYPO) for name in given}
    return {name: found[0] for name, found in close.items() if found}


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8-sig"))  # Windows' editors write the mark
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text (byte {error.start}): save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        hint = '; a text stands in quotes, as in judge = "embedded"' if "Invalid value" in str(error) else ""
        raise ConfigError(f"{file} is not valid TOML: {error}{hint}") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror or error}") from None


def _no_json() -> str:
    """Say which variable should hold JSON and does not, never with its value: headers may be secret."""
    for name, example in _AS_JSON.items():
        variable = next((one for one in os.environ if one.upper() == PREFIX + name.upper()), None)
        if variable is not None:
            try:
                json.loads(os.environ[variable])
            except ValueError:
                return f"{variable} is not JSON: write it as in {variable}='{example}'"
    return "a setting in the environment cannot be read"


def _first_fault(error: ValidationError, said: Mapping[str, Any], source: Path | None) -> str:
    """Say what is wrong with a setting, and where it was said."""
    fault = error.errors()[0]
    path = [str(part) for part in fault["loc"]]
    name, whole = path[0], ".".join(path)
    variable = next((one for one in os.environ if one.upper() == PREFIX + name.upper()), None)
    place = FLAGS.get(name, f"--{name.replace('_', '-')}") if name in said else variable or str(source)
    if fault["type"] == "extra_forbidden":
        return f"unknown setting {whole!r} in {place}{did_you_mean(name, Settings.model_fields)}"
    got = "" if name in _MAY_HOLD_SECRETS else f", got {fault['input']!r}"
    where = place if name in said or variable else f"setting {whole!r} in {place}"
    hint = " (a share: 60 % is 0.6)" if name in SHARES else ""
    return f"{where}: {fault['msg'].lower()}{got}{hint}"

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
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, TypedDict
from urllib.parse import urlsplit

from everyclaim.api.options import DEFAULT_STORE, OFF, InFlight, LlmOptions, Options, Share
from everyclaim.api.specs import BATCHES, REPLIES, beside, refuse, unused
from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import kind_of
from everyclaim.core.limits import MAX_FAILED
from everyclaim.core.options import Opt, declared_options, value_of
from everyclaim.core.plaintext import did_you_mean

FILE_NAME = "everyclaim.toml"
PREFIX = "EVERYCLAIM_"
GATE = "Gate"
_TYPO = 0.92  # how alike two variables are, of which one is the other mistyped
_ADDRESS = re.compile(r"base_url=([^&;,]+)")  # within a spec
_logger = logging.getLogger(__name__)
_AS_JSON = {  # in a variable
    "observe": '["prometheus:9464"]',
    "slices": '["domain"]',
    "map": '{"answer_text": "response"}',
    "headers": '{"X-Team": "$TEAM"}',
}


def _gate(text: str, metavar: str = "SHARE", *, flag: str = "", usual: Any = None) -> Opt:
    return Opt(text, metavar, flag, GATE, usual=usual)


class ProjectOptions(TypedDict, total=False):
    """What can be set for a project, beside what can be chosen about a score."""

    map: Annotated[
        Mapping[str, str],
        Opt("Field of the file = field of everyclaim. Repeatable.", "THEIRS=OURS", panel="Input", usual={}),
    ]
    slices: Annotated[
        Sequence[str],
        Opt(
            "Slice by a tag, by all automatic slices (auto), or by pairs of tags (TAG+TAG). Repeatable.",
            "TAG",
            flag="--slice",
            panel="Output",
            usual=(),
        ),
    ]
    fail_under: Annotated[Share | None, _gate("Minimum mean score; exit with 1 below it.", "SCORE")]
    fail_answer_under: Annotated[Share | None, _gate("Minimum score of every answer; exit with 1 below it.", "SCORE")]
    min_probability: Annotated[
        Share | None, _gate("Minimum probability of every answer to be faithful; exit with 1 below it.")
    ]
    max_contradicted: Annotated[
        Share | None, _gate("Maximum share of claims labelled CONTRADICTED; exit with 1 above it.")
    ]
    max_unsupported: Annotated[
        Share | None,
        _gate("Maximum share of claims labelled UNSUPPORTED (without CONTRADICTED); exit with 1 above it."),
    ]
    max_unread: Annotated[
        Share | None, _gate("Maximum share of answers in a language that the judge cannot read; exit with 1 above it.")
    ]
    min_citation_precision: Annotated[
        Share | None, _gate("Minimum share of correct citations (metric attribution); exit with 1 below it.")
    ]
    min_citation_recall: Annotated[
        Share | None,
        _gate("Minimum share of claims that follow from their citations (metric attribution); exit with 1 below it."),
    ]
    fail_on_regression: Annotated[
        str | None, _gate("Exit with 1 if significantly worse than this run, with 4 if inconclusive.", "RUN")
    ]
    margin: Annotated[Share | None, _gate("Allowed drop for --fail-on-regression (0.03 = 3 points).")]
    max_failed: Annotated[
        Share,
        _gate("Maximum share of failed or unreadable rows; exit with 3 above it (default 0.05).", usual=MAX_FAILED),
    ]
    confident: Annotated[
        bool,
        _gate(
            "Exit with 4 if the 95 % confidence interval contains the threshold.",
            "",
            flag="--require-significance",
            usual=False,
        ),
    ]
    store: Annotated[
        str, Opt(f"Store of runs (default {DEFAULT_STORE}).", "PATH|URL", panel="Run", usual=DEFAULT_STORE)
    ]
    concurrency: Annotated[
        InFlight | None,
        Opt("Number of answers scored in parallel (default 8; language models 32, batches 5000).", panel="Run"),
    ]


DECLARED = declared_options(Options) | declared_options(ProjectOptions)


class Settings(SimpleNamespace):
    """Everything that can be set once for a project: an attribute for each of `DECLARED`, and what was `given`."""

    given: frozenset[str] = frozenset()  # names of what was said over file and variables

    @property
    def talking(self) -> dict[str, Any]:
        """What is set about language models and sizes."""
        named = LlmOptions.__annotations__
        return {name: value for name in named if (value := getattr(self, name)) not in (None, False, {})}


def options_of(settings: Settings, kind: Any = Options, *components: Any, in_batches: bool = False) -> dict[str, Any]:
    """Return what is set of these options, with replies kept beside the store.

    Settings are for whichever command has a use for them: what would do nothing for these components (those of the
    settings, where none is named) is left out; where it was given with the command, `ConfigError` is raised.
    `in_batches` is for runs: whoever waits for one answer must not wait for hours.
    """
    wanted = kind.__annotations__
    models = {"cache": beside(settings.store, REPLIES), **settings.talking}
    batches = models.pop("provider_batch", False) and in_batches
    if batches:
        models["provider_batch"] = beside(settings.store, BATCHES)
    named = components or (settings.judge, settings.decomposer)
    idle = unused({**models, "cache": REPLIES}, *named, metric=settings.metric if "metric" in wanted else None)
    for name in sorted(settings.given.intersection(idle)):
        flag = "--no-cache" if (name, settings.cache) == ("cache", OFF) else flag_of(name)
        raise refuse(flag, *named, example="--judge openai:…" if named[0] else "--decomposer openai:…")
    others = [name for name in wanted if name in DECLARED and name not in LlmOptions.__annotations__]
    plain = {name: value for name in others if (value := getattr(settings, name)) is not None}
    return plain | {name: value for name, value in models.items() if name in wanted and name not in idle}


def flag_of(name: str, opt: Opt | None = None) -> str:
    """Return the option of the command line that sets this, which is declared by `opt` where it is no setting."""
    opt = opt or DECLARED.get(name, (None, None))[1]
    return (opt and opt.flag.partition("/")[0]) or f"--{name.replace('_', '-')}"


def find_settings_file(*, warn: bool = False) -> Path | None:
    """Return the nearest `everyclaim.toml` in the working directory or above it, up to the project's root.

    The root is the nearest folder with `.git`, else the working directory. A file that somebody else owns or that
    everybody may write to is passed over: it says where requests and keys go.
    """
    folder = Path.cwd().resolve()
    above = [folder, *folder.parents]
    root = next((place for place in above if (place / ".git").exists()), folder)
    for place in above[: above.index(root) + 1]:
        if (file := place / FILE_NAME).is_file():
            if not (fault := _distrust(file)):
                return file
            if warn:
                _logger.warning("%s is ignored, because %s: pass it with --config if you trust it", file, fault)
    return None


def _distrust(file: Path) -> str:
    if os.name != "posix":
        return ""
    state = file.stat()
    if state.st_uid not in (os.getuid(), 0):
        return "it belongs to another user"
    return "others can write to it" if state.st_mode & stat.S_IWOTH else ""


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
            _logger.warning("requests and their API key go to %s, as set in %s", host, file)


def load_settings(file: Path | None = None, **given: Any) -> Settings:
    """Read the settings; `given` goes over file and variables, its None values count as not given.

    Raises `ConfigError` naming the setting and the value that is wrong.
    """
    found = None if file else find_settings_file(warn=True)
    source = file or found
    _check_variables()
    if file and not file.is_file():
        raise ConfigError(f"no settings file at {file}")
    rows = _read(source) if source else {}
    if unknown := next((name for name in rows if name not in DECLARED), ""):
        named = "; settings are named as the options of `everyclaim score`: fail_under for --fail-under"
        hint = "; settings need no [heading]" if isinstance(rows[unknown], dict) else did_you_mean(unknown, DECLARED)
        raise ConfigError(f"unknown setting {unknown!r} in {source}{hint or named}")
    variables = {name.upper(): name for name in os.environ}
    values: dict[str, Any] = {}
    for name, (kind, opt) in DECLARED.items():
        variable = variables.get(PREFIX + name.upper(), "")
        if given.get(name) is not None:
            values[name] = taken(given[name], kind, opt, flag_of(name))
        elif variable:
            values[name] = taken(_of_text(kind, variable), kind, opt, variable)
        elif name in rows:
            values[name] = taken(rows[name], kind, opt, f"setting {name!r} in {source}")
        else:
            values[name] = opt.usual
    settings = Settings(**values, given=frozenset(name for name, value in given.items() if value is not None))
    if found:
        _tell_of_addresses(rows, settings, found)
    return settings


def _of_text(kind: Any, variable: str) -> Any:
    """Return what a variable holds; lists and tables are JSON, which is never repeated: headers may be secret."""
    text = os.environ[variable]
    example = _AS_JSON.get(variable.upper().removeprefix(PREFIX).lower())
    if example is None:
        return value_of(kind, text)
    try:
        return json.loads(text)
    except ValueError:
        raise ConfigError(f"{variable} is not JSON: write for example {variable}='{example}'") from None


def taken(value: Any, kind: Any, opt: Opt, place: str) -> Any:
    """Return a value as it is declared. Raises `ConfigError` that says where a wrong one was said."""
    hint = " (a share: 60 % is 0.6)" if opt.metavar in {"SCORE", "SHARE"} else ""
    return kind_of(kind).check(value, place, hint=hint)


def _check_variables() -> None:
    """Refuse a variable that is called almost as a setting; others may be named in a header, or set by Kubernetes."""
    names = [PREFIX + name.upper() for name in DECLARED]
    for variable in sorted(os.environ):
        if variable.upper().startswith(PREFIX) and variable.upper() not in names:
            for meant in difflib.get_close_matches(variable.upper(), names, n=1, cutoff=_TYPO):
                raise ConfigError(f"unknown setting {variable} in the environment; did you mean {meant!r}?")


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8-sig"))  # Windows' editors write the mark
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text (byte {error.start}): save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        hint = '; texts need quotes, as in judge = "embedded"' if "Invalid value" in str(error) else ""
        raise ConfigError(f"{file} is not valid TOML: {error}{hint}") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror or error}") from None

"""Options that several commands share, so that one name means one thing everywhere.

An option that is not given leaves the setting of `everyclaim.toml` or of `EVERYCLAIM_*` as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Mapped
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer

from everyclaim.api.components import Options
from everyclaim.api.settings import Settings, load_settings
from everyclaim.api.talking import MODELS
from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.options import declared_options

_INPUT, _OUTPUT, _GATE, _RUN = "Input", "Output", "Gate", "Run"

_DECLARED = declared_options(Options)
_SHOWN = {"judge", "decomposer", "metric", "strict", "base_url", "max_cost", "provider_batch", "observe"}  # in the help


def option(names: str, text: str, panel: str = "", metavar: str = "", **more: Any) -> Any:
    """Return an option: its ``names`` with what stands for its value, as in ``--out FILE``, and its help."""
    *flags, last = names.split()
    flags, metavar = ([*flags, last], metavar) if last.startswith("-") else (flags, last)
    return typer.Option(*flags, metavar=metavar or None, help=text, rich_help_panel=panel or None, **more)


def declared(name: str) -> Any:
    """Return the annotation of a parameter of a command, as the option is declared for Python."""
    kind, opt = _DECLARED[name]
    parts = list(_parts(kind))
    plain: Any = list[str] if Mapped in parts else next((one for one in (bool, int, float) if one in parts), str)
    words = "|".join(part for part in parts if isinstance(part, str))
    least = next((part.least for part in parts if isinstance(part, Range)), None)
    metavar = opt.metavar or words or ("" if plain is bool else "N")
    flag = opt.flag or f"--{name.replace('_', '-')}"
    more: dict[str, Any] = {"show_default": False, "min": least, "hidden": name not in _SHOWN}
    return Annotated[plain | None, option(flag, opt.help, opt.panel or MODELS, metavar, **more)]


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
    """Take a number that nothing can count to as the largest that something can."""
    return None if number is None else min(number, sys.maxsize)


_SHARE: dict[str, Any] = {"min": 0, "max": 1}

Judge = declared("judge")
Decomposer = declared("decomposer")
Metric = declared("metric")
BaseUrl = declared("base_url")
Strategy = declared("strategy")
Strict = declared("strict")
Empty = declared("empty")
Batch = declared("provider_batch")
Observe = declared("observe")
Mapping = Annotated[
    list[str] | None, option("--map THEIRS=OURS", "Field of the file = field of everyclaim. Repeatable.", _INPUT)
]
Format = Annotated[
    str | None, option("--format FORMAT", "Format of the input, when its name does not say.", _INPUT, hidden=True)
]
Limit = Annotated[int | None, option("--limit N", "Maximum number of rows.", _INPUT, min=1, callback=_countable)]
Slices = Annotated[
    list[str] | None,
    option("--slice TAG", "Report by the values of this tag, by auto, or by a cut TAG+TAG. Repeatable.", _OUTPUT),
]
Out = Annotated[
    str | None,
    option("--out FILE", "Write every result: JSONL, JSON, CSV, Parquet by suffix; - is JSONL on stdout.", _OUTPUT),
]
Report = Annotated[
    str | None,
    option("--report FILE", "Write a report: .html with every answer, .json summary and worst answers.", _OUTPUT),
]
Html = Annotated[str | None, option("--html FILE", "Write a report as one HTML file.", _OUTPUT)]
Junit = Annotated[
    str | None,
    option("--junit FILE", "Write JUnit XML: a case per answer, failed where the gate fails, and the gate.", _OUTPUT),
]
Markdown = Annotated[
    str | None, option("--markdown FILE", "Write the gate, rates and worst answers.", _OUTPUT, hidden=True)
]
Github = Annotated[bool, option("--github", "Print GitHub annotations: the gate, and the worst answers.", _OUTPUT)]
Json = Annotated[bool, option("--json", "Print JSON on stdout instead of the page.", _OUTPUT)]
Quiet = Annotated[bool, option("--quiet -q", "Print only errors and the result of the gate.", _OUTPUT)]
Worst = Annotated[int, option("--worst N", "Number of worst answers to show.", _OUTPUT, min=0)]
ClusterBy = Annotated[
    str,
    option(
        "--cluster-by sample|question", "Unit of the intervals: answers, or questions they share.", _OUTPUT, hidden=True
    ),
]
FailUnder = Annotated[float | None, option("--fail-under SCORE", "Exit with 1 when the mean is below.", _GATE)]
FailAnswerUnder = Annotated[
    float | None,
    option("--fail-answer-under SCORE", "Exit with 1 when any answer scores less.", _GATE, hidden=True, **_SHARE),
]
MaxContradicted = Annotated[
    float | None,
    option("--max-contradicted SHARE", "Exit with 1 when more of the claims are contradicted.", _GATE, **_SHARE),
]
MaxUnsupported = Annotated[
    float | None,
    option("--max-unsupported SHARE", "Exit with 1 when more of the claims are unsupported.", _GATE, **_SHARE),
]
Baseline = Annotated[
    str | None,
    option("--fail-on-regression RUN", "Exit with 1 when shown to be worse than this run, 4 when unknown.", _GATE),
]
Margin = Annotated[
    float | None,
    option("--margin SHARE", "Allowed drop against that run (0.03 = 3 points).", _GATE, **_SHARE),
]
MaxFailed = Annotated[
    float | None,
    option("--max-failed SHARE", "Exit with 3 when a larger share failed or could not be read (0.05).", _GATE),
]
Confident = Annotated[
    bool | None,
    option("--require-significance", "Exit with 4 when the 95 % interval contains the threshold.", _GATE),
]
Store = Annotated[str | None, option("--store PATH|URL", "Where runs are stored.", _RUN)]
Concurrency = Annotated[
    int | None, option("--concurrency N", "Samples in flight (8; language models 32, batches 5000).", _RUN)
]
Config = Annotated[Path | None, option("--config FILE", "Settings file instead of the nearest everyclaim.toml.")]


def settings(config: Path | None, **given: Any) -> Settings:
    """Return the settings with what was given on the command line over them."""
    if "map" in given:
        given["map"] = pairs(given["map"])
    return load_settings(config, **{name: None if value in ([], {}) else value for name, value in given.items()})


def pairs(
    given: Sequence[str] | None,
    option: str = "--map",
    told: str = "the file's field, an equals sign and our field, as in answer_text=response",
) -> dict[str, str]:
    """Take ``theirs=ours`` apart. Raises `ConfigError` for what has no two sides."""
    taken = {}
    for text in given or ():
        theirs, separator, ours = text.partition("=")
        if not (theirs and separator and ours):
            raise ConfigError(f"{option} {text}: write {told}")
        taken[theirs] = ours
    return taken


def one_of(option: str, value: str, allowed: Sequence[str]) -> Any:
    """Return the value when it is allowed. Raises `ConfigError` otherwise."""
    if value not in allowed:
        raise ConfigError(f"{option} {value}: choose one of {', '.join(allowed)}")
    return value

"""Options that several commands share, so that one name means one thing everywhere.

An option that is not given leaves the setting of `everyclaim.toml` or of `EVERYCLAIM_*` as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Mapped
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import typer

from everyclaim.api.components import Options
from everyclaim.api.settings import Settings, load_settings
from everyclaim.api.talking import MODELS
from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.options import declared_options

T = TypeVar("T")
_INPUT, _OUTPUT, _GATE, _RUN = "Input", "Output", "Gate", "Run"

_DECLARED = declared_options(Options)


def option(name: str) -> Any:
    """Return an option of the command line as it is declared for Python."""
    kind, opt = _DECLARED[name]
    ranges, words = list(_notes(kind, Range)), list(_choices(kind))
    least = next((one.least for one in ranges), None)
    is_flag = kind is bool or get_args(kind)[:1] == (bool,)
    return typer.Option(
        opt.flag or f"--{name.replace('_', '-')}",
        metavar=opt.metavar or "|".join(words) or (None if is_flag else "N"),
        help=opt.help,
        rich_help_panel=opt.panel or MODELS,
        show_default=False,
        min=least,
    )


def typed(name: str) -> Any:
    """Return the annotation of a parameter of a command, made from the declaration."""
    kind, _ = _DECLARED[name]
    inside = {*_types(kind)}
    plain: Any = list[str] if Mapped in inside else next((one for one in (bool, int, float) if one in inside), str)
    return Annotated[plain if plain is bool else plain | None, option(name)]


def _types(hint: Any) -> Iterator[Any]:
    yield get_origin(hint) or hint
    for one in get_args(hint)[: 1 if get_origin(hint) is Annotated else None]:
        yield from _types(one)


def _notes(hint: Any, kind: type[T]) -> Iterator[T]:
    yield from (note for note in getattr(hint, "__metadata__", ()) if isinstance(note, kind))
    if get_origin(hint) is not Literal:
        for one in get_args(hint)[: 1 if get_origin(hint) is Annotated else None]:
            yield from _notes(one, kind)


def _choices(hint: Any) -> Iterator[str]:
    if get_origin(hint) is Literal:
        yield from get_args(hint)
    else:
        for one in get_args(hint)[: 1 if get_origin(hint) is Annotated else None]:
            yield from _choices(one)


Judge = Annotated[str | None, option("judge")]
Decomposer = Annotated[str | None, option("decomposer")]
Metric = Annotated[str | None, option("metric")]
BaseUrl = Annotated[str | None, option("base_url")]
Strategy = Annotated[str | None, option("strategy")]
Strict = Annotated[bool | None, option("strict")]
Empty = Annotated[str | None, option("empty")]
Batch = Annotated[bool | None, option("provider_batch")]
Observe = Annotated[list[str] | None, option("observe")]
Slices = Annotated[
    list[str] | None,
    typer.Option(
        "--slice",
        metavar="TAG",
        help="Report by the values of this tag, by auto, or by a cut TAG+TAG. Repeatable.",
        rich_help_panel=_OUTPUT,
    ),
]
Mapping = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="THEIRS=OURS",
        help="Field of the file = field of everyclaim. Repeatable.",
        rich_help_panel=_INPUT,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="FORMAT", help="Format of the input, when its name does not say.", rich_help_panel=_INPUT
    ),
]


def _countable(number: int | None) -> int | None:
    """Take a number that nothing can count to as the largest that something can."""
    return None if number is None else min(number, sys.maxsize)


Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        min=1,
        help="Read at most so many rows.",
        rich_help_panel=_INPUT,
        callback=_countable,
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Write every result: JSONL, JSON, CSV, Parquet by suffix; - is JSONL on stdout.",
        rich_help_panel=_OUTPUT,
    ),
]
Report = Annotated[
    str | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Write a report: .html a page with every answer, .json summary and worst answers.",
        rich_help_panel=_OUTPUT,
    ),
]
Html = Annotated[
    str | None,
    typer.Option("--html", metavar="FILE", help="Write a report as one HTML file.", rich_help_panel=_OUTPUT),
]
Junit = Annotated[
    str | None,
    typer.Option(
        "--junit",
        metavar="FILE",
        help="Write JUnit XML: a case per answer, failed where the gate fails, and the gate.",
        rich_help_panel=_OUTPUT,
    ),
]
Markdown = Annotated[
    str | None,
    typer.Option(
        "--markdown", metavar="FILE", help="Write the gate, rates and worst answers.", rich_help_panel=_OUTPUT
    ),
]
Github = Annotated[
    bool,
    typer.Option(
        "--github", help="Print GitHub annotations: the gate, and the worst answers.", rich_help_panel=_OUTPUT
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print JSON on stdout instead of the page.", rich_help_panel=_OUTPUT)
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but errors and the gate's word.", rich_help_panel=_OUTPUT)
]
Worst = Annotated[
    int,
    typer.Option("--worst", metavar="N", min=0, help="Show so many of the worst answers.", rich_help_panel=_OUTPUT),
]
ClusterBy = Annotated[
    str,
    typer.Option(
        "--cluster-by",
        metavar="sample|question",
        help="Take intervals over answers, or over questions that answers share.",
        rich_help_panel=_OUTPUT,
    ),
]
FailUnder = Annotated[
    float | None,
    typer.Option("--fail-under", metavar="SCORE", help="Exit with 1 when the mean is below.", rich_help_panel=_GATE),
]
FailAnswerUnder = Annotated[
    float | None,
    typer.Option(
        "--fail-answer-under",
        metavar="SCORE",
        min=0,
        max=1,
        help="Exit with 1 when any answer scores less.",
        rich_help_panel=_GATE,
    ),
]
MaxContradicted = Annotated[
    float | None,
    typer.Option(
        "--max-contradicted",
        metavar="SHARE",
        min=0,
        max=1,
        help="Exit with 1 when more of the claims are contradicted.",
        rich_help_panel=_GATE,
    ),
]
MaxUnsupported = Annotated[
    float | None,
    typer.Option(
        "--max-unsupported",
        metavar="SHARE",
        min=0,
        max=1,
        help="Exit with 1 when more of the claims are unsupported.",
        rich_help_panel=_GATE,
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        "--fail-on-regression",
        metavar="RUN",
        help="Exit with 1 when it is shown to be worse than this run, 4 when that is unknown.",
        rich_help_panel=_GATE,
    ),
]
Margin = Annotated[
    float | None,
    typer.Option(
        "--margin",
        metavar="SHARE",
        min=0,
        max=1,
        help="By how much it may be worse than that run (0.03: three points).",
        rich_help_panel=_GATE,
    ),
]
MaxFailed = Annotated[
    float | None,
    typer.Option(
        "--max-failed",
        metavar="SHARE",
        help="Exit with 3 when a larger share failed or could not be read (0.05).",
        rich_help_panel=_GATE,
    ),
]
Confident = Annotated[
    bool | None,
    typer.Option("--confident", help="Exit with 4 when an interval holds its bar.", rich_help_panel=_GATE),
]
Store = Annotated[
    str | None,
    typer.Option("--store", metavar="PATH|URL", help="Where runs are kept.", rich_help_panel=_RUN),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        metavar="N",
        help="Samples in flight (8; language models 32, batches 5000).",
        rich_help_panel=_RUN,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings file instead of the nearest everyclaim.toml."),
]


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

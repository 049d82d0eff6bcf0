"""Options that several commands share, so that one name means one thing everywhere.

An option that is not given leaves the setting of `everyclaim.toml` or of `EVERYCLAIM_*` as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from everyclaim.api.settings import Settings, load_settings
from everyclaim.core.errors import ConfigError

_INPUT, _JUDGING, _OUTPUT, _GATE, _RUN = "Input", "Judging", "Output", "Gate", "Run"

Judge = Annotated[
    str | None, typer.Option("--judge", metavar="SPEC", help="Who judges the claims.", rich_help_panel=_JUDGING)
]
Decomposer = Annotated[
    str | None,
    typer.Option("--decomposer", metavar="SPEC", help="Who splits answers into claims.", rich_help_panel=_JUDGING),
]
Metric = Annotated[
    str | None, typer.Option("--metric", metavar="SPEC", help="What is scored.", rich_help_panel=_JUDGING)
]
Strategy = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        metavar="joint|each|ranked",
        help="Passages together, each alone, or by relevance until one supports the claim.",
        rich_help_panel=_JUDGING,
    ),
]
Strict = Annotated[
    bool | None,
    typer.Option(
        "--strict/--lenient",
        help="Evidence required, hedges strict, numbers exact; for language models also inference explicit.",
        rich_help_panel=_JUDGING,
        show_default=False,
    ),
]
Empty = Annotated[
    str | None,
    typer.Option(
        "--empty",
        metavar="exclude|one|zero|nan",
        help="The number of an answer without claims: none, or that of another tool.",
        rich_help_panel=_JUDGING,
    ),
]
Slices = Annotated[
    list[str] | None,
    typer.Option(
        "--slice", metavar="TAG", help="Report by the values of this tag. Repeatable.", rich_help_panel=_OUTPUT
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
    typer.Option("--report", metavar="FILE.json", help="Write summary and worst answers.", rich_help_panel=_OUTPUT),
]
Junit = Annotated[
    str | None,
    typer.Option(
        "--junit",
        metavar="FILE",
        help="Write JUnit XML: a case per answer, and the gate.",
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
        help="Exit with 1 when it is shown to be worse than this kept run.",
        rich_help_panel=_GATE,
    ),
]
Margin = Annotated[
    float,
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
    bool,
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
Batch = Annotated[
    bool | None,
    typer.Option(
        "--batch/--no-batch",
        help="Ask through the provider's batch API: half the price, takes hours.",
        rich_help_panel="Language models",
        show_default=False,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings file instead of the nearest everyclaim.toml."),
]


def settings(config: Path | None, **given: Any) -> Settings:
    """Return the settings with what was given on the command line over them."""
    if "map" in given:
        given["map"] = pairs(given["map"]) or None
    if "slices" in given:
        given["slices"] = given["slices"] or None
    return load_settings(config, **given)


def pairs(given: Sequence[str] | None) -> dict[str, str]:
    """Take ``theirs=ours`` apart. Raises `ConfigError` for what has no two sides."""
    taken = {}
    for text in given or ():
        theirs, separator, ours = text.partition("=")
        if not (theirs and separator and ours):
            raise ConfigError(
                f"--map {text}: write the file's field, an equals sign and our field, as in answer_text=response"
            )
        taken[theirs] = ours
    return taken


def one_of(option: str, value: str, allowed: Sequence[str]) -> Any:
    """Return the value when it is allowed. Raises `ConfigError` otherwise."""
    if value not in allowed:
        raise ConfigError(f"{option} {value}: choose one of {', '.join(allowed)}")
    return value

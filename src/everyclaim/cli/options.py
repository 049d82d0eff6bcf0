"""Options of the command line: what declares them, and those that are no settings and that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, get_args, get_origin

import typer

from everyclaim.api.settings import DECLARED, flag_of
from everyclaim.api.talking import MODELS, Talking
from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.options import Opt

_INPUT, _OUTPUT = "Input", "Output"
_OF_MODELS = {*Talking.__annotations__} - {"base_url", "max_cost", "provider_batch"}
_RARE = _OF_MODELS | {  # not in the help
    "strategy", "empty", "fail_answer_under", "max_unread", "min_citation_precision", "min_citation_recall",
}  # fmt: skip


def option(names: str, text: str, panel: str = "", metavar: str = "", **more: Any) -> Any:
    """Return an option: its `names` with what stands for its value, as in ``--out FILE``, and its help."""
    *flags, last = names.split()
    flags, metavar = ([*flags, last], metavar) if last.startswith("-") else (flags, last)
    return typer.Option(*flags, metavar=metavar or None, help=text, rich_help_panel=panel or None, **more)


def declared(name: str, options: Mapping[str, tuple[Any, Opt]] = DECLARED) -> Any:
    """Return the annotation of a parameter of a command, as the setting or option of this name is declared."""
    kind, opt = options[name]
    parts = list(_parts(kind))
    is_list = Mapping in parts or Sequence in parts
    plain: Any = list[str] if is_list else next((one for one in (bool, int, float) if one in parts), str)
    words = "|".join(part for part in parts if isinstance(part, str))
    least = next((part.least for part in parts if isinstance(part, Range)), None)
    metavar = opt.metavar or words or ("" if plain is bool else "N")
    more: dict[str, Any] = {"show_default": False, "min": least, "hidden": name in _RARE}
    return Annotated[plain | None, option(opt.flag or flag_of(name), opt.help, opt.panel or MODELS, metavar, **more)]


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


FieldMap = declared("map")
Format = Annotated[
    str | None, option("--format FORMAT", "Format of the input, when its name does not say.", _INPUT, hidden=True)
]
Limit = Annotated[int | None, option("--limit N", "Maximum number of rows.", _INPUT, min=1, callback=_countable)]
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


def pairs(
    given: Sequence[str] | None,
    name: str = "--map",
    told: str = "the file's field, an equals sign and our field, as in answer_text=response",
) -> dict[str, str]:
    """Take ``theirs=ours`` apart. Raises `ConfigError` for what has no two sides."""
    taken = {}
    for text in given or ():
        theirs, separator, ours = text.partition("=")
        if not (theirs and separator and ours):
            raise ConfigError(f"{name} {text}: write {told}")
        taken[theirs] = ours
    return taken


def one_of(name: str, value: str, allowed: Sequence[str]) -> Any:
    """Return the value when it is allowed. Raises `ConfigError` otherwise."""
    if value not in allowed:
        raise ConfigError(f"{name} {value}: choose one of {', '.join(allowed)}")
    return value

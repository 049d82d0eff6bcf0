"""The command line as a page of Markdown, made from the commands themselves so that it cannot be wrong."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from everyclaim.cli.tree import every_command

_HEAD = (
    "# Command line\n\nGenerated from the commands by `python docs/commands.py`. An option that is not given "
    "leaves the\n[setting](settings.md) as it is. `-` is standard input or output.\n\n## Exit codes\n\n| code | "
    "meaning |\n| --- | --- |\n| 0 | success |\n| 1 | a gate failed; `doctor`: a check failed |\n| 2 | bad input "
    "or usage, or an unusable store |\n| 3 | too many failures or unreadable rows, or stopped at a limit such "
    "as `--max-cost`; finished work is kept |\n| 4 | inconclusive: nothing scored, the run did not finish, "
    "or, with `--require-significance`, too few answers |\n| 70 | a bug in everyclaim |\n| 130, 143, 129 | "
    "interrupted with Ctrl-C, terminated, hung up; finished work is kept |\n| 141 | the reader of the output "
    "has closed it |\n\nPages and results go to standard output, everything else to standard error. An error "
    "is one line;\n`EVERYCLAIM_DEBUG=1` adds the traceback.\n\nInput files are never overwritten, and only "
    "files that everyclaim wrote are replaced. A file is written completely\nor not at all. `runs`, `report` "
    "and `doctor` write nothing.\n"
)

_COMMON = "## Common options\n\nThese have the same meaning in every command.\n"

_RARE = (
    "## Rarer options\n\n`--help` does not list these. Most are also [settings](settings.md); options of a "
    "language model can be\npart of its spec.\n"
)
_COMMON_FROM = 3  # commands that have an option, before it is explained once for all


def reference() -> str:
    """Return the page."""
    commands = list(every_command())
    shown = Counter(_row(option) for _, command in commands for option in _options(command))
    common = [row for row, count in shown.items() if count >= _COMMON_FROM]
    rare = dict.fromkeys(_row(option) for _, command in commands for option in _options(command, hidden=True))
    lines = [_HEAD]
    for name, command in commands:
        lines += _command(name, command, common)
    return "\n".join([*lines, _COMMON, *_table("option", common), _RARE, *_table("option", rare)])


def _command(name: str, command: Any, common: list[str]) -> Iterator[str]:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    usage = [argument.metavar if argument.required else f"[{argument.metavar}]" for argument in arguments]
    yield f"## everyclaim {name}\n"
    yield f"```text\neveryclaim {' '.join([name, *usage, '[OPTIONS]'])}\n```\n"
    yield from (textwrap.fill(part, 120) + "\n" for part in command.help.split("\n\n"))
    yield from _table("argument", [f"| `{_cell(each.metavar)}` | {_cell(each.help)} |" for each in arguments])
    options, rare = _options(command), _options(command, hidden=True)
    yield from _table("option", [row for row in map(_row, options) if row not in common])
    for title, also in {"Common": [option for option in options if _row(option) in common], "Rarer": rare}.items():
        if also:
            listed = ", ".join(f"`{option.opts[0]}`" for option in also)
            text = f"[{title} options](#{title.lower()}-options): {listed}."
            yield textwrap.fill(text, 120, break_on_hyphens=False) + "\n"


def _options(command: Any, *, hidden: bool = False) -> list[Any]:
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    return [option for option in options if option.hidden is hidden]


def _table(head: str, rows: Iterable[str]) -> Iterator[str]:
    if rows := list(rows):
        yield "\n".join([f"| {head} | meaning |", "| --- | --- |", *rows, ""])


def _row(option: Any) -> str:
    value = "" if option.is_flag else f" {option.metavar or 'TEXT'}"
    names = ", ".join(f"`{_cell(name + value)}`" for name in [*option.opts, *option.secondary_opts])
    is_value = isinstance(option.default, int | float | str) and not isinstance(option.default, bool)
    default = f" Default `{option.default}`." if is_value and option.default != "" else ""
    return f"| {names} | {_cell(option.help)}{default} |"


def _cell(text: str) -> str:
    """Write text that may stand in a cell of a table."""
    return text.replace("|", "\\|")

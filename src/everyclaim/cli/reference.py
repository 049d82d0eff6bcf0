"""The command line as a page of Markdown, made from the commands themselves so that it cannot be wrong."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from everyclaim.cli.tree import every_command

_HEAD = """\
# Command line

Generated from the commands by `python docs/commands.py`. Options override
[settings](settings.md). `-` is standard input or output.

## Exit codes

| code | meaning |
| --- | --- |
| 0 | success |
| 1 | a gate failed; `doctor`: a check failed |
| 2 | bad input or usage, or an unusable store |
| 3 | too many failures or unreadable rows, or stopped at a limit such as `--max-cost`; finished work is stored |
| 4 | inconclusive: nothing scored, run not finished, or, with `--require-significance`, too few answers |
| 70 | a bug in everyclaim |
| 130, 143, 129 | interrupted with Ctrl-C, terminated, hung up; finished work is stored |
| 141 | the output pipe was closed |

Results go to standard output, everything else to standard error. An error is one line;
`EVERYCLAIM_DEBUG=1` adds the traceback.

Input files are never overwritten, and only files that everyclaim wrote are replaced. Files are written
atomically. `runs`, `report` and `doctor` write nothing.
"""

_COMMON = """\
## Common options

These have the same meaning in every command.
"""

_RARE = """\
## Rarer options

`--help` does not list these. Most are also [settings](settings.md); options of a language model can be
part of its spec.
"""
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

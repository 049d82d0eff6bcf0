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
| 141 | the output pipe was closed before everything was written |

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
_COMMON_FROM = 2  # commands that have an option, before it is explained once for all


def reference() -> str:
    """Return the page."""
    commands = list(every_command())
    shown = Counter(_entry(option) for _, command in commands for option in _options(command))
    common = [entry for entry, count in shown.items() if count >= _COMMON_FROM]
    rare: dict[tuple[str, str], list[str]] = {}
    for name, command in commands:
        for option in _options(command, hidden=True):
            rare.setdefault(_entry(option), []).append(f"`{name}`")
    lines = [_HEAD]
    for name, command in commands:
        lines += _command(name, command, common)
    lines += [_COMMON, *_block(common), _RARE]
    for names in dict.fromkeys(map(tuple, rare.values())):
        lines += [_fill(", ".join(names) + ":"), *_block([entry for entry in rare if tuple(rare[entry]) == names])]
    return "\n".join(lines)


def _command(name: str, command: Any, common: list[tuple[str, str]]) -> Iterator[str]:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    usage = [argument.metavar if argument.required else f"[{argument.metavar}]" for argument in arguments]
    yield f"## everyclaim {' '.join([name, *usage])}\n"
    yield from map(_fill, command.help.split("\n\n"))
    options = _options(command)
    entries = [entry for entry in map(_entry, options) if entry not in common]
    yield from _block([*((argument.metavar, argument.help) for argument in arguments), *entries])
    if also := ", ".join(f"`{option.opts[0]}`" for option in options if _entry(option) in common):
        yield _fill(f"[Common options](#common-options): {also}.")


def _options(command: Any, *, hidden: bool = False) -> list[Any]:
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    return [option for option in options if option.hidden is hidden]


def _block(entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Write names and meanings as `--help` does."""
    if entries := list(entries):
        column = min(max(len(name) for name, _ in entries), 32) + 2
        indent = " " * column
        yield "```text"
        for name, meaning in entries:
            head = name.ljust(column) if len(name) <= column - 2 else f"{name}\n{indent}"
            yield head + textwrap.fill(meaning, 120 - column).replace("\n", f"\n{indent}")
        yield "```\n"


def _entry(option: Any) -> tuple[str, str]:
    value = "" if option.is_flag else f" {option.metavar or 'TEXT'}"
    is_value = isinstance(option.default, int | float | str) and not isinstance(option.default, bool)
    default = f" Default {option.default}." if is_value and option.default != "" else ""
    return ", ".join(name + value for name in [*option.opts, *option.secondary_opts]), option.help + default


def _fill(text: str) -> str:
    return textwrap.fill(text, 120, break_on_hyphens=False) + "\n"

"""The command line as a page of Markdown, made from the commands themselves so that it cannot be wrong."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from everyclaim.cli.tree import every_command

_HEAD = """\
# Command line

Made from the commands by `python docs/commands.py`. An option that is not given leaves the
[setting](settings.md) as it is; `-` stands for standard input or output.

## Exit codes

| code | meaning |
| --- | --- |
| 0 | all is well |
| 1 | the gate failed; `doctor`: something is broken |
| 2 | bad input or usage, or a store that cannot be used |
| 3 | too many failures or unreadable rows, or stopped at a limit such as `--max-cost`; what is done is kept |
| 4 | inconclusive: nothing was scored, the run did not end, or, with `--require-significance`, too little to tell |
| 70 | a bug in everyclaim |
| 130, 143, 129 | interrupted with Ctrl-C, terminated, hung up: what is done is kept |
| 141 | the reader of the output has gone |

Pages and results go to standard output, everything else to standard error. An error is one line;
`EVERYCLAIM_DEBUG=1` adds the traceback.

Nothing that a command reads is written over, whatever it is called, and no file is replaced that everyclaim did not
write. A file that is written appears whole or not at all.
`runs`, `report` and `doctor` write nothing and need no right to.
"""

_RARE = """\
## Rarer options

Not in the help of the commands that have them. Most are [settings](settings.md) as well, and what is about a language
model can stand in its spec.
"""


def reference() -> str:
    """Return the page."""
    rare: dict[str, Any] = {}
    lines = [_HEAD]
    for name, command in every_command():
        lines += _command(name, command)
        hidden = {_names(one): one for one in command.params if getattr(one, "hidden", False)}
        if hidden:
            listed = ", ".join(f"`{one.opts[0]}`" for one in hidden.values())
            lines += [textwrap.fill(f"Also, of the [rarer options](#rarer-options): {listed}.", 120), ""]
        rare = hidden | rare
    return "\n".join([*lines, _RARE, *_table(rare.values())])


def _table(options: Iterable[Any]) -> Iterator[str]:
    yield "| option | | |\n| --- | --- | --- |"
    yield from (f"| {_names(one)} | {_cell(one.help)} | {_default(one)} |" for one in options)
    yield ""


def _command(name: str, command: Any) -> Iterator[str]:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [
        parameter for parameter in command.params if parameter.param_type_name == "option" and not parameter.hidden
    ]
    shown = [one.metavar if one.required else f"[{one.metavar}]" for one in arguments]
    yield f"## everyclaim {name}\n"
    yield f"```text\neveryclaim {' '.join([name, *shown, '[OPTIONS]'])}\n```\n"
    yield from (textwrap.fill(part, 120) + "\n" for part in command.help.split("\n\n"))
    if arguments:
        yield "| argument | |\n| --- | --- |"
        yield from (f"| `{_cell(one.metavar)}` | {_cell(one.help)} |" for one in arguments)
        yield ""
    yield from _table(options)


def _names(option: Any) -> str:
    names = [*option.opts, *option.secondary_opts]
    value = "" if option.is_flag else f" {option.metavar or 'TEXT'}"
    return ", ".join(f"`{_cell(name + value)}`" for name in names)


def _default(option: Any) -> str:
    default = option.default
    return (
        f"default `{default}`"
        if isinstance(default, int | str) and not isinstance(default, bool) and default != ""
        else ""
    )


def _cell(text: str) -> str:
    """Write text that may stand in a cell of a table."""
    return text.replace("|", "\\|")

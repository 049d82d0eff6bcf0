"""Writes what is generated in the reference; with ``--check`` only says whether it is current."""  # noqa: INP001 - a script

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import everyclaim
from everyclaim.cli.reference import reference as commands
from everyclaim.core.types import FailureMode, Label, Outcome
from everyclaim.monitor.telemetry import INSTRUMENTS, MOST_VALUES

FOLDER = Path(__file__).parent / "reference"
BEGIN, END = "<!-- metrics: python docs/commands.py -->\n", "<!-- end of metrics -->\n"


def telemetry() -> str:
    """Return the page of telemetry with the table of metrics as the code has it."""
    head, _, rest = (FOLDER / "telemetry.md").read_text(encoding="utf-8").partition(BEGIN)
    lines = ["| Prometheus | OpenTelemetry | kind | labels | what it counts |", "| --- | --- | --- | --- | --- |"]
    for measure in INSTRUMENTS:
        labels = ", ".join(f"`{label}`" for label in measure.labels)
        lines.append(f"| `{measure.prometheus}` | `{measure.otel}` | {measure.kind} | {labels} | {measure.help} |")
    lines += ["", "Values of labels:", ""]
    for name, values in {"label": Label, "outcome": Outcome, "failure_mode": FailureMode}.items():
        lines.append(f"- `{name}`: {', '.join(f'`{one.value}`' for one in values)}")
    lines.append(
        "- told apart up to a number, any further one counts as `other`, as `folded_labels` and a warning say:"
    )
    lines.append("  " + ", ".join(f"`{label}` {count}" for label, count in MOST_VALUES.items()))
    return "\n".join([head + BEGIN, *lines, "", END + rest.partition(END)[2]])


def python() -> str:
    """Return the page of the Python API with the table of public names, each with what its docstring says first."""
    head, _, rest = (FOLDER / "python.md").read_text(encoding="utf-8").partition("| name | purpose |\n")
    lines = ["| name | purpose |", "| --- | --- |"]
    for name in sorted(set(everyclaim.__all__) - {"__version__"}):
        purpose = (inspect.getdoc(getattr(everyclaim, name)) or "").partition("\n\n")[0]
        lines.append(f"| `{name}` | {purpose.replace(chr(10), ' ').replace('``', '`')} |")
    return "\n".join([head + lines[0], *lines[1:], "", rest.partition("\n\n")[2]])


PAGES = {"cli.md": commands, "telemetry.md": telemetry, "python.md": python}


def main() -> int:
    """Write or check the pages; return the exit code."""
    code = 0
    for name, made in PAGES.items():
        page, text = FOLDER / name, made()
        if "--check" not in sys.argv[1:]:
            page.write_text(text, encoding="utf-8")
        elif not page.is_file() or page.read_text(encoding="utf-8") != text:
            sys.stderr.write(f"{page} is not what the code says: run python docs/commands.py\n")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())

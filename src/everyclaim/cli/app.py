"""The commands put together, and the one place where errors become lines and exit codes."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from everyclaim._version import __version__
from everyclaim.cli import signals
from everyclaim.cli.console import prepare_streams, warn
from everyclaim.cli.exits import BROKEN_PIPE, BUG, INTERRUPTED, OK, TOO_MANY_FAILURES, USAGE, InterruptedWorkError
from everyclaim.cli.tree import CommandTree
from everyclaim.core.errors import BudgetExceeded, EveryclaimError, JudgeError
from everyclaim.core.lifetime import keeping_open

# Typer carries its own copy of click or uses the installed one, depending on its version.
_UsageFault = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

app = typer.Typer(
    name="everyclaim",
    cls=CommandTree,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Find hallucinations in RAG answers, claim by claim.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"everyclaim {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    pass


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code. Never raises; errors are one line on standard error."""
    prepare_streams()
    try:
        with keeping_open():
            code = typer.main.get_command(app).main(args=list(arguments), prog_name="everyclaim", standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = signals.code()
    except SystemExit as error:  # Typer exits on a broken pipe
        if not _reader_has_gone(error):
            raise
        _drop_output()
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - the last one to catch it
        code = BROKEN_PIPE if _reader_has_gone(error) else _explain(error)
        _drop_output()
        return code
    if code == INTERRUPTED or code == signals.code():  # the first is what Typer makes of Ctrl-C
        warn(signals.word(), kind="")
        return signals.code()
    return code if isinstance(code, int) else OK


def _drop_output() -> None:
    """Let what is still buffered and has nowhere to go not fail again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _reader_has_gone(error: BaseException | None) -> bool:
    """Whether a broken pipe is behind an error, as itself or as what another error was made of."""
    while error is not None:
        if isinstance(error, BrokenPipeError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _explain(error: Exception) -> int:
    if os.environ.get("EVERYCLAIM_DEBUG") == "1":
        traceback.print_exception(error)
    if isinstance(error, _UsageFault):
        _usage(error)
        return USAGE
    if isinstance(error, InterruptedWorkError | typer.Abort):
        warn(str(error) or signals.word(), kind="")
        return signals.code()
    if isinstance(error, JudgeError | BudgetExceeded):
        warn(str(error))
        return TOO_MANY_FAILURES
    if isinstance(error, EveryclaimError):
        warn(str(error))
        return USAGE
    if isinstance(error, OSError) and error.errno == errno.EBADF:
        warn("standard output is closed")
        return USAGE
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename else ""
        warn(f"{error.strerror or error}{where}")
        return USAGE
    warn(f"bug in everyclaim: {type(error).__name__}: {error} (set EVERYCLAIM_DEBUG=1 for the traceback)")
    return BUG


def _usage(fault: Exception) -> None:
    """Say what is wrong with the command line, and where to look; an empty command line was shown the help."""
    message = getattr(fault, "format_message", fault.__str__)()
    if type(fault).__name__ == "NoArgsIsHelpError":
        if message:
            typer.echo(message, err=True)
        return
    context = getattr(fault, "ctx", None)
    command = context.command_path if context else "everyclaim"
    warn(f"{message.rstrip('.')} (see {command} --help)")

"""The tree of commands, and the one place where errors become lines and exit codes.

A command is imported when it is used; the help of the tree imports none.
"""

from __future__ import annotations

import gc
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from everyclaim._version import __version__
from everyclaim.cli.console import prepare_streams, warn
from everyclaim.cli.exits import (
    BROKEN_PIPE,
    BUG,
    INTERRUPTED,
    OK,
    TOO_MANY_FAILURES,
    USAGE,
    InterruptedWorkError,
    signal_code,
    signal_word,
)
from everyclaim.core.errors import BudgetExceeded, EveryclaimError, JudgeError
from everyclaim.core.plaintext import did_you_mean


@dataclass(frozen=True, slots=True)
class Entry:
    """A command: where its function is, and its first line of help.

    `forms` are other forms of the command, by the flag or word that chooses each: ``--ui`` of `serve`.
    """

    place: str  # "module:function" of this package; empty where only the forms do something
    summary: str
    forms: dict[str, Entry] = field(default_factory=dict)


COMMANDS = {
    "score": Entry("score:score", "Score answers claim by claim and store the run."),
    "verify": Entry("verify:verify", "Judge given claims, without splitting answers."),
    "claims": Entry("verify:claims", "Show the claims of a text, and what was skipped and why."),
    "runs": Entry("runs:runs", "List the runs in the store, newest first."),
    "report": Entry("runs:report", "Show a stored run; calls no judge."),
    "compare": Entry(
        "runs:compare",
        "Compare two runs, or show the trend of a series; calls no judge.",
        {"--release": Entry("runs:release_report", "Compare the newest release with the previous one.")},
    ),
    "label": Entry("label:label", "Select claims of a run for human labelling."),
    "calibrate": Entry("label:calibrate", "Measure the judge against human labels and correct the score."),
    "judge": Entry(
        "",
        "Test, evaluate and tune judges.",
        {
            "smoke": Entry("judge:judge_test", "Test a judge on 144 labelled claims before paying for it."),
            "evaluate": Entry("judge:judge_check", "Measure repeatability, drift, order and length bias."),
            "tune": Entry("judge:tune", "Fit a judge to your own labels."),
            "cascade": Entry("judge:band", "Fit the deferral zone of a cascade to labels."),
        },
    ),
    "watch": Entry(
        "watch:watch",
        "Score production answers as they arrive.",
        {"rules": Entry("watch:rules", "Write alert rules for Prometheus, or a dashboard for Grafana.")},
    ),
    "serve": Entry(
        "serve:serve",
        "Serve scoring over HTTP, or the dashboard with --ui.",
        {"--ui": Entry("serve:ui", "Serve the dashboard: runs, answers, comparisons, labelling.")},
    ),
    "doctor": Entry("doctor:doctor", "Check the installation and score one answer."),
}
HIDDEN = {
    "corpus": Entry(
        "",
        "Build and search corpora for the metrics factscore and safe.",
        {
            "build": Entry("verify:build", "Split documents into passages and index them in one file."),
            "search": Entry("verify:search", "Show the passages that a metric would retrieve for a claim."),
        },
    )
}
FORMER_NAMES = {
    "band": ("judge", "cascade"), "judge-test": ("judge", "smoke"), "judge-check": ("judge", "evaluate"),
    "tune": ("judge", "tune"), "release-report": ("compare", "--release"), "rules": ("watch", "rules"),
    "ui": ("serve", "--ui"),
}  # fmt: skip
FORMER_OPTIONS = {  # `out` was one of compare
    "anyway": "allow-different-judges", "confident": "require-significance", "each-side": "per-label",
    "error": "max-error", "events-to": "otlp-logs-url", "html": "report", "keep": "no-write-back",
    "lasting": "consecutive", "lateness": "late-window", "movers": "top-changes", "out": "report", "per": "run-by",
    "screen": "prefilter", "send-back": "write-back", "settle": "idle-timeout", "then": "escalate-to",
    "times": "trials", "when-spent": "on-budget", "worry": "screen-threshold",
}  # fmt: skip


class Lazy(TyperCommand):
    """A command that is imported when it is used."""

    def __init__(self, name: str, entry: Entry, *, hidden: bool = False) -> None:
        super().__init__(name, help=entry.summary, hidden=hidden)
        self.entry = entry

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Parse the arguments by the command itself, or by the form of it that they choose."""
        chosen = next((form for form in self.entry.forms if form in (args if form[0] == "-" else args[:1])), None)
        name, entry = info_name or "", self.entry
        if chosen is not None:
            args.remove(chosen)
            name, entry = f"{name} {chosen}", entry.forms[chosen]
        command = _imported(name, entry)
        if "--help-all" in args:
            args, command.epilog = ["--help"], ""
            for option in command.params:
                option.hidden = False
        return command.make_context(name, args, parent, **extra)


class _PlainFlags:
    """Flags are shown in the help as they are typed."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False) and parameter.metavar is None:
                parameter.metavar = ""  # otherwise Typer shows the type: <bool>
        return parameters


class CommandTree(_PlainFlags, TyperGroup):
    """A group of such commands."""

    def __init__(self, *, name: str | None = None, commands: Any = None, **options: Any) -> None:
        super().__init__(name=name, commands=commands or _lazy(COMMANDS) | _lazy(HIDDEN, hidden=True), **options)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is named, also by a name that it had."""
        if args[0] not in self.commands:
            args = [*FORMER_NAMES.get(args[0], args[:1]), *args[1:]]
        if args[0] not in self.commands:
            visible = (name for name, command in self.commands.items() if not command.hidden)
            ctx.fail(f"unknown command {args[0]!r}{did_you_mean(args[0], visible)}")
        return super().resolve_command(ctx, args)


class _HelpfulCommand(_PlainFlags, TyperCommand):
    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the arguments as the help and the messages name them, without Typer's braces."""
        return [piece.removesuffix("...").strip("{}") for piece in super().collect_usage_pieces(ctx)]


def every_command() -> Iterator[tuple[str, Any]]:
    """Yield the visible commands with their names, all forms of each included."""
    for name, entry in COMMANDS.items():
        if entry.place:
            yield name, _imported(name, entry)
        for form, of_form in entry.forms.items():
            yield f"{name} {form}", _imported(f"{name} {form}", of_form)


def _lazy(entries: dict[str, Entry], *, hidden: bool = False) -> dict[str, Any]:
    return {
        name: Lazy(name, entry, hidden=hidden)
        if entry.place
        else CommandTree(
            name=name, commands=_lazy(entry.forms), help=entry.summary, no_args_is_help=True, hidden=hidden
        )
        for name, entry in entries.items()
    }


def _imported(name: str, entry: Entry) -> Any:
    module, _, function = entry.place.partition(":")
    made: Callable[..., Any] = getattr(import_module(f"everyclaim.cli.{module}"), function)
    gc.freeze()
    gc.enable()
    _, _, details = inspect.cleandoc(made.__doc__ or "").partition("\n\n")
    # Typer would keep the line breaks of all paragraphs but the first.
    paragraphs = [" ".join(part.split()) for part in (entry.summary, *details.split("\n\n"))]
    paragraphs += [f"Also `everyclaim {name} {form}`: {other.summary}" for form, other in entry.forms.items()]
    return _command(made, name, "\n\n".join(paragraphs).strip())


def _command(function: Callable[..., Any], name: str = "", text: str = "") -> Any:
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(name, cls=_HelpfulCommand, help=text)(function)
    command: Any = typer.main.get_command(app)
    for option in command.params:
        if option.param_type_name == "option" and option.default not in (None, False, ""):
            option.help, option.show_default = f"{option.help.removesuffix('.')} (default {option.default}).", False
    if rare := [option.opts[0] for option in command.params if getattr(option, "hidden", False)]:
        command.epilog = f"Further options, explained by --help-all: {', '.join(rare)}."
    known = {name.lstrip("-") for option in command.params for name in (*option.opts, *option.secondary_opts)}
    former = {old: new for old, new in FORMER_OPTIONS.items() if new in known and old not in known}
    command.context_settings["token_normalize_func"] = lambda token: former.get(token, token)
    return command


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
        code = typer.main.get_command(app).main(args=list(arguments), prog_name="everyclaim", standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = signal_code()
    except SystemExit as error:  # Typer exits on a broken pipe
        if not _reader_has_gone(error):
            raise
        _drop_output()
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - the last one to catch it
        code = BROKEN_PIPE if _reader_has_gone(error) else _explain(error)
        _drop_output()
        return code
    if code in (INTERRUPTED, signal_code()):  # the first is what Typer makes of Ctrl-C
        warn(signal_word(), kind="")
        return signal_code()
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
        warn(str(error) or signal_word(), kind="")
        return signal_code()
    if isinstance(error, EveryclaimError):
        warn(str(error))
        return TOO_MANY_FAILURES if isinstance(error, JudgeError | BudgetExceeded) else USAGE
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename else ""
        warn(f"{error.strerror or error}{where}")
        return USAGE
    warn(f"bug in everyclaim: {type(error).__name__}: {error} (set EVERYCLAIM_DEBUG=1 for the traceback)")
    return BUG


def _usage(fault: Exception) -> None:
    """Say what is wrong with the command line, and where to look; an empty command line was shown the help."""
    message = getattr(fault, "format_message", fault.__str__)()
    cause: Any = fault.__cause__
    if isinstance(fault, typer.BadParameter) and hasattr(cause, "errors"):  # a pydantic.ValidationError
        wrong, option = cause.errors()[0], message.split("'")[1]
        expected = wrong["msg"].removeprefix("Input should be ").partition(",")[0]
        message = f"{option} must be {expected}, got {wrong['input']!r}"
    if type(fault).__name__ == "NoArgsIsHelpError":
        if message:
            typer.echo(message, err=True)
        return
    context = getattr(fault, "ctx", None)
    command = context.command_path if context else "everyclaim"
    warn(f"{message.rstrip('.')} (see {command} --help)")

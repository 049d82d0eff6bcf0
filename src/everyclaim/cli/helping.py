"""How ``--help`` reads: a flag takes no value, and none is shown behind it; a paragraph has the page's line breaks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup


def _told(parameters: list[Any]) -> list[Any]:
    for one in parameters:
        if getattr(one, "is_flag", False) and one.metavar is None:
            one.metavar = ""  # otherwise Typer shows the type: <bool>
    return parameters


Function = TypeVar("Function", bound=Callable[..., Any])


class Command(TyperCommand):
    """A command with the flags of its help as they are typed."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, the help's own among them."""
        return _told(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands with the flags of its help as they are typed."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, the help's own among them."""
        return _told(super().get_params(ctx))


class App(typer.Typer):
    """A Typer application of such groups and commands."""

    def __init__(self, **options: Any) -> None:
        super().__init__(cls=Group, **options)

    def command(self, name: str | None = None, **options: Any) -> Callable[[Function], Function]:
        """Register a command, helped by its docstring."""
        register = super().command

        def told(function: Function) -> Function:
            return register(name, cls=Command, help=_paragraphs(function.__doc__ or ""), **options)(function)

        return told


def _paragraphs(text: str) -> str:
    """Take the line breaks out of paragraphs: Typer would keep those of all but the first."""
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n"))

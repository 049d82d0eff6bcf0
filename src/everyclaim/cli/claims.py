"""``everyclaim claims``: how a text is split into claims, and what is left out."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from everyclaim.api.options import LlmSplittingOptions
from everyclaim.api.scoring import extract_claims
from everyclaim.api.settings import options_of
from everyclaim.cli import options as opt
from everyclaim.cli.console import show_result
from everyclaim.cli.options import Given, with_settings
from everyclaim.core.errors import InputError
from everyclaim.core.wire import to_json
from everyclaim.report.listings import decomposition_page


@with_settings("decomposer", models=LlmSplittingOptions)
def claims(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Text of an answer; - is stdin.")],
    *,
    question: Annotated[str, opt.option("--question TEXT", "Question that the answer responds to.")] = "",
    given: Given,
    json: opt.Json = False,
) -> None:
    """Show the claims of a text, and what was skipped and why."""
    settings = given.settings()
    given.check_use(None, settings.decomposer)
    given.check_files(settings, [], {})
    response = _standard_input() if text == "-" else text
    models = options_of(settings, LlmSplittingOptions, None, settings.decomposer)
    found = extract_claims(response, question=question, decomposer=settings.decomposer, **models)
    show_result(lambda: to_json(found), lambda: decomposition_page(found, response), json=json)


def _standard_input() -> str:
    raw = getattr(sys.stdin, "buffer", None)
    if raw is None:
        raise InputError("standard input is closed; pass the text as the argument")
    try:
        text: str = raw.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"standard input is not UTF-8: cannot decode byte {error.start}") from None
    return text

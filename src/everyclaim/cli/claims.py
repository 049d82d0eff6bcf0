"""``everyclaim claims``: how a text is split into claims, and what is left out."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from everyclaim.api.scoring import extract_claims
from everyclaim.api.talking import Splitting
from everyclaim.cli import options as opt
from everyclaim.cli.screen import show, show_json
from everyclaim.cli.talking import as_settings, check_files, check_use, chosen, with_talking
from everyclaim.core.errors import InputError
from everyclaim.core.wire import decomposition_to_json
from everyclaim.report.listings import decomposition_page


@with_talking(Splitting)
def claims(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text of an answer; - is stdin.")],
    *,
    question: Annotated[str, opt.option("--question TEXT", "Question that the answer is for.")] = "",
    decomposer: opt.Decomposer = None,
    json: Annotated[bool, opt.option("--json", "Print JSON instead of the tables.")] = False,
    talking: Mapping[str, Any],
    config: opt.Config = None,
) -> None:
    """Show the claims of a text, and what is skipped and why."""
    settings = opt.settings(config, decomposer=decomposer, **as_settings(talking))
    check_use(talking, None, settings.decomposer)
    check_files(settings, config, [], {})
    response = _standard_input() if text == "-" else text
    models = chosen(Splitting, settings, None, settings.decomposer)
    found = extract_claims(response, question=question, decomposer=settings.decomposer, **models)
    if json:
        show_json(decomposition_to_json(found))
    else:
        show(decomposition_page(found, response))


def _standard_input() -> str:
    raw = getattr(sys.stdin, "buffer", None)
    if raw is None:
        raise InputError("standard input is closed; give the text itself")
    try:
        text: str = raw.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"standard input is not UTF-8 text: byte {error.start} cannot be read") from None
    return text

"""``everyclaim serve --ui``: the dashboard over a store, in a browser."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import Annotated

from everyclaim.api.evaluator import Evaluator
from everyclaim.api.settings import options_of
from everyclaim.api.talking import Talking
from everyclaim.cli import options as opt
from everyclaim.cli.given import Given, with_settings
from everyclaim.cli.screen import warn
from everyclaim.core.errors import ConfigError, MissingExtraError
from everyclaim.core.hiding import hidden

PORT = 8765
_SERVER = "Server"


@with_settings("judge", "decomposer", "store", models=Talking)
def ui(
    *,
    host: Annotated[
        str,
        opt.option(
            "--host ADDRESS",
            "Listen at this address; any but this machine's own needs --tokens or --proxy-header.",
            _SERVER,
        ),
    ] = "127.0.0.1",
    port: Annotated[int, opt.option("--port N", "Listen at this port.", _SERVER, min=0, max=65535)] = PORT,
    tokens: Annotated[
        Path | None,
        opt.option(
            "--tokens FILE", "Let in who has a token of this file, scope ui (or of $EVERYCLAIM_TOKENS).", _SERVER
        ),
    ] = None,
    proxy_header: Annotated[
        str | None,
        opt.option(
            "--proxy-header NAME",
            "Let in whom a proxy names in this header. Nobody but the proxy may reach the port.",
            _SERVER,
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        opt.option("--allow-host NAME", "Answer to this name, beside addresses and localhost. Repeatable.", _SERVER),
    ] = None,
    open_: Annotated[bool, opt.option("--open", "Open a browser on it.", _SERVER, show_default=False)] = False,
    given: Given,
) -> None:
    """Look at runs, answers, comparisons and judges in a browser, and try answers out.

    Nothing is sent anywhere; what is pasted into "try it" is judged by --judge, once, and not kept. Ends with Ctrl-C.
    """
    try:
        import python_multipart  # noqa: F401 - FastAPI asks for it late, and in other words

        from everyclaim.web.app import Access, create_app
        from everyclaim.web.serving import Binding, check_binding, log_to_stderr, run
        from everyclaim.web.tokens import Tokens
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    settings = given.settings()
    given.check_use(settings.judge, settings.decomposer)
    found = Tokens.find(tokens)
    if tokens is not None and not len(found):
        raise ConfigError(f"--tokens {tokens}: there is no token in it; `everyclaim serve --new-token` makes one")
    header = _header_name(proxy_header)
    binding = Binding(host=host, port=port)
    check_binding(binding, has_tokens=bool(len(found) or header), command="ui")
    access = Access(found if len(found) else None, header, tuple(allow_host or ()))
    with Evaluator(
        judge=settings.judge,
        decomposer=settings.decomposer,
        **options_of(settings, Talking, settings.judge, settings.decomposer),
    ) as evaluator:
        app = create_app(settings.store, access=access, evaluator=evaluator)
        log_to_stderr()
        run(lambda: app, binding, on_listening=lambda address: _tell(address, hidden(settings.store), open_=open_))


def _tell(address: str, store: str, *, open_: bool) -> None:
    warn(f"{address} shows {store}; Ctrl-C ends it", kind="")
    if open_ and not webbrowser.open(address):
        warn("no browser could be opened", kind="warning")
    sys.stderr.flush()


def _header_name(name: str | None) -> str:
    if name is None:
        return ""
    if not name or not all(one.isalnum() or one in "-_" for one in name) or not name.isascii():
        raise ConfigError(f"--proxy-header {name!r}: the name of a header, such as X-Forwarded-User")
    return name


def _missing(error: ModuleNotFoundError) -> Exception:
    ours = (error.name or "").partition(".")[0] in {"fastapi", "starlette", "uvicorn", "python_multipart", "multipart"}
    return MissingExtraError("The dashboard", "ui") if ours else error

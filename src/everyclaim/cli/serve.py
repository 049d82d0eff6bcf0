"""``everyclaim serve``: the HTTP service with its tokens, and the dashboard."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

from everyclaim.api.options import LlmOptions
from everyclaim.api.settings import options_of
from everyclaim.cli.console import warn
from everyclaim.cli.options import SCORING, Given, option, with_settings
from everyclaim.core.errors import ConfigError, MissingExtraError, needed_for
from everyclaim.core.plaintext import hidden
from everyclaim.web.settings import (
    BOUNDS,
    LOOPBACK,
    SCOPES,
    SERVER,
    TOKENS,
    VARIABLE,
    AccessTokens,
    Binding,
    ServiceSettings,
    add_token,
    new_token,
)

VARIABLE_OF_COUNTS = "PROMETHEUS_MULTIPROC_DIR"


@with_settings(*SCORING, "store", "concurrency", "observe", models=LlmOptions)
def serve(
    *,
    binding: Binding,
    service: ServiceSettings,
    token_name: Annotated[
        str | None, option("--new-token NAME", "Create a token, print it once and exit.", TOKENS)
    ] = None,
    scopes: Annotated[
        str, option("--scopes A,B", f"Scopes of a new token: {', '.join(SCOPES)}.", TOKENS)
    ] = "score,jobs",
    rate: Annotated[
        int | None, option("--rate N", "Maximum number of requests per minute and token (default 6000).", BOUNDS, min=1)
    ] = None,
    given: Given,
) -> None:
    """Serve scoring over HTTP: score, verify, split and guard single answers, and score data sets as jobs.

    Ctrl-C and SIGTERM shut down gracefully: running requests finish, jobs continue at the next start. Logs go to
    standard error, one JSON object per line. Limits such as --max-cost apply to the life of the service. With --ui it
    serves the dashboard; see serve --ui --help.
    """
    if token_name is not None:
        _make_token(token_name, scopes, rate, service.tokens)
        return
    settings = given.settings()
    given.check_files(settings, [str(service.tokens)] if service.tokens else [], {"the store": settings.store})
    if settings.provider_batch:
        raise ConfigError("--batch (provider_batch) takes hours and is for runs, not for a service")
    has_tokens = len(AccessTokens.find(service.tokens)) > 0
    binding.check(has_tokens=has_tokens)
    with needed_for("the service", "serve"):
        from everyclaim.web.service import make_app, serve_app
        from everyclaim.web.serving import run
    service = replace(
        service,
        options=options_of(settings, in_batches=True),
        store=settings.store,
        asks=has_tokens,
        workers=binding.workers,
        concurrency=settings.concurrency,
        per_minute=rate or service.per_minute,
        body_seconds=min(service.body_seconds, service.seconds),
    )
    with _counted_together() if service.metrics and binding.workers > 1 else nullcontext():
        make_app(service)  # whatever is wrong with the settings is said here, and not by every worker
        run(partial(serve_app, service), binding, on_listening=lambda address: warn(f"listening on {address}", kind=""))


@contextmanager
def _counted_together() -> Iterator[None]:
    """Let the counts of all workers be one, by a folder that they share; before Prometheus's client is loaded."""
    if VARIABLE_OF_COUNTS in os.environ:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="everyclaim-metrics-") as folder:
        os.environ[VARIABLE_OF_COUNTS] = folder
        try:
            yield
        finally:
            del os.environ[VARIABLE_OF_COUNTS]


def _make_token(name: str, scopes: str, rate: int | None, file: Path | None) -> None:
    """Make a token: it goes to standard output, and what is kept of it into the file, or is shown for the variable."""
    shown, token = new_token(name, [one.strip() for one in scopes.split(",") if one.strip()], rate)
    if file is None:
        warn(f"put this line into a file for --tokens, or into {VARIABLE}: {token.line}", kind="")
    else:
        add_token(file, token)
        warn(f"{name} written to {file}; the token is shown only once:", kind="")
    sys.stdout.write(f"{shown}\n")


PORT = 8765
_OF_THE_EXTRA = {"fastapi", "starlette", "uvicorn", "python_multipart", "multipart"}


@with_settings("judge", "decomposer", "store", models=LlmOptions)
def ui(
    *,
    host: Annotated[
        str,
        option(
            "--host ADDRESS",
            "Address to listen on; addresses reachable from other machines need --tokens or --proxy-header.",
            SERVER,
        ),
    ] = LOOPBACK,
    port: Annotated[int, option("--port N", "Port to listen on.", SERVER, min=0, max=65535)] = PORT,
    tokens: Annotated[
        Path | None,
        option("--tokens FILE", "File of tokens (scope ui) for login, in addition to $EVERYCLAIM_TOKENS.", SERVER),
    ] = None,
    proxy_header: Annotated[
        str | None,
        option(
            "--proxy-header NAME",
            "Header in which an authenticating proxy names the user. Only the proxy may reach the port.",
            SERVER,
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        option("--allow-host NAME", "Allowed host name besides IP addresses and localhost. Repeatable.", SERVER),
    ] = None,
    open_: Annotated[bool, option("--open", "Open it in a browser.", SERVER, show_default=False)] = False,
    given: Given,
) -> None:
    """Serve the dashboard: runs, answers, comparisons, labelling and trying answers.

    Sends no data elsewhere; text pasted into "Try it" is judged once by --judge and not stored. Ctrl-C stops it.
    """
    try:
        import python_multipart  # noqa: F401 - FastAPI asks for it late, and in other words

        from everyclaim.web.app import Access, create_app
        from everyclaim.web.serving import log_to_stderr, run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _OF_THE_EXTRA:
            raise
        raise MissingExtraError("the dashboard", "ui") from None
    settings = given.settings()
    found = AccessTokens.find(tokens)
    if tokens is not None and not len(found):
        raise ConfigError(f"--tokens {tokens}: the file has no token; create one with `everyclaim serve --new-token`")
    if proxy_header is not None and not re.fullmatch(r"[A-Za-z0-9_-]+", proxy_header):
        raise ConfigError(f"--proxy-header {proxy_header!r}: not a header name such as X-Forwarded-User")
    header, binding = proxy_header or "", Binding(host=host, port=port)
    binding.check(has_tokens=bool(len(found) or header), command="ui")
    access = Access(found if len(found) else None, header, tuple(allow_host or ()))
    from everyclaim.api.evaluator import Evaluator

    with Evaluator(
        judge=settings.judge,
        decomposer=settings.decomposer,
        **options_of(settings, LlmOptions, settings.judge, settings.decomposer),
    ) as evaluator:
        app = create_app(settings.store, access=access, evaluator=evaluator)
        log_to_stderr()

        def tell(address: str) -> None:
            warn(f"{address} shows {hidden(settings.store)}; press Ctrl-C to stop", kind="")
            if open_ and not webbrowser.open(address):
                warn("could not open a browser", kind="warning")

        run(lambda: app, binding, on_listening=tell)

"""``everyclaim serve``: the HTTP service, and the tokens it is entered with."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from everyclaim.api.settings import Settings
from everyclaim.api.talking import Talking
from everyclaim.cli import options as opt
from everyclaim.cli.groups import Scoring
from everyclaim.cli.screen import warn
from everyclaim.cli.talking import as_settings, check_files, check_use, for_evaluator, with_talking
from everyclaim.core.errors import ConfigError, MissingExtraError
from everyclaim.web.serving import LOOPBACK, Binding, check_binding, run
from everyclaim.web.tokens import SCOPES, VARIABLE, Tokens, add_token, new_token

VARIABLE_OF_COUNTS = "PROMETHEUS_MULTIPROC_DIR"
_SERVER, _TOKENS, _BOUNDS = "Server", "Tokens", "Bounds"


@with_talking(Talking)
def serve(
    *,
    host: Annotated[
        str,
        typer.Option("--host", metavar="ADDRESS", help="Where to listen; others need tokens.", rich_help_panel=_SERVER),
    ] = LOOPBACK,
    port: Annotated[
        int, typer.Option("--port", metavar="N", help="0: any that is free.", rich_help_panel=_SERVER)
    ] = 8700,
    workers: Annotated[int, typer.Option("--workers", metavar="N", help="Processes.", rich_help_panel=_SERVER)] = 1,
    tokens: Annotated[
        Path | None,
        typer.Option("--tokens", metavar="FILE", help=f"Tokens beside those of {VARIABLE}.", rich_help_panel=_TOKENS),
    ] = None,
    token_name: Annotated[
        str | None,
        typer.Option(
            "--new-token", metavar="NAME", help="Make a token, show it once, and end.", rich_help_panel=_TOKENS
        ),
    ] = None,
    scopes: Annotated[
        str,
        typer.Option("--scopes", metavar="A,B", help=f"Of a new token: {', '.join(SCOPES)}.", rich_help_panel=_TOKENS),
    ] = "score,jobs",
    rate: Annotated[
        int | None,
        typer.Option(
            "--rate", metavar="N", min=1, help="Requests a minute of a token (6000).", rich_help_panel=_BOUNDS
        ),
    ] = None,
    queue: Annotated[
        int, typer.Option("--queue", metavar="N", min=0, help="Requests that may wait.", rich_help_panel=_BOUNDS)
    ] = 64,
    seconds: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="For one answer.", rich_help_panel=_BOUNDS)
    ] = 60.0,
    body_mb: Annotated[
        float, typer.Option("--max-body-mb", metavar="MB", help="Of a request.", rich_help_panel=_BOUNDS)
    ] = 2.0,
    job_mb: Annotated[
        float, typer.Option("--max-job-mb", metavar="MB", help="Of a job's data.", rich_help_panel=_BOUNDS)
    ] = 1000.0,
    jobs_folder: Annotated[
        Path | None,
        typer.Option(
            "--jobs-folder", metavar="FOLDER", help="Where jobs wait; beside the store.", rich_help_panel="Run"
        ),
    ] = None,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Answer at /metrics, for Prometheus.", rich_help_panel=_SERVER)
    ] = False,
    observe: opt.Observe = None,
    log_texts: Annotated[
        bool, typer.Option("--log-texts", help="Write requests into the log, texts and all.", rich_help_panel=_SERVER)
    ] = False,
    scoring: Scoring,
    store: opt.Store = None,
    concurrency: opt.Concurrency = None,
    talking: Mapping[str, Any],
    config: opt.Config = None,
) -> None:
    """Answer over HTTP: score, verify, split and guard single answers, and score data sets as jobs.

    Ends with Ctrl-C or SIGTERM, when the requests under way are answered; jobs go on at the next start. Its log goes to
    standard error, a JSON object a line. Limits such as --max-cost are for the life of the service.
    """
    if token_name is not None:
        _make_token(token_name, scopes, rate, tokens)
        return
    settings = scoring.settings(
        config,
        store=store,
        concurrency=concurrency,
        observe=observe,
        **as_settings(talking),
    )
    check_use(talking, settings.judge, settings.decomposer, metric=settings.metric)
    check_files(settings, config, [str(tokens)] if tokens else [], {"the store": settings.store})
    binding = Binding(host, port, workers)
    has_tokens = len(Tokens.find(tokens)) > 0
    check_binding(binding, has_tokens=has_tokens)
    try:
        from everyclaim.web.service.app import make_app, serve_app
        from everyclaim.web.service.settings import ServiceSettings
    except ImportError:
        raise MissingExtraError("the service", "serve") from None
    service = ServiceSettings(
        options=_options(settings),
        store=settings.store,
        jobs_folder=jobs_folder,
        tokens=tokens,
        asks=has_tokens,
        workers=workers,
        concurrency=settings.concurrency,
        queue=queue,
        per_minute=rate or 6000,
        seconds=seconds,
        body_seconds=min(20.0, seconds),
        body_mb=body_mb,
        job_mb=job_mb,
        metrics=metrics,
        log_texts=log_texts,
    )
    with _counted_together() if metrics and workers > 1 else nullcontext():
        make_app(service)  # whatever is wrong with the settings is said here, and not by every worker
        run(partial(serve_app, service), binding, on_listening=lambda address: warn(f"listening at {address}", kind=""))


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
        warn(f"{name} is in {file}; the token is shown this once:", kind="")
    sys.stdout.write(f"{shown}\n")


def _options(settings: Settings) -> dict[str, Any]:
    """Return what an evaluator is made with. Batches of providers are for those who can wait for hours."""
    if settings.provider_batch:
        raise ConfigError("--batch (provider_batch) is for runs: whoever asks a service waits for the answer")
    return for_evaluator(settings)

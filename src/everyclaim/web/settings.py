"""What a server is started with: where it listens, and how the service is run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from everyclaim.api.options import DEFAULT_STORE
from everyclaim.core.addresses import is_loopback
from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.options import Opt, check_declared
from everyclaim.web.tokens import VARIABLE

LOOPBACK = "127.0.0.1"
SERVER, BOUNDS, TOKENS = "Server", "Bounds", "Tokens"  # groups of options
_Positive = Annotated[float, Range(above=0)]


@dataclass(frozen=True, slots=True)
class Binding:
    """Where to listen, with how many processes."""

    host: Annotated[
        str, Opt("Address to listen on; addresses reachable from other machines need tokens.", "ADDRESS", panel=SERVER)
    ] = LOOPBACK
    port: Annotated[int, Opt("Port to listen on; 0: any free port.", panel=SERVER)] = 8700
    workers: Annotated[int, Opt("Number of processes.", panel=SERVER)] = 1

    def check(self, *, has_tokens: bool, command: str = "serve") -> None:
        """Raise `ConfigError` where anybody on the network could come in, and for numbers that cannot be."""
        if not is_loopback(self.host) and not has_tokens:
            raise ConfigError(
                f"{self.host} can be reached from other machines, but no token is required: create one "
                f"with `everyclaim serve --new-token NAME --tokens FILE` and pass `{command} --tokens FILE`, "
                f"or keep --host {LOOPBACK}"
            )
        if not 0 <= self.port <= 65_535:
            raise ConfigError(f"--port must be between 0 and 65535, got {self.port}")
        if not 1 <= self.workers <= 256:
            raise ConfigError(f"--workers must be between 1 and 256, got {self.workers}")


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """How a service is run; can be pickled, so that every process is made from it. `options` are of an `Evaluator`."""

    options: Mapping[str, Any] = field(default_factory=dict)
    store: str = DEFAULT_STORE
    tokens: Annotated[Path | None, Opt(f"File of tokens, in addition to {VARIABLE}.", "FILE", panel=TOKENS)] = None
    queue: Annotated[int, Range(0), Opt("Maximum number of waiting requests.", panel=BOUNDS)] = 64
    seconds: Annotated[_Positive, Opt("Time limit for one answer in seconds.", "SECONDS", "--timeout", BOUNDS)] = 60.0
    body_mb: Annotated[_Positive, Opt("Maximum size of a request body in MB.", "MB", "--max-body-mb", BOUNDS)] = 2.0
    job_mb: Annotated[_Positive, Opt("Maximum size of a job's data in MB.", "MB", "--max-job-mb", BOUNDS)] = 1000.0
    jobs_folder: Annotated[
        Path | None, Opt("Folder for pending jobs (default: next to the store).", "FOLDER", panel="Run")
    ] = None
    metrics: Annotated[bool, Opt("Serve /metrics for Prometheus.", panel=SERVER)] = False
    log_texts: Annotated[bool, Opt("Log request texts.", panel=SERVER)] = False
    # for a token, also when none is good any more: a worker that begins later is as strict as the first
    asks: bool = False
    workers: int = 1
    concurrency: int | None = None  # answers in work at once, in all; None: what the judge wants
    per_minute: Annotated[int, Range(1)] = 6000  # requests of a token that has no rate of its own
    body_seconds: _Positive = 20.0  # within which a request must have arrived
    upload_seconds: _Positive = 600.0  # the same, for the data of a job
    open_jobs: Annotated[int, Range(0)] = 100  # that may wait, of one token

    def __post_init__(self) -> None:
        check_declared(self, "the service")

    @property
    def folder(self) -> Path:
        """Where jobs wait. Raises `ConfigError` for a store on a server, which has no folder beside it."""
        if self.jobs_folder is not None:
            return self.jobs_folder
        if "://" in self.store:
            raise ConfigError("a database store has no folder for jobs next to it: pass --jobs-folder")
        path = Path(os.path.abspath(self.store))  # noqa: PTH100 - a link is left one
        return path.with_name(f"{path.name}-jobs")

    def share(self, number: int) -> int:
        """Return one worker's share of what is for all, at least 1."""
        return max(1, number // self.workers)

"""What a service is started with; can be pickled, so that every worker process is made from it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from everyclaim.api.options import DEFAULT_STORE
from everyclaim.api.session import share_of
from everyclaim.core.errors import ConfigError
from everyclaim.core.kinds import Range
from everyclaim.core.options import Opt, check_declared
from everyclaim.web.serving import SERVER
from everyclaim.web.tokens import VARIABLE

_BOUNDS = "Bounds"
_Positive = Annotated[float, Range(above=0)]


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """How a service is run. `options` are those of an `Evaluator`."""

    options: Mapping[str, Any] = field(default_factory=dict)
    store: str = DEFAULT_STORE
    tokens: Annotated[Path | None, Opt(f"File of tokens, in addition to {VARIABLE}.", "FILE", panel="Tokens")] = None
    queue: Annotated[int, Range(0), Opt("Maximum number of waiting requests.", panel=_BOUNDS)] = 64
    seconds: Annotated[_Positive, Opt("Time limit for one answer in seconds.", "SECONDS", "--timeout", _BOUNDS)] = 60.0
    body_mb: Annotated[_Positive, Opt("Maximum size of a request body in MB.", "MB", "--max-body-mb", _BOUNDS)] = 2.0
    job_mb: Annotated[_Positive, Opt("Maximum size of a job's data in MB.", "MB", "--max-job-mb", _BOUNDS)] = 1000.0
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

    @property
    def options_of_a_worker(self) -> dict[str, Any]:
        """The evaluator's options with its share of the limits, which are for the service as a whole.

        Raises `ConfigError` for a limit on calls or tokens that is too small to be shared.
        """
        return share_of(self.options, self.workers)

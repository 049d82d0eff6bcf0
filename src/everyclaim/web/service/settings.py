"""What a service is started with; can be pickled, so that every worker process is made from it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from everyclaim.api.options import DEFAULT_STORE
from everyclaim.api.session import share_of
from everyclaim.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """How a service is run. `options` are those of an `Evaluator`."""

    options: Mapping[str, Any] = field(default_factory=dict)
    store: str = DEFAULT_STORE
    jobs_folder: Path | None = None  # None: beside the store
    tokens: Path | None = None  # a file of tokens; those of the environment count as well
    asks: bool = (
        False  # for a token, also when none is good any more: a worker that begins later is as strict as the first
    )
    workers: int = 1
    concurrency: int | None = None  # answers in work at once, in all; None: what the judge wants
    queue: int = 64  # requests that may wait, in all
    per_minute: int = 6000  # requests of a token that has no rate of its own
    seconds: float = 60.0  # for one answer, waiting in the queue among them
    body_seconds: float = 20.0  # within which a request must have arrived
    upload_seconds: float = 600.0  # the same, for the data of a job
    body_mb: float = 2.0
    job_mb: float = 1000.0
    open_jobs: int = 100  # that may wait, of one token
    metrics: bool = False  # for Prometheus, at /metrics
    log_texts: bool = False

    def __post_init__(self) -> None:
        for name in ("queue", "open_jobs"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name)}")
        for name in ("per_minute", "seconds", "body_seconds", "upload_seconds", "body_mb", "job_mb"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be more than 0, got {getattr(self, name)}")

    @property
    def folder(self) -> Path:
        """Where jobs wait. Raises `ConfigError` for a store on a server, which has no folder beside it."""
        if self.jobs_folder is not None:
            return self.jobs_folder
        if "://" in self.store:
            raise ConfigError(
                "a store on a server has no folder beside it where jobs could wait: name one with --jobs-folder"
            )
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

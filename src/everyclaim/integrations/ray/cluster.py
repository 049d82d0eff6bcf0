"""A cluster's workers lent to an evaluator: for a while, its data sets are scored there."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager

import ray

from everyclaim.api.evaluator import Evaluator
from everyclaim.core.errors import ConfigError, OperatorError
from everyclaim.integrations.ray.workers import Workers, last_line

_MOST = 10_000  # samples in work


@contextmanager
def on_ray(
    evaluator: Evaluator,
    *,
    address: str | None = None,
    actors: int | None = None,
    cpus: float = 1.0,
    gpus: float = 0.0,
) -> Iterator[Evaluator]:
    """Let the samples of `evaluator.score_file` be scored by workers of a Ray cluster for a while.

        with ec.Evaluator(judge="embedded") as evaluator, on_ray(evaluator, address="auto"):
            run = evaluator.score_file("answers.parquet", store="postgresql://…")

    `address` is a cluster's, ``"auto"`` the one that this machine belongs to; with None, Ray is used as it was started
    in this process, else started on this machine and stopped at the end. `actors` is how many workers there are (None:
    one for each `cpus` processors of the cluster); each takes `cpus` and `gpus`. everyclaim, of this version, must be
    installed on every machine, and so must be what the judge needs: keys in the environment, files by the same path.

    Limits (`max_cost`, …) and rates are for all workers together, each has its share. A worker that dies is begun anew
    and its samples are scored by others; one that kills three workers, the last of them its own, is `failed:
    worker_lost`. Workers keep no cache of replies, and tell no observers of single calls.

    Raises `ConfigError` for options that are wrong, or a worker of another version or configuration, and
    `OperatorError` when no cluster or no worker can be had.
    """
    session = evaluator._session  # noqa: SLF001 - one house
    if session.options.get("provider_batch"):
        raise ConfigError("provider_batch cannot be combined with Ray")
    with _cluster(address):
        number = _how_many(actors, cpus, gpus)
        workers = Workers(session, number, cpus, gpus)
        with closing(workers), session.scoring_elsewhere(workers, min(_MOST, number * session.concurrency)):
            yield evaluator


@contextmanager
def _cluster(address: str | None) -> Iterator[None]:
    """Use the Ray of this process, or one for as long as this lasts."""
    if ray.is_initialized():
        if address is not None:
            raise ConfigError(f"Ray is already running in this process: omit the address {address!r}, or stop it")
        yield
        return
    try:
        ray.init(address=address, log_to_driver=False, configure_logging=False, logging_level=logging.ERROR)
    except (OSError, ValueError, RuntimeError) as error:
        raise OperatorError(f"no Ray cluster at {address or 'this machine'}: {last_line(error)}") from None
    try:
        yield
    finally:
        ray.shutdown()


def _how_many(actors: int | None, cpus: float, gpus: float) -> int:
    if not cpus >= 0 or not gpus >= 0 or not cpus + gpus > 0:
        raise ConfigError(
            f"cpus and gpus of a worker must be at least 0, and one of them above 0; got {cpus} and {gpus}"
        )
    if actors is not None:
        if actors < 1:
            raise ConfigError(f"actors must be at least 1, got {actors}")
        return actors
    there = ray.cluster_resources()
    room = [there.get(kind, 0) / taken for kind, taken in (("CPU", cpus), ("GPU", gpus)) if taken]
    return max(1, int(min(room)))

"""onnxruntime, silent, and what the networks that ship have in common: tokenizer, threads.

Some builds of onnxruntime keep a device id and send usage events unless they are told not to.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from everyclaim.core.lifetime import once

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

UNKNOWN, CLS, SEP = 100, 101, 102
T = TypeVar("T")
R = TypeVar("R")


def quiet_onnxruntime() -> Any:
    """Import onnxruntime with its telemetry off; it has to be told before its first import."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def single_threaded_session(path: Path) -> InferenceSession:
    """Load a network that computes in the thread that calls it, and the same on every processor.

    Without VNNI the sums of products of bytes overflow unless onnxruntime is asked to be exact (4 % slower).
    """
    onnxruntime = quiet_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.x64quantprecision", "1")
    session: InferenceSession = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session


@once
def shipped_tokenizer() -> Tokenizer:
    """Load the tokenizer of the networks that ship."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(files("everyclaim.models").joinpath("data", "tokenizer.json").read_text("utf-8"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # "[SEP]" in a text is text
    return tokenizer


def threads_by_default() -> int:
    """Count the processor cores this process may use, and is told to use; at most four."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    told = os.environ.get("OMP_NUM_THREADS", "")
    return min(4, cores, int(told)) if told.isdecimal() and int(told) else min(4, cores)


def read_each(read: Callable[[T], R], inputs: Sequence[T], threads: int) -> list[R]:
    """Read every input, so many at a time; equal ones are read once."""
    distinct = list(dict.fromkeys(inputs))
    several = threads > 1 and len(distinct) > 1
    results = _worker_pool(threads, os.getpid()).map(read, distinct) if several else map(read, distinct)
    found = dict(zip(distinct, results, strict=True))
    return [found[one] for one in inputs]


@lru_cache(maxsize=4)
def _worker_pool(threads: int, process: int) -> ThreadPoolExecutor:  # noqa: ARG001
    """Return the threads that read; a forked process has none of them, so each has its own."""
    return ThreadPoolExecutor(threads, thread_name_prefix="everyclaim-reader")

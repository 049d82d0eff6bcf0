"""What may be written over: a file that we wrote before, and nothing that holds something else."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from everyclaim.core.errors import ConfigError, EveryclaimError
from everyclaim.io.samples import read_samples

_HEAD = 4096  # bytes of a file in which it says what it is


class Kind(NamedTuple):
    """A kind of document that we write, and how one begins."""

    name: str
    begins: re.Pattern[bytes]


PAGE = Kind(
    "a page of everyclaim",
    re.compile(rb'\s*<!doctype html>.*<meta name="generator" content="everyclaim', re.DOTALL | re.IGNORECASE),
)
DOCUMENT = Kind("JSON that everyclaim wrote", re.compile(rb'\s*\{\s*"schema":'))
RULES = Kind("a file of rules that everyclaim wrote", re.compile(rb"# Rules for Prometheus, written by `everyclaim"))
DASHBOARD = Kind("a dashboard that everyclaim wrote", re.compile(rb'\s*\{\s*"uid": "everyclaim"'))
TEST_SUITE = Kind("a file of test results", re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?<testsuite"))


def check_replaced(destination: str | os.PathLike[str], kind: Kind | None = None) -> None:
    """Refuse to write over a file that is none of this kind, or where none is named, over a data set of answers.

    What is not there, holds nothing, or is a device, has nothing to lose. Raises `ConfigError`.
    """
    name = os.fspath(destination)
    if name == "-" or not os.path.isfile(name) or not os.path.getsize(name):  # noqa: PTH113, PTH202 - as given
        return
    if kind is None:
        if _holds_answers(name):
            raise ConfigError(f"{name} holds answers, which would be lost: give another name, or move it away")
    elif not kind.begins.match(_head(name)):
        raise ConfigError(f"{name} is there, and is not {kind.name}: give another name, or move it away")


def _head(name: str) -> bytes:
    try:
        with open(name, "rb") as file:  # noqa: PTH123 - as given
            return file.read(_HEAD)
    except OSError:
        return b""  # it cannot be looked at, so it is not known to be ours


def _holds_answers(name: str) -> bool:
    try:
        return next(iter(read_samples(name, contexts=False)), None) is not None
    except EveryclaimError:
        return False

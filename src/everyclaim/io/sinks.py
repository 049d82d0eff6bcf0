"""Where written bytes go: a file that appears whole or not at all, or standard output."""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import lzma
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO

from everyclaim.core.errors import InputError, OperatorError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["open_sink", "sync_folder", "whole_file", "zstd"]  # the standard library's, or a package alike

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_UNFINISHED = ".part"


@contextmanager
def open_sink(destination: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a binary stream to write to; compressed when the name ends in .gz, .xz, .zst or .bz2.

    A file is written beside its place, flushed to disk and renamed when the block ends well; when it does not, what was
    there before is untouched and nothing is left behind. What a killed process left beside it is removed. ``-`` is
    standard output; devices and pipes are written to directly. Raises `InputError` for a place that cannot be written
    to, `OperatorError` when writing fails (a full disk, a closed pipe).
    """
    name = os.fspath(destination)
    try:
        with _standard_output() if name == "-" else _file(name) as stream:
            yield stream
    except OSError as error:
        raise OperatorError(f"cannot write {name}: {error.strerror or error}") from error


@contextmanager
def _file(name: str) -> Iterator[BinaryIO]:
    given = Path(name)
    if given.is_dir():
        raise InputError(f"cannot write {name}: it is a folder")
    if given.exists() and not given.is_file():
        with given.open("wb") as device, _compressed(device, given.suffix) as stream:
            yield stream
        return
    path = Path(os.path.realpath(given))  # the file a link points to is replaced, not the link
    if not path.parent.is_dir():
        raise InputError(f"cannot write {name}: there is no folder {path.parent}")
    with whole_file(path) as file, _compressed(file, path.suffix) as stream:
        yield stream


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Give a file that stands at a path, flushed to disk, when the block ends well, and else leaves nothing behind.

    What killed processes left of the same file is removed first. Raises `OSError`.
    """
    for leftover in path.parent.glob(f".{glob.escape(path.name[:100])}.????????{_UNFINISHED}"):
        with suppress(OSError), leftover.open("rb") as old:
            if _is_free(old):
                leftover.unlink()
    while True:
        beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}{_UNFINISHED}")
        try:  # before there is a file: an interrupt leaves none behind
            with beside.open("xb") as file:
                if fcntl is not None and not (_is_free(file) and os.fstat(file.fileno()).st_nlink):
                    continue  # swept away before it was locked
                yield file
                file.flush()
                os.fsync(file.fileno())
                if path.exists():
                    beside.chmod(path.stat().st_mode & 0o777)
                if fcntl is None:  # Windows, where an open file cannot be renamed
                    file.close()
                beside.replace(path)
                sync_folder(path.parent)
                return
        finally:
            beside.unlink(missing_ok=True)


def _is_free(file: BinaryIO) -> bool:
    """Lock a file if nobody else has, until it is closed; where there are no locks nothing is free."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (AttributeError, OSError):
        return False
    return True


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    binary = getattr(sys.stdout, "buffer", None)
    if binary is not None:
        sys.stdout.flush()
        yield binary
        binary.flush()
        return
    held = io.BytesIO()  # a notebook's output takes text only
    yield held
    sys.stdout.write(held.getvalue().decode("utf-8", "replace"))


@contextmanager
def _compressed(file: BinaryIO, suffix: str) -> Iterator[BinaryIO]:
    """Wrap a file in the compressor its suffix names. The same bytes in give the same bytes out."""
    packers: dict[str, Callable[[], Any]] = {
        ".gz": lambda: gzip.GzipFile("", "wb", fileobj=file, mtime=0),
        ".xz": lambda: lzma.LZMAFile(file, "wb"),  # noqa: SIM115 - closed below
        ".bz2": lambda: bz2.BZ2File(file, "wb"),
        ".zst": lambda: zstd.ZstdFile(file, "wb"),
    }
    with packers.get(suffix.lower(), lambda: nullcontext(file))() as stream:
        yield stream


def sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut, where the system can open folders."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
